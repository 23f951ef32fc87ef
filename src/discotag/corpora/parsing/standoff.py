"""Annotations that point into a text: what BioC, bigbio and Knowtator have in common.

The text of a document comes in pieces (passages, sentences), each with the offset it stands at. It
is put together so that every piece does stand there, with line ends in between. Annotations
name characters of it, and mostly the text they expect to find there, which is checked.

Offsets are read as characters. Some tools count bytes of UTF-8 or units of UTF-16 instead. Where
the texts of a document's annotations prove that, because they all fit then and do not
otherwise, it is read so, with a warning of the kind `offset_unit`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from discotag.corpora.parsing.files import MAX_LINE
from discotag.corpora.parsing.problems import Problem, Report, shown
from discotag.corpora.parsing.unwritable import check_words, unwritable
from discotag.marks import Flaw, Marked, find_flaw, join_ranges, spelled
from discotag.mentions import Document, Fragment, Sentence
from discotag.words import Splitter

MAX_GAP: Final = 1 << 20
"""Characters between two pieces; a document with a larger hole has a wrong offset."""

NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")

UNITS: Final = {"bytes of UTF-8": ("utf-8", 1), "units of UTF-16": ("utf-16-le", 2)}
"""What offsets may count if not characters: the encoding, and the bytes in a unit."""


Reference = tuple[str, str, int | None]
"""Who refers, the id of what it refers to, and the line of the file."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that stands at an offset of its document."""

    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A label on a document's text, as a file gives it.

    Attributes:
        name: What messages call it.
        label: What kind of mention this is.
        fragments: Half-open ranges of offsets.
        texts: What should stand there: for each fragment, or for all of them in one; or nothing.
        line: The line of the file.
    """

    name: str
    label: str
    fragments: tuple[Fragment, ...]
    texts: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The document of a file, before it is cut into words.

    Attributes:
        id: The name of the document.
        pieces: Its text.
        annotations: What is marked in it.
        path: The file.
        line: The line of the file at which it begins.
    """

    id: str | None
    pieces: Sequence[Piece]
    annotations: Sequence[Annotation]
    path: str
    line: int | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return "the document" if self.id is None else f"document {shown(self.id)}"


def assembled(source: Source, splitter: Splitter, report: Report) -> Document | None:
    r"""The document: its text put together, its annotations checked.

    A piece never shares a sentence with another, unless a mention reaches across them.

    Returns:
        None if the text or id has halves of surrogate pairs in it.

    Example:
        >>> from discotag.corpora.parsing.problems import strict
        >>> pieces = [Piece(0, "Case 7"), Piece(7, "Sore toes.")]
        >>> source = Source("7", pieces, [Annotation("T1", "ADR", ((7, 16),))], "7.xml")
        >>> document = assembled(source, Splitter(), strict)
        >>> document.text, document.mentions[0].text
        ('Case 7\nSore toes.', 'Sore toes')
    """
    try:
        "".join((source.id or "", *(piece.text for piece in source.pieces))).encode()
    except UnicodeEncodeError:
        message = f"{source.name}: half of a surrogate pair stands for no character"
        report(Problem("encoding", message, source.path, source.line))
        return None
    layout, marked = _marks(source, report)

    def complain(mark: Marked, flaw: Flaw, message: str) -> None:
        report(Problem(flaw, message, source.path, mark.line))

    place = source.path, source.line
    if splitter.sentences == "whole" or len(layout.ranges) < 2:
        document = splitter.document(layout.text, marked, id=source.id, complain=complain)
        return replace(document, place=place)
    sentences: list[Sentence] = []
    for (start, end), marks in _shared_out(layout.ranges, marked):
        part = splitter.document(layout.text[start:end], marks, complain=complain)
        sentences += [replace(each, start=each.start + start) for each in part.sentences]
    return Document(tuple(sentences), text=layout.text, id=source.id, place=place)


