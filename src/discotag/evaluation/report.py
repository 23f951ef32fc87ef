"""What is found by comparing two sides, collected sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Final

from discotag.evaluation.alignment import Pair
from discotag.evaluation.curves import Scored
from discotag.evaluation.differences import KINDS, Difference, find_differences
from discotag.evaluation.intervals import SliceIntervals
from discotag.evaluation.scores import Scores, Tally, add, tally, total
from discotag.mentions import Mention

GAPS: Final = {"no gap": (0, 0), "1 word": (1, 1), "2 words": (2, 2), "3 to 5 words": (3, 5)}
"""Groups of mentions by the words in their gaps."""
LONGER: Final = "6 words or more"

MOST_SENTENCES: Final = 1000
"""The number of sentences with differences that are kept, to save memory."""

EXAMPLES: Final = 3
"""The number of examples that are kept of each kind."""


@dataclass(slots=True)
class KindCount:
    """The numbers of mentions in one kind of difference, and its first examples."""

    first: int = 0
    second: int = 0
    examples: list[tuple[Pair, Difference]] = field(default_factory=list)
    not_shown: int = 0
    """The number of differences that are not among the examples."""

    def add(self, pair: Pair, difference: Difference) -> None:
        """Count a difference."""
        self.first += len(difference.first)
        self.second += len(difference.second)
        if len(self.examples) < EXAMPLES:
            self.examples.append((pair, difference))
        else:
            self.not_shown += 1


@dataclass(slots=True)
class Found:
    """Numbers of mentions of the first side, and of those that the second has too."""

    first: int = 0
    both: int = 0


@dataclass(slots=True)
class Report:
    """The differences and figures of two sides, the first of which may be the gold.

    Attributes:
        first, second: What was compared, for titles.
        tallies: The counts of each sentence.
        documents: The number of the document of each sentence.
        discontinuous_sentences: The number of sentences with a discontinuous mention of the first
            side.
        kinds: The mentions that only one side has, by the kind of difference. Those of the first
            side add up to all that the second has not, and vice versa.
        by_gap: Mentions of the first side by the words in their gaps.
        first_scored: The number of mentions of the first side that have a score.
        scored: The scores of mentions of the second side, and whether the first has them too.
        differing: The first sentences with differences, `most` of them.
        differing_sentences: The number of sentences with differences.
        intervals: The intervals of the figures, if they are known.
        most: The most sentences with differences that are kept.
    """

    first: str
    second: str
    tallies: list[Tally] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)
    discontinuous_sentences: int = 0
    kinds: dict[str, KindCount] = field(
        default_factory=lambda: {kind: KindCount() for kind in KINDS}
    )
    by_gap: dict[str, Found] = field(
        default_factory=lambda: {name: Found() for name in (*GAPS, LONGER)}
    )
    first_scored: int = 0
    scored: list[Scored] = field(default_factory=list)
    differing: list[tuple[Pair, list[Difference]]] = field(default_factory=list)
    differing_sentences: int = 0
    intervals: dict[str, SliceIntervals] | None = None
    most: int = MOST_SENTENCES

    @property
    def scores(self) -> Scores:
        """The figures of all sentences."""
        return total(self.tallies)

    def of_documents(self) -> list[Tally]:
        """Return the counts of each document."""
        numbered = zip(self.documents, self.tallies, strict=True)
        return [
            add(one for _, one in group) for _, group in groupby(numbered, lambda each: each[0])
        ]

    def add_all(self, pairs: Iterable[Pair]) -> None:
        """Add sentences."""
        for pair in pairs:
            self.add(pair)

    def add(self, pair: Pair) -> None:
        """Add a sentence."""
        self.tallies.append(tally(pair.first, pair.second))
        self.documents.append(pair.document)
        first, second = frozenset(pair.first), frozenset(pair.second)
        self.discontinuous_sentences += any(mention.discontinuous for mention in first)
        self.first_scored += sum(mention.score is not None for mention in first)
        for mention in first:
            group = self.by_gap[gap_group(mention)]
            group.first += 1
            group.both += mention in second
        self.scored += [
            (mention.score, mention in first) for mention in second if mention.score is not None
        ]
        differences = find_differences(first, second)
        for each in differences:
            self.kinds[each.kind].add(pair, each)
        if differences:
            self.differing_sentences += 1
            if len(self.differing) < self.most:
                self.differing.append((pair, differences))


def gap_group(mention: Mention) -> str:
    """Return the group of a mention by the number of words in its gaps.

    Example:
        >>> gap_group(Mention("ADR", [(0, 1), (3, 4)]))
        '2 words'
    """
    words = sum(right[0] - left[1] for left, right in pairwise(mention.fragments))
    return next((name for name, (low, high) in GAPS.items() if low <= words <= high), LONGER)
