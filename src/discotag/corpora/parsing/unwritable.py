"""Checks before writing: what a format cannot represent."""

from __future__ import annotations

from collections.abc import Collection

from discotag.corpora.parsing.problems import CorpusError, Problem


class UnwritableError(CorpusError):
    """A part of a document that a format cannot represent."""


def unwritable(format: str, what: str) -> UnwritableError:
    """Return the error for something that a format cannot represent.

    Example:
        >>> print(unwritable("inline", "a sentence without words"))
        inline: the format cannot represent a sentence without words
    """
    return UnwritableError(Problem("syntax", f"the format cannot represent {what}", format))


def check_words(words: Collection[str], format: str) -> None:
    """Raise if words cannot be separated by white space, or if there are none.

    Raises:
        UnwritableError: There are no words, or a word is empty or has white space in it.
    """
    if not words:
        raise unwritable(format, "a sentence without words")
    for word in words:
        if word.split() != [word]:
            raise unwritable(format, f"the word {word!r}, which has white space in it or is empty")


def check_label(label: str, format: str) -> None:
    """Raise if a label has white space in it.

    Raises:
        UnwritableError: The label has white space in it.
    """
    if label.split() != [label]:
        raise unwritable(format, f"the label {label!r}, which has white space in it")
