"""Standoff annotations: what brat, BioC, bigbio and Knowtator have in common.

The text of a document comes in pieces (passages, sentences), each with its offset. The pieces are
joined so that each is at its offset, with line ends in between. Annotations have offsets, and
mostly the text that is expected there, which is checked.

Offsets are read as characters. Some tools count bytes of UTF-8 or UTF-16 units instead. If the
texts of all annotations of a document match in that unit, and not in characters, offsets are
converted, with a warning of the kind `offset_unit`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Final, TypeVar

from discotag.corpora.parsing.files import MAX_LINE
from discotag.corpora.parsing.problems import Problem, Report, shown
from discotag.corpora.parsing.unwritable import check_words, unwritable
from discotag.marks import Flaw, Marked, find_flaw, join_ranges, spelled
from discotag.mentions import Document, Fragment, Sentence
from discotag.words import Splitter

MAX_GAP: Final = 1 << 20
"""The largest gap between two pieces, in characters; a larger one means a wrong offset."""

NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")

UNITS: Final = {"bytes of UTF-8": ("utf-8", 1), "units of UTF-16": ("utf-16-le", 2)}
"""The units of offsets other than characters: the encoding, and the bytes in a unit."""


Key = TypeVar("Key", bound=Hashable)

JOINING: Final = ("frag", "fragment")
"""The types of relations that join fragments to one mention, where a tool has only ranges."""

Reference = tuple[str, str, int | None]
"""The name of what refers, the id that it refers to, and the line of the file."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text, and its offset in the document."""

    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A label on a document's text, as a file gives it.

    Attributes:
        name: What messages call the annotation.
        label: The label of the mention.
        fragments: Half-open ranges of offsets.
        texts: The expected text: one for each fragment, one for all together, or none.
        line: The line of the file.
    """

    name: str
    label: str
    fragments: tuple[Fragment, ...]
    texts: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A document of a file, before it is split into words.

    Attributes:
        id: The id of the document.
        pieces: The text in pieces.
        annotations: The annotations.
        path: The file.
        line: The line of the file at which the document begins.
        extra: Further fields of the document, which are kept.
    """

    id: str | None
    pieces: Sequence[Piece]
    annotations: Sequence[Annotation]
    path: str
    line: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What messages call the document."""
        return "the document" if self.id is None else f"document {shown(self.id)}"


def assembled(source: Source, splitter: Splitter, report: Report) -> Document | None:
    r"""Join the pieces of a source, check its annotations, and return the document.

    Sentences do not cross pieces, unless a mention does.

    Returns:
        The document, or None if the text or id has unpaired surrogates.

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
        message = f"{source.name}: half of a surrogate pair is not a character"
        report(Problem("encoding", message, source.path, source.line))
        return None
    layout, marked = _marks(source, report)

    def complain(mark: Marked, flaw: Flaw, message: str) -> None:
        report(Problem(flaw, message, source.path, mark.line))

    place = source.path, source.line
    if splitter.sentences == "whole" or len(layout.ranges) < 2:
        document = splitter.document(layout.text, marked, id=source.id, complain=complain)
        return replace(document, place=place, extra=source.extra)
    sentences: list[Sentence] = []
    for (start, end), marks in _shared_out(layout.ranges, marked):
        part = splitter.document(layout.text[start:end], marks, complain=complain)
        sentences += [replace(each, start=each.start + start) for each in part.sentences]
    return Document(
        tuple(sentences), text=layout.text, id=source.id, place=place, extra=source.extra
    )


def check_references(
    references: Iterable[Reference],
    known: Container[str],
    path: str,
    report: Report,
) -> None:
    """Report references to ids that are not in the document.

    Args:
        references: The references of a document.
        known: The ids of the document.
        path: The file.
        report: Called for each reference to another id.
    """
    for name, other, line in references:
        if other not in known:
            message = f"{name} refers to {shown(other)}, which is not in the document"
            report(Problem("dangling", message, path, line))


