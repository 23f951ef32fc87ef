"""The one algorithm: sweep over the words and combine arcs, then walk along what was found.

Words come first in all arrays and sentences last, so that every row of values is one run of memory:

    scores  (words, tags + 2, batch): the tags, then -inf for padding, then 0 for nothing
    mask    (words, batch), or None
    weights (arcs + 1,): of arcs, then 0 for none; or None
    values  (states, batch), or (states, batch, channels)
"""

from __future__ import annotations

from collections.abc import Callable

from discotag.inference.arrays import Arrays, Plan
from discotag.inference.semirings import Max
from discotag.inference.toolbox import Array


def step(semiring: Max, plan: Plan, values: Array, scores: Array, weights: Array | None) -> Array:
    """The values before a word from those after it; `scores` are those of the word."""
    single = len(plan.levels) == 1
    for level in plan.levels:
        arcs = scores[level.tag]  # (places, states of the level, batch)
        if weights is not None:
            arcs = arcs + weights[level.arc][..., None]
        new = semiring.total(values[level.source] + semiring.lift(arcs))
        if single:
            return new
        values = semiring.tools.join([values, new])
    return values[plan.result]


def sweep(
    semiring: Max,
    plan: Plan,
    last: Array,
    scores: Array,
    mask: Array | None,
    weights: Array | None,
) -> list[Array]:
    """Go from the last word to the first.

    Args:
        semiring: How to combine.
        plan: What to combine.
        last: The values after the last word.
        scores: Of all words.
        mask: Words without it are passed over: values stay as they are.
        weights: Of arcs.

    Returns:
        The values before each word and, at the end, after the last: words + 1 of them.
    """
    values = [last]
    for word in reversed(range(len(scores))):
        new = step(semiring, plan, values[-1], scores[word], weights)
        values.append(new if mask is None else semiring.keep(mask[word], new, values[-1]))
    return values[::-1]


def walk(
    semiring: Max,
    arrays: Arrays,
    after: list[Array],
    scores: Array,
    mask: Array | None,
    weights: Array | None,
    rows: Array,
    walkers: Array,
    ranks: Array,
    pick: Callable[[Array, Array], tuple[Array, Array]],
) -> list[Array]:
    """Walk from the first word to the last, and pick an arc of the state reached at each.

    Args:
        semiring: As in `sweep`.
        arrays: The grammar.
        after: What `sweep` found.
        scores: As in `sweep`.
        weights: As in `sweep`.
        mask: (words, walkers); words without it get the tag -1.
        rows: For each walker its sentence.
        walkers: 0, 1, 2, ..., one for each walker.
        ranks: For each walker the rank of its sequence among the best.
        pick: From the values of arcs, (places, walkers, ...), and the ranks, the places of the arcs
            to take and the ranks of the walkers there.

    Returns:
        For each word the tags, (walkers,).
    """
    where = semiring.tools.where
    state = rows * 0 + arrays.start
    tags = []
    for word in range(len(scores)):
        tag, target = arrays.fan_tag[:, state], arrays.fan_target[:, state]
        arcs = scores[word][tag, rows]
        if weights is not None:
            arcs = arcs + weights[arrays.fan_arc[:, state]]
        place, onward = pick(after[word + 1][target, rows] + semiring.lift(arcs), ranks)
        tag, target = tag[place, walkers], target[place, walkers]
        if mask is not None:
            tag, target = where(mask[word], tag, -1), where(mask[word], target, state)
            onward = where(mask[word], onward, ranks)
        tags.append(tag)
        state, ranks = target, onward
    return tags
