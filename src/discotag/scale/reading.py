"""Blocks of the input to documents."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import IO, Any, BinaryIO, Final, NamedTuple, cast

from discotag.corpora.formats.jsonl import from_dict
from discotag.corpora.parsing.files import MAX_LINE
from discotag.corpora.parsing.json_stream import line_value
from discotag.corpora.parsing.problems import CorpusError, MalformedError, Problem
from discotag.corpora.tables.cells import as_text
from discotag.corpora.tables.columns import FILE, ROW
from discotag.corpora.tables.columns import ID as ID_FIELD
from discotag.corpora.tables.parquet import BUFFER, READ_ROWS, column_values, import_arrow
from discotag.corpora.tables.table import MAX_CELL
from discotag.errors import InputError
from discotag.mentions import Document, SentenceError
from discotag.scale.plan import Block, Range
from discotag.scale.schema import Columns, reading
from discotag.scale.sources import Source
from discotag.scale.storage import StorageError, explaining, opened
from discotag.words import Splitter, TextError

CHUNK: Final = 1 << 20
"""The number of bytes that are read at a time."""

COUNTED: Final = 1 << 30
"""The most bytes that are read to find the number of a line, for a message."""

MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something in the input that is left out.

    Attributes:
        source: The number of the file in the job.
        file: The address of the file.
        reason: What is wrong.
        kept: Whether the document is kept, and only something in it is left out.
        row: The row of a Parquet file, counted from 1.
        byte: Where the line begins in a file of JSON lines; None in a compressed one.
        line: The number of the line, counted from 1 from the beginning of the range.
    """

    source: int
    file: str
    reason: str
    kept: bool = False
    row: int | None = None
    byte: int | None = None
    line: int | None = None


class Portion(NamedTuple):
    """Documents that were read together.

    Attributes:
        documents: The documents.
        rows: The rows that they come from, as a record batch of Arrow; None for JSON lines.
    """

    documents: list[Document]
    rows: Any = None


@dataclass(slots=True)
class Reader:
    """Reads the documents of blocks.

    Attributes:
        sources: The files of the job.
        columns: The columns of Parquet files; None for JSON lines.
        splitter: Splits texts into sentences and words.
        carry: Whether documents of Parquet get the other columns as fields.
        strict: Whether to raise if something in the input is bad, instead of leaving it out.
    """

    sources: Sequence[Source]
    columns: Columns | None
    splitter: Splitter
    carry: bool
    strict: bool

    def read(self, block: Block) -> BlockReading:
        """Return the documents of a block, which are read as they are asked for."""
        return BlockReading(self, block)