def check_references(
    references: Iterable[Reference],
    known: Container[str],
    path: str,
    report: Report,
) -> None:
    """Report references to something that is not in the document.

    Args:
        references: The references of a document.
        known: The ids that are in the document.
        path: The file.
        report: Is told of each reference to anything else.
    """
    for name, other, line in references:
        if other not in known:
            message = f"{name} refers to {shown(other)}, which is not in the document"
            report(Problem("dangling", message, path, line))


def marks(source: Source) -> list[Marked]:
    """The annotations of a source that are good, as marks on its text."""
    return _marks(source, lambda problem: None)[1]


def matches(text: str, annotation: Annotation) -> bool:
    """Whether the texts of an annotation stand at its fragments, white space apart.

    Several fragments may be given as one text: joined, with an ellipsis in between, or with
    all that stands between them.
    """
    pieces = [_bare(text[start:end]) for start, end in annotation.fragments]
    given = [_bare(each) for each in annotation.texts]
    if not given or not pieces:
        return True  # nothing to compare
    if len(given) == len(pieces):
        return given == pieces
    starts, ends = zip(*annotation.fragments, strict=True)
    everything = _bare(text[min(starts) : max(ends)])
    return "".join(given) in ("".join(pieces), "...".join(pieces), everything)


def writable(document: Document, format: str) -> tuple[str, list[Marked]]:
    """A document as text and marks, for a format that holds those and no words.

    Raises:
        CorpusError: Reading it back could not give the same document.
    """
    if document.id == "":
        raise unwritable(format, "an id without any character; use none at all")
    if document.text is None:
        for sentence in document.sentences:
            check_words(sentence.words, format)
    text, marked = spelled(document)
    try:
        f"{document.id}{text}".encode()
    except UnicodeEncodeError:
        raise unwritable(format, "half of a surrogate pair") from None
    return text, marked


@dataclass(frozen=True, slots=True)
class _Layout:
    """Pieces put together.

    Attributes:
        text: The text.
        ranges: For each piece its characters.
        starts: For each piece its offset.
        rulers: For each piece how long it is in what offsets count; none if that is characters.
        problems: The pieces that could not be put where they should be.
    """

    text: str
    ranges: list[Fragment]
    starts: list[int]
    rulers: list[_Ruler]
    problems: list[Problem]

    def characters(self, offset: int) -> int:
        """Where an offset is in the text."""
        number = bisect_right(self.starts, offset) - 1
        if not self.rulers or number < 0:
            return offset
        return self.ranges[number][0] + self.rulers[number].characters(offset - self.starts[number])


