"""Tables: CSV, TSV, Excel and Parquet to documents, and documents with mentions to tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from discotag.corpora.parsing.files import STANDARD, failed
from discotag.corpora.parsing.problems import CorpusError, Problem, Report, strict
from discotag.corpora.parsing.streams import HEAD, decoded
from discotag.corpora.tables.delimited import CSV, TSV
from discotag.corpora.tables.parquet import PARQUET
from discotag.corpora.tables.reading import carried_columns, documents_of
from discotag.corpora.tables.table import Rows, Table, TableOptions
from discotag.corpora.tables.workbook import EXCEL
from discotag.corpora.tables.writing import write_rows
from discotag.mentions import Document
from discotag.words import Splitter

__all__ = [
    "TABLES",
    "TableOptions",
    "carried_columns",
    "documents_of",
    "find_table",
    "named_table",
    "read_table",
    "table_by_ending",
    "write_table",
]

TABLES: Final[dict[str, Table]] = {each.name: each for each in (CSV, TSV, EXCEL, PARQUET)}
"""The kinds of tables by name."""


def find_table(path: Path) -> Table | None:
    """Return what kind of table a file is, by its first bytes or its ending; None if it is none."""
    if path == STANDARD or not path.is_file():
        return None
    try:
        with path.open("rb") as stream:
            start = stream.read(HEAD)
    except OSError as error:
        raise failed(error, path) from None
    for table in TABLES.values():
        if table.recognises is not None and table.recognises(start):
            return table
    return table_by_ending(path)


def table_by_ending(path: Path) -> Table | None:
    """Return what kind of table the ending of a file name stands for.

    Example:
        >>> table_by_ending(Path("posts.CSV.gz")).name
        'csv'
    """
    name = path.name.lower()
    for table in TABLES.values():
        packed = tuple(f"{suffix}.gz" for suffix in table.suffixes if table.recognises is None)
        if name.endswith((*table.suffixes, *packed)):
            return table
    return None


def read_table(
    path: str | Path,
    format: str | None = None,
    *,
    options: TableOptions | None = None,
    splitter: Splitter | None = None,
    report: Report = strict,
    encoding: str | None = None,
) -> Iterator[Document]:
    r"""Read a document from each row of a table, one after the other.

    Args:
        path: The file, or `-` for standard input, which can be CSV or TSV.
        format: One of `TABLES`; by default it is recognised.
        options: Where the texts are; by default this is found out.
        splitter: Splits texts into sentences and words.
        report: Called with each problem. If it returns, the row is left out; the default raises for
            errors and ignores warnings.
        encoding: The encoding of CSV and TSV without a byte-order mark; by default it is UTF-8, or
            else Windows-1252.

    Raises:
        CorpusError: The file cannot be read, or the column of texts is not clear.
        UnknownEncodingError: The encoding is unknown.

    Example:
        >>> from tempfile import NamedTemporaryFile
        >>> file = NamedTemporaryFile(suffix=".csv")
        >>> _ = Path(file.name).write_text("id;comment;drug\n7;Sore toes, since May;A\n")
        >>> (document,) = read_table(file.name)
        >>> document.id, document.text, document.extra
        ('7', 'Sore toes, since May', {'row': 2, 'drug': 'A'})
    """
    path = Path(path)
    table = find_table(path) if format is None else named_table(format)
    if table is None:
        known = ", ".join(suffix for each in TABLES.values() for suffix in each.suffixes)
        message = f"this is not a table; the endings of tables are {known}"
        raise CorpusError(Problem("syntax", message, str(path)))
    chosen = options or TableOptions()
    found = documents_of(table, path, chosen, splitter or Splitter(), report)
    return decoded(found, encoding)


def write_table(
    documents: Iterable[Document],
    path: str | Path,
    format: str | None = None,
    *,
    rows: Rows = "mentions",
    columns: Mapping[str, Any] | None = None,
    candidates: bool = False,
) -> None:
    """Write documents to a table.

    Args:
        documents: The documents, with mentions.
        path: The file, or `-` for standard output, for CSV and TSV.
        format: One of `TABLES`; by default that of the ending.
        rows: `mentions` for a row for each mention; `documents` for a row for each document.
        columns: The fields of the documents that become columns, with what they hold, as
            `carried_columns` returns them; those of the first documents are added.
        candidates: Whether there are columns for candidates even if the first documents have none.

    Raises:
        CorpusError: The file cannot be written, or has no such ending.
    """
    path = Path(path)
    table = table_by_ending(path) if format is None else named_table(format)
    if table is None:
        message = f"no table has this ending; name the format, one of {', '.join(TABLES)}"
        raise CorpusError(Problem("syntax", message, str(path)))
    write_rows(documents, path, table, rows, columns, candidates)


def named_table(name: str) -> Table:
    """Return the kind of table with this name.

    Raises:
        CorpusError: There is no such kind.
    """
    if name not in TABLES:
        message = f"unknown format; tables are {', '.join(TABLES)}"
        raise CorpusError(Problem("syntax", message, name))
    return TABLES[name]
