"""PubTator: `id|t|title`, `id|a|abstract`, and a line of columns for each mention.

```
12|t|Sore toes
12|a|After two pills.
12	0	9	Sore toes	ADR	C1
```
An empty line or the next title ends a document. Offsets count the title, a line end and the
abstract. Identifiers of mentions, and relations between them, are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from discotag.corpora.formats.format import Format, Reading
from discotag.corpora.parsing.files import lines
from discotag.corpora.parsing.problems import Problem, shown
from discotag.corpora.parsing.standoff import Annotation, Piece, Source, assembled
from discotag.mentions import Document

PASSAGE: Final = re.compile(r"([^\s|]+)\|([a-z])\|(.*)", re.DOTALL)
BEGINNING: Final = re.compile(r"\s*[^\s|]+\|t\|")
OFFSET: Final = re.compile(r"[0-9]{1,18}")

TITLE: Final = "t"

RELATION: Final = 4
"""The number of columns of a relation: the document, its type, and two identifiers."""


def recognises(path: Path, head: str) -> bool:
    """Return whether the file begins with a title."""
    return BEGINNING.match(head) is not None


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each title; one at a time is kept in memory."""
    rows: list[tuple[int, str]] = []
    for number, line in lines(path, reading.report):
        if line is None:
            continue
        passage = PASSAGE.fullmatch(line)
        if rows and (not line.strip() or (passage and passage[2] == TITLE)):
            yield from _documents(rows, path, reading)
            rows = []
        if line.strip():
            rows.append((number, line))
    if rows:
        yield from _documents(rows, path, reading)


FORMAT: Final = Format(
    name="pubtator",
    about="PubTator: titles, abstracts, a line for each mention (read only)",
    suffixes=(".pubtator", ".txt"),
    recognises=recognises,
    read=read,
)


def _documents(rows: Sequence[tuple[int, str]], path: Path, reading: Reading) -> Iterator[Document]:
    """Yield the document of lines with their numbers, if they have a text."""
    name: str | None = None
    pieces: list[Piece] = []
    annotations: list[Annotation] = []
    for number, line in rows:
        passage, cells = PASSAGE.fullmatch(line), line.split("\t")
        message = ""
        if passage and (name is None or name == passage[1]):
            start = pieces[-1].offset + len(pieces[-1].text) + 1 if pieces else 0
            name = passage[1]
            pieces.append(Piece(start, passage[3]))
        elif name is None or cells[0] != name:
            message = f"a line must begin with the id of its document, got {shown(line)}"
        elif len(cells) > RELATION and all(map(OFFSET.fullmatch, cells[1:3])):
            start, end = int(cells[1]), int(cells[2])
            called = f"mention {shown(cells[3])} at {start}"
            annotations.append(
                Annotation(called, cells[4], ((start, end),), (cells[3],), line=number)
            )
        elif len(cells) != RELATION:
            like = "ID<tab>0<tab>9<tab>text<tab>LABEL"
            message = f"a mention must look like '{like}', got {shown(line)}"
        if message:
            reading.report(Problem("syntax", message, str(path), number))
    if pieces:
        source = Source(name, pieces, annotations, str(path), rows[0][0])
        document = assembled(source, reading.splitter, reading.report)
        if document is not None:
            yield document
