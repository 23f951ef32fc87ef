"""Excel workbooks (.xlsx), read and written row by row with openpyxl."""

from __future__ import annotations

import logging
import math
import re
import warnings
import zipfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from discotag.corpora.parsing.files import created_bytes, failed
from discotag.corpora.parsing.problems import CorpusError, Problem, Report
from discotag.corpora.tables.cells import as_text, is_empty, is_risky
from discotag.corpora.tables.columns import ID
from discotag.corpora.tables.table import CARRIED, Append, Row, Table, TableOptions
from discotag.errors import DiscotagError, one_line
from discotag.extras import how_to_install

MAX_ROWS: Final = 1_048_576
"""The most rows of a sheet, by Excel's specification."""

MAX_CHARACTERS: Final = 32_767
"""The most characters of a cell, by Excel's specification, counted in units of UTF-16."""

FIRST_YEAR: Final = 1900
"""The first year that Excel has dates of; its days before March are wrong."""

MAX_DIGITS: Final = 15
"""The most digits of a number that Excel keeps."""

MAX_SHARED: Final = 512 << 20
"""The largest size of the texts of a workbook, in bytes, which are kept in memory."""

MAX_SHEET: Final = 4 << 30
"""The largest size of a sheet that is read row by row, in bytes."""

OLD: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of workbooks before 2007, and of those that are encrypted."""

WORKBOOK: Final = re.compile(rb"PK\x03\x04.*xl/", re.DOTALL)
ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
MERGED: Final = re.compile(rb'<(?:\w+:)?mergeCell [^>]*ref="([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)"')

CHUNK: Final = 1000
"""The number of rows that are read at a time."""

ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that a workbook cannot contain."""

REPLACEMENT: Final = "\ufffd"

WIDE: Final = 60
NARROW: Final = 14
"""The widths of columns, in characters."""

NUMERAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")

logger = logging.getLogger(__name__)


def recognises(start: bytes) -> bool:
    """Return whether these are the first bytes of a workbook."""
    return WORKBOOK.match(start) is not None


def rows(
    path: Path, options: TableOptions, report: Report, *, largest: int = MAX_SHEET
) -> Generator[Row, None, None]:
    """Yield the rows of a sheet.

    Args:
        path: The file.
        options: Which sheet to read.
        report: Called with what was guessed.
        largest: The largest size of a sheet, in bytes.

    Raises:
        CorpusError: The file is not a workbook, is encrypted or too large, or has several sheets.
        DiscotagError: openpyxl is not installed.
    """
    with _opened(path, largest) as (book, archive, parts):
        sheet = _sheet(book, options, path)
        merged = _merged(archive, parts[sheet.title])
        if merged:
            count = (
                "merged cells" if len(merged) == 1 else f"{len(merged):,} groups of merged cells"
            )
            message = (
                f"{count} in the sheet {sheet.title!r}, such as {merged[0].name}: each of their "
                "rows gets the value, but a text is read once"
            )
            report(Problem("guessed", message, str(path)))
        found = _numbered(sheet, path)
        yield from _filled(found, merged) if merged else found


class _Merged(NamedTuple):
    """Cells of one column that are merged over several rows."""

    name: str
    column: int
    first: int
    last: int


