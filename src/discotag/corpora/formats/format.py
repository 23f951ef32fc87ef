"""The description of a format, and how files of it are read and written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from discotag.corpora.parsing.problems import Report, strict
from discotag.corpora.tables.table import Rows, Table, TableOptions
from discotag.mentions import Document
from discotag.words import Splitter


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read; a format ignores what it has no use for.

    Attributes:
        splitter: Splits text into sentences and words, for formats without words.
        report: Called with each problem; see `discotag.corpora.read`.
        table: Where the texts of a table are.
        by_line: Whether each line of plain text is a document.
        keep_mark: Whether to keep the byte-order mark of plain text in UTF-8, as brat does.
        name: The id of a plain text, and what the ids of its lines, or of rows without an id,
            begin with.
        file: The name of the file, which the documents of a table have as a field.
    """

    splitter: Splitter = field(default_factory=Splitter)
    report: Report = strict
    table: TableOptions = field(default_factory=TableOptions)
    by_line: bool = False
    keep_mark: bool = False
    name: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Writing:
    """How documents are written; formats other than tables ignore it.

    Attributes:
        rows: What a row of a table is.
        columns: The fields of the documents that become columns, with what they hold, as
            `discotag.corpora.inputs.Inputs.columns` returns them; those of the first documents are
            added.
        candidates: Whether there are columns for candidates even if the first documents have none.
    """

    rows: Rows = "mentions"
    columns: Mapping[str, Any] = field(default_factory=dict)
    candidates: bool = False


def never(path: Path, head: str) -> bool:
    """Return False, for formats that are not recognised by the text of a file."""
    return False


def always(head: str) -> bool:
    """Return True, for formats that prose cannot look like."""
    return True


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: documents, tables or plain text.

    Attributes:
        name: The name of the format, as in `--format`.
        about: A description in one line.
        suffixes: The endings of its files; files in folders are read if they have one.
        outputs: The endings of outputs that are written in this format if no other is named.
        recognises: Returns whether a path, with the first characters of its file, looks like this
            format. For a folder the characters are empty.
        certain: Returns whether such first characters cannot be prose.
        mark: Returns whether the first bytes of a file are those of this format, for formats that
            are not text.
        by_ending: Whether an ending shows the format, unless the content shows another.
        read: Yields the documents of a path, one at a time; None if it can only be written.
        write: Writes documents to a path; None if it can only be read.
        line: Returns a document as a line of the file, for formats that can be continued.
        update: Writes documents, given the labels of a model and whether to replace annotations,
            into files that may have annotations; yields how many mentions each replaced.
        table: How rows are read and written, for tables.
        folder: Whether `read` takes and `write` creates a folder instead of a file.
        streams: Whether it can be read from standard input and written to standard output.
        keeps_text: Whether it has the texts, the documents and their ids, not only words.
        keeps_details: Whether it has scores, candidates and further fields of documents.
        discontinuous: Whether its mentions can be discontinuous.
        overlaps: Whether its mentions can overlap.
        needs: The package that it needs and that may be missing.
    """

    name: str
    about: str
    suffixes: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    recognises: Callable[[Path, str], bool] = never
    certain: Callable[[str], bool] = always
    mark: Callable[[bytes], bool] | None = None
    by_ending: bool = False
    read: Callable[[Path, Reading], Iterator[Document]] | None = None
    write: Callable[[Iterable[Document], Path, Writing], None] | None = None
    line: Callable[[Document], str] | None = None
    update: Callable[[Iterable[Document], Path, Collection[str], bool], Iterator[int]] | None = None
    table: Table | None = None
    folder: bool = False
    streams: bool = True
    keeps_text: bool = True
    keeps_details: bool = False
    discontinuous: bool = True
    overlaps: bool = True
    needs: str | None = None

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of its files, also with `.gz` for formats of text."""
        packed = () if self.mark else tuple(f"{suffix}.gz" for suffix in self.suffixes)
        return (*self.suffixes, *packed)

    @property
    def ending(self) -> str:
        """The ending of a file that is written; empty for a folder."""
        return "" if self.folder else (*self.outputs, *self.suffixes)[0]

    @property
    def can_write(self) -> bool:
        """Whether it can be written here: the package that it needs is installed."""
        return self.write is not None and (self.needs is None or find_spec(self.needs) is not None)
