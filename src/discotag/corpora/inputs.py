"""Inputs of a command: texts, files, folders and standard input, read as documents."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats import bionlp, brat
from discotag.corpora.formats.format import Format, Reading
from discotag.corpora.formats.registry import TEXT, format_to_read, is_plain, named_format
from discotag.corpora.formats.standoff_files import TEXT as TEXTS
from discotag.corpora.parsing.files import STANDARD, failed, files_in
from discotag.corpora.parsing.problems import CorpusError, Problem, Report, strict
from discotag.corpora.parsing.streams import decoded, decoding
from discotag.corpora.tables.reading import carried_columns
from discotag.corpora.tables.table import CARRIED, TableOptions
from discotag.mentions import Document
from discotag.words import Splitter

PLAIN: Final = TEXT.name
"""The name of the format of text without annotations."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A text, a file, or standard input.

    Attributes:
        path: The file; None for a text.
        text: The text; None for a file.
        folder: The folder that was given, if the file was found in one.
    """

    path: Path | None = None
    text: str | None = None
    folder: Path | None = None


class Inputs:
    """Texts, files, folders and standard input, read as documents in the given order.

    The id of a text file is its path relative to the given folder, without the ending. If two
    files would have the same id, the ending is kept, or the path begins further up.

    Args:
        arguments: Each is a path, `-` for standard input, or a text: an argument with white space
            in it that is not the name of a path.
        texts: Further texts, which are read after the arguments.
        format: The format of all files, `text` for plain text; by default it is recognised.
        table: Where the texts of tables are; by default this is found out.
        by_line: Whether to read each line of a plain text as a document.
        splitter: Splits text into sentences and words.
        report: Called with each problem.
        encoding: The encoding of files without a byte-order mark; UTF-8 by default.
        keep_mark: Whether to keep the byte-order mark of a text in UTF-8, as brat does.

    Raises:
        CorpusError: An argument is neither a text nor a readable path, a file is given twice, or
            the format is unknown.

    Example:
        >>> inputs = Inputs(["Sore toes.", "no/such/file"])
        Traceback (most recent call last):
        discotag.corpora.parsing.problems.CorpusError: no/such/file: no such file or directory; \
