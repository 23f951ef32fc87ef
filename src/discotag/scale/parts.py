"""Parts: the outputs of blocks, and the receipts that say that they are complete.

All that is not a part has a name that begins with an underscore, which readers of folders of
Parquet and JSON lines ignore.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any, Final, Literal

from discotag.corpora.formats.jsonl import to_line
from discotag.corpora.parsing.unwritable import UnwritableError
from discotag.corpora.tables.parquet import WRITTEN_ROWS, import_arrow
from discotag.errors import InputError
from discotag.mentions import Document, Mention
from discotag.scale.reading import Flaw, Portion
from discotag.scale.schema import (
    CANDIDATES,
    MENTIONS,
    mention_values,
    mentions_type,
    output_names,
)
from discotag.scale.storage import Folder

Format = Literal["jsonl", "parquet"]
FORMATS: Final[tuple[Format, ...]] = ("jsonl", "parquet")

RECEIPTS: Final = "_receipts"
ERRORS: Final = "_errors"

EXTRA: Final = "extra"
"""The column with the other fields of JSON lines, as JSON."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a part has in it. A part without a receipt is not complete.

    Attributes:
        job: The id of the job.
        block: The number of the block.
        documents: The number of documents.
        sentences: The number of their sentences.
        mentions: The number of mentions found.
        flaws: The number of entries in the part's file of errors, which does not exist for 0.
        lines: The number of lines of each range of JSON lines.
        bytes: The size of the part.
        sha256: The digest of its content.
        warnings: What the tagger warned of.
        left_out: The number of mentions that were left out because of their scores.
        highest_left_out: The highest of their scores.
        candidates: The number of candidates to review.
    """

    job: str
    block: int
    documents: int
    sentences: int
    mentions: int
    flaws: int
    lines: tuple[int, ...]
    bytes: int
    sha256: str
    warnings: tuple[str, ...] = ()
    left_out: int = 0
    highest_left_out: float = 0.0
    candidates: int = 0

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Receipt:
        """Return the receipt of plain data."""
        lists = {"lines": tuple(data["lines"]), "warnings": tuple(data["warnings"])}
        return cls(**{**data, **lists})

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as plain data."""
        return asdict(self)


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


def errors_name(block: int) -> str:
    """Return the name of the file with what was left out of a block."""
    return f"{ERRORS}/errors-{block:06}.jsonl"


def read_receipts(folder: Folder, job: str, form: str, blocks: int) -> dict[int, Receipt]:
    """Return the receipts of the parts of a job that are complete, by block.

    A receipt that cannot be read or is of another job, or whose part does not have the right size,
    does not count.
    """
    sizes = folder.sizes()
    names = [f"{RECEIPTS}/{name}" for name in folder.sizes(RECEIPTS)]
    found = {}
    for content in folder.read_all(names).values():
        receipt = read_receipt(content)
        if receipt is None or receipt.job != job or not 0 <= receipt.block < blocks:
            continue
        if sizes.get(part_name(receipt.block, form)) == receipt.bytes:
            found[receipt.block] = receipt
    return found


def read_receipt(content: bytes) -> Receipt | None:
    """Return a receipt, or None if it is not one."""
    try:
        return Receipt.from_dict(json.loads(content))
    except (ValueError, TypeError, KeyError):
        return None


def write_errors(folder: Folder, block: int, flaws: Iterable[Flaw]) -> None:
    """Write what was left out of a block."""
    lines = [
        json.dumps({key: value for key, value in asdict(flaw).items() if value is not None})
        for flaw in flaws
    ]
    folder.write(errors_name(block), "".join(f"{line}\n" for line in lines).encode())


def digest_of(stream: IO[bytes]) -> tuple[int, str]:
    """Return the size and the digest of a file that was written."""
    stream.flush()
    stream.seek(0)
    digest = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
    return stream.tell(), digest


