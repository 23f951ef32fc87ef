"""Batches of sentences of like length, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discotag.model.tokenizer import EncodedSentences, Indices


def plan_batches(
    encoded: EncodedSentences, budget: int, batch_size: int | None = None
) -> Iterator[Indices]:
    """Yield the numbers of sentences that are encoded together; those without words are left out.

    The longest come first: what does not fit into memory fails at once.

    Args:
        encoded: The sentences.
        budget: How many subwords a batch may have, padding included. A sentence that alone has more
            is a batch of its own.
        batch_size: How many sentences a batch may have at most.
    """
    widths, heights = encoded.widths, encoded.heights
    order = np.flatnonzero(encoded.lengths)
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
