"""Marks: labels on characters of a text, before they become mentions of words."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from discotag.mentions import Document, Fragment, MentionError, Sentence

Flaw = Literal["syntax", "outside", "inverted", "empty", "overlapping", "widened"]
"""What can be wrong with a mark; these are also kinds of problems in `discotag.corpora`."""

Unit = Literal["characters", "words"]

WHOLE: Final = {"characters": "text", "words": "sentence"}
"""What fragments of each unit are part of."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A label on characters of a text.

    Attributes:
        label: The label of the mention.
        fragments: Half-open character ranges.
        score: The probability that a model gave to the mention.
        line: The line of the file that the mark was read from.
    """

    label: str
    fragments: tuple[Fragment, ...]
    score: float | None = None
    line: int | None = None


Complain = Callable[[Marked, Flaw, str], None]
"""Called for a mark that does not fit the text, with the mark, the flaw and a message."""


def refuse(marked: Marked, flaw: Flaw, message: str) -> None:
    """Raise `MentionError`, except for a mark that could be widened to whole words."""
    if flaw != "widened":
        raise MentionError(message)


def find_flaw(
    label: str, fragments: Iterable[Fragment], length: int, unit: Unit
) -> tuple[Flaw, str] | None:
    """Return the flaw that keeps a label and fragments from being a mention, with a message.

    Args:
        label: The label.
        fragments: Half-open ranges, in order. Sort them first where the order does not matter.
        length: The number of characters of the text, or of words of the sentence.
        unit: What the fragments count.

    Returns:
        None if there is no flaw.

    Example:
        >>> find_flaw("ADR", [(0, 2), (1, 3)], 5, "words")
        ('overlapping', 'fragment 1:3 begins before the previous one ends')
    """
    if not label or not label.isprintable():
        return "syntax", f"a mention needs a printable label, got {label!r}"
    passed = None
    for start, end in fragments:
        if start > end:
            return "inverted", f"fragment {start}:{end} ends before it starts"
        if start == end:
            return "empty", f"fragment {start}:{end} is empty"
        if start < 0 or end > length:
            whole = WHOLE[unit]
            message = f"fragment {start}:{end} is outside the {whole}, which has {length} {unit}"
            return "outside", message
        if passed is not None and start < passed:
            return "overlapping", f"fragment {start}:{end} begins before the previous one ends"
        passed = end
    return ("empty", f"it covers no {unit}") if passed is None else None


def join_ranges(ranges: Sequence[Fragment], marks: Iterable[Marked]) -> list[Fragment]:
    """Join neighbouring ranges, such as sentences, that one mark reaches across.

    Args:
        ranges: Character ranges, in order, that do not overlap.
        marks: The marks.

    Example:
        >>> join_ranges([(0, 4), (5, 9), (10, 12)], [Marked("ADR", ((2, 3), (6, 7)))])
        [(0, 9), (10, 12)]
    """
    starts = [start for start, _ in ranges]
    ends = [end for _, end in ranges]
    last = list(range(len(ranges)))  # for each range, the last that is joined to it
    for mark in marks:
        first = bisect_right(ends, mark.fragments[0][0])
        reached = bisect_left(starts, mark.fragments[-1][1]) - 1
        if first < reached:
            last[first] = max(last[first], reached)
    joined: list[Fragment] = []
    number = 0
    while number < len(ranges):
        reach, until = number, last[number]
        while reach < until:
            reach += 1
            until = max(until, last[reach])
        joined.append((starts[number], ends[reach]))
        number = reach + 1
    return joined


def word_runs(
    fragments: Iterable[Fragment], starts: Sequence[int], ends: Sequence[int]
) -> tuple[Fragment, ...]:
    """Return the runs of words that character ranges cover or cut.

    Args:
        fragments: Character ranges, in order.
        starts: The character at which each word begins, in order.
        ends: The character at which each word ends.

    Returns:
        Half-open runs of words. A fragment of white space has no run; two fragments that cut the
        same word share one.

    Example:
        >>> word_runs([(0, 4), (5, 9), (14, 19)], [0, 5, 10, 14], [4, 9, 13, 19])
        ((0, 2), (3, 4))
    """
    runs: list[Fragment] = []
    for start, end in fragments:
        first, last = bisect_right(ends, start), bisect_left(starts, end)
        if first >= last:
            continue
        if runs and first <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(last, runs[-1][1]))
        else:
            runs.append((first, last))
    return tuple(runs)


def spelled(document: Document) -> tuple[str, list[Marked]]:
    """Return a document as text and marks on its characters.

    A document without text is written with spaces between words, and one sentence per line.

    Example:
        >>> from discotag import Mention
        >>> toes = Sentence(["toes", "are", "painful"], [Mention("ADR", [(0, 1), (2, 3)])])
        >>> spelled(Document([toes]))[0]
        'toes are painful'
    """
    if document.text is None:
        document = _written_out(document)
    assert document.text is not None
    return document.text, [
        Marked(mention.label, sentence.characters(mention), mention.score)
        for sentence in document.sentences
        for mention in sentence.mentions
    ]


def _written_out(document: Document) -> Document:
    lines: list[Sentence] = []
    start = 0
    for sentence in document.sentences:
        offsets, passed = [], 0
        for word in sentence.words:
            offsets.append((passed, passed + len(word)))
            passed += len(word) + 1
        text = " ".join(sentence.words)
        lines.append(
            Sentence(sentence.words, sentence.mentions, text=text, offsets=tuple(offsets),
                     start=start)
        )  # fmt: skip
        start += len(text) + 1
    return Document(tuple(lines), text="\n".join(line.text or "" for line in lines), id=document.id)
