"""Regions: the parts of sentences that may have mentions, and their most probable readings.

No mention extends over a word with the tag O. Words that almost certainly have it therefore divide
a sentence into regions whose mentions can be found and chosen independently. A list of the k best
readings of each region has the mentions of many more than k readings of the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.mentions import Mention

Indices = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]

CERTAIN: Final = 0.995
"""Words whose probability of the tag O is at least this are in no region."""


class Search(NamedTuple):
    """How far readings are looked for.

    Attributes:
        certain: Words whose probability of the tag O is at least this are in no region.
        k: The number of tag sequences of a region that are looked at.
        log_ratio: Tag sequences whose score is lower than the best one's by more than this are left
            out.
    """

    certain: float
    k: int
    log_ratio: float


USUAL: Final = Search(certain=CERTAIN, k=8, log_ratio=5.0)
"""The search for the readings that are compared."""

WIDE: Final = Search(certain=0.9999, k=64, log_ratio=12.0)
"""The search for candidates. On PsyTAR's development and test posts, 89% of the gold mentions are
among its readings, and 77% among those of the usual one; it takes twice the time."""


class Regions(NamedTuple):
    """Regions of a batch.

    Attributes:
        rows: (regions,), the sentence of each.
        starts: (regions,), its first word.
        sizes: (regions,), the number of its words.
    """

    rows: Indices
    starts: Indices
    sizes: Indices

    def taken(self, numbers: Indices) -> Regions:
        """Return some of the regions."""
        return Regions(*(each[numbers] for each in self))


def find_regions(outside: Numbers, lengths: Numbers, certain: float = CERTAIN) -> Regions:
    """Return the regions of a batch, sentence by sentence.

    Args:
        outside: (batch, words), the probability of the tag O.
        lengths: (batch,), the number of words of each sentence.
        certain: Words with at least this probability are in no region.

    Example:
        >>> find_regions(np.array([[1.0, 0.5, 0.2, 1.0, 0.9]]), np.array([5]))
        Regions(rows=array([0, 0]), starts=array([1, 4]), sizes=array([2, 1]))
    """
    return find_runs((outside < certain) & (np.arange(outside.shape[1]) < lengths[:, None]))


def find_runs(inside: npt.NDArray[np.bool_]) -> Regions:
    """Return the runs of words that are inside, sentence by sentence.

    Args:
        inside: (batch, words), whether each word is.
    """
    padded = np.zeros((inside.shape[0], inside.shape[1] + 2), dtype=np.int8)
    padded[:, 1:-1] = inside
    changes = np.diff(padded, axis=1)
    rows, starts = np.nonzero(changes == 1)
    ends = np.nonzero(changes == -1)[1]
    return Regions(rows, starts, ends - starts)


@dataclass(slots=True, eq=False)
class Options:
    """The readings of a region.

    Attributes:
        row: The sentence of the region.
        mentions: All mentions of its readings.
        readings: For each reading, its probability and the indices of its mentions; the most
            probable first.
    """

    row: int
    mentions: list[Mention]
    readings: list[tuple[float, list[int]]]

    def best(self, gains: Sequence[float]) -> list[int]:
        """Return the mentions of the reading with the highest log-probability plus gains.

        Args:
            gains: What each mention adds.
        """
        return max(self.readings, key=lambda each: log(each[0]) + sum(gains[i] for i in each[1]))[1]

    def without(self, rejected: Sequence[bool]) -> Options:
        """Return the readings without some of the mentions, whose indices stay the same.

        Args:
            rejected: Whether each mention is left out.
        """
        merged: dict[tuple[int, ...], float] = {}
        for probability, indices in self.readings:
            kept = tuple(index for index in indices if not rejected[index])
            merged[kept] = merged.get(kept, 0.0) + probability
        readings = [(probability, list(indices)) for indices, probability in merged.items()]
        return Options(self.row, self.mentions, sorted(readings, key=lambda each: -each[0]))

    def probabilities(self) -> list[float]:
        """Return the probability of each mention: the sum over the readings that have it."""
        found = [0.0] * len(self.mentions)
        for probability, indices in self.readings:
            for index in indices:
                found[index] += probability
        return found


Judged = list[tuple[Options, list[float]]]
"""The regions of a sentence, each with the mention scorer's log-odds of its mentions."""
