"""Rows of a table to documents."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from discotag.corpora.parsing.problems import MalformedError, Problem, Report, shown
from discotag.corpora.tables.cells import as_text, is_empty
from discotag.corpora.tables.columns import FILE, ID, ROW, Columns, find_columns
from discotag.corpora.tables.mentions import has_row_for_each_mention, marked
from discotag.corpora.tables.table import CARRIED, MAX_CELL, Row, Table, TableOptions
from discotag.counts import counted
from discotag.marks import Flaw, Marked
from discotag.mentions import Document
from discotag.words import Splitter

SAMPLE_ROWS: Final = 1000
SAMPLE_CHARACTERS: Final = 16 << 20
"""The most rows, and about the most characters, that are read to find out the columns."""

COMPARED_IDS: Final = 100_000
"""The number of ids that are compared with each other; memory does not grow beyond these."""


def documents_of(
    table: Table,
    path: Path,
    options: TableOptions,
    splitter: Splitter,
    report: Report,
    *,
    name: str | None = None,
    file: str | None = None,
) -> Iterator[Document]:
    """Yield a document for each row of a table that is not empty.

    Mentions are read from a table that discotag has written with a row for each document. The other
    columns become fields of the document (`extra`), and so does `row`, the number of the
    row. If the id of a row is not a text, it is also `extra["id"]` as it was read, which formats
    other than tables ignore.

    Args:
        table: The kind of table.
        path: The file.
        options: Where the texts are.
        splitter: Splits texts into sentences and words.
        report: Called with each problem.
        name: What the ids of rows begin with if there is no column of ids.
        file: The name of the file as a field of the documents.

    Raises:
        CorpusError: The file cannot be read, or a column was not found.
    """
    where = str(path)
    columns, start, rows = _begun(table, path, options, report)
    notes = _Notes(where, report)
    if has_row_for_each_mention([name for _, name in columns.others]):
        message = (
            "the table has a row for each mention: mentions are not read from it, and texts "
            "without mentions are not in it; write it with --rows documents"
        )
        report(Problem("mention_rows", message, where))

    def complain(mark: Marked, flaw: Flaw, message: str) -> None:
        report(Problem(flaw, message, where, mark.line))

    for row in chain(start, rows):
        cells = row.cells
        if row.number <= columns.header or _is_empty(row):
            continue
        if len(cells) != columns.width:
            wrong = _misfit(row, columns.width, table.padded)
            if wrong is not None:
                report(Problem("syntax", wrong, where, row.line))
                continue
        text = "" if columns.text in row.merged else as_text(_cell(cells, columns.text))
        if len(text) > MAX_CELL:
            message = f"the text has more than {MAX_CELL >> 20} million characters"
            report(Problem("too_long", message, where, row.line))
            continue
        given = None
        if columns.id is None:
            identifier = str(row.number) if name is None else f"{name}-{row.number}"
            notes.see(row, None, text)
        else:
            given = _cell(cells, columns.id)
            identifier = as_text(given).strip()
            notes.see(row, identifier, text)
        extra: dict[str, Any] = {} if file is None else {FILE: file}
        extra[ROW] = row.number
        if given is not None and not isinstance(given, str):
            extra[ID] = given
        for at, field_name in columns.others:
            extra[field_name] = _cell(cells, at)
        try:
            marks = marked(extra, row.line)
        except MalformedError as error:
            report(Problem("syntax", f"row {row.number:,}: {error}", where, row.line))
            continue
        document = splitter.document(text, marks, complain=complain)
        yield Document.unchecked(
            document.sentences, text, identifier or None, extra, (where, row.line)
        )
    notes.close()


def carried_columns(table: Table, path: Path, options: TableOptions) -> dict[str, Any]:
    """Return the fields of documents that a table gives, and what they hold.

    The ids are among them if the table knows their type.

    Raises:
        CorpusError: The file cannot be read, or a column was not found.
    """
    columns, _, rows = _begun(table, path, options, lambda problem: None)
    rows.close()
    found: dict[str, Any] = dict.fromkeys((name for _, name in columns.others), CARRIED)
    if table.types is not None:
        types = [*table.types(path).values()]
        found |= {name: types[at] for at, name in columns.others}
        if columns.id is not None:
            found[ID] = types[columns.id]
    return found


def _begun(
    table: Table, path: Path, options: TableOptions, report: Report
) -> tuple[Columns, list[Row], Generator[Row, None, None]]:
    """Return the columns of a table, the rows that were read to find them, and the others."""
    assert table.rows is not None  # only such tables are read
    rows = table.rows(path, options, report)
    start: list[Row] = []
    characters = 0
    for row in rows:
        start.append(row)
        characters += sum(len(cell) for cell in row.cells if isinstance(cell, str))
        if len(start) == SAMPLE_ROWS or characters > SAMPLE_CHARACTERS:
            break
    return find_columns(start, options, str(path), report, padded=table.padded), start, rows


def _is_empty(row: Row) -> bool:
    """Return whether a row has no cells of its own."""
    return all(is_empty(cell) or at in row.merged for at, cell in enumerate(row.cells))


def _cell(cells: Sequence[Any], column: int) -> Any:
    """Return the value of a cell; None where there is none, or a number that is not one."""
    value = cells[column] if column < len(cells) else None
    return None if isinstance(value, float) and math.isnan(value) else value


def _misfit(row: Row, width: int, padded: bool) -> str | None:
    """Return what is wrong with the number of cells of a row; None if nothing is lost."""
    filled = next((at for at in range(len(row.cells), 0, -1) if not is_empty(row.cells[at - 1])), 0)
    if filled > width or (len(row.cells) < width and not padded):
        number = filled if filled > width else len(row.cells)
        columns = f"{'is' if width == 1 else 'are'} {counted(width, 'column')}"
        return f"row {row.number:,} has {counted(number, 'cell')}, but there {columns}"
    return None


@dataclass(slots=True)
class _Notes:
    """Remembers what is worth a line at the end of a table."""

    path: str
    report: Report
    rows: int = 0
    texts: int = 0
    missing: list[int] = field(default_factory=list)
    again: int = 0
    example: tuple[str, int, int] | None = None
    first: dict[str, int] = field(default_factory=dict)

    def see(self, row: Row, identifier: str | None, text: str) -> None:
        """Take note of a row; the id is None if the table has none."""
        self.rows += 1
        self.texts += bool(text)
        if identifier == "":
            self.missing = self.missing or [0, row.number]
            self.missing[0] += 1
        elif identifier is not None:
            before = self.first.get(identifier)
            if before is not None:
                self.again += 1
                self.example = self.example or (identifier, before, row.number)
            elif len(self.first) < COMPARED_IDS:
                self.first[identifier] = row.number

    def close(self) -> None:
        """Report what was noted."""
        if self.missing:
            count, first = self.missing
            message = f"{counted(count, 'row has', 'rows have')} no id, such as row {first:,}"
            self._tell("missing_id", f"{message}; the column 'row' tells them apart")
        if self.example is not None:
            name, first, second = self.example
            message = (
                f"{counted(self.again, 'row has', 'rows have')} the id of an earlier one, such as "
                f"{shown(name)} of rows {first:,} and {second:,}; the column 'row' tells them apart"
            )
            self._tell("duplicate_id", message)
        if not self.rows:
            self._tell("no_text", "the table has no rows below the names of its columns")
        elif not self.texts:
            self._tell("no_text", f"the column of texts is empty in all {self.rows:,} rows")

    def _tell(self, kind: str, message: str) -> None:
        self.report(Problem(kind, message, self.path))
