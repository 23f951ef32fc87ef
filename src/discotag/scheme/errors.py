"""Errors of schemes: invalid schemes, mentions that do not fit, ill-formed tags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from discotag.errors import InputError
from discotag.mentions import Mention

REASONS: Final = {
    "same_words": "the same mention is given twice",
    "mixed_labels": "mentions that share words have different labels",
    "uneven_components": "mentions that share words fall into different numbers of components",
    "not_a_product": "not every combination of the components is a mention",
    "too_many_slots": "the mentions need more slots than the scheme has",
    "mention_in_gap": "a continuous mention is in a gap, and the scheme has no gap mentions",
    "interleaved_sets": "two mention sets overlap without sharing a word",
}
"""The reasons why mentions cannot be encoded, each with an explanation."""


class SchemeError(InputError):
    """A scheme with invalid settings, or one whose grammar would be too large."""


class UnknownLabelError(InputError):
    """A mention with a label that the scheme does not have."""


class UnknownTagError(InputError):
    """A tag that the scheme does not have."""

    def __init__(self, position: int, tag: object, known: Iterable[str]) -> None:
        super().__init__(f"word {position}: {tag!r} is not a tag of this scheme: {' '.join(known)}")
        self.position = position
        self.tag = tag
        self.known = tuple(known)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.position, self.tag, self.known)


class IncompatibleError(InputError):
    """Mentions that no tag sequence of the scheme can encode.

    Attributes:
        reason: One of `REASONS`.
        mentions: The mentions that cannot be encoded together, sorted.
    """

    def __init__(self, reason: str, mentions: Iterable[Mention]) -> None:
        self.reason = reason
        self.mentions = tuple(sorted(mentions))
        shown = ", ".join(map(str, self.mentions))
        super().__init__(f"{reason}: {REASONS[reason]}: {shown}")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.reason, self.mentions)


class IllFormedError(InputError):
    """A tag sequence that breaks a rule of the scheme.

    Attributes:
        position: The word at which the rule is broken: the word whose tag is not allowed there,
            or the last word of a mention set that must not end there.
        rule: The number of the rule.
    """

    def __init__(self, position: int, rule: int, text: str, tag: str) -> None:
        super().__init__(f"word {position} ({tag}) breaks rule {rule}: {text}")
        self.position = position
        self.rule = rule
        self.text = text
        self.tag = tag

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.position, self.rule, self.text, self.tag)
