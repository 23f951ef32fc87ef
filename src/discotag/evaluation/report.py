"""What a report of an evaluation shows, collected sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from discotag.evaluation.alignment import Pair
from discotag.evaluation.curves import Scored
from discotag.evaluation.errors import KINDS, KindCount, Mistake, find_errors
from discotag.evaluation.intervals import SliceIntervals
from discotag.evaluation.scores import Scores, Tally, tally, total
from discotag.mentions import Mention

GAPS: Final = {"no gap": (0, 0), "1 word": (1, 1), "2 words": (2, 2), "3 to 5 words": (3, 5)}
"""Groups of mentions by the words in their gaps."""
LONGER: Final = "6 words or more"

MOST_SENTENCES: Final = 1000
"""The number of sentences with errors that are kept, to save memory."""


@dataclass(slots=True)
class Found:
    """Numbers of gold mentions, and of those that were found."""

    gold: int = 0
    found: int = 0


@dataclass(slots=True)
class Report:
    """The results of a system.

    Attributes:
        gold, predicted: What was compared, for the title.
        tallies: The counts of each sentence.
        errors: The kinds of errors.
        by_gap: Gold mentions by the words in their gaps.
        scored: The scores of predicted mentions that have one.
        wrong: The first `MOST_SENTENCES` sentences with errors.
        wrong_sentences: The number of sentences with errors.
        intervals: The intervals of the figures, if they are known.
    """

    gold: str
    predicted: str
    tallies: list[Tally] = field(default_factory=list)
    errors: dict[str, KindCount] = field(
        default_factory=lambda: {kind: KindCount() for kind in KINDS}
    )
    by_gap: dict[str, Found] = field(
        default_factory=lambda: {name: Found() for name in (*GAPS, LONGER)}
    )
    scored: list[Scored] = field(default_factory=list)
    wrong: list[tuple[Pair, list[Mistake]]] = field(default_factory=list)
    wrong_sentences: int = 0
    intervals: dict[str, SliceIntervals] | None = None

    @property
    def scores(self) -> Scores:
        """The figures of all sentences."""
        return total(self.tallies)

    def recorded(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield sentences again, after they have been added to the report."""
        for pair in pairs:
            self.add(pair)
            yield pair

    def add(self, pair: Pair) -> None:
        """Add a sentence."""
        self.tallies.append(tally(pair.gold, pair.predicted))
        found, truth = frozenset(pair.predicted), frozenset(pair.gold)
        for mention in truth:
            group = self.by_gap[gap_group(mention)]
            group.gold += 1
            group.found += mention in found
        self.scored += [
            (mention.score, mention in truth) for mention in found if mention.score is not None
        ]
        mistakes = find_errors(pair.gold, pair.predicted)
        for mistake in mistakes:
            count = self.errors[mistake.kind]
            count.gold += len(mistake.gold)
            count.predicted += len(mistake.predicted)
        if mistakes:
            self.wrong_sentences += 1
            if len(self.wrong) < MOST_SENTENCES:
                self.wrong.append((pair, mistakes))


def gap_group(mention: Mention) -> str:
    """Return the group of a mention by the number of words in its gaps.

    Example:
        >>> gap_group(Mention("ADR", [(0, 1), (3, 4)]))
        '2 words'
    """
    words = sum(right[0] - left[1] for left, right in pairwise(mention.fragments))
    return next((name for name, (low, high) in GAPS.items() if low <= words <= high), LONGER)
