"""Columns of Parquet: those of the input, which must agree between files, and what is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from discotag.corpora.parsing.problems import Problem
from discotag.corpora.tables.columns import find_columns, unused
from discotag.corpora.tables.parquet import BUFFER, column_values, import_arrow
from discotag.corpora.tables.table import Row, TableOptions
from discotag.errors import InputError, one_line
from discotag.mentions import Mention
from discotag.scale.sources import Source, check_size
from discotag.scale.storage import explaining, in_parallel, opened

MENTIONS: Final = "mentions"
"""The column that is added."""

CANDIDATES: Final = "candidates"
"""The column that is added if there are candidates to review."""

FIELDS: Final = ("label", "text", "spans", "fragments", "score")
"""The fields of a mention, in order."""

SPARK_MENTIONS: Final = (
    "array<struct<label: string, text: string, spans: array<array<bigint>>, "
    "fragments: array<array<bigint>>, score: double>>"
)
"""The type of the column of mentions, as Spark writes it."""

SAMPLE_ROWS: Final = 1000
"""The number of rows that are read to find the column with the texts."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a Parquet input.

    Attributes:
        schema: Their Arrow schema, with the names and types alone.
        text: The name of the one with the texts.
        id: The name of the one with the ids of the texts, or None.
    """

    schema: Any
    text: str
    id: str | None


def mentions_type() -> Any:
    """Return the Arrow type of a column of mentions."""
    arrow = import_arrow("a column of mentions in")
    text, ranges = arrow.string(), arrow.list_(arrow.list_(arrow.int64()))
    types = (text, text, ranges, ranges, arrow.float64())
    return arrow.list_(arrow.struct(list(zip(FIELDS, types, strict=True))))


def mention_values(mentions: Sequence[Mention]) -> list[dict[str, Any]]:
    """Return mentions as values of a column; all have the same fields, None where not known."""
    return [dict.fromkeys(FIELDS) | each.to_dict() for each in mentions]


def output_names(names: Sequence[str], *, candidates: bool = False) -> list[str]:
    """Return the names of the input's columns beside the columns that are added.

    Example:
        >>> output_names(["id", "mentions"])
        ['id', 'input_mentions']
    """
    taken = {MENTIONS, CANDIDATES} if candidates else {MENTIONS}
    found = []
    for name in names:
        found.append(unused(name, taken | (set(names) - {name})) if name in taken else name)
        taken.add(found[-1])
    return found


def examine(
    sources: Sequence[Source], options: TableOptions
) -> tuple[Columns, list[int], float, list[str]]:
    """Read the footers of Parquet files.

    Args:
        sources: The files.
        options: Where the texts are; by default this is found out from the first file with rows.

    Returns:
        The columns, the numbers of rows of the files, the bytes of text in a row on average, and
        lines that say what was found out.

    Raises:
        InputError: A file is damaged, its columns differ from those of the first file, or it is not
            clear which column has the texts.
        StorageError: A file cannot be read.
    """
    footers = in_parallel(_footer, sources)
    schema = footers[0][0]
    for source, (other, *_) in zip(sources, footers, strict=True):
        _check_same(schema, other, sources[0], source)
    rows = [number for _, number, _ in footers]
    full = next((n for n, number in enumerate(rows) if number), 0)
    notes: list[Problem] = []
    sample = _sample(sources[full], schema.names)
    found = find_columns(sample, options, sources[full].shown, notes.append, padded=True)
    text = schema.names[found.text]
    _check_text(schema.field(text), sources[0])
    total = sum(sizes[text] for *_, sizes in footers)
    weight = max(total / max(sum(rows), 1), 1.0)
    columns = Columns(schema, text, None if found.id is None else schema.names[found.id])
    return columns, rows, weight, [*map(str, notes)]


@contextmanager
def parquet_file(source: Source) -> Iterator[Any]:
    """Open a Parquet file; what is raised in the block is an error of the file, too.

    Raises:
        InputError: The Parquet file is damaged.
        StorageError: It cannot be read, or has changed since the job was planned.
    """
    arrow = import_arrow("reading")
    with opened(source.address) as stream, explaining(source.address):
        check_size(stream, source)
        try:
            yield arrow.parquet.ParquetFile(stream, buffer_size=BUFFER, pre_buffer=False)
        except Exception as error:
            of_arrow = type(error) is OSError and error.errno is None
            if not of_arrow and not isinstance(error, arrow.ArrowException):
                raise
            raise InputError(
                f"{source.shown}: the Parquet file is damaged: {one_line(error)}"
            ) from None


def _footer(source: Source) -> tuple[Any, int, Counter[str]]:
    """Return the Arrow schema of a file, its rows, and the bytes of columns before compression."""
    arrow = import_arrow("reading")
    sizes: Counter[str] = Counter()
    with parquet_file(source) as file:
        metadata = file.metadata
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for chunk in map(group.column, range(metadata.num_columns)):
                sizes[chunk.path_in_schema] += chunk.total_uncompressed_size
        schema = arrow.schema([(each.name, each.type) for each in file.schema_arrow])
        return schema, metadata.num_rows, sizes


def _check_same(first: Any, other: Any, known: Source, source: Source) -> None:
    """Raise `InputError` if a file has other columns than the first file, or one twice."""
    where, there = source.shown, known.shown
    for name, times in Counter(other.names).items():
        if times > 1:
            raise InputError(f"{where}: two columns have the name {name!r}")
        if name not in first.names:
            raise InputError(f"{where}: has a column {name!r}, which {there} does not have")
    for field in first:
        if field.name not in other.names:
            raise InputError(f"{where}: has no column {field.name!r}, which {there} has")
        kind = other.field(field.name).type
        if kind != field.type:
            raise InputError(
                f"{where}: the column {field.name!r} has the type {kind}, but {field.type} in "
                f"{there}"
            )


def _check_text(field: Any, source: Source) -> None:
    """Raise `InputError` if a column cannot have texts."""
    types = import_arrow("reading").types
    kind = field.type.value_type if types.is_dictionary(field.type) else field.type
    known = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    if not any(is_kind(kind) for is_kind in known):
        raise InputError(
            f"{source.shown}: the column {field.name!r} has the type {field.type}, not "
            "text; use --text-column"
        )


def _sample(source: Source, names: Sequence[str]) -> list[Row]:
    """Return the names of the columns and the first rows of a file."""
    found = [Row(0, 0, names)]
    with parquet_file(source) as file:
        for batch in islice(file.iter_batches(SAMPLE_ROWS, use_threads=False), 1):
            cells = zip(*map(_values, batch.select(list(names)).columns), strict=True)
            found += [Row(number, number, row) for number, row in enumerate(cells, start=1)]
    return found


def _values(column: Any) -> list[Any]:
    """Return the values of a column; of one that cannot be decoded, none."""
    try:
        return column_values(column)
    except UnicodeDecodeError:  # reported with its row, if it is read
        return [None] * len(column)
