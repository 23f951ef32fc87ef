"""Reading and writing files: documents in any format, tables and plain text included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.formats.registry import FORMATS, format_to_read, named_format
from discotag.corpora.parsing.files import STANDARD, failed, files_in
from discotag.corpora.parsing.problems import CorpusError, Problem, Report, located, shown, strict
from discotag.corpora.parsing.streams import decoded, decoding
from discotag.corpora.parsing.unwritable import UnwritableError
from discotag.corpora.tables import TableOptions
from discotag.corpora.tables.table import Rows
from discotag.mentions import Document, Place
from discotag.words import Splitter

__all__ = [
    "FORMATS",
    "CorpusError",
    "Problem",
    "Report",
    "TableOptions",
    "read",
    "strict",
    "write",
]


def read(
    path: str | Path,
    format: str | None = None,
    *,
    splitter: Splitter | None = None,
    report: Report = strict,
    encoding: str | None = None,
    table: TableOptions | None = None,
    check_ids: bool = False,
) -> Iterator[Document]:
    r"""Read the documents of a file or folder, one after the other.

    One document at a time is kept in memory.

    Args:
        path: A file, a folder, or `-` for standard input.
        format: One of `FORMATS`; by default it is recognised from the content, or from the ending
            of tables.
        splitter: Splits text into sentences and words, for formats without words.
        report: Called with each problem. If it returns, the invalid part is left out; the default
            raises for errors and ignores warnings.
        encoding: The encoding of files without a byte-order mark; UTF-8 by default, or else
            Windows-1252 for CSV and TSV. XML files declare their encoding, unless this is given.
        table: Where the texts of a table are; by default this is found out.
        check_ids: Whether to report each document that has the id of an earlier one; memory grows
            with the number of ids. For a table, they are counted in any case.

    Raises:
        CorpusError: The path cannot be read, a file has an error, or it is not clear which column
            of a table has the texts.
        UnknownEncodingError: The encoding is unknown.

    Example:
        >>> from tempfile import NamedTemporaryFile
        >>> file = NamedTemporaryFile(suffix=".txt")
        >>> _ = Path(file.name).write_text("Sore toes\n0,1 ADR|0,7 ADR\n\n")
        >>> found = []  # read what is valid, collect the problems
        >>> [document.mentions[0].text for document in read(file.name, report=found.append)]
        ['Sore toes']
        >>> found[0].line, found[0].kind
        (2, 'outside')
    """
    path = Path(path)
    try:
        if path != STANDARD:
            path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the name
        message = "no such file or folder"
        raise CorpusError(Problem("missing", message, str(path))) from None
    except OSError as error:  # a name that is too long, a link that leads to itself
        raise failed(error, path) from None
    with decoding(encoding):
        chosen = format_to_read(path, format, table)
    columns = TableOptions(elsewhere=True) if table is None else table
    reading = Reading(splitter or Splitter(), report, columns)
    documents = _read(path, chosen, reading)
    if check_ids and chosen.table is None:
        documents = _check_ids(documents, report)
    return decoded(documents, encoding)


def write(
    documents: Iterable[Document],
    path: str | Path,
    format: str | None = None,
    *,
    rows: Rows = "mentions",
    columns: Mapping[str, Any] | None = None,
    candidates: bool = False,
) -> None:
    """Write documents to a file, a folder, or `-` for standard output.

    Args:
        documents: The documents.
        path: The file or folder.
        format: One of `FORMATS` that can be written; by default `jsonl`, or the kind of table
            whose ending the path has.
        rows: In a table, `mentions` for a row for each mention, or `documents` for a row for each
            document.
        columns: The fields of the documents that become columns of a table, with what they hold;
            those of the first documents are added.
        candidates: Whether a table has columns for candidates even if the first documents have
            none.

    Raises:
        CorpusError: The path cannot be written, or the format cannot represent a document.
    """
    chosen = _by_ending(Path(path)) if format is None else named_format(format)
    if chosen.write is None:
        message = "this format can only be read, not written"
        raise CorpusError(Problem("syntax", message, chosen.name))
    if "\0" in str(path):
        raise CorpusError(
            Problem("missing", "a path must not contain a NUL character", repr(str(path)))
        )
    passed = _Passed()
    try:
        chosen.write(
            passed.through(documents), Path(path), Writing(rows, columns or {}, candidates)
        )
    except UnwritableError as error:
        message = f"{passed}: {error.problem.message}"
        raise UnwritableError(replace(error.problem, message=message)) from None


def _by_ending(path: Path) -> Format:
    tables = (each for each in FORMATS.values() if each.table is not None)
    ending = path.suffix.lower()
    return next((each for each in tables if ending in each.outputs), FORMATS["jsonl"])


def _check_ids(documents: Iterable[Document], report: Report) -> Iterator[Document]:
    first: dict[str, Place] = {}
    for document in documents:
        if document.id is not None:
            path, line = place = document.place or ("documents", None)
            if document.id in first:
                where = located(*first[document.id])
                message = f"the document at {where} also has the id {shown(document.id)}"
                report(Problem("duplicate_id", message, path, line))
            else:
                first[document.id] = place
        yield document


class _Passed:
    """Remembers which document was passed last."""

    def __init__(self) -> None:
        self.number = 0
        self.id: str | None = None

    def through(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            self.number += 1
            self.id = document.id
            yield document

    def __str__(self) -> str:
        return f"document {self.number}" + (f", {shown(self.id)}" if self.id else "")


def _read(path: Path, chosen: Format, reading: Reading) -> Iterator[Document]:
    assert chosen.read is not None  # as `format_to_read` has checked
    if path == STANDARD or not path.is_dir() or chosen.folder:
        yield from chosen.read(path, reading)
        return
    files = files_in(path, chosen.endings, reading.report)
    if not files:
        message = f"the folder has no file that ends with {' or '.join(chosen.suffixes)}"
        reading.report(Problem("missing", message, str(path)))
    for file in files:
        name = file.relative_to(path).as_posix().removesuffix(".gz").rpartition(".")[0]
        try:
            yield from chosen.read(file, replace(reading, name=name, file=name))
        except CorpusError as error:  # one file cannot be read; go on with the others
            reading.report(error.problem)