class _Ruler:
    """Counts the units of an encoding in a text."""

    def __init__(self, text: str, encoding: str, width: int) -> None:
        self._places = [match.start() for match in NOT_ASCII.finditer(text)]
        self._sizes = [len(text[place].encode(encoding)) // width for place in self._places]
        more = accumulate((size - 1 for size in self._sizes), initial=0)
        self._starts = [place + before for place, before in zip(self._places, more, strict=False)]
        self.length = len(text) + sum(self._sizes) - len(self._sizes)

    def characters(self, units: int) -> int:
        """How many whole characters so many units are; past the end a unit is a character."""
        number = bisect_right(self._starts, units) - 1  # the last one before that is not ASCII
        if number < 0:
            return units
        past = units - self._starts[number] - self._sizes[number]
        return self._places[number] + (past + 1 if past >= 0 else 0)


def _marks(source: Source, report: Report) -> tuple[_Layout, list[Marked]]:
    layout, annotations = _read_in_right_unit(source, report)
    for problem in layout.problems:
        report(problem)
    marked: list[Marked] = []
    seen: set[tuple[str, tuple[Fragment, ...]]] = set()
    for annotation in annotations:
        mark = _checked(annotation, layout.text, source.path, report)
        if mark is None:
            continue
        if (mark.label, mark.fragments) in seen:
            message = f"{annotation.name}: the same mention stands here already"
            report(Problem("duplicate", message, source.path, annotation.line))
        seen.add((mark.label, mark.fragments))
        marked.append(mark)
    return layout, marked


def _read_in_right_unit(source: Source, report: Report) -> tuple[_Layout, Sequence[Annotation]]:
    layout = _laid_out(source, None)
    if all(matches(layout.text, each) for each in source.annotations) or layout.text.isascii():
        return layout, source.annotations
    for name, unit in UNITS.items():
        other = _laid_out(source, unit)
        moved = [
            replace(
                each,
                fragments=tuple(
                    (other.characters(start), other.characters(end))
                    for start, end in each.fragments
                ),
            )
            for each in source.annotations
        ]
        if all(matches(other.text, each) for each in moved):
            message = f"{source.name} counts offsets in {name}; it is read so"
            report(Problem("offset_unit", message, source.path, source.line))
            return other, moved
    return layout, source.annotations


def _laid_out(source: Source, unit: tuple[str, int] | None) -> _Layout:
    parts: list[str] = []
    layout = _Layout("", [], [], [], [])
    length = passed = 0  # in characters, and in the unit that offsets count
    before = Piece(0, "")
    for piece in sorted(source.pieces, key=lambda piece: (piece.offset, -len(piece.text))):
        gap = piece.offset - passed
        if gap < 0 or gap > MAX_GAP or length + gap + len(piece.text) > MAX_LINE:
            if before.text.startswith(piece.text, max(piece.offset - before.offset, 0)):
                continue  # a piece of the one before, given again: some bigbio corpora do this
            kind = "overlapping" if gap < 0 else "outside"
            message = (
                f"{source.name}: the text at offset {piece.offset} cannot follow on what ends "
                f"at {passed}"
            )
            layout.problems.append(Problem(kind, message, source.path, source.line))
            continue
        parts += ("\n" * gap, piece.text)
        length += gap
        layout.ranges.append((length, length + len(piece.text)))
        layout.starts.append(piece.offset)
        length += len(piece.text)
        passed = piece.offset + len(piece.text)
        if unit is not None:
            layout.rulers.append(_Ruler(piece.text, *unit))
            passed = piece.offset + layout.rulers[-1].length
        before = piece
    return replace(layout, text="".join(parts))


def _checked(annotation: Annotation, text: str, path: str, report: Report) -> Marked | None:
    name, fragments = annotation.name, tuple(sorted(annotation.fragments))
    flaw = find_flaw(annotation.label, fragments, len(text), "characters")
    problem: tuple[str, str] | None = None if flaw is None else (flaw[0], f"{name}: {flaw[1]}")
    if problem is None and not matches(text, annotation):
        there = " … ".join(text[start:end] for start, end in annotation.fragments)
        given = " … ".join(annotation.texts)
        problem = (
            "text_mismatch",
            f"{name} should be {shown(given)}, but there stands {shown(there)}",
        )
    if problem is not None:
        report(Problem(*problem, path, annotation.line))
        return None
    return Marked(annotation.label, fragments, line=annotation.line)


def _shared_out(
    ranges: Sequence[Fragment], marked: Sequence[Marked]
) -> list[tuple[Fragment, list[Marked]]]:
    """Return the ranges, joined where one mark reaches across, each with its own marks.

    The marks of a range count characters from its start. Line ends between two ranges belong to the
    first.
    """
    starts = [start for start, _ in ranges[1:]]
    whole = zip([0, *starts], [*starts, ranges[-1][1]], strict=True)
    parts: list[tuple[Fragment, list[Marked]]] = [
        (joined, []) for joined in join_ranges(list(whole), marked)
    ]
    ends = [end for (_, end), _ in parts]
    for mark in marked:
        (start, _), marks = parts[bisect_right(ends, mark.fragments[0][0])]
        moved = tuple((first - start, end - start) for first, end in mark.fragments)
        marks.append(replace(mark, fragments=moved))
    return parts


def _bare(text: str) -> str:
    return "".join(text.split())
