"""The inference algorithms, written once for all array libraries.

All functions take the same arguments:

    tools   the array library
    arrays  the compiled grammar
    scores  (batch, words, tags)
    mask    (batch, words), True for the words to tag; None if all are
    weights (arcs,), added to the scores along the arcs of the grammar; None for no weights

Results have the batch first.
"""

from __future__ import annotations

from typing import Final

from discotag.inference.arrays import Arrays, Plan
from discotag.inference.semirings import Entropy, KBest, Log, Max
from discotag.inference.sweep import sweep, walk
from discotag.inference.toolbox import Array, Toolbox

FORBIDDEN: Final = -1e30
"""Replaces -inf where gradients are needed: -inf would make them NaN."""

MARGINAL_CELLS: Final = 1 << 22
"""The most values, arcs x words x sentences, that `marginals` holds at a time, to save memory."""


def best_tags(
    tools: Toolbox, arrays: Arrays, scores: Array, mask: Array | None, weights: Array | None
) -> tuple[Array, Array]:
    """Return the best tag sequences and their scores.

    Of sequences with equal scores, the one that comes first in the order of tags is returned.

    Returns:
        The tags, (batch, words), -1 for words that are masked out; and the scores, (batch,).
    """
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    ring = Max(tools)
    after = sweep(ring, arrays.plan, tools.ends(arrays, ready), ready, mask, weights)
    rows = tools.counting(len(scores), ready)

    def pick(values: Array, ranks: Array) -> tuple[Array, Array]:
        return tools.argmax_down(values), ranks

    tags = walk(ring, arrays, after, ready, mask, weights, rows, rows, rows, pick)
    return tools.stacked(tags, rows), after[0][arrays.start]


def k_best(
    tools: Toolbox,
    arrays: Arrays,
    scores: Array,
    mask: Array | None,
    weights: Array | None,
    k: int,
) -> tuple[Array, Array]:
    """Return the k best tag sequences and their scores, best first.

    Sequences with equal scores are in the order of their tags. If a sentence has fewer than k
    sequences, the remaining rows have score -inf and tags -1.

    Returns:
        The tags, (batch, k, words), and the scores, (batch, k).
    """
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    ring, batch = KBest(tools, k), len(scores)
    last = tools.padded_ranks(tools.ends(arrays, ready), k)
    after = sweep(ring, arrays.plan, last, ready, mask, weights)
    found = after[0][arrays.start]  # (batch, k)
    rows = tools.repeated(tools.counting(batch, ready), k)
    walkers = tools.counting(batch * k, ready)

    def pick(values: Array, ranks: Array) -> tuple[Array, Array]:
        chosen = tools.order_down(ring.ranked(values))[ranks, walkers]
        return chosen // k, chosen % k

    tags = walk(
        ring,
        arrays,
        after,
        ready,
        None if mask is None else tools.repeated(mask.T, k).T,
        weights,
        rows,
        walkers,
        walkers % k,
        pick,
    )
    sequences = tools.stacked(tags, rows).reshape(batch, k, len(ready))
    return tools.where((found == -float("inf"))[..., None], -1, sequences), found


def log_partition(
    tools: Toolbox, arrays: Arrays, scores: Array, mask: Array | None, weights: Array | None
) -> Array:
    """Return the log-sum-exp of the scores of all sequences, (batch,)."""
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    last = tools.ends(arrays, ready)
    return sweep(Log(tools), arrays.plan, last, ready, mask, weights)[0][arrays.start]


