"""Columns of Parquet: those of the input, which must agree between files, and what is found."""

from __future__ import annotations

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
from discotag.scale.plan import Extent
from discotag.scale.sources import Source, in_parallel
from discotag.scale.storage import explaining, opened

MENTIONS: Final = "mentions"
"""The column that is added."""

CANDIDATES: Final = "candidates"
"""The column that is added if there are candidates to review."""

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
        names: Their names, in order.
        text: The one with the texts.
        id: The one with the ids of the texts, or None.
        others: The other columns, with the names that they have as fields of documents.
    """

    names: tuple[str, ...]
    text: int
    id: int | None
    others: tuple[tuple[int, str], ...]


def mentions_type() -> Any:
    """Return the Arrow type of a column of mentions."""
    arrow = import_arrow("a column of mentions in")
    ranges = arrow.list_(arrow.list_(arrow.int64()))
    return arrow.list_(
        arrow.struct(
            [
                ("label", arrow.string()),
                ("text", arrow.string()),
                ("spans", ranges),
                ("fragments", ranges),
                ("score", arrow.float64()),
            ]
        )
    )


def mention_values(mentions: Sequence[Mention]) -> list[dict[str, Any]]:
    """Return mentions as values of a column; all have the same fields, None where not known."""
    return [
        {
            "label": each.label,
            "text": each.text,
            "spans": None if each.spans is None else [list(span) for span in each.spans],
            "fragments": [list(fragment) for fragment in each.fragments],
            "score": each.score,
        }
        for each in mentions
    ]


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
) -> tuple[Columns, list[Extent], list[str]]:
    """Read the footers of Parquet files.

    Args:
        sources: The files.
        options: Where the texts are; by default this is found out from the first file with rows.

    Returns:
        The columns, how much there is in each file, and lines that say what was found out.

    Raises:
        InputError: A file is damaged, its columns differ from those of the first file, or it is not
            clear which column has the texts.
        StorageError: A file cannot be read.
    """
    footers = in_parallel(_footer, sources)
    first = footers[0].schema
    _check_names(first.names, sources[0])
    for source, footer in zip(sources[1:], footers[1:], strict=True):
        _check_same(first, footer.schema, sources[0], source)
    full = next((n for n, each in enumerate(footers) if each.rows), 0)
    columns, notes = _find(sources[full], first.names, options)
    _check_text(first.field(columns.text), sources[0])
    text = first.names[columns.text]
    total = sum(each.sizes.get(text, 0) for each in footers)
    weight = max(total / max(sum(each.rows for each in footers), 1), 1.0)
    return columns, [Extent(each.rows, weight, True) for each in footers], notes


@dataclass(frozen=True, slots=True)
class _Footer:
    """What the end of a Parquet file says.

    Attributes:
        schema: The Arrow schema.
        rows: The number of rows.
        sizes: The bytes of the columns before compression, by name.
    """

    schema: Any
    rows: int
    sizes: dict[str, int]


def _footer(source: Source) -> _Footer:
    arrow = import_arrow("reading")
    with opened(source.address) as stream, reading(source):
        file = arrow.parquet.ParquetFile(stream, buffer_size=BUFFER, pre_buffer=False)
        metadata = file.metadata
        sizes: dict[str, int] = {}
        for group in range(metadata.num_row_groups):
            for column in range(metadata.num_columns):
                chunk = metadata.row_group(group).column(column)
                name = chunk.path_in_schema
                sizes[name] = sizes.get(name, 0) + chunk.total_uncompressed_size
        schema = file.schema_arrow.remove_metadata()
        return _Footer(schema, metadata.num_rows, sizes)


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Turn errors of pyarrow and of storage into those of discotag.

    Raises:
        InputError: The Parquet file is damaged.
        StorageError: It cannot be read.
    """
    arrow = import_arrow("reading")
    try:
        yield
    except Exception as error:
        of_arrow = type(error) is OSError and error.errno is None
        if of_arrow or isinstance(error, arrow.ArrowException):
            raise InputError(
                f"{source.shown}: the Parquet file is damaged: {one_line(error)}"
            ) from None
        with explaining(source.address):
            raise


def _check_names(names: Sequence[str], source: Source) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{source.shown}: two columns have the name {twice!r}")


def _check_same(first: Any, other: Any, known: Source, source: Source) -> None:
    """Raise `InputError` if a file has other columns than the first file."""
    where, there = source.shown, known.shown
    for field in first:
        if field.name not in other.names:
            raise InputError(f"{where}: has no column {field.name!r}, which {there} has")
        kind = other.field(field.name).type
        if kind != field.type:
            raise InputError(
                f"{where}: the column {field.name!r} has the type {kind}, but {field.type} in "
                f"{there}"
            )
    for name in other.names:
        if name not in first.names:
            raise InputError(f"{where}: has a column {name!r}, which {there} does not have")
    _check_names(other.names, source)


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


def _find(source: Source, names: Sequence[str], options: TableOptions) -> tuple[Columns, list[str]]:
    """Return the columns of a file, and lines that say what was found out."""
    arrow = import_arrow("reading")
    with opened(source.address) as stream, reading(source):
        file = arrow.parquet.ParquetFile(stream, buffer_size=BUFFER, pre_buffer=False)
        batches = file.iter_batches(SAMPLE_ROWS, use_threads=False)
        sample = [Row(0, 0, names)]
        for batch in islice(batches, 1):
            cells = zip(*map(_sample, batch.columns), strict=True)
            sample += [Row(number, number, row) for number, row in enumerate(cells, start=1)]
    notes: list[Problem] = []
    found = find_columns(sample, options, source.shown, notes.append, padded=True)
    columns = Columns(tuple(names), found.text, found.id, found.others)
    return columns, [str(each) for each in notes]


def _sample(column: Any) -> list[Any]:
    """Return the values of a column; of one that cannot be decoded, none."""
    try:
        return column_values(column)
    except UnicodeDecodeError:  # reported with its row, if it is read
        return [None] * len(column)
