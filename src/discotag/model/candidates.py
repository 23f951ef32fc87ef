"""Candidates for mentions as arrays: which words a mention scorer looks at for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.mentions import Mention
from discotag.model.tokenizer import ranges

Indices = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]


class Bag(IntEnum):
    """A group of words of a candidate; a scorer reads the mean of their vectors.

    Attributes:
        FIRST, LAST: The first and the last word.
        WORDS: All words of the mention.
        GAP: All words of its gaps.
        BEFORE, AFTER: The words next to it.
        LEAVING: The last words before its gaps.
        ENTERING: The first words after its gaps.
        OPENING: The first words of its gaps, such as a conjunction.
        CLOSING: The last words of its gaps.
    """

    FIRST = 0
    LAST = 1
    WORDS = 2
    GAP = 3
    BEFORE = 4
    AFTER = 5
    LEAVING = 6
    ENTERING = 7
    OPENING = 8
    CLOSING = 9


COUNTS: Final = 4
"""The number of numbers of a candidate: logarithms of the numbers of its words, words in gaps and
gaps, and whether it has gaps."""


class Candidates(NamedTuple):
    """Candidates of a batch of sentences.

    Attributes:
        words: The words of all bags, one bag after the other, as indices into the vectors of the
            batch.
        offsets: Where the words of each bag begin, (candidates * bags,).
        counts: Numbers of words and gaps, (candidates, `COUNTS`).
        labels: The index of the label of each candidate, (candidates,).
    """

    words: Indices
    offsets: Indices
    counts: npt.NDArray[np.float32]
    labels: Indices


def tabulate(
    mentions: Sequence[Sequence[Mention]],
    lengths: Indices,
    bases: Indices,
    labels: Sequence[str],
) -> Candidates:
    """Return the candidates of a batch as arrays.

    Args:
        mentions: The candidates of each sentence.
        lengths: The number of words of each sentence.
        bases: The index of the first word of each sentence in the vectors of the batch.
        labels: The labels of the scheme.

    Example:
        >>> pain = Mention("ADR", [(0, 1), (3, 4)])
        >>> found = tabulate([[pain]], np.array([5]), np.array([0]), ["ADR"])
        >>> np.split(found.words, found.offsets[1:])[Bag.GAP]
        array([1, 2])
    """
    number = {label: index for index, label in enumerate(labels)}
    listed = [(row, mention) for row, each in enumerate(mentions) for mention in each]
    fragments = np.array(
        [
            (index, start, end)
            for index, (_, mention) in enumerate(listed)
            for start, end in mention.fragments
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    rows = np.array([row for row, _ in listed], dtype=np.int64)
    label = np.array([number[mention.label] for _, mention in listed], dtype=np.int64)
    index, starts, ends = fragments.T
    return tabulate_fragments(index, starts, ends, lengths[rows], bases[rows], label)


def tabulate_fragments(
    index: Indices,
    starts: Indices,
    ends: Indices,
    lengths: Indices,
    bases: Indices,
    labels: Indices,
) -> Candidates:
    """Return candidates as arrays; see `tabulate`.

    Args:
        index: (fragments,), the candidate of each fragment, in order.
        starts: (fragments,), its first word.
        ends: (fragments,), one past its last word.
        lengths: (candidates,), the number of words of the sentence of each candidate.
        bases: (candidates,), the index of the first word of that sentence in the vectors.
        labels: (candidates,), the index of the label of each candidate.
    """
    base = bases[index]
    follows = index[1:] == index[:-1]
    first, last = np.r_[True, ~follows][: len(index)], np.r_[~follows, True][: len(index)]
    before, after = np.flatnonzero(~last), np.flatnonzero(~first)
    begins, stops = starts[first], ends[last]
    every = np.arange(len(labels))
    left, right = begins > 0, stops < lengths
    sizes, gaps = ends - starts, starts[after] - ends[before]
    parts: list[tuple[Bag, Indices, Indices]] = [
        (Bag.FIRST, every, bases + begins),
        (Bag.LAST, every, bases + stops - 1),
        (Bag.WORDS, np.repeat(index, sizes), ranges(base + starts, sizes)),
        (Bag.GAP, np.repeat(index[before], gaps), ranges((base + ends)[before], gaps)),
        (Bag.BEFORE, every[left], (bases + begins - 1)[left]),
        (Bag.AFTER, every[right], (bases + stops)[right]),
        (Bag.LEAVING, index[before], (base + ends - 1)[before]),
        (Bag.ENTERING, index[after], (base + starts)[after]),
        (Bag.OPENING, index[before], (base + ends)[before]),
        (Bag.CLOSING, index[after], (base + starts - 1)[after]),
    ]
    bags = np.concatenate([candidate * len(Bag) + bag for bag, candidate, _ in parts])
    words = np.concatenate([each for _, _, each in parts])
    by_bag = np.bincount(bags, minlength=len(labels) * len(Bag)).reshape(-1, len(Bag))
    number = np.bincount(index, minlength=len(labels)) - 1
    counts = np.stack([by_bag[:, Bag.WORDS], by_bag[:, Bag.GAP], number], 1)
    return Candidates(
        words[np.argsort(bags, kind="stable")],
        np.cumsum(by_bag) - by_bag.ravel(),
        np.concatenate([np.log1p(counts), number[:, None] > 0], 1).astype(np.float32),
        labels,
    )


def features(vectors: Numbers, candidates: Candidates, labels: int) -> Numbers:
    """Return what a mention scorer reads, (candidates, size), in float32.

    For each candidate, these are the mean vector of each bag, zeros if it is empty; the counts; and
    1 for its label and 0 for the others.

    Args:
        vectors: The vectors of the words of the batch, (words, size).
        candidates: The candidates.
        labels: The number of labels.
    """
    number, size = len(candidates.labels), vectors.shape[1]
    found = np.zeros((number, len(Bag) * size + COUNTS + labels), dtype=np.float32)
    means = found[:, : len(Bag) * size].reshape(number, len(Bag), size)  # a view
    sizes = np.diff(candidates.offsets, append=len(candidates.words))
    # Most bags have one word or none: there is nothing to add up.
    single = np.flatnonzero(sizes == 1)
    words = candidates.words[candidates.offsets[single]]
    means[single // len(Bag), single % len(Bag)] = vectors[words]
    several = np.flatnonzero(sizes > 1)
    if len(several):
        chosen = candidates.words[np.repeat(sizes > 1, sizes)]
        counts = sizes[several]
        sums = np.add.reduceat(vectors[chosen], np.cumsum(counts) - counts)
        means[several // len(Bag), several % len(Bag)] = sums / counts[:, None]
    found[:, len(Bag) * size : len(Bag) * size + COUNTS] = candidates.counts
    found[np.arange(number), len(Bag) * size + COUNTS + candidates.labels] = 1
    return found