class LinesWriter:
    """Writes documents as JSON lines.

    Args:
        stream: Where to write.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, portion: Portion) -> None:
        """Write documents.

        Raises:
            InputError: JSON cannot represent a column of the input.
        """
        for document in portion.documents:
            try:
                line = to_line(document)
            except UnwritableError as error:
                raise InputError(
                    f"document {document.id}: {error.problem.message}; write Parquet, or leave "
                    "the column out of the input"
                ) from None
            self._stream.write(line.encode())

    def close(self) -> None:
        """Do nothing: all documents have been written."""


class ParquetWriter:
    """Writes the rows of documents to Parquet, with columns of what was found.

    Documents of JSON lines become rows with their id, text, mentions and other fields.

    Args:
        stream: Where to write.
        schema: The Arrow schema of the rows of the input; None for JSON lines.
        candidates: Whether there is a column of candidates, too.
    """

    def __init__(self, stream: IO[bytes], schema: Any = None, *, candidates: bool = False) -> None:
        self._arrow = import_arrow("writing")
        self._candidates = candidates
        self._schema = _with_found(schema, self._arrow, candidates=candidates)
        self._of_rows = schema is not None
        self._writer = self._arrow.parquet.ParquetWriter(stream, self._schema)
        self._waiting: list[Any] = []
        self._rows = 0
        self._documents: list[Document] = []

    def write(self, portion: Portion) -> None:
        """Write documents."""
        if not self._of_rows:
            self._documents += portion.documents
            if len(self._documents) >= WRITTEN_ROWS:
                self._take(self._batch_of_documents())
        elif portion.rows.num_rows:
            self._take(self._batch_of_rows(portion))

    def close(self) -> None:
        """Write the remaining rows, and the end of the file."""
        if self._documents:
            self._take(self._batch_of_documents())
        self._flush()
        self._writer.close()

    def _take(self, batch: Any) -> None:
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= WRITTEN_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            table = self._arrow.Table.from_batches(self._waiting, self._schema)
            self._writer.write_table(table.combine_chunks(), row_group_size=max(self._rows, 1))
        self._waiting, self._rows = [], 0

    def _batch_of_rows(self, portion: Portion) -> Any:
        columns = [*portion.rows.columns, *self._found(portion.documents)]
        return self._arrow.record_batch(columns, schema=self._schema)

    def _batch_of_documents(self) -> Any:
        documents, self._documents = self._documents, []
        columns = [
            self._arrow.array([each.id for each in documents], self._arrow.string()),
            self._arrow.array([each.text for each in documents], self._arrow.string()),
            *self._found(documents),
            self._arrow.array([_extra(each) for each in documents], self._arrow.string()),
        ]
        return self._arrow.record_batch(columns, schema=self._schema)

    def _found(self, documents: Sequence[Document]) -> Iterator[Any]:
        """Yield the columns of what was found."""
        yield self._column(each.mentions for each in documents)
        if self._candidates:
            yield self._column(each.candidates for each in documents)

    def _column(self, mentions: Iterable[Sequence[Mention]]) -> Any:
        return self._arrow.array(list(map(mention_values, mentions)), mentions_type())


def _with_found(schema: Any, arrow: Any, *, candidates: bool) -> Any:
    """Return the schema of an output, given that of the rows of the input."""
    added = (MENTIONS, CANDIDATES) if candidates else (MENTIONS,)
    found = [arrow.field(name, mentions_type()) for name in added]
    text = arrow.string()
    if schema is None:
        before, after = [("id", text), ("text", text)], [(EXTRA, text)]
        return arrow.schema([*before, *found, *after])
    names = output_names(schema.names, candidates=candidates)
    kept = [arrow.field(name, each.type) for each, name in zip(schema, names, strict=True)]
    return arrow.schema([*kept, *found])


def _extra(document: Document) -> str | None:
    """Return the other fields of a document as JSON."""
    if not document.extra:
        return None
    return json.dumps(dict(document.extra), ensure_ascii=False, separators=(",", ":"))
