"""Blocks of the input to documents."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final, cast

from discotag.corpora.formats.jsonl import from_dict
from discotag.corpora.parsing.files import MAX_LINE
from discotag.corpora.parsing.json_stream import line_value
from discotag.corpora.parsing.problems import CorpusError, MalformedError, Problem
from discotag.corpora.tables.parquet import PARQUET, READ_ROWS, column_values, import_arrow
from discotag.corpora.tables.reading import documents_of
from discotag.corpora.tables.table import MAX_CELL, Row, TableOptions
from discotag.errors import InputError
from discotag.mentions import Document, SentenceError
from discotag.scale.columns import Columns, parquet_file
from discotag.scale.sources import Source, changed, check_size
from discotag.scale.storage import explaining, opened
from discotag.scale.work import Range, Work
from discotag.words import TextError

CHUNK: Final = 1 << 20
"""The number of bytes that are read at a time."""

COUNTED: Final = 1 << 30
"""The most bytes that are read to find the number of a line, for a message."""

MARK: Final = b"\xef\xbb\xbf"


class BlockReading:
    """The documents of a block; what is left out is known when all of them have been read.

    Args:
        work: What is read, and how.
        block: The number of the block.

    Attributes:
        flaws: What was left out so far, as entries of the file of errors: `source`, the number of
            the file in the job; `file`, its address; `reason`; `kept`, whether the document is
            kept and only something in it is left out; and where it is: `row`, counted from 1, or
            `byte`, where the line begins unless the file is compressed, and `line`, counted from 1
            from the beginning of the range.
        lines: The number of lines of each range of JSON lines so far.
        rows: Record batches of Arrow with the rows of the documents so far, for parts of Parquet
            that are made of Parquet. Who writes them takes them out.
    """

    def __init__(self, work: Work, block: int) -> None:
        self.flaws: list[dict[str, Any]] = []
        self.lines = [0] * len(work.blocks[block])
        self.rows: list[Any] = []
        self._work = work
        self._block = work.blocks[block]

    def documents(self) -> Iterator[Document]:
        """Yield the documents.

        Raises:
            StorageError: A file cannot be read, or has changed since the job was planned.
            InputError: A file is damaged, or something in it is bad and nothing may be left out.
        """
        columns = self._work.columns
        for number, part in enumerate(self._block):
            source = self._work.sources[part.file]
            if columns is None:
                yield from self._of_lines(source, part, number)
            elif self._work.format == "jsonl":
                yield from self._of_table(source, part, columns)
            else:
                for _, batch, texts in self._good_rows(source, part, columns):
                    self.rows.append(batch)
                    yield from map(self._work.splitter.document, texts)

    def _note(self, part: Range, reason: str, *, kept: bool = False, **place: Any) -> None:
        """Take note of a flaw, or raise `InputError` if nothing may be left out."""
        source = self._work.sources[part.file]
        if not self._work.skip_bad:
            raise InputError(
                f"{_located(source, part, **place)}: {reason}; use --skip-bad to leave out what is "
                "invalid"
            )
        known = {name: each for name, each in place.items() if each is not None}
        entry = {"source": part.file, "file": source.shown, "reason": reason, "kept": kept}
        self.flaws.append(entry | known)

    def _of_lines(self, source: Source, part: Range, number: int) -> Iterator[Document]:
        """Yield the documents of JSON lines."""
        shown, splitter = source.shown, self._work.splitter
        for byte, raw in lines_in(source, part):
            self.lines[number] += 1
            place: dict[str, Any] = {"byte": byte, "line": self.lines[number]}

            def report(problem: Problem, place: Any = place) -> None:
                if problem.severity == "error":
                    self._note(part, problem.message, kept=True, **place)

            if raw is None:
                self._note(part, f"the line is longer than {MAX_LINE >> 20} MiB", **place)
                continue
            try:
                text = raw.decode()
                if not text or text.isspace():
                    continue
                document = from_dict(line_value(text, shown, None), splitter, report, shown, None)
            except UnicodeDecodeError as error:
                self._note(part, f"byte 0x{raw[error.start]:02x} is not UTF-8", **place)
            except CorpusError as error:
                self._note(part, error.problem.message, **place)
            except (MalformedError, SentenceError, TextError) as error:
                self._note(part, str(error), **place)
            else:
                yield document

    def _of_table(self, source: Source, part: Range, columns: Columns) -> Iterator[Document]:
        """Yield the documents of rows of Parquet as those of any table, with the other columns."""
        names = columns.schema.names

        def rows(*_: object) -> Generator[Row, None, None]:
            yield Row(0, 0, names)
            for numbers, batch, _texts in self._good_rows(source, part, columns):
                cells = (_values(batch.column(name), name, source) for name in names)
                for number, row in zip(numbers, zip(*cells, strict=True), strict=True):
                    yield Row(number, number, row)

        def report(problem: Problem) -> None:
            if problem.severity == "error":
                self._note(part, problem.message, row=problem.line)

        yield from documents_of(
            replace(PARQUET, rows=rows),
            Path(source.shown),
            TableOptions(columns.text, columns.id),
            self._work.splitter,
            report,
            name=source.name,
            file=source.name if len(self._work.sources) > 1 else None,
        )

    def _good_rows(
        self, source: Source, part: Range, columns: Columns
    ) -> Iterator[tuple[list[int], Any, list[str]]]:
        """Yield batches of rows with texts that can be read, with their numbers and texts."""
        for first, batch in _batches(source, part, columns):
            kept: dict[int, str] = {}
            for at, text in enumerate(_texts(batch.column(columns.text))):
                if text is None:
                    self._note(part, "the text is not UTF-8", row=first + at + 1)
                elif len(text) > MAX_CELL:
                    reason = f"the text has more than {MAX_CELL >> 20} million characters"
                    self._note(part, reason, row=first + at + 1)
                else:
                    kept[at] = text
            if len(kept) < batch.num_rows:
                arrow = import_arrow("reading")
                batch = batch.take(arrow.array(kept, arrow.int64()))
            yield [first + at + 1 for at in kept], batch, [*kept.values()]


def _located(
    source: Source,
    part: Range,
    row: int | None = None,
    byte: int | None = None,
    line: int | None = None,
) -> str:
    """Return the file and the line or row of a flaw, as messages show them.

    The lines before a range are counted, unless there are too many bytes of them.
    """
    if row is not None:
        return f"{source.shown}:{row}"
    if part.start > COUNTED:
        return f"{source.shown}, byte {byte:,}"
    before, left = 0, part.start
    with opened(source.address) as stream, explaining(source.address):
        # A line that reaches into the range begins before it.
        while left and (chunk := stream.read(min(left, CHUNK))):
            before += chunk.count(b"\n")
            left -= len(chunk)
            if not left:
                before += not chunk.endswith(b"\n")
    return f"{source.shown}:{before + (line or 0)}"


def lines_in(source: Source, part: Range) -> Iterator[tuple[int | None, bytes | None]]:
    """Yield the lines that begin in a range, without their ends, and where they begin.

    A line that is too long is None. Of a compressed file, all lines are in the range.
    """
    # Streams of fsspec cannot read a line up to a length.
    with (
        opened(source.address) as raw,
        _explaining_lines(source),
        io.BufferedReader(cast(Any, raw), CHUNK) as stream,
    ):
        check_size(stream, source)
        lines = cast(IO[bytes], gzip.GzipFile(fileobj=stream) if source.packed else stream)
        place = 0
        if part.start:
            lines.seek(part.start - 1)  # a line begins at `start` if a line end is before it
            place = part.start - 1 + _line(lines)[1]
        while source.packed or place < part.end:
            line, length = _line(lines)
            if not length:
                return
            if line is not None and not place:
                line = line.removeprefix(MARK)
            if line is not None and line.endswith(b"\n"):
                line = line[:-1].removesuffix(b"\r")
            yield None if source.packed else place, line
            place += length


@contextmanager
def _explaining_lines(source: Source) -> Iterator[None]:
    """Turn errors of storage and of damaged files into those of discotag."""
    with explaining(source.address):
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if not source.packed:
                raise
            what = "truncated" if isinstance(error, EOFError) else f"damaged: {error}"
            raise InputError(f"{source.shown}: the gzip file is {what}") from None


def _line(stream: IO[bytes]) -> tuple[bytes | None, int]:
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


def _batches(source: Source, part: Range, columns: Columns) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a range as record batches, each with the number of the rows before it."""
    arrow = import_arrow("reading")
    with parquet_file(source) as file:
        if file.metadata.num_rows < part.end:
            raise changed(source)
        first = place = 0
        groups: list[int] = []
        for group in range(file.num_row_groups):
            start, place = place, place + file.metadata.row_group(group).num_rows
            if start < part.end and place > part.start:
                first = first if groups else start
                groups.append(group)
        for batch in file.iter_batches(READ_ROWS, row_groups=groups, use_threads=False):
            start, end = max(part.start - first, 0), min(part.end - first, batch.num_rows)
            if start < end:
                chosen = [batch.column(name) for name in columns.schema.names]
                rows = arrow.record_batch(chosen, schema=columns.schema)
                yield first + start, rows.slice(start, end - start)
            first += batch.num_rows


def _texts(column: Any) -> list[str | None]:
    """Return the texts of a column: empty where there is none, None where one is not UTF-8."""
    try:
        return [each or "" for each in column.to_pylist()]
    except UnicodeDecodeError:
        return [_text(value) for value in column]


def _text(value: Any) -> str | None:
    try:
        return value.as_py() or ""
    except UnicodeDecodeError:
        return None


def _values(column: Any, name: str, source: Source) -> list[Any]:
    try:
        return column_values(column)
    except UnicodeDecodeError:
        raise InputError(
            f"{source.shown}: the column {name!r} has text that is not UTF-8; write Parquet, which "
            "keeps it as it is"
        ) from None
