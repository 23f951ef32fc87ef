"""Silver slot names: in a mention set, the slot with a body part in it is slot x."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from discotag.errors import InputError
from discotag.lexicon.lexicon import Lexicon
from discotag.mentions import Mention, Sentence
from discotag.scheme import IncompatibleError, MentionSet, Scheme

BODY_PART: Final = 0
"""The slot of body parts: the paper's x. With two slots the other one, y, is that of events."""


def silver_slots(
    words: Sequence[str], mentions: Iterable[Mention], lexicon: Lexicon, scheme: Scheme
) -> dict[int, int]:
    """Return the slots of words that the lexicon knows, for `known_slots` of `TaggingLayer.loss`.

    A component that contains a term is a body part, and so are all components of its slot. One such
    component names its mention set. If components of several slots contain terms, the set is not
    named.

    Args:
        words: The words of the sentence.
        mentions: The mentions of the sentence.
        lexicon: The body parts.
        scheme: A scheme with semantic naming.

    Returns:
        The slots of words in named sets: 0 (x) for body parts. With two slots, the other words of
        the set are in slot 1 (y); with more slots they are left out, because their slot is unknown.

    Raises:
        InputError: The scheme has structural naming.
        IncompatibleError: The mentions do not fit the scheme.

    Example:
        >>> scheme = Scheme(("ADR",), naming="semantic")
        >>> mentions = [Mention("ADR", [(0, 1), (2, 3)])]
        >>> silver_slots("painful my toes".split(), mentions, Lexicon(["toe"]), scheme)
        {0: 1, 2: 0}
    """
    if scheme.structural:
        raise InputError(
            "a scheme with structural naming has no slot for body parts; use naming='semantic'"
        )
    known: dict[int, int] = {}
    for group in scheme.layers(len(words), mentions).sets:
        matched = _matched_slots(words, group, lexicon)
        if len(matched) != 1:
            continue
        for (start, end), slot in group.components:
            if slot in matched:
                known.update(dict.fromkeys(range(start, end), BODY_PART))
            elif scheme.slots == 2:
                known.update(dict.fromkeys(range(start, end), 1 - BODY_PART))
    return known


@dataclass(frozen=True, slots=True)
class SilverCounts:
    """How many mention sets of a corpus a lexicon names.

    Attributes:
        named: Sets with terms in exactly one slot.
        unnamed: Sets without any term.
        contradictory: Sets with terms in several slots.
        left_out: Sentences that do not fit the scheme; their sets are not counted.
    """

    named: int
    unnamed: int
    contradictory: int
    left_out: int

    @property
    def sets(self) -> int:
        """The number of sets."""
        return self.named + self.unnamed + self.contradictory


def count_silver(sentences: Iterable[Sentence], lexicon: Lexicon, scheme: Scheme) -> SilverCounts:
    """Count the mention sets of a corpus that a lexicon names.

    Example:
        >>> toes = Sentence("toes are painful".split(), [Mention("ADR", [(0, 1), (2, 3)])])
        >>> count_silver([toes], Lexicon(["toe"]), Scheme(("ADR",))).named
        1
    """
    named = unnamed = contradictory = left_out = 0
    for sentence in sentences:
        try:
            layers = scheme.layers(len(sentence.words), sentence.mentions)
        except IncompatibleError:
            left_out += 1
            continue
        for group in layers.sets:
            matched = len(_matched_slots(sentence.words, group, lexicon))
            named += matched == 1
            unnamed += matched == 0
            contradictory += matched > 1
    return SilverCounts(named, unnamed, contradictory, left_out)


def _matched_slots(words: Sequence[str], group: MentionSet, lexicon: Lexicon) -> set[int]:
    """Return the slots of a mention set that have a component with a term in it."""
    return {slot for (start, end), slot in group.components if lexicon.find(words[start:end])}
