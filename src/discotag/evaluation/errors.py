"""Kinds of errors: a partition of the gold mentions missed and the wrong predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final

from discotag.evaluation.alignment import Pair
from discotag.mentions import Fragment, Mention
from discotag.scheme.layers import group_mentions

KINDS: Final = {
    "wrong_label": "the fragments of a gold mention, with another label",
    "set_split_or_merged": "the same words, divided into more or fewer mentions",
    "gap_missed": "a discontinuous gold mention, predicted as a continuous one",
    "gap_invented": "a continuous gold mention, predicted as a discontinuous one",
    "one_component_wrong": "both discontinuous, all fragments the same but one",
    "boundary": "some words are the same, others differ",
    "missed": "a gold mention without a predicted counterpart",
    "spurious": "a predicted mention without a gold counterpart",
}
"""The kinds of errors in order of precedence, each with a description."""

EXAMPLES: Final = 3
"""The number of examples that are kept of each kind."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """An error: gold mentions that were missed, wrong predictions, or both together.

    `missed` has one gold mention, `spurious` one predicted mention, `set_split_or_merged` any
    number of both, but at least one; every other kind has one of each.
    """

    kind: str
    gold: tuple[Mention, ...] = ()
    predicted: tuple[Mention, ...] = ()


@dataclass(slots=True)
class KindCount:
    """The numbers of mentions in one kind of error, and its first examples."""

    gold: int = 0
    predicted: int = 0
    examples: list[tuple[Pair, Mistake]] = field(default_factory=list)
    not_shown: int = 0
    """The number of errors that are not among the examples."""


def count_errors(pairs: Iterable[Pair]) -> dict[str, KindCount]:
    """Count the errors of all sentences by kind.

    The gold counts of all kinds add up to the number of gold mentions that were missed, the
    predicted counts to the number of wrong predictions.
    """
    counts = {kind: KindCount() for kind in KINDS}
    for pair in pairs:
        for error in find_errors(pair.gold, pair.predicted):
            count = counts[error.kind]
            count.gold += len(error.gold)
            count.predicted += len(error.predicted)
            if len(count.examples) < EXAMPLES:
                count.examples.append((pair, error))
            else:
                count.not_shown += 1
    return counts


def find_errors(gold: Iterable[Mention], predicted: Iterable[Mention]) -> list[Mistake]:
    """Find the errors of one sentence; each missed or wrong mention is in exactly one.

    Args:
        gold: The gold mentions; a mention given twice counts once.
        predicted: The predicted mentions.

    Example:
        >>> legs = Mention("ADR", [(0, 2), (4, 5)])
        >>> [error.kind for error in find_errors([legs], [Mention("ADR", [(0, 5)])])]
        ['gap_missed']
    """
    truth, found = set(gold), set(predicted)
    missed, wrong = truth - found, found - truth
    if not missed and not wrong:
        return []
    errors = list(_wrong_labels(missed, wrong))
    _take(errors, missed, wrong)
    explained = {mention for error in errors for mention in error.gold + error.predicted}
    for cluster in _clusters(truth - explained, found - explained):
        if _is_divided_differently(*cluster):
            ours, theirs = cluster[0] & missed, cluster[1] & wrong
            errors.append(
                Mistake("set_split_or_merged", tuple(sorted(ours)), tuple(sorted(theirs)))
            )
    _take(errors, missed, wrong)
    errors.extend(_overlaps(missed, wrong))
    _take(errors, missed, wrong)
    errors.extend(Mistake("missed", gold=(mention,)) for mention in sorted(missed))
    errors.extend(Mistake("spurious", predicted=(mention,)) for mention in sorted(wrong))
    return errors


def _take(errors: Iterable[Mistake], missed: set[Mention], wrong: set[Mention]) -> None:
    """Remove the mentions of errors from those that are not yet explained."""
    for error in errors:
        missed.difference_update(error.gold)
        wrong.difference_update(error.predicted)


def _wrong_labels(missed: Iterable[Mention], wrong: Iterable[Mention]) -> Iterator[Mistake]:
    places: dict[tuple[Fragment, ...], list[Mention]] = {}
    for mention in sorted(wrong):
        places.setdefault(mention.fragments, []).append(mention)
    for mention in sorted(missed):
        if places.get(mention.fragments):
            yield Mistake("wrong_label", (mention,), (places[mention.fragments].pop(0),))


def _clusters(
    gold: set[Mention], predicted: set[Mention]
) -> Iterator[tuple[set[Mention], set[Mention]]]:
    """Yield the gold and the predicted mentions of one label that share words with each other."""
    together = sorted(gold | predicted)
    for label in sorted({mention.label for mention in together}):
        for group in group_mentions(each for each in together if each.label == label):
            yield gold.intersection(group), predicted.intersection(group)


def _is_divided_differently(gold: set[Mention], predicted: set[Mention]) -> bool:
    """Return whether both sides cover the same words with different numbers of mentions."""
    if not gold or not predicted or len(gold) == len(predicted):
        return False
    few, many = sorted((gold, predicted), key=len)
    covered, divided = _words(few), _words(many)
    return (
        divided <= covered
        and min(divided) == min(covered)
        and max(divided) == max(covered)
        and not any(_has_nested(side) for side in (gold, predicted))
    )


def _words(mentions: Iterable[Mention]) -> set[int]:
    return {word for mention in mentions for word in mention.words}


def _has_nested(mentions: Iterable[Mention]) -> bool:
    """Return whether all words of one mention are words of another."""
    return any(one <= other for one, other in permutations((set(m.words) for m in mentions), 2))


def _overlaps(missed: Iterable[Mention], wrong: Iterable[Mention]) -> Iterator[Mistake]:
    """Pair mentions of the same label one to one, those that share most words first."""
    candidates: list[tuple[float, Mention, Mention]] = []
    for mine in missed:
        words = set(mine.words)
        for other in wrong:
            if mine.label != other.label or other.end <= mine.start or mine.end <= other.start:
                continue
            shared = len(words.intersection(other.words))
            if shared:
                share = shared / len(words.union(other.words))
                candidates.append((-share, mine, other))
    paired: set[Mention] = set()
    for _, mine, other in sorted(candidates):
        if mine not in paired and other not in paired:
            paired.update((mine, other))
            yield Mistake(_kind_of_overlap(mine, other), (mine,), (other,))


def _kind_of_overlap(gold: Mention, predicted: Mention) -> str:
    if gold.discontinuous != predicted.discontinuous:
        return "gap_missed" if gold.discontinuous else "gap_invented"
    mine, other = set(gold.fragments), set(predicted.fragments)
    shared = mine & other
    if shared and max(len(mine), len(other)) - len(shared) <= 1:
        return "one_component_wrong"
    return "boundary"
