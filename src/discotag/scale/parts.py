"""Parts: the outputs of blocks, and the receipts that say that they are complete.

All that is not a part has a name that begins with an underscore, which readers of folders of
Parquet and JSON lines ignore.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import IO, Any, Final

from discotag.corpora.formats.jsonl import to_line
from discotag.corpora.parsing.unwritable import UnwritableError
from discotag.corpora.tables.parquet import WRITTEN_ROWS, import_arrow
from discotag.errors import InputError
from discotag.mentions import Document
from discotag.scale.columns import (
    CANDIDATES,
    MENTIONS,
    Columns,
    mention_values,
    mentions_type,
    output_names,
)
from discotag.scale.storage import Folder

RECEIPTS: Final = "_receipts"

RECEIPT: Final = re.compile(r"\d{6,}\.json")
"""Matches the names of receipts."""

PART: Final = re.compile(r"part-\d{6,}\.(jsonl|parquet)")
"""Matches the names of parts."""

EXTRA: Final = "extra"
"""The column with the other fields of JSON lines, as JSON."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an output.

    Attributes:
        name: The name of its file.
        documents: The number of documents in it.
        sentences: The number of their sentences.
        mentions: The number of mentions found in them.
        bytes: The size of the file.
        sha256: The digest of its content.
    """

    name: str
    documents: int
    sentences: int
    mentions: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is known of a part that is complete.

    Its file also has what was left out of the part, as `errors`.

    Attributes:
        job: The id of the job.
        block: The number of the block.
        part: The part.
        flaws: The number of entries of what was left out.
        lines: The number of lines of each range of JSON lines.
        warnings: What the tagger warned of.
        left_out: The number of mentions that were left out because of their scores.
        highest_left_out: The highest of their scores.
        candidates: The number of candidates to review.
    """

    job: str
    block: int
    part: Part
    flaws: int
    lines: tuple[int, ...]
    warnings: tuple[str, ...] = ()
    left_out: int = 0
    highest_left_out: float = 0.0
    candidates: int = 0

    @classmethod
    def from_json(cls, content: str | bytes) -> Receipt | None:
        """Return the receipt of a file, or None if it is not one."""
        try:
            data: dict[str, Any] = json.loads(content)
            data.pop("errors", None)
            lists = {"lines": tuple(data["lines"]), "warnings": tuple(data["warnings"])}
            return cls(**{**data, **lists, "part": Part(**data["part"])})
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def to_json(self, errors: Sequence[Mapping[str, Any]] = ()) -> str:
        """Return the content of the file of this receipt."""
        return json.dumps({**asdict(self), "errors": errors})


def part_name(block: int, form: str) -> str:
    """Return the name of the part of a block.

    Example:
        >>> part_name(7, "parquet")
        'part-000007.parquet'
    """
    return f"part-{block:06}.{form}"


def receipt_name(block: int) -> str:
    """Return the name of the receipt of a block."""
    return f"{RECEIPTS}/{block:06}.json"


def read_receipts(folder: Folder, job: str, form: str, blocks: int) -> dict[int, Receipt]:
    """Return the receipts of the parts of a job that are complete, by block.

    A receipt that cannot be read or is of another job, or whose part does not have the right size,
    does not count.
    """
    sizes = folder.sizes()
    names = [f"{RECEIPTS}/{name}" for name in folder.sizes(RECEIPTS)]
    found = {}
    for content in folder.read_all(names).values():
        receipt = Receipt.from_json(content)
        if receipt is None or receipt.job != job or not 0 <= receipt.block < blocks:
            continue
        if sizes.get(part_name(receipt.block, form)) == receipt.part.bytes:
            found[receipt.block] = receipt
    return found


Write = Callable[[Document], None]
"""Writes a document."""


@contextmanager
def writing_lines(stream: IO[bytes]) -> Iterator[Write]:
    """Write documents to a stream as JSON lines.

    Raises:
        InputError: JSON cannot represent a column of the input.
    """

    def write(document: Document) -> None:
        try:
            stream.write(to_line(document).encode())
        except UnwritableError as error:
            raise InputError(
                f"document {document.id}: {error.problem.message}; write Parquet, or leave "
                "the column out of the input"
            ) from None

    yield write


@contextmanager
def writing_rows(
    stream: IO[bytes], columns: Columns | None, rows: list[Any], *, candidates: bool
) -> Iterator[Write]:
    """Write documents to a stream as rows of Parquet, with columns of what was found.

    Documents of JSON lines become rows with their id, text, mentions and other fields.

    Args:
        stream: Where to write.
        columns: The columns of the input; None for JSON lines.
        rows: The rows of the input, in batches that are there before their documents. They are
            taken out when they are written.
        candidates: Whether there is a column of candidates, too.
    """
    arrow = import_arrow("writing")
    text = arrow.string()
    found = [(name, mentions_type()) for name in (MENTIONS, CANDIDATES)[: 1 + candidates]]
    if columns is None:
        fields = [("id", text), ("text", text), *found, (EXTRA, text)]
    else:
        names = output_names(columns.schema.names, candidates=candidates)
        fields = [*zip(names, columns.schema.types, strict=True), *found]
    schema = arrow.schema(fields)
    waiting: list[Document] = []

    def flush() -> None:
        kinds = [[each.mentions for each in waiting], [each.candidates for each in waiting]]
        cells = [
            arrow.array(list(map(mention_values, kind)), mentions_type())
            for kind in kinds[: len(found)]
        ]
        if columns is None:
            ids, texts = [each.id for each in waiting], [each.text for each in waiting]
            extra = arrow.array(list(map(_extra, waiting)), text)
            cells = [arrow.array(ids, text), arrow.array(texts, text), *cells, extra]
        else:
            table = arrow.Table.from_batches(rows)
            rows[:] = table.slice(len(waiting)).to_batches()
            cells = [*table.slice(0, len(waiting)).columns, *cells]
        table = arrow.table(cells, schema=schema).combine_chunks()
        writer.write_table(table, row_group_size=len(waiting))
        waiting.clear()

    def write(document: Document) -> None:
        waiting.append(document)
        if len(waiting) == WRITTEN_ROWS:
            flush()

    with arrow.parquet.ParquetWriter(stream, schema) as writer:
        yield write
        if waiting:
            flush()


def _extra(document: Document) -> str | None:
    """Return the other fields of a document as JSON."""
    if not document.extra:
        return None
    return json.dumps(dict(document.extra), ensure_ascii=False, separators=(",", ":"))
