"""Find the row with the names of the columns, and the columns with the texts and their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from discotag.corpora.parsing.problems import CorpusError, Problem, Report
from discotag.corpora.tables.cells import as_text, is_empty
from discotag.corpora.tables.table import Row, TableOptions
from discotag.mentions import Document

HEADER_ROWS: Final = 20
"""The number of rows at the beginning among which the names of the columns are searched for."""

FEWEST_WORDS: Final = (3, 1.5, 1)
"""A column whose cells have at least this many words on average can be the one with the texts; if
there is none, a smaller number is tried."""

LONGEST_NAME: Final = 200
"""The longest name of a column that is guessed, in characters: something longer is a text."""

ID: Final = "id"
TEXT: Final = "text"
ROW: Final = "row"
FILE: Final = "file"
RESERVED: Final = Document.FIELDS | {ROW, FILE}
"""Names that the fields of documents have already."""

MAX_NAMES: Final = 30
"""The number of columns that a message names; the others are counted."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table.

    Attributes:
        header: The number of the row with their names.
        width: The number of columns.
        text: The column with the texts.
        id: The column with their ids, or None.
        others: The other columns, with the names that they have as fields of documents.
    """

    header: int
    width: int
    text: int
    id: int | None
    others: tuple[tuple[int, str], ...]


def find_columns(
    rows: Sequence[Row], options: TableOptions, path: str, report: Report, *, padded: bool
) -> Columns:
    """Return the columns of a table, given its first rows.

    Args:
        rows: The first rows.
        options: What the user has chosen.
        path: The file, for messages.
        report: Called with what was guessed.
        padded: Whether rows may be shorter than others, also the one with the names.

    Raises:
        CorpusError: There is no such column, or it is not clear which one has the texts.
    """
    header = _header(rows, options.text_column)
    if header is None:
        raise CorpusError(Problem("missing", "the table is empty", path))
    above = [row for row in rows if row.number < header.number and any(map(_filled, row.cells))]
    below = [row for row in rows if row.number > header.number]
    names = _names(header, below, padded)
    if above:
        message = f"the names of the columns are in row {header.number}; what is above is not read"
        report(Problem("guessed", message, path))
    identifier = _id_column(names, options, path)
    text = _text_column(names, identifier, below, options, path, report)
    taken = set(RESERVED)
    others = []
    for at, name in enumerate(names):
        if name and at not in (text, identifier):
            others.append((at, unused(name, taken)))
            taken.add(others[-1][1])
    return Columns(header.number, len(names), text, identifier, tuple(others))


def unused(name: str, taken: Iterable[str]) -> str:
    """Return a name for a column of the input that no other column has.

    Example:
        >>> unused("score", {"score"}), unused("drug", {"score"})
        ('input_score', 'drug')
    """
    while name in taken:
        name = f"input_{name}"
    return name


def _filled(cell: object) -> bool:
    return not is_empty(cell)


def _header(rows: Sequence[Row], text_column: str | None) -> Row | None:
    """Return the row with the names of the columns; a title may be above it."""
    first = [row for row in rows[:HEADER_ROWS] if any(map(_filled, row.cells))]
    if not first or first[0].number == 0:
        return first[0] if first else None
    widest = max(sum(map(_filled, row.cells)) for row in first)
    likely = next(row for row in first if sum(map(_filled, row.cells)) * 2 >= widest)
    if text_column is None:
        return likely
    # A row below a complete row of names is data, even if a cell of it is equal to the name.
    complete = _has_names(likely) and sum(map(_filled, likely.cells)) == widest
    choice = [row for row in first if not complete or row.number <= likely.number]
    named = (
        row
        for row in [likely, *filter(_has_names, choice)]
        if _find(text_column, [_name(cell) for cell in row.cells]) is not None
    )
    return next(named, likely)


def _has_names(row: Row) -> bool:
    """Return whether all cells can be names of columns: texts with a letter in them."""
    filled = [cell for cell in row.cells if _filled(cell)]
    return all(isinstance(cell, str) and any(map(str.isalpha, cell)) for cell in filled)


def _name(cell: object) -> str:
    return " ".join(as_text(cell).split())


def _names(header: Row, rows: Sequence[Row], padded: bool) -> list[str]:
    """Return the name of each column, different from each other; empty for an empty column."""
    names = [_name(cell) for cell in header.cells]
    used = max(
        (at + 1 for row in rows for at, cell in enumerate(row.cells) if _filled(cell)), default=0
    )
    if any(names):
        names = names[: max(at + 1 for at, name in enumerate(names) if name)]
    if used > len(names) and (padded or used <= len(header.cells)):
        names += [""] * (used - len(names))
    found: list[str] = []
    for at, name in enumerate(names):
        if not name and any(_filled(row.cells[at]) for row in rows if at < len(row.cells)):
            name = f"column {at + 1}"
        number, given = 2, name
        while name and name in found:
            name, number = f"{given}_{number}", number + 1
        found.append(name)
    return found


def _find(wanted: str, names: Sequence[str]) -> int | None:
    """Return the column with this name, or else the only one that differs in case and spaces."""
    name = _name(wanted)
    if name in names:
        return names.index(name)
    same = [at for at, each in enumerate(names) if each.casefold() == name.casefold()]
    return same[0] if len(same) == 1 else None


def _text_column(
    names: Sequence[str],
    identifier: int | None,
    rows: Sequence[Row],
    options: TableOptions,
    path: str,
    report: Report,
) -> int:
    if options.text_column is None:
        return _likely_text_column(names, identifier, rows, options, path, report)
    found = _find(options.text_column, names)
    if found is None:
        message = f"no column named {options.text_column!r}; columns are {_listed(names)}"
        raise CorpusError(Problem("missing", f"{message}. Use --text-column", path))
    if found == identifier:
        message = f"the column {names[found]!r} cannot have both the texts and their ids"
        raise CorpusError(Problem("syntax", message, path))
    return found


def _likely_text_column(
    names: Sequence[str],
    identifier: int | None,
    rows: Sequence[Row],
    options: TableOptions,
    path: str,
    report: Report,
) -> int:
    """Return the only column that can have the texts."""
    others = [at for at, name in enumerate(names) if name and at != identifier]
    words = {at: _words(rows, at) for at in others}
    choice = others  # there may be no rows, or only numbers
    for least in FEWEST_WORDS:
        likely = [at for at in others if words[at] >= least]
        if likely:
            choice = [at for at in likely if names[at].casefold() == TEXT] or likely
            break
    if len(choice) != 1:
        use = f"Use --text-column{options.whose} with one of {_listed(names)}"
        raise CorpusError(Problem("missing", f"which column has the texts? {use}", path))
    if len(names[choice[0]]) > LONGEST_NAME:
        message = (
            "the first row must have the names of the columns, but it has a text; add a row of "
            "names above it"
        )
        raise CorpusError(Problem("syntax", message, path, 1))
    report(Problem("guessed", f"the texts are in the column {names[choice[0]]!r}", path))
    return choice[0]


def _words(rows: Sequence[Row], column: int) -> float:
    """Return the average number of words of the texts in a column, 0 if there are none."""
    texts = [
        cell
        for row in rows
        if column < len(row.cells)
        and isinstance(cell := row.cells[column], str)
        and any(map(str.isalpha, cell[:1000]))
    ]
    filled = sum(column < len(row.cells) and _filled(row.cells[column]) for row in rows)
    if len(texts) * 2 < filled or not texts:  # mostly numbers or dates
        return 0
    return sum(len(text[:1000].split()) for text in texts) / len(texts)


def _id_column(names: Sequence[str], options: TableOptions, path: str) -> int | None:
    if options.id_column is None:
        found = _find(ID, names)
        wanted = options.text_column
        return None if wanted is not None and found == _find(wanted, names) else found
    found = _find(options.id_column, names)
    if found is None:
        message = f"no column named {options.id_column!r}; columns are {_listed(names)}"
        raise CorpusError(Problem("missing", f"{message}. Use --id-column", path))
    return found


def _listed(names: Sequence[str]) -> str:
    given = [name for name in names if name]
    more = len(given) - MAX_NAMES
    return ", ".join(given[:MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")