def joined(
    annotations: Mapping[Key, Annotation],
    pairs: Iterable[tuple[Key, Key]],
    path: str,
    report: Report,
) -> Iterator[Annotation]:
    """Yield annotations, those that are joined as one, in the place of the first.

    Args:
        annotations: The annotations of a document by their ids.
        pairs: The ids of annotations to join; pairs with other ids are ignored.
        path: The file.
        report: Called for a pair of annotations with different labels, which are not joined.

    Example:
        >>> from discotag.corpora.parsing.problems import strict
        >>> parts = {n: Annotation(f"T{n}", "ADR", ((n, n + 1),)) for n in (1, 2, 3)}
        >>> [each.fragments for each in joined(parts, [(1, 3)], "a.ann", strict)]
        [((1, 2), (3, 4)), ((2, 3),)]
    """
    first = {name: name for name in annotations}  # that it is joined to, or one nearer to it

    def first_of(name: Key) -> Key:
        while first[name] != name:
            first[name] = name = first[first[name]]
        return name

    order = {name: number for number, name in enumerate(annotations)}
    for pair in pairs:
        if not order.keys() >= set(pair):
            continue
        one, other = (annotations[name] for name in pair)
        if one.label != other.label:
            message = f"{one.name} and {other.name} are joined, but have different labels"
            report(Problem("syntax", message, path, other.line))
        else:
            earlier, later = sorted(map(first_of, pair), key=order.__getitem__)
            first[later] = earlier
    parts: dict[Key, list[Annotation]] = {}
    for name, annotation in annotations.items():
        parts.setdefault(first_of(name), []).append(annotation)
    for each in parts.values():
        fragments = tuple(fragment for part in each for fragment in part.fragments)
        texts = tuple(text for part in each for text in part.texts)
        yield replace(each[0], fragments=fragments, texts=texts)


def marks(source: Source) -> list[Marked]:
    """Return the valid annotations of a source as marks on its text."""
    return _marks(source, lambda problem: None)[1]


def matches(text: str, annotation: Annotation) -> bool:
    """Return whether the texts of an annotation are those at its fragments, ignoring white space.

    Several fragments may be given as one text: joined, with an ellipsis in between, or including
    everything between them.
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
    """Return a document as text and marks, for a format without words.

    Raises:
        CorpusError: The document could not be read back unchanged.
    """
    if document.id == "":
        raise unwritable(format, "an empty id; use None instead")
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
    """Joined pieces.

    Attributes:
        text: The text.
        ranges: The character range of each piece.
        starts: The offset of each piece.
        rulers: For each piece the conversion of offsets to characters; empty if they are the same.
        problems: The problems of pieces that could not be placed at their offsets.
    """

    text: str
    ranges: list[Fragment]
    starts: list[int]
    rulers: list[_Ruler]
    problems: list[Problem]

    def characters(self, offset: int) -> int:
        """Convert an offset to an index into the text."""
        number = bisect_right(self.starts, offset) - 1
        if not self.rulers or number < 0:
            return offset
        return self.ranges[number][0] + self.rulers[number].characters(offset - self.starts[number])


class _Ruler:
    """Converts offsets that count units of an encoding to characters of a text."""

    def __init__(self, text: str, encoding: str, width: int) -> None:
        self._places = [match.start() for match in NOT_ASCII.finditer(text)]
        self._sizes = [len(text[place].encode(encoding)) // width for place in self._places]
        more = accumulate((size - 1 for size in self._sizes), initial=0)
        self._starts = [place + before for place, before in zip(self._places, more, strict=False)]
        self.length = len(text) + sum(self._sizes) - len(self._sizes)

    def characters(self, units: int) -> int:
        """Convert a number of units to whole characters; past the end, a unit is a character."""
        number = (
            bisect_right(self._starts, units) - 1
        )  # the last character before it that is not ASCII
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
            message = f"{annotation.name}: the same mention is given twice"
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
            message = f"{source.name} counts offsets in {name}; they are converted"
            report(Problem("offset_unit", message, source.path, source.line))
            return other, moved
    return layout, source.annotations


def _laid_out(source: Source, unit: tuple[str, int] | None) -> _Layout:
    parts: list[str] = []
    layout = _Layout("", [], [], [], [])
    length = passed = 0  # in characters, and in the unit of the offsets
    before = Piece(0, "")
    for piece in sorted(source.pieces, key=lambda piece: (piece.offset, -len(piece.text))):
        gap = piece.offset - passed
        if gap < 0 or gap > MAX_GAP or length + gap + len(piece.text) > MAX_LINE:
            if before.text.startswith(piece.text, max(piece.offset - before.offset, 0)):
                continue  # a repeated part of the previous piece, as in some bigbio corpora
            kind = "overlapping" if gap < 0 else "outside"
            message = (
                f"{source.name}: the text at offset {piece.offset} does not fit after the text "
                f"that ends at {passed}"
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
            f"{name} should be {shown(given)}, but the text there is {shown(there)}",
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
