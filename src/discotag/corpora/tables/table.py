"""The description of a kind of table, and what readers and writers of tables pass around."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from discotag.corpora.parsing.problems import Report

Rows = Literal["mentions", "documents"]
"""What a row of an output is: a mention, or a text."""

MAX_CELL: Final = 4 << 20
"""The most characters of a cell. A longer one is likely to be a mistake in the file."""

CARRIED: Final = "carried"
TEXT: Final = "text"
INTEGER: Final = "integer"
NUMBER: Final = "number"
SPANS: Final = "spans"
TEXTS: Final = "texts"
NUMBERS: Final = "numbers"
SPANS_OF_EACH: Final = "spans of each"
"""What the cells of a column of an output hold; `CARRIED` is any value of the input."""


class Row(NamedTuple):
    """A row of a table as it was read.

    Attributes:
        number: The number of the row as a spreadsheet shows it, counted from 1; in Parquet, the
            names of the columns are row 0.
        line: The line of the file where it begins, for messages.
        cells: Its cells; None for an empty one.
        merged: The cells that are empty themselves and have the value of the merged cell above.
    """

    number: int
    line: int
    cells: Sequence[Any]
    merged: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Where the texts of a table are; what is None is found out.

    Attributes:
        text_column: The name of the column with the texts.
        id_column: The name of the column with their ids.
        sheet: The name or the number of the sheet of a workbook.
        elsewhere: Whether these options cannot be given here, for messages: they are then told to
            be those of `discotag corpus convert`.
    """

    text_column: str | None = None
    id_column: str | None = None
    sheet: str | None = None
    elsewhere: bool = False

    @property
    def whose(self) -> str:
        """What messages say after the name of an option."""
        return " of discotag corpus convert" if self.elsewhere else ""

    def __bool__(self) -> bool:
        return (self.text_column or self.id_column or self.sheet) is not None


Append = Callable[[Sequence[Any]], None]
"""Writes a row of cells."""


@dataclass(frozen=True, slots=True)
class Table:
    """How the rows of a kind of table are read and written.

    Attributes:
        name: The name of its format.
        create: Opens a file to write, which appears when it is complete, given the names of the
            columns and what their cells hold, one of the constants above or a type of Arrow.
        rows: Yields the rows of a file, the row with the names of the columns included; None if
            tables can only be written.
        padded: Whether rows that are shorter than others only lack empty cells.
        types: Returns the types of the columns by name, for formats that know them.
    """

    name: str
    create: Callable[[Path, Mapping[str, Any]], AbstractContextManager[Append]]
    rows: Callable[[Path, TableOptions, Report], Generator[Row, None, None]] | None = None
    padded: bool = False
    types: Callable[[Path], Mapping[str, Any]] | None = None
