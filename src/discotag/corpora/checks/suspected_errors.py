"""Find suspected annotation errors from the way mentions share words and gaps.

The rules follow Corro (2024), section "Discontinuity Analysis", which found annotation errors among
the sentences that its scheme cannot represent. They prefer missing an error to a false alarm, and
none of them is certain: a person should look at each finding.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Final

from discotag.mentions import Fragment, Mention, Sentence
from discotag.scheme import IncompatibleError
from discotag.scheme.layers import find_layers
from discotag.scheme.tags import SLOT_NAMES

RULES: Final = {
    "joined_alternatives": "a mention leaves out only a word like 'and': two alternatives "
    "seem to be joined ('A and B C': 'A B C')",
    "shared_part_alone": "one alternative is a mention with the shared part; the other "
    "mention is the shared part alone ('A and B C': 'A C' and 'C')",
    "shared_part_missing": "one alternative is a mention with the shared part, the other "
    "without it ('A and B C': 'A C' and 'B')",
    "nearer_words_missing": "a mention that continues after a gap has words that the nearer one "
    "leaves out ('A B C and D': 'A B D' and 'B C')",
    "odd_one_out": "all mentions that share words here have a part in common, except for one",
    "combination_missing": "all combinations of these components are mentions, except for one",
}
"""The rules, each with an explanation and an example: A to D are one or more words. Each rule also
applies in the reverse order of words."""

COORDINATORS: Final = frozenset({"and", "or", "nor", "and/or", "&", "/"})
"""English words between alternatives; they may follow a comma."""

MOST_MISSING_WORDS: Final = 3
"""The longest part that may have been left out: longer ones are seldom one of two alternatives."""

MAJORITY: Final = 3
"""The number of mentions that must agree for another to be odd. With two, the odd one may well be
right: of the three such groups in CRAFT, none was an error."""

MOST_IN_GROUP: Final = 12
"""The largest group that is searched: the time grows with the number of triples."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Mentions that look wrong.

    Attributes:
        rule: One of `RULES`.
        mentions: The mentions that contradict each other; the first one looks wrong.
        instead: The mention expected in its place or in addition; None if that is not clear.
    """

    rule: str
    mentions: tuple[Mention, ...]
    instead: Mention | None


def find_suspicions(sentence: Sentence) -> list[Suspicion]:
    """Find the mentions of a sentence that look wrong.

    Example:
        >>> words = "hepatic and cardiac failure".split()
        >>> both = [Mention("ADR", [(0, 1), (2, 4)]), Mention("ADR", [(2, 4)])]
        >>> suspicion, = find_suspicions(Sentence(words, both))
        >>> suspicion.rule, suspicion.instead.fragments
        ('joined_alternatives', ((0, 1), (3, 4)))
    """
    mentions = tuple(dict.fromkeys(sentence.mentions))
    length = len(sentence.words)
    problems = find_layers(length, mentions, len(SLOT_NAMES), True)[1]
    if not problems and not any(mention.discontinuous for mention in mentions):
        return []
    words = [word.lower() for word in sentence.words]
    found: list[Suspicion] = []
    starts = [mention.start for mention in mentions]
    for mention in mentions:
        if mention.discontinuous:
            near = mentions[bisect_left(starts, mention.start) : bisect_left(starts, mention.end)]
            others = [other for other in near if other.label == mention.label]
            found += _joined_alternatives(words, mention, others)
            found += _around_gaps(words, mention, others, mentions)
    for problem in problems:
        found += _in_group(length, problem)
    return found


def _joined_alternatives(
    words: Sequence[str], mention: Mention, others: Sequence[Mention]
) -> Iterator[Suspicion]:
    for left, right in pairwise(mention.fragments):
        # After a comma a new clause may begin, and the mention be right.
        if not COORDINATORS.issuperset(words[left[1] : right[0]]):
            continue
        instead: Mention | None = None
        beside = [mention]
        for other in others:
            if other == mention or not {left, right}.intersection(other.fragments):
                continue
            beside.append(other)
            # Of two words, the one next to the coordinator is the alternative; the other is shared.
            if other.fragments == (right,) and right[1] - right[0] == 2:
                instead = _without(mention, right[0])
            elif other.fragments == (left,) and left[1] - left[0] == 2:
                instead = _without(mention, left[1] - 1)
        yield Suspicion("joined_alternatives", tuple(beside), instead)
        return


def _around_gaps(
    words: Sequence[str],
    mention: Mention,
    others: Sequence[Mention],
    everywhere: Sequence[Mention],
) -> Iterator[Suspicion]:
    """Find continuous mentions that lack words next to the gaps of a discontinuous one."""
    for left, right in pairwise(mention.fragments):
        for other in others:
            if other.discontinuous:
                continue
            start, end = fragment = other.fragments[0]
            rule, expected = "", fragment
            if len(mention.fragments) == 2:
                if fragment == right:
                    rule = "shared_part_alone"
                    expected = (_after_coordinator(words, left[1], right[0]), end)
                elif fragment == left:
                    rule = "shared_part_alone"
                    expected = (start, _before_coordinator(words, left[1], right[0]))
                elif end == right[0] and _coordinates(words[left[1] : start]):
                    rule, expected = "shared_part_missing", (start, right[1])
                elif start == left[1] and _coordinates(words[end : right[0]]):
                    rule, expected = "shared_part_missing", (left[0], end)
            if left[0] < start < left[1] < end <= right[0]:
                rule, expected = "nearer_words_missing", (left[0], end)
            elif left[1] <= start < right[0] < end < right[1]:
                rule, expected = "nearer_words_missing", (start, right[1])
            if expected != fragment and _is_new(expected, fragment, mention, everywhere):
                instead = Mention(mention.label, (expected,))
                yield Suspicion(rule, (other, mention), instead)


def _after_coordinator(words: Sequence[str], start: int, end: int) -> int:
    """Return the start of the words after a gap's coordinator; `end` if it has none."""
    return _edge(list(range(start, end)), words, end)


