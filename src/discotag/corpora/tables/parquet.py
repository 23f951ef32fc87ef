"""Parquet files, read and written batch by batch with pyarrow."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from discotag.corpora.parsing.files import created_bytes, failed
from discotag.corpora.parsing.problems import CorpusError, Problem, Report
from discotag.corpora.tables.cells import as_text
from discotag.corpora.tables.table import (
    CARRIED,
    INTEGER,
    NUMBER,
    NUMBERS,
    SPANS,
    SPANS_OF_EACH,
    TEXT,
    TEXTS,
    Append,
    Row,
    Table,
    TableOptions,
)
from discotag.errors import DiscotagError, one_line
from discotag.extras import how_to_install

MARK: Final = b"PAR1"

READ_ROWS: Final = 1000
"""The number of rows that are read at a time."""

WRITTEN_ROWS: Final = 20_000
"""The number of rows that are written at a time, as a row group."""

BUFFER: Final = 1 << 20
"""The number of bytes of a column that are read at a time; by default all of a row group are."""


def recognises(start: bytes) -> bool:
    """Return whether these are the first bytes of a Parquet file."""
    return start[:4] == MARK and start[4:5] < b" "


def rows(path: Path, options: TableOptions, report: Report) -> Generator[Row, None, None]:
    """Yield the names of the columns as row 0, and then the rows.

    Raises:
        CorpusError: The file cannot be read.
        DiscotagError: pyarrow is not installed.
    """
    arrow = import_arrow("reading")
    with (
        _failing(path),
        arrow.parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file,
    ):
        yield Row(0, 0, file.schema_arrow.names)
        number = 0
        for batch in file.iter_batches(READ_ROWS, use_threads=False):
            columns = [column_values(column) for column in batch.columns]
            for cells in zip(*columns, strict=True):
                number += 1
                yield Row(number, number, cells)


def types(path: Path) -> Mapping[str, Any]:
    """Return the types of the columns by name."""
    arrow = import_arrow("reading")
    with _failing(path):
        schema = arrow.parquet.read_schema(path)
    return dict(zip(schema.names, schema.types, strict=True))


def column_values(column: Any) -> list[Any]:
    """Return the values of a column of Arrow as Python has them."""
    arrow = import_arrow("reading")
    if arrow.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's datetime has microseconds.
        column = column.cast(arrow.timestamp("us", column.type.tz), safe=False)
    found: list[Any] = column.to_pylist()
    return found


@contextmanager
def _failing(path: Path) -> Iterator[None]:
    """Turn errors of pyarrow into those of a table."""
    arrow = import_arrow("reading")
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise failed(error, path) from None
        message = f"the Parquet file is damaged: {one_line(error)}"
        raise CorpusError(Problem("syntax", message, str(path))) from None
    except arrow.ArrowException as error:
        message = f"the Parquet file cannot be read: {one_line(error)}"
        raise CorpusError(Problem("syntax", message, str(path))) from None


def import_arrow(doing: str) -> Any:
    """Return the module pyarrow, with `pyarrow.parquet`.

    Args:
        doing: What it is needed for, for the message.

    Raises:
        DiscotagError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DiscotagError(f"{doing} Parquet needs pyarrow: {how_to_install('tables')}") from None
    return pyarrow


@contextmanager
def create(path: Path, columns: Mapping[str, Any]) -> Iterator[Append]:
    """Open a file to write.

    Raises:
        CorpusError: The file cannot be written.
        DiscotagError: pyarrow is not installed.
    """
    arrow = import_arrow("writing")
    span = arrow.list_(arrow.list_(arrow.int64()))
    known = {
        CARRIED: arrow.string(),
        TEXT: arrow.string(),
        INTEGER: arrow.int64(),
        NUMBER: arrow.float64(),
        SPANS: span,
        TEXTS: arrow.list_(arrow.string()),
        NUMBERS: arrow.list_(arrow.float64()),
        SPANS_OF_EACH: arrow.list_(span),
    }
    kinds = [known[kind] if isinstance(kind, str) else kind for kind in columns.values()]
    schema = arrow.schema(list(zip(columns, kinds, strict=True)))
    as_texts = [arrow.types.is_string(kind) or arrow.types.is_large_string(kind) for kind in kinds]
    waiting: list[Sequence[Any]] = []

    def flush() -> None:
        cells = zip(*waiting, strict=True) if waiting else ((),) * len(kinds)
        arrays = [
            arrow.array([_text(each) for each in column] if textual else list(column), type=kind)
            for column, kind, textual in zip(cells, kinds, as_texts, strict=True)
        ]
        writer.write_batch(arrow.record_batch(arrays, schema=schema))
        waiting.clear()

    def append(cells: Sequence[Any]) -> None:
        waiting.append(cells)
        if len(waiting) == WRITTEN_ROWS:
            flush()

    with created_bytes(path) as stream, arrow.parquet.ParquetWriter(stream, schema) as writer:
        yield append
        if waiting:
            flush()


def _text(value: Any) -> str | None:
    return None if value is None else as_text(value)


PARQUET: Final = Table("parquet", create, rows, padded=True, types=types)
