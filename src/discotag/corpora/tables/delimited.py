"""CSV and TSV: rows of text, a character between the cells."""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from discotag.corpora.parsing.files import (
    BYTE_ORDER_MARK,
    STANDARD,
    created,
    opened,
    undecodable,
)
from discotag.corpora.parsing.problems import Problem, Report
from discotag.corpora.parsing.streams import HEAD, Stream, current_encoding, decoding
from discotag.corpora.tables.cells import as_text, safe
from discotag.corpora.tables.dialect import (
    FALLBACK,
    INVALID,
    NO_SEPARATOR,
    Dialect,
    find_dialect,
    find_encoding,
)
from discotag.corpora.tables.table import MAX_CELL, Append, Row, Table, TableOptions

LONGEST_LINE: Final = 4 * MAX_CELL
"""The largest number of characters of a line."""

LINES_TRIED: Final = 20
"""The number of lines that are tried to find out whether a quotation mark is not closed."""

TOO_LONG: Final = (
    f"a cell is longer than {MAX_CELL >> 20} million characters, or a quotation mark is not closed"
)


def rows(
    path: Path, options: TableOptions, report: Report, *, usual: str | None = None
) -> Generator[Row, None, None]:
    """Yield the rows of a file, whose encoding and separator are found out.

    Args:
        path: The file.
        options: Not used: there are no sheets.
        report: Called with each row that is left out.
        usual: The separator that is tried before the others.
    """
    encoding = find_encoding(path) if current_encoding() is None else None
    if encoding is not None:
        name = "Windows-1252" if encoding == FALLBACK else encoding.upper()
        message = f"the file is not UTF-8 and is read as {name}; use --encoding for another"
        report(Problem("guessed", message, str(path)))
    with ExitStack() as stack:
        with decoding(encoding):
            stream = stack.enter_context(opened(path))
        start = stream.look().decode("utf-8-sig", errors="replace")
        yield from _Reader(stream, _dialect(start, usual), path, report).rows()


def _dialect(start: str, usual: str | None) -> Dialect:
    if len(start) > HEAD // 4 and "\n" in start:
        start = start[: start.rindex("\n") + 1]  # the last line may be incomplete
    if usual is not None:
        found = find_dialect(start, (usual,))
        if found.separator != NO_SEPARATOR:
            return found
    return find_dialect(start)


class _TooLongError(Exception):
    """A line that exceeds the bound."""


class _Reader:
    """Reads rows; an invalid row does not affect those after it.

    The iterator over this object yields lines, which the csv module asks for until a row is
    complete. Lines that turn out to be no part of the row are given out again.
    """

    def __init__(self, stream: Stream, dialect: Dialect, path: Path, report: Report) -> None:
        self._stream = stream
        self._text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
        self._dialect = dialect
        self._path = path
        self._report = report
        self._waiting: deque[str] = deque()
        self._taken: list[str] = []
        self._line = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._waiting.popleft() if self._waiting else self._text.readline(LONGEST_LINE)
        if not line:
            raise StopIteration
        self._line += 1
        self._taken.append(line)
        if len(line) == LONGEST_LINE and not line.endswith(("\n", "\r")):
            self._skip_row()
            raise _TooLongError
        return line

    def rows(self) -> Iterator[Row]:
        """Yield the valid rows, and report the others."""
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
        reader = self._cells(self, strict=True)
        for _ in range(self._dialect.skipped):
            next(self)
        number = 0
        while True:
            number, line = number + 1, self._line + 1
            self._taken.clear()
            cells: list[str] | None
            try:
                cells = next(reader)
                wrong = len(self._taken) > 1 and len(cells) != self._dialect.width
                if wrong and not self._without_stray_quote(line):
                    continue
            except StopIteration:
                return
            except _TooLongError:
                self._problem("too_long", TOO_LONG, line)
                continue
            except csv.Error:
                cells = self._mended(line)
            if cells is not None and self._is_decoded(line):
                yield Row(number, line, [cell or None for cell in cells])

    def _cells(self, lines: Iterable[str], *, strict: bool) -> Iterator[list[str]]:
        return csv.reader(lines, delimiter=self._dialect.separator, strict=strict)

    def _mended(self, line: int) -> list[str] | None:
        """Return the cells of a row that is not quite CSV; None if it cannot be read."""
        if not self._without_stray_quote(line):
            return None
        if sum(map(len, self._taken)) > MAX_CELL:
            self._problem("too_long", TOO_LONG, line)
            self._skip_row()
            return None
        return next(self._cells(self._taken, strict=False))

    def _without_stray_quote(self, line: int) -> bool:
        """Return whether the lines that were taken are one row.

        If a quotation mark is not closed, the rows after it are taken for a part of its cell. Then
        its line is reported, and the others are given out again.
        """
        after = self._taken[1:LINES_TRIED]
        alone = sum(map(self._is_row, after))
        if not after or alone * 2 < len(after):
            return True
        self._problem("syntax", "a quotation mark is not closed", line)
        self._waiting.extendleft(reversed(self._taken[1:]))
        self._line = line
        return False

    def _is_row(self, line: str) -> bool:
        """Return whether a line is a row by itself."""
        try:
            (cells,) = self._cells([line], strict=True)
        except (csv.Error, ValueError):
            return False
        return len(cells) == self._dialect.width

    def _skip_row(self) -> None:
        """Read on to the end of the row that was begun."""
        is_open = sum(line.count('"') for line in self._taken) % 2
        part = self._taken[-1]
        while part and (is_open or not part.endswith(("\n", "\r"))):
            if part.endswith(("\n", "\r")):
                self._line += 1
            part = self._waiting.popleft() if self._waiting else self._text.readline(LONGEST_LINE)
            is_open = (is_open + part.count('"')) % 2

    def _is_decoded(self, line: int) -> bool:
        """Return whether all bytes of the row are valid in the encoding of the file."""
        for at, text in enumerate(self._taken):
            if not text.isascii() and INVALID.search(text):
                try:
                    text.encode("utf-8", "surrogateescape").decode()
                except UnicodeDecodeError as error:
                    self._report(undecodable(error, self._stream, self._path, line + at))
                return False
        return True

    def _problem(self, kind: str, message: str, line: int) -> None:
        self._report(Problem(kind, message, str(self._path), line))


@contextmanager
def create(path: Path, columns: Mapping[str, Any], separator: str) -> Iterator[Append]:
    """Open a file to write; a spreadsheet reads its encoding from the byte-order mark.

    Standard output gets no mark, for the programs that read it.
    """
    with created(path) as stream:
        if path != STANDARD:
            stream.write(BYTE_ORDER_MARK)
        writer = csv.writer(stream, delimiter=separator, lineterminator="\n")

        def append(cells: Sequence[Any]) -> None:
            writer.writerow([safe(as_text(cell)) for cell in cells])

        append(list(columns))
        yield append


CSV: Final = Table("csv", partial(create, separator=","), rows)
TSV: Final = Table("tsv", partial(create, separator="\t"), partial(rows, usual="\t"))