@contextmanager
def _opened(path: Path, largest: int) -> Iterator[tuple[Any, zipfile.ZipFile, dict[str, str]]]:
    """Yield a workbook, its ZIP archive, and the file of each sheet in it."""
    _openpyxl("reading")
    from openpyxl.reader.excel import ExcelReader

    with ExitStack() as stack:
        try:
            stream = stack.enter_context(path.open("rb"))
            if stream.read(len(OLD)) == OLD:
                _refuse_old(path)
            with zipfile.ZipFile(stream) as packed:
                files = packed.infolist()
            _check_sizes(files, largest, path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what is not read, such as styles
                # Given a path, openpyxl would refuse endings such as .xls, whatever the file is.
                reader = ExcelReader(stream, read_only=True, data_only=True)
                reader.read()
                found = reader.parser.find_sheets()
                parts = {sheet.name: relation.target for sheet, relation in found}
        except OSError as error:
            raise failed(error, path) from None
        except CorpusError:
            raise
        except Exception as error:  # openpyxl passes on the errors of its parsers
            message = f"this is not a workbook (.xlsx), or it is damaged: {one_line(error)}"
            raise CorpusError(Problem("syntax", message, str(path))) from None
        stack.callback(reader.wb.close)
        yield reader.wb, reader.archive, parts


def _check_sizes(files: Sequence[zipfile.ZipInfo], largest: int, path: Path) -> None:
    """Raise `CorpusError` if files declare sizes that are too large; no more of them is read."""
    shared, message = 0, None
    for each in files:
        if "/worksheets/" not in each.filename:
            shared += each.file_size
        elif each.file_size > largest:
            message = f"a sheet of the workbook has more than {largest >> 20} MiB"
    if shared > MAX_SHARED:
        message = f"the workbook has texts of more than {MAX_SHARED >> 20} MiB"
    if message is not None:
        raise CorpusError(Problem("too_long", f"{message}; save it as CSV", str(path)))


def _openpyxl(doing: str) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise DiscotagError(
            f"{doing} a workbook needs openpyxl: {how_to_install('tables')}"
        ) from None
    return openpyxl


def _refuse_old(path: Path) -> NoReturn:
    if ENCRYPTED in path.read_bytes():
        message = (
            "the workbook is protected by a password; remove it in Excel (File, Info, Protect "
            "Workbook, Encrypt with Password), or save the sheet as CSV"
        )
    else:
        message = "this is an old Excel workbook (.xls); save it as .xlsx or CSV"
    raise CorpusError(Problem("binary", message, str(path)))


def _sheet(book: Any, options: TableOptions, path: Path) -> Any:
    """Return the sheet with this name or number, or the only one that is shown and not empty."""
    sheets, wanted = book.worksheets, options.sheet
    if wanted is not None:
        titles = [sheet.title for sheet in sheets]
        same = [at for at, title in enumerate(titles) if title.strip() == wanted.strip()]
        same += [at for at, title in enumerate(titles) if title.casefold() == wanted.casefold()]
        if not same and wanted.isdecimal() and 1 <= int(wanted) <= len(sheets):
            same = [int(wanted) - 1]
        if not same:
            message = f"no sheet named {wanted!r}; sheets are {', '.join(titles)}"
            raise CorpusError(Problem("missing", message, str(path)))
        return sheets[same[0]]
    shown = [sheet for sheet in sheets if sheet.sheet_state == "visible"] or sheets
    if len(shown) > 1:
        shown = [sheet for sheet in shown if _has_cells(sheet, path)] or shown[:1]
    if len(shown) != 1:
        names = ", ".join(sheet.title for sheet in shown)
        use = f"use --sheet{options.whose} with one of {names}"
        message = f"the workbook has {len(shown)} sheets; {use}"
        message = message if shown else "the workbook has no sheet of cells"
        raise CorpusError(Problem("missing", message, str(path)))
    return shown[0]


def _has_cells(sheet: Any, path: Path) -> bool:
    return any(
        not is_empty(cell) for row in islice(_numbered(sheet, path), 50) for cell in row.cells
    )


def _numbered(sheet: Any, path: Path) -> Iterator[Row]:
    sheet.reset_dimensions()  # the declared size may be wrong
    given = sheet.iter_rows(values_only=True)
    number = 0
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                chunk = list(islice(given, CHUNK))
        except Exception as error:  # openpyxl passes on the errors of its parsers
            message = f"the sheet {sheet.title!r} cannot be read: {one_line(error)}"
            raise CorpusError(Problem("syntax", message, str(path), number + 1)) from None
        for cells in chunk:
            number += 1
            if number > MAX_ROWS:  # openpyxl makes empty rows up to any number that a file has
                message = f"the sheet {sheet.title!r} has more than {MAX_ROWS:,} rows"
                raise CorpusError(Problem("too_long", message, str(path), number))
            yield Row(number, number, [_value(cell) for cell in cells])
        if len(chunk) < CHUNK:
            return


def _value(cell: Any) -> Any:
    """Return the value of a cell; a time of midnight is left out, as Excel has no plain dates."""
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date()
    return None if cell == "" else cell


def _merged(archive: zipfile.ZipFile, file: str) -> list[_Merged]:
    """Return the cells that are merged over several rows, by their first column.

    They are at the end of the sheet's file, which openpyxl does not read for them if it reads row
    by row.
    """
    from openpyxl.utils import column_index_from_string

    found: dict[tuple[bytes, ...], None] = {}
    before = b""
    with archive.open(file) as stream:
        while part := stream.read(1 << 20):
            text = before + part
            if b"mergeCell " in text:
                found.update(dict.fromkeys(match.groups() for match in MERGED.finditer(text)))
            before = text[-200:]
    groups = []
    for left, top, right, bottom in ([part.decode() for part in each] for each in found):
        if top != bottom:
            name = f"{left}{top}:{right}{bottom}"
            column = column_index_from_string(left) - 1
            groups.append(_Merged(name, column, int(top), int(bottom)))
    return groups


def _filled(rows: Iterator[Row], merged: Sequence[_Merged]) -> Iterator[Row]:
    """Yield rows in which the cells of a merged group all have its value."""
    starting: dict[int, list[_Merged]] = {}
    for group in merged:
        starting.setdefault(group.first, []).append(group)
    active: dict[int, tuple[int, Any]] = {}  # by column: the last row, and the value
    for row in rows:
        cells = list(row.cells)
        active = {at: group for at, group in active.items() if group[0] >= row.number}
        for at, (_, value) in active.items():
            cells += [None] * (at + 1 - len(cells))
            cells[at] = value
        yield Row(row.number, row.line, cells, tuple(active))
        for group in starting.get(row.number, ()):
            if group.column < len(cells):
                active[group.column] = group.last, cells[group.column]


@contextmanager
def create(path: Path, columns: Mapping[str, Any]) -> Iterator[Append]:
    """Open a workbook to write; rows beyond the most of a sheet go to further sheets.

    Raises:
        CorpusError: The file cannot be written.
        DiscotagError: openpyxl is not installed.
    """
    openpyxl = _openpyxl("writing")
    book = openpyxl.Workbook(write_only=True)
    writer = _Writer(book, columns)
    with created_bytes(path) as stream:
        yield writer.append
        book.save(stream)
    if writer.cut:
        logger.warning(
            "%s: %s cells were cut at %s characters, the most that Excel has; write CSV or Parquet "
            "to keep all of them",
            path, f"{writer.cut:,}", f"{MAX_CHARACTERS:,}",
        )  # fmt: skip
    if len(book.worksheets) > 1:
        logger.warning(
            "%s: the table has more rows than a sheet of Excel, %s; it continues on %s sheets",
            path, f"{MAX_ROWS:,}", len(book.worksheets),
        )  # fmt: skip


class _Writer:
    """Writes rows to the sheets of a workbook."""

    def __init__(self, book: Any, columns: Mapping[str, Any]) -> None:
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.styles import Font

        self.cut = 0
        self._book = book
        self._columns = columns
        self._cell = WriteOnlyCell
        self._bold = Font(bold=True)
        self._given = [name == ID or kind == CARRIED for name, kind in columns.items()]
        self._begin()

    def _begin(self) -> None:
        """Begin a sheet, with the names of the columns in bold at the top, where they stay."""
        from openpyxl.utils import get_column_letter

        number = len(self._book.worksheets) + 1
        self._sheet = self._book.create_sheet("found" if number == 1 else f"found {number}")
        self._sheet.freeze_panes = "A2"
        for at, name in enumerate(self._columns, start=1):
            wide = name in ("sentence", "text")
            self._sheet.column_dimensions[get_column_letter(at)].width = WIDE if wide else NARROW
        names = [self._string(name) for name in self._columns]
        header = [
            self._cell(self._sheet, name) if isinstance(name, str) else name for name in names
        ]
        for each in header:
            each.font = self._bold
        self._sheet.append(header)
        self._rows = 1

    def append(self, cells: Sequence[Any]) -> None:
        """Write a row."""
        if self._rows == MAX_ROWS:
            self._begin()
        self._rows += 1
        self._sheet.append([*map(self._value, cells, self._given)])

    def _value(self, value: Any, given: bool) -> Any:
        """Return what to write for a value; `given`: numbers of the input stay numbers."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int) and len(str(abs(value))) <= MAX_DIGITS:
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        if (
            isinstance(value, date)
            and value.year > FIRST_YEAR
            and getattr(value, "tzinfo", None) is None
        ):
            return value
        if given and isinstance(value, str) and (number := _number(value)) is not None:
            return number
        return self._string(as_text(value))

    def _string(self, text: str) -> Any:
        """Return a cell that shows a text, whatever it begins with."""
        text = ILLEGAL.sub(REPLACEMENT, text)
        if len(text) > MAX_CHARACTERS // 2:
            text = self._shortened(text)
        if not is_risky(text):
            return text
        cell = self._cell(self._sheet, text)
        cell.data_type = "s"  # openpyxl has made it a formula if it begins with =
        cell.quotePrefix = True  # so that it stays a text when somebody edits it
        return cell

    def _shortened(self, text: str) -> str:
        raw = text.encode("utf-16-le")
        if len(raw) <= 2 * MAX_CHARACTERS:
            return text
        self.cut += 1
        return raw[: 2 * MAX_CHARACTERS - 2].decode("utf-16-le", errors="ignore") + "…"


def _number(text: str) -> int | float | None:
    """Return the number that a text is, if it is written as Excel would show it."""
    if len(text) > MAX_DIGITS or NUMERAL.fullmatch(text) is None:
        return None
    number = float(text) if "." in text else int(text)
    return number if str(number) == text else None


EXCEL: Final = Table("xlsx", create, rows, padded=True)