class BlockReading:
    """The documents of a block; what is left out is known when all of them have been read.

    Args:
        reader: The reader.
        block: The block.

    Attributes:
        flaws: What was left out so far.
        lines: The number of lines of each range of JSON lines so far.
        schema: The Arrow schema of the rows of Parquet; None for JSON lines.
    """

    def __init__(self, reader: Reader, block: Block) -> None:
        self.flaws: list[Flaw] = []
        self.schema: Any = None
        self.lines = [0] * len(block)
        self._reader = reader
        self._block = block

    def portions(self) -> Iterator[Portion]:
        """Yield the documents.

        Raises:
            StorageError: A file cannot be read, or has changed since the job was planned.
            InputError: A file is damaged, or something in it is bad and the reader is strict.
        """
        for number, part in enumerate(self._block):
            source = self._reader.sources[part.file]
            if self._reader.columns is not None:
                yield from self._rows(source, part, self._reader.columns)
            else:
                yield from self._documents(source, part, number)

    def _note(self, flaw: Flaw, source: Source, part: Range) -> None:
        if self._reader.strict:
            raise InputError(
                f"{locate(flaw, source, part)}: {flaw.reason}; use --skip-bad to leave out what is "
                "invalid"
            )
        self.flaws.append(flaw)

    def _documents(self, source: Source, part: Range, number: int) -> Iterator[Portion]:
        """Yield the documents of JSON lines, one at a time."""
        shown = source.shown
        for at, raw in lines_in(source, part):
            self.lines[number] += 1
            line = self.lines[number]

            def tell(reason: str, kept: bool = False, at: Any = at, line: int = line) -> None:
                self._note(Flaw(part.file, shown, reason, kept, byte=at, line=line), source, part)

            def report(problem: Problem, tell: Any = tell) -> None:
                if problem.severity == "error":
                    tell(problem.message, kept=True)

            if raw is None:
                tell(f"the line is longer than {MAX_LINE >> 20} MiB")
                continue
            try:
                text = raw.decode()
                if not text or text.isspace():
                    continue
                data = line_value(text, shown, None)
                document = from_dict(data, self._reader.splitter, report, shown, None)
            except UnicodeDecodeError as error:
                tell(f"byte 0x{raw[error.start]:02x} is not UTF-8")
            except CorpusError as error:
                tell(error.problem.message)
            except (MalformedError, SentenceError, TextError) as error:
                tell(str(error))
            else:
                yield Portion([document])

    def _rows(self, source: Source, part: Range, columns: Columns) -> Iterator[Portion]:
        """Yield the documents of rows of Parquet, with their rows."""
        for first, batch in _batches(source, part, columns):
            self.schema = self.schema or batch.schema
            texts = _texts(batch.column(columns.text))
            fields = self._fields(source, batch, columns)
            documents: list[Document] = []
            kept: list[int] = []
            for at, text in enumerate(texts):
                row = first + at + 1
                if isinstance(text, Exception):
                    reason = "the text is not UTF-8"
                elif len(text) > MAX_CELL:
                    reason = f"the text has more than {MAX_CELL >> 20} million characters"
                else:
                    documents.append(self._document(source, text, row, fields, at))
                    kept.append(at)
                    continue
                self._note(Flaw(part.file, source.shown, reason, row=row), source, part)
            if len(kept) < len(texts):
                arrow = import_arrow("reading")
                batch = batch.take(arrow.array(kept, arrow.int64()))
            yield Portion(documents, batch)

    def _fields(self, source: Source, batch: Any, columns: Columns) -> dict[str, list[Any]]:
        """Return the values of the carried columns, and the ids as `ID_FIELD`."""
        if not self._reader.carry:
            return {}
        wanted = {} if columns.id is None else {ID_FIELD: columns.id}
        wanted |= {name: at for at, name in columns.others}
        found = {}
        for name, at in wanted.items():
            try:
                found[name] = column_values(batch.column(at))
            except UnicodeDecodeError:
                raise InputError(
                    f"{source.shown}: the column {columns.names[at]!r} has text that is "
                    "not UTF-8; write Parquet, which keeps it as it is"
                ) from None
        return found

    def _document(
        self, source: Source, text: str, row: int, fields: dict[str, list[Any]], at: int
    ) -> Document:
        document = self._reader.splitter.document(text)
        if not self._reader.carry:
            return document
        extra: dict[str, Any] = {}
        if len(self._reader.sources) > 1:
            extra[FILE] = source.name
        extra[ROW] = row
        name: str | None = f"{source.name}-{row}"
        for field, values in fields.items():
            value = values[at]
            if isinstance(value, float) and value != value:  # not a number
                value = None
            if field == ID_FIELD:
                name = as_text(value).strip() or None
            if field != ID_FIELD or (value is not None and not isinstance(value, str)):
                extra[field] = value
        return Document.unchecked(document.sentences, text, name, extra)


def locate(flaw: Flaw, source: Source, part: Range) -> str:
    """Return the file and the line or row of a flaw, as messages show them.

    The lines before a range are counted, unless there are too many bytes of them.
    """
    if flaw.row is not None:
        return f"{flaw.file}:{flaw.row}"
    if not part.start:
        return f"{flaw.file}:{flaw.line}"
    if part.start > COUNTED:
        return f"{flaw.file}, byte {flaw.byte:,}"
    before, left = 0, part.start
    with opened(source.address) as stream, explaining(source.address):
        # A line that reaches into the range begins before it.
        while left and (chunk := stream.read(min(left, CHUNK))):
            before += chunk.count(b"\n")
            left -= len(chunk)
        before += not chunk.endswith(b"\n")
    return f"{flaw.file}:{before + (flaw.line or 0)}"


