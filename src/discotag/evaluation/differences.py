"""Kinds of differences: a partition of the mentions that only one of two sides has.

If one side is the gold, these are the kinds of errors of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Final

from discotag.evaluation.alignment import GOLD_AND_PREDICTIONS, Names
from discotag.mentions import Fragment, Mention
from discotag.scheme.layers import group_mentions

KINDS: Final = {
    "wrong_label": "the same fragments, with another label",
    "set_split_or_merged": "the same words, divided into more or fewer mentions",
    "gap_missed": "discontinuous in {0}, continuous in {1}",
    "gap_invented": "continuous in {0}, discontinuous in {1}",
    "one_component_wrong": "both discontinuous, all fragments the same but one",
    "boundary": "some words are the same, others differ",
    "missed": "in {0}, without a counterpart in {1}",
    "spurious": "in {1}, without a counterpart in {0}",
}
"""The kinds of differences in order of precedence, each with a description of the two sides. Their
names are those of errors, where the first side is the gold."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Mentions of one side, of the other, or of both, that are explained together.

    `missed` has one mention of the first side, `spurious` one of the second, `set_split_or_merged`
    any number of both, but at least one; every other kind has one of each.
    """

    kind: str
    first: tuple[Mention, ...] = ()
    second: tuple[Mention, ...] = ()


def describe_kinds(names: Names = GOLD_AND_PREDICTIONS) -> dict[str, str]:
    """Return a description of each kind, in their order.

    Example:
        >>> describe_kinds(("a.jsonl", "b.jsonl"))["missed"]
        'in a.jsonl, without a counterpart in b.jsonl'
    """
    return {kind: about.format(*names) for kind, about in KINDS.items()}


def find_differences(first: Iterable[Mention], second: Iterable[Mention]) -> list[Difference]:
    """Find the differences of one sentence; each mention of one side only is in exactly one.

    Args:
        first: The mentions of the first side, such as the gold; one given twice counts once.
        second: The mentions of the second side, such as predictions.

    Example:
        >>> legs = Mention("ADR", [(0, 2), (4, 5)])
        >>> [each.kind for each in find_differences([legs], [Mention("ADR", [(0, 5)])])]
        ['gap_missed']
    """
    mine, theirs = set(first), set(second)
    missed, wrong = mine - theirs, theirs - mine
    if not missed and not wrong:
        return []
    found = list(_wrong_labels(missed, wrong))
    _take(found, missed, wrong)
    explained = {mention for each in found for mention in each.first + each.second}
    for cluster in _clusters(mine - explained, theirs - explained):
        if _is_divided_differently(*cluster):
            sides = (tuple(sorted(cluster[0] & missed)), tuple(sorted(cluster[1] & wrong)))
            found.append(Difference("set_split_or_merged", *sides))
    _take(found, missed, wrong)
    found.extend(_overlaps(missed, wrong))
    _take(found, missed, wrong)
    found.extend(Difference("missed", first=(mention,)) for mention in sorted(missed))
    found.extend(Difference("spurious", second=(mention,)) for mention in sorted(wrong))
    return found


def _take(found: Iterable[Difference], missed: set[Mention], wrong: set[Mention]) -> None:
    """Remove the mentions of differences from those that are not yet explained."""
    for each in found:
        missed.difference_update(each.first)
        wrong.difference_update(each.second)


def _wrong_labels(missed: Iterable[Mention], wrong: Iterable[Mention]) -> Iterator[Difference]:
    places: dict[tuple[Fragment, ...], list[Mention]] = {}
    for mention in sorted(wrong):
        places.setdefault(mention.fragments, []).append(mention)
    for mention in sorted(missed):
        if places.get(mention.fragments):
            yield Difference("wrong_label", (mention,), (places[mention.fragments].pop(0),))


def _clusters(
    first: set[Mention], second: set[Mention]
) -> Iterator[tuple[set[Mention], set[Mention]]]:
    """Yield the mentions of both sides of one label that share words with each other."""
    together = sorted(first | second)
    for label in sorted({mention.label for mention in together}):
        for group in group_mentions(each for each in together if each.label == label):
            yield first.intersection(group), second.intersection(group)


def _is_divided_differently(first: set[Mention], second: set[Mention]) -> bool:
    """Return whether both sides cover the same words with different numbers of mentions."""
    if not first or not second or len(first) == len(second):
        return False
    few, many = sorted((first, second), key=len)
    covered, divided = _words(few), _words(many)
    return (
        divided <= covered
        and min(divided) == min(covered)
        and max(divided) == max(covered)
        and not any(_has_nested(side) for side in (first, second))
    )


def _words(mentions: Iterable[Mention]) -> set[int]:
    return {word for mention in mentions for word in mention.words}


def _has_nested(mentions: Iterable[Mention]) -> bool:
    """Return whether all words of one mention are words of another."""
    return any(one <= other for one, other in permutations((set(m.words) for m in mentions), 2))


def _overlaps(missed: Iterable[Mention], wrong: Iterable[Mention]) -> Iterator[Difference]:
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
            yield Difference(_kind_of_overlap(mine, other), (mine,), (other,))


def _kind_of_overlap(first: Mention, second: Mention) -> str:
    if first.discontinuous != second.discontinuous:
        return "gap_missed" if first.discontinuous else "gap_invented"
    mine, other = set(first.fragments), set(second.fragments)
    shared = mine & other
    if shared and max(len(mine), len(other)) - len(shared) <= 1:
        return "one_component_wrong"
    return "boundary"
