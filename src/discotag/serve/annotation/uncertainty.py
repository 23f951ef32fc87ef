"""Which documents are the most useful to correct: those where the model expects to be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from discotag.mentions import Document, Mention

EFFORT: Final = 20
"""Words that opening a document costs, besides reading its own."""


def expected_mistakes(document: Document, found: Sequence[Sequence[Mention]]) -> float:
    """Return the expected number of wrong mentions among those found.

    Sentences with mentions of the corpus are left out: the model proposes nothing there.
    """
    return sum(
        1 - (mention.score or 0)
        for sentence, mentions in zip(document.sentences, found, strict=True)
        if not sentence.mentions
        for mention in mentions
    )


def usefulness(mistakes: float, words: int) -> float:
    """Return the expected number of mistakes per word of reading effort."""
    return mistakes / (words + EFFORT)