if it is a text, give it with --text
    """

    def __init__(
        self,
        arguments: Sequence[str],
        texts: Sequence[str] = (),
        *,
        format: str | None = None,
        table: TableOptions | None = None,
        by_line: bool = False,
        splitter: Splitter | None = None,
        report: Report = strict,
        encoding: str | None = None,
        keep_mark: bool = False,
    ) -> None:
        self.format = None if format is None else named_format(format)
        self.reading = Reading(
            splitter or Splitter(), report, table or TableOptions(), by_line, keep_mark
        )
        self.encoding = encoding
        self.paths = [path for path in map(_path, arguments) if path is not None]
        self._items = [item for each in arguments for item in self._items_of(each)]
        self._items += [_Item(text=each) for each in texts]
        _check_once(self._items)

    def documents(self) -> Iterator[Document]:
        """Read the documents, one at a time."""
        return decoded(self._documents(), self.encoding)

    def columns(self) -> dict[str, Any]:
        """Return the fields that documents of tables will have, with what they hold.

        A single table without types of columns is left out, because its first document has the same
        fields. Fields of inputs that are not tables, and of standard input, are not known.

        Raises:
            CorpusError: A table cannot be read, or a column was not found.
        """
        found: dict[str, Any] = {}
        with decoding(self.encoding):
            for item in self._items:
                if item.path is None or item.path == STANDARD:
                    continue
                try:
                    table = self._format_of(item).table
                    if table is None or (table.types is None and len(self._items) == 1):
                        continue
                    columns = carried_columns(table, item.path, self.reading.table)
                except CorpusError:
                    if item.folder is None:
                        raise
                    continue  # it is reported when the table is read
                for name, kind in columns.items():
                    found[name] = kind if found.get(name, kind) == kind else CARRIED
        return found

    def _documents(self) -> Iterator[Document]:
        ids = _ids(self._items)
        for item, name in zip(self._items, ids, strict=True):
            if item.text is not None:
                yield self.reading.splitter.document(item.text)
            else:
                yield from self._read(item, name)

    def describe(self) -> list[str]:
        """Return a line for each input that changes when the input does: its size and a digest.

        Only the names and sizes of files are used, not their contents.
        """
        return [
            "standard input" if item.path == STANDARD
            else f"{_size(item):,} bytes ({_digest(item)})"
            for item in self._items
        ] if len(self._items) <= 100 else [self._describe_all()]  # fmt: skip

    def _describe_all(self) -> str:
        found = hashlib.sha256()
        for item in self._items:
            found.update(_digest(item).encode())
        total = sum(_size(item) for item in self._items)
        return f"{len(self._items):,} inputs, {total:,} bytes ({found.hexdigest()[:16]})"

    def _items_of(self, argument: str) -> list[_Item]:
        path = _path(argument)
        if path is None:
            return [_Item(text=argument)]
        if path == STANDARD or not path.is_dir():
            return [_Item(path)]
        if self.format is not None and self.format.folder:
            return [_Item(path)]
        files = files_in(path, report=self.reading.report)
        found = [_Item(file, folder=path) for file in files if not _is_beside(file)]
        if not found:
            raise CorpusError(Problem("missing", "the folder has no files", str(path)))
        return found

    def _read(self, item: _Item, name: str | None) -> Iterator[Document]:
        """Yield the documents of a file, which is reported if it was found in a folder."""
        assert item.path is not None  # texts are read already
        path, report, in_folder = item.path, self.reading.report, item.folder is not None
        optional = in_folder and self.format is None and not is_plain(path)
        try:
            form = self._format_of(item, report)
        except CorpusError as error:
            problem = error.problem
            if optional:
                message = f"left out: {problem.message}"
                problem = Problem("left_out", message, problem.path, problem.line)
            report(problem)
            return
        if optional and form is TEXT:
            message = "left out: its format was not recognised; name the file itself, or use --from"
            report(Problem("left_out", message, str(path)))
            return
        assert form.read is not None  # as `format_to_read` has checked
        file = name if len(self._items) > 1 else None
        try:
            yield from form.read(path, replace(self.reading, name=name, file=file))
        except CorpusError as error:  # the file, or its end, cannot be read
            if not in_folder:
                raise
            report(error.problem)

    def _format_of(self, item: _Item, report: Report = strict) -> Format:
        assert item.path is not None
        name = None if self.format is None else self.format.name
        # In a folder, there may be other files than tables.
        table = None if item.folder is not None else self.reading.table
        return format_to_read(item.path, name, table, prose=True, report=report)


def _path(argument: str) -> Path | None:
    """Return the path that an argument names, or None for a text."""
    path = Path(argument)
    if path == STANDARD:
        return path
    is_text = any(char.isspace() for char in argument)
    if argument.strip():
        try:
            path.stat()
            return path
        except ValueError:  # it contains a NUL character
            reason = "is not the name of a file"
        except OSError as error:
            # A broken link, or a link into a folder that cannot be read, is still a path.
            is_text = (
                is_text and not os.path.lexists(path) and not isinstance(error, PermissionError)
            )
            reason = (error.strerror or str(error)).lower()
    else:
        reason = "an empty argument"
        is_text = False
    if is_text:
        return None
    message = f"{reason}; if it is a text, give it with --text"
    raise CorpusError(Problem("missing", message, argument or repr(argument)))


def _check_once(items: Sequence[_Item]) -> None:
    """Raise `CorpusError` if a file is given twice, such as by name and in its folder."""
    times = Counter(_real(item.path) for item in items if item.path is not None)
    twice = next((path for path, number in times.items() if number > 1), None)
    if twice is not None:
        message = "the file is given twice"
        raise CorpusError(Problem("duplicate_id", message, str(twice)))


def _real(path: Path) -> Path:
    return path if path == STANDARD else Path(os.path.realpath(path))


def _is_beside(path: Path) -> bool:
    """Return whether a file has the annotations of a text file, which is read instead."""
    return path.suffix in (brat.MARKS, *bionlp.MARKS) and path.with_suffix(TEXTS).is_file()


def _ids(items: Sequence[_Item]) -> list[str | None]:
    """Return a unique id for each file."""
    choices = _choices(items)
    level = [0] * len(items)
    while True:
        ids = [each[level[n]] if each else None for n, each in enumerate(choices)]
        times = Counter(ids)
        again = [
            n for n, name in enumerate(ids)
            if name is not None and times[name] > 1 and level[n] + 1 < len(choices[n])
        ]  # fmt: skip
        if not again:
            return ids
        for n in again:
            level[n] += 1


def _choices(items: Sequence[_Item]) -> list[tuple[str, ...]]:
    """Return the possible ids of each file, the shortest first; none for texts."""
    files = [item.path for item in items if item.path is not None and item.path != STANDARD]
    if not files:
        return [()] * len(items)
    top = os.path.commonpath([_absolute(path).parent for path in files])
    return [
        ()
        if item.path is None or item.path == STANDARD
        else tuple(
            name
            for below in (
                item.path.relative_to(item.folder or item.path.parent),
                _absolute(item.path).relative_to(top),
            )
            for name in (_without_ending(below), below.as_posix())
        )
        for item in items
    ]


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  # links stay links


def _without_ending(path: Path) -> str:
    if path.suffix == ".gz":
        path = path.with_suffix("")
    return path.with_suffix("").as_posix()


def _size(item: _Item) -> int:
    if item.text is not None:
        return len(item.text.encode("utf-8", "surrogatepass"))
    assert item.path is not None
    try:
        return 0 if item.path == STANDARD else item.path.stat().st_size
    except OSError as error:
        raise failed(error, item.path) from None


def _digest(item: _Item) -> str:
    if item.text is not None:
        said = item.text
    else:
        assert item.path is not None
        said = f"{item.path.relative_to(item.folder or item.path.parent)} {_size(item)}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
