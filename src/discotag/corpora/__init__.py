"""Files to documents and back, a module per format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from discotag.corpora.formats.format import Format
from discotag.corpora.formats.registry import FORMATS, find_format, named_format
from discotag.corpora.parsing.files import STANDARD, failed, files_in
from discotag.corpora.parsing.problems import CorpusError, Problem, Report, located, shown, strict
from discotag.corpora.parsing.streams import decoded, decoding
from discotag.corpora.parsing.unwritable import Unwritable
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
    r"""The documents of a file or folder, one after the other.

    Memory holds one document at a time.

    Args:
        path: A file, a folder, or `-` for standard input.
        format: One of `FORMATS`; by default it is found from the content.
        splitter: How text becomes sentences and words, in formats that hold no words.
        report: Is told of each problem. If it returns, what is wrong is left out; the default
            raises for errors and ignores warnings.
        encoding: The encoding of files without a byte-order mark; UTF-8 by default. XML says by
            itself in which encoding it is, unless this is given.

    Raises:
        CorpusError: The path cannot be read, or has an error in it.
        UnknownEncoding: There is no such encoding.

    Example:
        >>> from tempfile import NamedTemporaryFile
        >>> file = NamedTemporaryFile(suffix=".txt")
        >>> _ = Path(file.name).write_text("Sore toes\n0,1 ADR|0,7 ADR\n\n")
        >>> found = []  # read what is good, collect what is wrong
        >>> [document.mentions[0].text for document in read(file.name, report=found.append)]
        ['Sore toes']
        >>> found[0].line, found[0].kind
        (2, 'outside')
    """
    path = Path(path)
    try:
        if path != STANDARD:
            path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # also with a NUL in its name
        message = "there is no such file or folder"
        raise CorpusError(Problem("missing", message, str(path))) from None
    except OSError as error:  # a name that is too long, a link that leads to itself
        raise failed(error, path) from None
    with decoding(encoding):
        chosen = find_format(path) if format is None else named_format(format)
    return decoded(_read(path, chosen, splitter or Splitter(), report), encoding)


def write(documents: Iterable[Document], path: str | Path, format: str = "jsonl") -> None:
    """Write documents to a file, a folder, or `-` for standard output.

    Raises:
        CorpusError: The path cannot be written, or the format cannot hold a document.
    """
    chosen = named_format(format)
    if chosen.write is None:
        message = "this format can be read, not written"
        raise CorpusError(Problem("syntax", message, chosen.name))
    if "\0" in str(path):
        raise CorpusError(Problem("missing", "a path has no NUL in it", repr(str(path))))
    passed = _Passed()
    try:
        chosen.write(passed.through(documents), Path(path))
    except Unwritable as error:
        message = f"{passed}: {error.problem.message}"
        raise Unwritable(replace(error.problem, message=message)) from None


def check_ids(documents: Iterable[Document], report: Report) -> Iterator[Document]:
    """Give the same documents; report each that has the id of an earlier one.

    Memory grows with the number of ids.
    """
    first: dict[str, Place] = {}
    for document in documents:
        if document.id is not None:
            path, line = place = document.place or ("documents", None)
            if document.id in first:
                where = located(*first[document.id])
                message = f"the document at {where} has the id {shown(document.id)}, too"
                report(Problem("duplicate_id", message, path, line))
            else:
                first[document.id] = place
        yield document


class _Passed:
    """Remembers which document was given last."""

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
        message = f"there is no file in this folder that ends with {' or '.join(chosen.suffixes)}"
        report(Problem("missing", message, str(path)))
    for file in files:
        try:
            yield from chosen.read(file, splitter, report)
        except CorpusError as error:  # a file that cannot be read, among others that can
            report(error.problem)