def _before_coordinator(words: Sequence[str], start: int, end: int) -> int:
    """Return the end of the words before a gap's coordinator; `start` if it has none."""
    edge = _edge(list(range(end - 1, start - 1, -1)), words, start - 1)
    return edge + 1


def _edge(places: Sequence[int], words: Sequence[str], otherwise: int) -> int:
    """Return the first place after the coordinator, if only a few other words follow it."""
    number = 0
    while number < len(places) and _is_coordinating(words[places[number]]):
        number += 1
    rest = places[number:]
    plain = not any(_is_coordinating(words[place]) for place in rest)
    if not plain or not 0 < len(rest) <= MOST_MISSING_WORDS:
        return otherwise
    return rest[0] if _coordinates([words[place] for place in places[:number]]) else otherwise


def _is_new(
    expected: Fragment, fragment: Fragment, mention: Mention, others: Sequence[Mention]
) -> bool:
    """Return whether no other mention has any of the words that seem to be missing."""
    missing = set(range(*expected)) - set(range(*fragment)) - set(mention.words)
    whole = set(range(*expected))
    return not any(
        missing.intersection(other.words) or whole.issubset(other.words) for other in others
    )


def _in_group(length: int, problem: IncompatibleError) -> Iterator[Suspicion]:
    group = problem.mentions
    shape = problem.reason in ("uneven_components", "not_a_product")
    if not shape or len(group) > MOST_IN_GROUP:
        return
    if len(group) > MAJORITY:
        for odd in group:
            instead = _as_the_rest(length, odd, [other for other in group if other != odd])
            if instead is not None:
                yield Suspicion("odd_one_out", (odd, *(m for m in group if m != odd)), instead)
                return
    for triple in permutations(group, 3):
        first, second, third = (set(mention.words) for mention in triple)
        words = (second - first) | (third - first) | (first & second & third)
        if not words:
            continue
        extra = _mention(group[0].label, words)
        if extra not in group and _is_one_set(length, [*group, extra]):
            yield Suspicion("combination_missing", group, extra)
            return


def _as_the_rest(length: int, odd: Mention, rest: Sequence[Mention]) -> Mention | None:
    """Add to the odd mention what the rest has in common; None if they form no mention set."""
    if not _is_one_set(length, rest):
        return None
    common = set(rest[0].words).intersection(*(mention.words for mention in rest[1:]))
    instead = _mention(odd.label, common.union(odd.words))
    if instead in (odd, *rest) or not _is_one_set(length, [*rest, instead]):
        return None
    return instead


def _is_one_set(length: int, mentions: Sequence[Mention]) -> bool:
    layers, problems = find_layers(length, mentions, len(SLOT_NAMES), True)
    return not problems and len(layers.sets) == 1 and not layers.continuous


def _mention(label: str, words: set[int]) -> Mention:
    return Mention(label, tuple((word, word + 1) for word in sorted(words)))


def _without(mention: Mention, word: int) -> Mention:
    return _mention(mention.label, set(mention.words) - {word})


def _is_coordinating(word: str) -> bool:
    return word in COORDINATORS or word == ","


def _coordinates(words: Sequence[str]) -> bool:
    """Return whether these words are a coordinator, with or without a comma."""
    return all(map(_is_coordinating, words)) and not COORDINATORS.isdisjoint(words)