def lines_in(source: Source, part: Range) -> Iterator[tuple[int | None, bytes | None]]:
    """Yield the lines that begin in a range, without their ends, and where they begin.

    A line that is too long is None.
    """
    address = source.address
    # Streams of fsspec cannot read a line up to a length.
    with opened(address) as raw_stream, io.BufferedReader(cast(Any, raw_stream), CHUNK) as stream:
        with explaining(address):
            _check_size(stream, source)
        if source.packed:
            yield from _packed_lines(stream, source)
            return
        with explaining(address):
            place = _seek_line(stream, part.start)
        while place < part.end:
            with explaining(address):
                raw, length = _line(stream)
            if not length:
                break
            yield place, _trimmed(raw, first=place == 0)
            place += length


def _packed_lines(stream: BinaryIO, source: Source) -> Iterator[tuple[None, bytes | None]]:
    with gzip.GzipFile(fileobj=stream) as unpacked:
        for number in count():
            with explaining(source.address):
                try:
                    raw, length = _line(unpacked)
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    cut = isinstance(error, EOFError)
                    what = "is truncated" if cut else f"is damaged: {error}"
                    raise InputError(f"{source.shown}: the gzip file {what}") from None
            if not length:
                return
            yield None, _trimmed(raw, first=number == 0)


def _check_size(stream: BinaryIO, source: Source) -> None:
    size = stream.seek(0, 2)
    stream.seek(0)
    if size != source.facts.size:
        raise _changed(source)


def _changed(source: Source) -> StorageError:
    return StorageError(
        f"{source.shown}: the file has changed since the job was planned", lasting=True
    )


def _seek_line(stream: BinaryIO, start: int) -> int:
    """Go to the first line that begins at a place or after it, and return where it begins."""
    if not start:
        return 0
    place = start - 1  # a line begins at `start` if a line end is before it
    stream.seek(place)
    while chunk := stream.readline(CHUNK):
        place += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return place


def _line(stream: IO[bytes] | gzip.GzipFile) -> tuple[bytes | None, int]:
    """Return the next line, None if it is too long, and the number of its bytes."""
    raw = stream.readline(MAX_LINE + 1)
    length = len(raw)
    if length <= MAX_LINE or raw.endswith(b"\n"):
        return raw, length
    while chunk := stream.readline(CHUNK):
        length += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return None, length


def _trimmed(raw: bytes | None, *, first: bool) -> bytes | None:
    """Return a line without its end, and without a byte-order mark at the beginning of a file."""
    if raw is None:
        return None
    if first:
        raw = raw.removeprefix(MARK)
    if raw.endswith(b"\n"):
        raw = raw[:-2] if raw.endswith(b"\r\n") else raw[:-1]
    return raw


def _batches(source: Source, part: Range, columns: Columns) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a range as record batches, each with the number of its first row."""
    arrow = import_arrow("reading")
    with opened(source.address) as stream:
        with reading(source):
            _check_size(stream, source)
            file = arrow.parquet.ParquetFile(stream, buffer_size=BUFFER, pre_buffer=False)
            sizes = [
                file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)
            ]
        if sum(sizes) < part.end:
            raise _changed(source)
        groups: list[int] = []
        place = passed = 0
        for group, size in enumerate(sizes):
            if passed < part.end and passed + size > part.start:
                place = place if groups else passed
                groups.append(group)
            passed += size
        with reading(source):
            batches = file.iter_batches(READ_ROWS, row_groups=groups, use_threads=False)
        while place < part.end:
            with reading(source):
                batch = next(batches, None)
            if batch is None:
                raise _changed(source)
            batch = batch.select(list(columns.names))
            start, end = max(part.start - place, 0), min(part.end - place, batch.num_rows)
            if start < end:
                yield place + start, batch.slice(start, end - start)
            place += batch.num_rows


def _texts(column: Any) -> list[str | UnicodeDecodeError]:
    """Return the texts of a column; an empty text where there is none."""
    try:
        return [each or "" for each in column.to_pylist()]
    except UnicodeDecodeError:
        return [_text(value) for value in column]


def _text(value: Any) -> str | UnicodeDecodeError:
    try:
        return value.as_py() or ""
    except UnicodeDecodeError as error:
        return error
