"""What users ask of a grammar and scores, written once for every array library.

Scores come as (batch, words, tags), masks as (batch, words) or None; answers have the batch first.
`weights`, of arcs, is (arcs,) or None.
"""

from __future__ import annotations

from typing import Final

from discotag.inference.arrays import Arrays, Plan
from discotag.inference.semirings import Best, Entropy, Log, Max
from discotag.inference.sweep import sweep, walk
from discotag.inference.toolbox import Array, Toolbox

FORBIDDEN: Final = -1e30
"""Stands for -inf where a gradient must pass."""

MARGINAL_CELLS: Final = 1 << 22
"""Marginals look at so many cells of arcs x words x sentences at a time: it bounds memory."""


def best_tags(
    tools: Toolbox, arrays: Arrays, scores: Array, mask: Array | None, weights: Array | None
) -> tuple[Array, Array]:
    """The best sequence, (batch, words), -1 under no mask, and its score, (batch,).

    Of equally good sequences it is the first in the order of tags.
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
    """The k best sequences, (batch, k, words), and their scores, (batch, k), best first.

    Where fewer exist the rest have score -inf and tags -1. Equally good ones come in the order of
    tags.
    """
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    ring, batch = Best(tools, k), len(scores)
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
    """The log-sum of the scores of all sequences, (batch,)."""
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    last = tools.ends(arrays, ready)
    return sweep(Log(tools), arrays.plan, last, ready, mask, weights)[0][arrays.start]


def marginals(
    tools: Toolbox, arrays: Arrays, scores: Array, mask: Array | None, weights: Array | None
) -> tuple[Array, Array, Array | None]:
    """The probability of each tag of each word, (batch, words, tags), and the log-partition.

    After the sweep, the share that an arc has in the value of its state is the probability to take
    it there: p(tag | state) is the softmax over the state's fan. So the probability of states flows
    from the first word to the last, in numbers between 0 and 1.

    Returns:
        Marginals, 0 under no mask; the log-partition, (batch,); and, where arcs have weights,
        how often each is expected to be taken, (batch, arcs), else None.
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
                for flow in flows:  # not a product: what has no mask may be NaN
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
    """For each level the shares of arcs in the values of its states, given the values after words.

    Each is (words, places, states of the level, batch).
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
    """Sequences drawn by their probability, (batch, number, words), and the log-partition."""
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    ring, batch = Log(tools), len(scores)
    last = tools.ends(arrays, ready)
    after = sweep(ring, arrays.plan, last, ready, mask, weights)
    rows = tools.repeated(tools.counting(batch, ready), number)
    walkers = tools.counting(batch * number, ready)

    def pick(values: Array, ranks: Array) -> tuple[Array, Array]:
        # The highest after Gumbel noise is a draw from the softmax.
        return tools.argmax_down(values + tools.noise(values)), ranks

    spread_mask = None if mask is None else tools.repeated(mask.T, number).T
    tags = walk(ring, arrays, after, ready, spread_mask, weights, rows, walkers, walkers, pick)
    sequences = tools.stacked(tags, rows).reshape(batch, number, len(ready))
    return sequences, after[0][arrays.start]


def entropy(
    tools: Toolbox, arrays: Arrays, scores: Array, mask: Array | None, weights: Array | None
) -> Array:
    """The entropy of the distribution over sequences, (batch,), in nats."""
    ready, weights = tools.prepared(scores, weights)
    mask = None if mask is None else mask.T
    ring = Entropy(tools)
    # -inf would make gradients that are not numbers.
    ready, ends = (values.clip(FORBIDDEN) for values in (ready, tools.ends(arrays, ready)))
    last = ring.paired(ends, ends * 0)
    after = sweep(ring, arrays.plan, last, ready, mask, weights)
    return after[0][arrays.start][..., 1]
