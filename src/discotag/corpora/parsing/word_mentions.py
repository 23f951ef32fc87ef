"""Mentions as formats give them in words of a sentence: checked, duplicates reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from discotag.marks import find_flaw
from discotag.mentions import Fragment, Mention

Tell = Callable[[str, str], None]
"""Called with the kind of a problem and a message."""


class Candidate(NamedTuple):
    """A mention as a file gives it, which may have a flaw.

    Attributes:
        name: What messages call it.
        label: Its label.
        fragments: Half-open word ranges, in order.
        score: The probability that a model gave to it.
    """

    name: str
    label: str
    fragments: tuple[Fragment, ...]
    score: float | None = None


def good_mentions(candidates: Iterable[Candidate], length: int, tell: Tell) -> tuple[Mention, ...]:
    """Return the candidates that are valid mentions, and report flaws and duplicates.

    Args:
        candidates: The candidates.
        length: The number of words of the sentence.
        tell: Called for each candidate that is left out, and for each that is given twice.

    Example:
        >>> pain = Candidate("T1", "ADR", ((3, 9),))
        >>> good_mentions([pain], 5, print)
        outside T1: fragment 3:9 is outside the sentence, which has 5 words
        ()
    """
    kept: list[Mention] = []
    seen: set[Mention] = set()
    for name, label, fragments, score in candidates:
        flaw = find_flaw(label, fragments, length, "words")
        if flaw is not None:
            tell(flaw[0], f"{name}: {flaw[1]}")
            continue
        mention = Mention(label, fragments, score=score)
        if mention in seen:
            tell("duplicate", f"{name}: the same mention is given twice")
        seen.add(mention)
        kept.append(mention)
    return tuple(kept)
