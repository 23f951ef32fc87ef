"""What went wrong: a partition of the gold mentions not found and the predicted that are wrong."""

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
    "boundary": "shared words, and other words besides",
    "missed": "a gold mention that no predicted one was paired with",
    "spurious": "a predicted mention that no gold one was paired with",
}
"""Each kind of error, in order of precedence, and what it means."""

EXAMPLES: Final = 3
"""Examples that are kept of each kind."""


@dataclass(frozen=True, slots=True)
class Error:
    """Gold mentions not found and wrong predicted mentions that explain each other.

    `missed` has one gold mention, `spurious` one predicted, `set_split_or_merged` any number of
    both, at least one in all; every other kind has one of each.
    """

    kind: str
    gold: tuple[Mention, ...] = ()
    predicted: tuple[Mention, ...] = ()


@dataclass(slots=True)
class KindCount:
    """How often one kind of error occurs, and its first examples."""

    gold: int = 0
    predicted: int = 0
    examples: list[tuple[Pair, Error]] = field(default_factory=list)


def count_errors(pairs: Iterable[Pair]) -> dict[str, KindCount]:
    """The errors of all sentences, by kind.

    The gold counts of all kinds add up to the gold mentions not found, the predicted counts to
    the predicted mentions that are wrong.
    """
    counts = {kind: KindCount() for kind in KINDS}
    for pair in pairs:
        for error in find_errors(pair.gold, pair.predicted):
            count = counts[error.kind]
            count.gold += len(error.gold)
            count.predicted += len(error.predicted)
            if len(count.examples) < EXAMPLES:
                count.examples.append((pair, error))
    return counts


def find_errors(gold: Iterable[Mention], predicted: Iterable[Mention]) -> list[Error]:
    """The errors of one sentence; each wrong mention is in exactly one.

    Args:
        gold: The gold mentions; a set, as for the scores.
        predicted: The predicted ones.

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
            errors.append(Error("set_split_or_merged", tuple(sorted(ours)), tuple(sorted(theirs))))
    _take(errors, missed, wrong)
    errors.extend(_overlaps(missed, wrong))
    _take(errors, missed, wrong)
    errors.extend(Error("missed", gold=(mention,)) for mention in sorted(missed))
    errors.extend(Error("spurious", predicted=(mention,)) for mention in sorted(wrong))
    return errors


def _take(errors: Iterable[Error], missed: set[Mention], wrong: set[Mention]) -> None:
    """Take from what is left to explain what these errors do."""
    for error in errors:
        missed.difference_update(error.gold)
        wrong.difference_update(error.predicted)


def _wrong_labels(missed: Iterable[Mention], wrong: Iterable[Mention]) -> Iterator[Error]:
    places: dict[tuple[Fragment, ...], list[Mention]] = {}
    for mention in sorted(wrong):
        places.setdefault(mention.fragments, []).append(mention)
    for mention in sorted(missed):
        if places.get(mention.fragments):
            yield Error("wrong_label", (mention,), (places[mention.fragments].pop(0),))


def _clusters(
    gold: set[Mention], predicted: set[Mention]
) -> Iterator[tuple[set[Mention], set[Mention]]]:
    """Yield the gold and the predicted mentions of one label that share words with each other."""
    together = sorted(gold | predicted)
    for label in sorted({mention.label for mention in together}):
        for group in group_mentions(each for each in together if each.label == label):
            yield gold.intersection(group), predicted.intersection(group)


def _is_divided_differently(gold: set[Mention], predicted: set[Mention]) -> bool:
    """Whether both sides mean the same words, but by more mentions on one than on the other."""
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
    """Whether one of the mentions lies wholly inside another."""
    return any(one <= other for one, other in permutations((set(m.words) for m in mentions), 2))


def _overlaps(missed: Iterable[Mention], wrong: Iterable[Mention]) -> Iterator[Error]:
    """Pairs of the same label, each mention in one at most, those that share most words first."""
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
            yield Error(_kind_of_overlap(mine, other), (mine,), (other,))


def _kind_of_overlap(gold: Mention, predicted: Mention) -> str:
    if gold.discontinuous != predicted.discontinuous:
        return "gap_missed" if gold.discontinuous else "gap_invented"
    mine, other = set(gold.fragments), set(predicted.fragments)
    shared = mine & other
    if shared and max(len(mine), len(other)) - len(shared) <= 1:
        return "one_component_wrong"
    return "boundary"
