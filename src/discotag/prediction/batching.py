"""Batches of sentences of similar length, to keep padding small.

A batch is scored and decoded together; the encoder takes it in portions of at most as many subwords
as its budget (`discotag.model.tokenizer.Batch.chunks`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discotag.model.tokenizer import EncodedSentences, Indices


def plan_batches(
    encoded: EncodedSentences,
    budget: int,
    batch_size: int | None = None,
    long: int | None = None,
) -> Iterator[Indices]:
    """Yield the sentences of each batch, as indices; sentences without words are left out.

    The longest sentences come first, so that a lack of memory shows at once.

    Args:
        encoded: The sentences.
        budget: The most subwords of a batch, padding included. A longer sentence is a batch of its
            own.
        batch_size: The most sentences of a batch; None for no limit.
        long: Sentences with more subwords are batches of their own; None for no limit.
    """
    widths, heights = encoded.widths, encoded.heights
    order = np.flatnonzero(encoded.lengths)
    if long is not None:
        alone = encoded.totals[order] > long
        yield from order[alone, None]
        order = order[~alone]
    order = order[np.argsort(-widths[order], kind="stable")]
    windows = np.cumsum(heights[order])
    first = passed = 0
    while first < len(order):
        room = passed + budget // widths[order[first]]
        last = max(first + 1, int(np.searchsorted(windows, room, side="right")))
        if batch_size is not None:
            last = min(last, first + batch_size)
        yield order[first:last]
        first, passed = last, windows[last - 1]