def marginals(
    tools: Toolbox, arrays: Arrays, scores: Array, mask: Array | None, weights: Array | None
) -> tuple[Array, Array, Array | None]:
    """Return the probability of each tag of each word, and the log-partition.

    After the sweep, an arc's share of the value of its state is the probability of taking the arc
    from there: p(tag | state) is the softmax over the state's arcs. The probabilities of states
    are then computed from the first word to the last, always as numbers between 0 and 1.

    Returns:
        The marginals, (batch, words, tags), 0 for words that are masked out; the log-partition,
        (batch,); and, if `weights` are given, the expected number of times that each arc is taken,
        (batch, arcs), else None.
    """
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    plan, levels = arrays.plan, arrays.plan.levels
    after = sweep(Log(tools), plan, tools.ends(arrays, ready), ready, mask, weights)
    words, _, batch = ready.shape
    rows = arrays.states + sum(level.tag.shape[1] for level in levels)
    to_row = [tools.adder(level.source, rows) for level in levels]
    to_tag = [tools.adder(level.tag, arrays.tags + 2) for level in levels]
    to_arc = [tools.adder(level.arc, arrays.arcs + 1) for level in levels if weights is not None]
    here = tools.exp(tools.beginnings(arrays, ready))  # (states, batch)
    by_tag: list[Array] = []
    by_arc = None if weights is None else weights[:, None] * 0 * here[:1]  # (arcs + 1, batch)
    cells = sum(level.tag.shape[0] * level.tag.shape[1] for level in levels) * batch
    chunk = max(1, MARGINAL_CELLS // max(1, cells))
    for start in range(0, words, chunk):
        end = min(start + chunk, words)
        flows = _shares(tools, plan, after[start + 1 : end + 1], ready[start:end], weights)
        for word in range(start, end):
            pools = tools.placed(here, plan.result, rows)
            last = rows
            for flow, level, add in zip(flows[::-1], levels[::-1], to_row[::-1], strict=True):
                first = last - level.tag.shape[1]
                now = flow[word - start]  # (places, states of the level, batch)
                now *= pools[first:last]
                pools += add(now.reshape(now.shape[0] * now.shape[1], batch))
                last = first
            there = pools[: arrays.states]
            if mask is not None:
                for flow in flows:  # not multiplied: masked-out scores may be NaN
                    flow[word - start] = tools.where(mask[word], flow[word - start], 0.0)
                there = tools.where(mask[word], there, here)
            here = there
        flat = [flow.reshape(end - start, flow.shape[1] * flow.shape[2], batch) for flow in flows]
        found = sum(add(flow) for add, flow in zip(to_tag, flat, strict=True))
        by_tag.append(found[:, : arrays.tags])
        if weights is not None:
            by_arc = by_arc + sum(add(flow.sum(0)) for add, flow in zip(to_arc, flat, strict=True))
    found = tools.join(by_tag) if by_tag else ready[:, : arrays.tags]
    taken = None if by_arc is None else by_arc[:-1].T
    return tools.move_axis(found, -1, 0), after[0][arrays.start], taken


def _shares(
    tools: Toolbox, plan: Plan, after: list[Array], scores: Array, weights: Array | None
) -> list[Array]:
    """Return, for each level, the share of each arc in the value of its state.

    Args:
        tools: The array library.
        plan: The levels.
        after: The values of states after each word.
        scores: The scores of these words, as in `sweep`.
        weights: The arc weights, as in `sweep`.

    Returns:
        One array per level, (words, places, states of the level, batch).
    """
    values, shares = tools.stacked_words(after), []
    for level in plan.levels:
        fan = values[:, level.source] + scores[:, level.tag]
        if weights is not None:
            fan = fan + weights[level.arc][..., None]
        if level is not plan.levels[-1]:
            values = tools.join([values, tools.log_sum(fan, 1)], 1)
        shares.append(tools.shares(fan, 1))
    return shares


def sample(
    tools: Toolbox,
    arrays: Arrays,
    scores: Array,
    mask: Array | None,
    weights: Array | None,
    number: int,
) -> tuple[Array, Array]:
    """Draw `number` tag sequences for each sentence, according to their probabilities.

    Returns:
        The tags, (batch, number, words), and the log-partition, (batch,).
    """
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    ring, batch = Log(tools), len(scores)
    last = tools.ends(arrays, ready)
    after = sweep(ring, arrays.plan, last, ready, mask, weights)
    rows = tools.repeated(tools.counting(batch, ready), number)
    walkers = tools.counting(batch * number, ready)

    def pick(values: Array, ranks: Array) -> tuple[Array, Array]:
        # The argmax after adding Gumbel noise is a draw from the softmax.
        return tools.argmax_down(values + tools.noise(values)), ranks

    spread_mask = None if mask is None else tools.repeated(mask.T, number).T
    tags = walk(ring, arrays, after, ready, spread_mask, weights, rows, walkers, walkers, pick)
    sequences = tools.stacked(tags, rows).reshape(batch, number, len(ready))
    return sequences, after[0][arrays.start]


def entropy(
    tools: Toolbox, arrays: Arrays, scores: Array, mask: Array | None, weights: Array | None
) -> Array:
    """Return the entropy of the distribution over sequences, in nats, (batch,)."""
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    ring = Entropy(tools)
    # -inf would make the gradients NaN.
    ready, ends = (values.clip(FORBIDDEN) for values in (ready, tools.ends(arrays, ready)))
    last = ring.paired(ends, ends * 0)
    after = sweep(ring, arrays.plan, last, ready, mask, weights)
    return after[0][arrays.start][..., 1]
