"""What formats refuse to write, because they have no way to say it."""

from __future__ import annotations

from collections.abc import Collection

from discotag.corpora.parsing.problems import CorpusError, Problem


class Unwritable(CorpusError):
    """Something that a format has no way to say."""


def unwritable(format: str, what: str) -> Unwritable:
    """The error for something that a format has no way to say.

    Example:
        >>> print(unwritable("inline", "a sentence without words"))
        inline: the format cannot hold a sentence without words
    """
    return Unwritable(Problem("syntax", f"the format cannot hold {what}", format))


def check_words(words: Collection[str], format: str) -> None:
    """Refuse a sentence without words, and words that white space cannot stand between.

    Raises:
        Unwritable: There is no word, or one has white space in it or no character.
    """
    if not words:
        raise unwritable(format, "a sentence without words")
    for word in words:
        if word.split() != [word]:
            raise unwritable(format, f"the word {word!r}, which has white space in it or is empty")


def check_label(label: str, format: str) -> None:
    """Refuse a label with white space in it.

    Raises:
        Unwritable: It has some.
    """
    if label.split() != [label]:
        raise unwritable(format, f"the label {label!r}, which has white space in it")
