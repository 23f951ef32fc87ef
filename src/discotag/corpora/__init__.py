"""Reading and writing corpora: files to documents and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from discotag.corpora.formats.format import Format
from discotag.corpora.formats.registry import FORMATS, find_format, named_format
from discotag.corpora.parsing.files import STANDARD, failed, files_in
from discotag.corpora.parsing.problems import CorpusError, Problem, Report, located, shown, strict
from discotag.corpora.parsing.streams import decoded, decoding
from discotag.corpora.parsing.unwritable import UnwritableError
from discotag.mentions import Document, Place
from discotag.words import Splitter

__all__ = ["FORMATS", "CorpusError", "Problem", "Report", "check_ids", "read", "strict", "write"]


def read(
    path: str | Path,
    format: str | None = None,
    *,
    splitter: Splitter | None = None,
    report: Report = strict,
    encoding: str | None = None,
) -> Iterator[Document]:
    r"""Read the documents of a file or folder, one after the other.

    One document at a time is kept in memory.

    Args:
        path: A file, a folder, or `-` for standard input.
        format: One of `FORMATS`; by default it is recognised from the content.
        splitter: Splits text into sentences and words, for formats without words.
        report: Called with each problem. If it returns, the invalid part is left out; the default
            raises for errors and ignores warnings.
        encoding: The encoding of files without a byte-order mark; UTF-8 by default. XML files
            declare their encoding, unless this is given.

    Raises:
        CorpusError: The path cannot be read, or a file has an error.
        UnknownEncodingError: The encoding is unknown.

    Example:
        >>> from tempfile import NamedTemporaryFile
        >>> file = NamedTemporaryFile(suffix=".txt")
        >>> _ = Path(file.name).write_text("Sore toes\n0,1 ADR|0,7 ADR\n\n")
        >>> found = []  # read what is valid, collect the problems
        >>> [document.mentions[0].text for document in read(file.name, report=found.append)]
        ['Sore toes']
        >>> found[0].line, found[0].kind
        (2, 'outside')
    """
    path = Path(path)
    try:
        if path != STANDARD:
            path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the name
        message = "no such file or folder"
        raise CorpusError(Problem("missing", message, str(path))) from None
    except OSError as error:  # a name that is too long, a link that leads to itself
        raise failed(error, path) from None
    with decoding(encoding):
        chosen = find_format(path) if format is None else named_format(format)
    return decoded(_read(path, chosen, splitter or Splitter(), report), encoding)


def write(documents: Iterable[Document], path: str | Path, format: str = "jsonl") -> None:
    """Write documents to a file, a folder, or `-` for standard output.

    Raises:
        CorpusError: The path cannot be written, or the format cannot represent a document.
    """
    chosen = named_format(format)
    if chosen.write is None:
        message = "this format can only be read, not written"
        raise CorpusError(Problem("syntax", message, chosen.name))
    if "\0" in str(path):
        raise CorpusError(
            Problem("missing", "a path must not contain a NUL character", repr(str(path)))
        )
    passed = _Passed()
    try:
        chosen.write(passed.through(documents), Path(path))
    except UnwritableError as error:
        message = f"{passed}: {error.problem.message}"
        raise UnwritableError(replace(error.problem, message=message)) from None


def check_ids(documents: Iterable[Document], report: Report) -> Iterator[Document]:
    """Yield the same documents, and report each that has the id of an earlier one.

    Memory grows with the number of ids.
    """
    first: dict[str, Place] = {}
    for document in documents:
        if document.id is not None:
            path, line = place = document.place or ("documents", None)
            if document.id in first:
                where = located(*first[document.id])
                message = f"the document at {where} also has the id {shown(document.id)}"
                report(Problem("duplicate_id", message, path, line))
            else:
                first[document.id] = place
        yield document


class _Passed:
    """Remembers which document was passed last."""

    def __init__(self) -> None:
        self.number = 0
        self.id: str | None = None

    def through(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            self.number += 1
            self.id = document.id
            yield document

    def __str__(self) -> str:
        return f"document {self.number}" + (f", {shown(self.id)}" if self.id else "")


def _read(path: Path, chosen: Format, splitter: Splitter, report: Report) -> Iterator[Document]:
    if path == STANDARD or not path.is_dir() or chosen.folder:
        yield from chosen.read(path, splitter, report)
        return
    files = files_in(path, chosen.endings, report)
    if not files:
        message = f"the folder has no file that ends with {' or '.join(chosen.suffixes)}"
        report(Problem("missing", message, str(path)))
    for file in files:
        try:
            yield from chosen.read(file, splitter, report)
        except CorpusError as error:  # one file cannot be read; go on with the others
            report(error.problem)
