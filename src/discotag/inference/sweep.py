"""The sweep over words that combines arcs, and the walk along its values that picks tags.

Words are the first axis of all arrays and sentences the last, so that rows are contiguous:

    scores  (words, tags + 2, batch): the tags, then -inf for padding, then 0 for no tag
    mask    (words, batch), or None
    weights (arcs + 1,): the arcs, then 0 for no arc; or None
    values  (states, batch), or (states, batch, channels)
"""

from __future__ import annotations

from collections.abc import Callable

from discotag.inference.arrays import Arrays, Plan
from discotag.inference.semirings import Max
from discotag.inference.toolbox import Array


def step(semiring: Max, plan: Plan, values: Array, scores: Array, weights: Array | None) -> Array:
    """Return the values before a word.

    Args:
        semiring: How to combine values.
        plan: Which values to combine.
        values: The values after the word.
        scores: The scores of the word, (tags + 2, batch).
        weights: The arc weights.
    """
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
    """Compute the values of all states from the last word to the first.

    Args:
        semiring: How to combine values.
        plan: Which values to combine.
        last: The values after the last word.
        scores: The scores of all words.
        mask: Values do not change at words that are masked out.
        weights: The arc weights.

    Returns:
        A list of `words + 1` values: before each word, and after the last.
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
    """Walk from the first word to the last and pick an arc at each word.

    Several walkers can go through one sentence, each along its own sequence.

    Args:
        semiring: As in `sweep`.
        arrays: The grammar.
        after: The result of `sweep`.
        scores: As in `sweep`.
        mask: (words, walkers); words that are masked out get the tag -1.
        weights: As in `sweep`.
        rows: (walkers,), the sentence of each walker.
        walkers: (walkers,), the numbers 0, 1, 2, ...
        ranks: (walkers,), the rank of each walker's sequence among the best.
        pick: A function of the values of arcs, (places, walkers, ...), and the ranks that returns
            the places of the arcs to take and the ranks of the sequences after them.

    Returns:
        For each word, the tags, (walkers,).
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
