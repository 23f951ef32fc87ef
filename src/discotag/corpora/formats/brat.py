"""brat standoff: a text in a `.txt` file, and its annotations in an `.ann` file next to it.

A folder is read with its subfolders; the id of a document is its path in the folder, without the
ending. The path of one of the two files reads that document only. Offsets count the characters of
the text file: two for a Windows line end, one for a byte-order mark.

A mention is a `T` line, `T1<tab>ADR 0 4;14 19<tab>Sore knees`. The text at its end is compared with
the text at the offsets, ignoring white space: brat joins fragments with a space and writes line
breaks as spaces. The fragments that brat makes of a mention with a line break are joined
by `discotag.marks.word_runs`.
Relations of the type `frag`, as in AnEM, or `fragment` join the `T` lines of one mention. Other
relations, events, attributes, normalisations, equivalences and notes are not read, but kept when a
file is written; references in them to unknown ids are reported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Set
from pathlib import Path
from typing import Final

from discotag.corpora.formats import standoff_files
from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.formats.standoff_files import (
    TAB,
    TEXT,
    annotations_of,
    references,
    with_ending,
)
from discotag.corpora.parsing.files import STANDARD, created, failed, file_name, files_in, read_text
from discotag.corpora.parsing.problems import CorpusError, Problem, strict
from discotag.corpora.parsing.standoff import Piece, Source, marks, writable
from discotag.corpora.parsing.unwritable import check_label
from discotag.marks import Marked, word_runs
from discotag.mentions import Document, Fragment
from discotag.words import Splitter

MARKS: Final = ".ann"

NUMBERED: Final = re.compile(r"T([0-9]{1,18})")

SAME_LINE: Final = re.compile(r"[^\s](?:[^\r\n]*[^\s])?")
"""Matches text on one line, without surrounding white space."""


def recognises(path: Path, head: str) -> bool:
    """Return whether a folder has `.ann` files, or a file is one or is the text of one."""
    return standoff_files.recognises(path, (MARKS,))


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each pair of files; see `standoff_files.read`."""
    return standoff_files.read(path, FORMAT.name, (MARKS,), reading)


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write a `.txt` and an `.ann` file for each document, named by its id or its number.

    An existing `.ann` file is updated: lines of mentions that the document still has are unchanged,
    even if they cut a word, and so are all lines that are not valid mentions; new mentions are
    added at the end; mentions that the document does not have are removed. An existing text is
    never changed. Scores are not written.

    Raises:
        CorpusError: A document cannot be written: its id is not a file name or occurs twice, the
            file of its text has another text, a mention to remove is referred to by another line,
            such as a relation, or a mention is new in a file whose offsets do not count characters.
            Earlier documents have been written.
    """
    for document, place in _placed(documents, path):
        _write(document, place)


def annotated(folder: Path) -> list[Path]:
    """Return the `.ann` files of a folder that are not empty."""
    return [path for path in files_in(folder, (MARKS,)) if path.stat().st_size]


def update(
    documents: Iterable[Document], path: Path, labels: Collection[str], replace: bool
) -> Iterator[int]:
    """Write documents as `write` does, but keep existing mentions of other labels.

    Args:
        documents: The documents, with predicted mentions.
        path: The folder.
        labels: The labels of the model; existing mentions with these labels are replaced.
        replace: Whether to change `.ann` files that are not empty.

    Returns:
        An iterator that writes one document at a time, and yields the number of mentions that were
        removed from its file.

    Raises:
        CorpusError: As `write`, or a file has annotations and `replace` is False.
    """
    for document, place in _placed(documents, path):
        marks_file = with_ending(place, MARKS)
        if not replace and marks_file.is_file() and marks_file.stat().st_size:
            message = (
                "the file has annotations; use --force to replace them, or write to another folder"
            )
            raise CorpusError(Problem("missing", message, str(marks_file)))
        yield _write(document, place, labels)


def _placed(documents: Iterable[Document], path: Path) -> Iterator[tuple[Document, Path]]:
    """Create the folder, and yield each document with the path of its files, without ending."""
    if path == STANDARD:
        raise CorpusError(Problem("missing", "brat is written to a folder", str(path)))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise failed(error, path) from None
    written: set[str] = set()
    for number, document in enumerate(documents, start=1):
        name = f"{number:06d}" if document.id is None else document.id
        for part in name.split("/"):
            file_name(part)
        if name in written:
            message = f"two documents have the id {name!r}"
            raise CorpusError(Problem("duplicate_id", message, str(path)))
        written.add(name)
        yield document, path / name


FORMAT: Final = Format(
    name="brat",
    about="brat standoff: a folder of .txt and .ann files",
    suffixes=(MARKS,),
    recognises=recognises,
    read=read,
    write=write,
    update=update,
    folder=True,
    streams=False,
)


def _write(document: Document, place: Path, labels: Collection[str] | None = None) -> int:
    """Write the files of a document, and return the number of mentions that were removed.

    Only mentions with these labels are removed; None means all labels.
    """
    text, marked = writable(document, FORMAT.name)
    for mark in marked:
        check_label(mark.label, FORMAT.name)
    text_file, marks_file = with_ending(place, TEXT), with_ending(place, MARKS)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if not text_file.exists():
            with created(text_file) as stream:
                stream.write(text)
        elif text_file.read_bytes() != text.encode():
            message = "the file already exists with another text; write to another folder"
            raise CorpusError(Problem("text_mismatch", message, str(text_file)))
    except OSError as error:
        raise failed(error, place) from None
    before = (read_text(marks_file, strict) or "") if marks_file.is_file() else None
    after, gone = _updated(before or "", document, text, marked, marks_file, labels)
    if after != before:
        with created(marks_file) as stream:
            stream.write(after)
    return gone


def _updated(
    before: str,
    document: Document,
    text: str,
    marked: list[Marked],
    path: Path,
    labels: Collection[str] | None,
) -> tuple[str, int]:
    """Return the updated content of an `.ann` file, and the number of removed mentions."""
    rows = before.split("\n")
    end = "\r\n" if rows[0].endswith("\r") else "\n"
    numbered = [(number, row.removesuffix("\r")) for number, row in enumerate(rows, start=1)]
    annotations = list(annotations_of(numbered, str(path), lambda problem: None))
    by_line = {annotation.line: annotation for annotation in annotations}
    words = _word_ranges(document, text)
    good = marks(Source(None, [Piece(0, text)], annotations, str(path)))
    ours = [mark for mark in good if labels is None or mark.label in labels]
    gone, new = _compared(ours, marked, [start for start, _ in words], [end for _, end in words])
    if new and any(sorted(by_line[mark.line].fragments) != list(mark.fragments) for mark in good):
        message = "the offsets in this file do not count characters; write to another folder"
        raise CorpusError(Problem("offset_unit", message, str(path)))
    _check_references(numbered, {by_line[line].name for line in gone}, path)
    kept = [row for number, row in enumerate(rows, start=1) if number not in gone]
    if kept and kept[-1]:
        kept.append("")  # the last line had no line end
    taken = (NUMBERED.match(row) for row in rows)
    first = max((int(match[1]) for match in taken if match), default=0) + 1
    added = [_line(f"T{number}", mark, text) for number, mark in enumerate(new, start=first)]
    return "\n".join(kept) + "".join(f"{line}{end}" for line in added), len(gone)


def _compared(
    before: Iterable[Marked], now: Iterable[Marked], starts: list[int], ends: list[int]
) -> tuple[set[int], list[Marked]]:
    """Return the lines of marks that are gone, and the marks that are new.

    Marks are the same if they have the same label on the same words, so a mark that was widened to
    whole words when it was read has not changed.
    """
    there: defaultdict[tuple[str, tuple[Fragment, ...]], list[int]] = defaultdict(list)
    for mark in before:
        runs = word_runs(mark.fragments, starts, ends)
        if runs and mark.line is not None:
            there[mark.label, runs].append(mark.line)
    new = []
    for mark in now:
        same = there[mark.label, word_runs(mark.fragments, starts, ends)]
        if same:
            same.pop(0)
        else:
            new.append(mark)
    return {line for rest in there.values() for line in rest}, new


def _check_references(rows: Iterable[tuple[int, str]], gone: Set[str], path: Path) -> None:
    """Raise `CorpusError` if a line refers to a mention that is gone."""
    for number, row in rows:
        dangling = [name for name in references(row) if name in gone]
        if dangling:
            message = (
                f"{row.split(TAB)[0]} refers to {dangling[0]}, which would be removed; "
                "remove this line first, or write to another folder"
            )
            raise CorpusError(Problem("dangling", message, str(path), number))


def _word_ranges(document: Document, text: str) -> list[Fragment]:
    """Return the character ranges of the words of a document, whose text is `text`."""
    if document.text is None:
        return Splitter(words="spaces").word_ranges(text)
    return [
        (sentence.start + start, sentence.start + end)
        for sentence in document.sentences
        for start, end in sentence.offsets or ()
    ]


def _line(name: str, mark: Marked, text: str) -> str:
    """Return a `T` line; a fragment with line breaks is written as several, as in brat."""
    fragments = [piece for start, end in mark.fragments for piece in _on_lines(text, start, end)]
    offsets = ";".join(f"{start} {end}" for start, end in fragments)
    spelling = " ".join(text[start:end] for start, end in fragments).replace(TAB, " ")
    return f"{name}\t{mark.label} {offsets}\t{spelling}"


def _on_lines(text: str, start: int, end: int) -> Iterator[Fragment]:
    for match in SAME_LINE.finditer(text, start, end):
        yield match.span()
