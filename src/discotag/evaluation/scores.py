"""Precision, recall and F1 as in Dai et al. (2020), for three slices of the mentions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from discotag.errors import InputError
from discotag.mentions import Mention, Sentence

ALL, DISCONTINUOUS_SENTENCES, DISCONTINUOUS = "all", "discontinuous_sentences", "discontinuous"

SLICES: Final = {
    ALL: "all mentions",
    DISCONTINUOUS_SENTENCES: "all mentions of sentences whose gold has a discontinuous mention",
    DISCONTINUOUS: "discontinuous mentions only",
}
"""The slices by name, each with a description."""


class EvaluationError(InputError):
    """Gold and predictions that cannot be compared."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Precision, recall and F1, from 0 to 1."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of gold, predicted and correct mentions.

    Example:
        >>> Counts(gold=4, predicted=2, correct=1).figures
        Figures(precision=0.5, recall=0.25, f1=0.3333333333333333)
    """

    gold: int = 0
    predicted: int = 0
    correct: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.gold + other.gold,
            self.predicted + other.predicted,
            self.correct + other.correct,
        )

    @property
    def precision(self) -> float:
        """The share of predicted mentions that are correct; 0 if nothing was predicted."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of gold mentions that were predicted; 0 if there are none."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if both are 0."""
        both = self.gold + self.predicted
        return 2 * self.correct / both if both else 0.0

    @property
    def figures(self) -> Figures:
        """Precision, recall and F1."""
        return Figures(self.precision, self.recall, self.f1)


Tally = dict[tuple[str, str], Counts]
"""The counts of one or more sentences, for each slice and label that occurs in them."""


@dataclass(frozen=True, slots=True)
class SliceScores:
    """The counts of one slice, for each label that occurs in gold or predictions."""

    labels: dict[str, Counts]

    @property
    def micro(self) -> Counts:
        """The counts of all labels together."""
        return sum(self.labels.values(), Counts())

    @property
    def macro(self) -> Figures:
        """The mean of each figure over the labels; 0 if there are no labels."""
        parts = [counts.figures for counts in self.labels.values()]
        if not parts:
            return Figures(0.0, 0.0, 0.0)
        return Figures(
            sum(part.precision for part in parts) / len(parts),
            sum(part.recall for part in parts) / len(parts),
            sum(part.f1 for part in parts) / len(parts),
        )


@dataclass(frozen=True, slots=True)
class Scores:
    """The three slices; their names are the keys of `SLICES`."""

    all: SliceScores
    discontinuous_sentences: SliceScores
    discontinuous: SliceScores

    def slices(self) -> Iterator[tuple[str, SliceScores]]:
        """Iterate over the slices, each with its name."""
        return ((name, getattr(self, name)) for name in SLICES)


def score(gold: Iterable[Sentence], predicted: Iterable[Sentence | Collection[Mention]]) -> Scores:
    """Compare predictions with gold mentions, sentence by sentence.

    A predicted mention is correct if its sentence has a gold mention with the same label and
    fragments. The mentions of a sentence are a set: a mention given twice counts once. Both
    iterables are read once, in parallel.

    Args:
        gold: The sentences with their mentions.
        predicted: For each gold sentence, a sentence of the same words, or predicted mentions.

    Raises:
        EvaluationError: The numbers of sentences differ, or the words of a sentence do.

    Example:
        >>> words = "pain in arms and legs".split()
        >>> arms, legs = Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])
        >>> scores = score([Sentence(words, [arms, legs])], [{arms}])
        >>> scores.all.micro
        Counts(gold=2, predicted=1, correct=1)
        >>> scores.discontinuous.micro.recall
        0.0
    """
    return total(tally(truth.mentions, found) for truth, found in _in_step(gold, predicted))


def tally(gold: Iterable[Mention], predicted: Iterable[Mention]) -> Tally:
    """Count the gold, predicted and correct mentions of one sentence.

    Example:
        >>> tally([Mention("ADR", [(0, 1)])], [])
        {('all', 'ADR'): Counts(gold=1, predicted=0, correct=0)}
    """
    truth, found = frozenset(gold), frozenset(predicted)
    if not truth and not found:
        return {}
    counts: Tally = {}
    _count(counts, ALL, truth, found)
    if any(mention.discontinuous for mention in truth):
        _count(counts, DISCONTINUOUS_SENTENCES, truth, found)
    _count(
        counts,
        DISCONTINUOUS,
        frozenset(mention for mention in truth if mention.discontinuous),
        frozenset(mention for mention in found if mention.discontinuous),
    )
    return counts


def total(tallies: Iterable[Tally]) -> Scores:
    """Add up the counts of sentences."""
    sums = add(tallies)
    slices: dict[str, dict[str, Counts]] = {name: {} for name in SLICES}
    for name, label in sorted(sums):
        slices[name][label] = sums[name, label]
    return Scores(**{name: SliceScores(labels) for name, labels in slices.items()})


def add(tallies: Iterable[Tally]) -> Tally:
    """Add up tallies into one."""
    sums: Tally = {}
    for one in tallies:
        for key, counts in one.items():
            sums[key] = sums[key] + counts if key in sums else counts
    return sums


def _count(counts: Tally, name: str, truth: frozenset[Mention], found: frozenset[Mention]) -> None:
    for sort, mentions in enumerate((truth, found, truth & found)):
        for mention in mentions:
            key = (name, mention.label)
            counts[key] = counts.get(key, Counts()) + _ONE[sort]


_ONE: Final = (Counts(gold=1), Counts(predicted=1), Counts(correct=1))


def _in_step(
    gold: Iterable[Sentence], predicted: Iterable[Sentence | Collection[Mention]]
) -> Iterator[tuple[Sentence, Iterable[Mention]]]:
    for number, (truth, found) in enumerate(zip_longest(gold, predicted), 1):
        if truth is None or found is None:
            longer, shorter = ("predictions", "gold") if truth is None else ("gold", "predictions")
            raise EvaluationError(f"sentence {number} is in the {longer} but not in the {shorter}")
        if not isinstance(found, Sentence):
            yield truth, found
            continue
        if truth.words != found.words:
            raise EvaluationError(f"sentence {number}, {_first_difference(truth, found)}")
        yield truth, found.mentions


def _first_difference(gold: Sentence, predicted: Sentence) -> str:
    """Describe the first word in which two sentences differ; words count from 1."""
    both = zip_longest(gold.words, predicted.words)
    word, (one, other) = next((n, pair) for n, pair in enumerate(both, 1) if pair[0] != pair[1])
    shown = ["no word" if side is None else repr(side) for side in (one, other)]
    return f"word {word}: the gold has {shown[0]}, the predictions have {shown[1]}"
