"""The corpus of an annotation project: what it is read from, and how the journal has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from discotag.corpora import read
from discotag.corpora.formats import brat, jsonl
from discotag.corpora.formats.standoff_files import TEXT
from discotag.corpora.inputs import PLAIN, Inputs
from discotag.corpora.parsing.files import STANDARD
from discotag.corpora.parsing.problems import Problem, Report, shown, strict
from discotag.corpora.tables import TableOptions
from discotag.errors import InputError
from discotag.mentions import Document
from discotag.words import Splitter

ENDING: Final = ".journal"
"""What the name of a journal adds to that of its corpus."""

MOST_WORDS: Final = 20_000
"""The most words of a document: a page of 50 book pages, beyond which browsers become slow."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the documents of a project come from, and how they are read.

    Attributes:
        path: A file or a folder.
        format: The name of its format; None: it is recognised.
        table: Where the texts of a table are.
        by_line: Whether each line of plain text is a document.
        splitter: Splits texts into sentences and words.
        encoding: The encoding of files without a byte-order mark.
        report: Called with each problem.
    """

    path: Path
    format: str | None = None
    table: TableOptions = field(default_factory=TableOptions)
    by_line: bool = False
    splitter: Splitter = field(default_factory=Splitter)
    encoding: str | None = None
    report: Report = strict

    def documents(self) -> Iterator[Document]:
        """Yield the documents with the mentions that the corpus has.

        Raises:
            CorpusError: The corpus cannot be read.
        """
        if self.path == STANDARD:
            raise InputError("annotate reads a file or a folder, not standard input")
        if self._is_brat():
            yield from self._brat()
            return
        inputs = Inputs(
            [str(self.path)],
            format=self.format,
            table=self.table,
            by_line=self.by_line,
            splitter=self.splitter,
            report=self.report,
            encoding=self.encoding,
            keep_mark=True,
        )
        yield from inputs.documents()

    def _is_brat(self) -> bool:
        if self.format is not None:
            return self.format == brat.FORMAT.name
        return self.path.exists() and brat.recognises(self.path, "")

    def _brat(self) -> Iterator[Document]:
        """Yield the documents of brat's files, and texts without annotations as they are."""
        alone: list[Path] = []

        def report(problem: Problem) -> None:
            if problem.kind == "missing" and problem.path.endswith(TEXT):
                alone.append(Path(problem.path))
            else:
                self.report(problem)

        reading: dict[str, Any] = {"splitter": self.splitter, "encoding": self.encoding}
        yield from read(self.path, brat.FORMAT.name, report=report, **reading)
        for path in alone:
            below = path.relative_to(self.path) if self.path.is_dir() else Path(path.name)
            name = below.as_posix().removesuffix(TEXT)
            text = Inputs([str(path)], format=PLAIN, report=self.report, keep_mark=True, **reading)
            for document in text.documents():
                yield Document.unchecked(document.sentences, document.text, name)


def default_journal(corpus: Path) -> Path:
    """Return the path of the journal beside a corpus.

    Example:
        >>> default_journal(Path("posts/")).name
        'posts.journal'
    """
    real = corpus.absolute()
    return real.with_name(real.name + ENDING)


def document_of(text: str, data: str, number: int) -> Document:
    """Return the document that the journal has as text and data."""
    plain = json.loads(data)
    if plain.pop("has_text"):
        plain["text"] = text
    return jsonl.from_dict(plain, Splitter(), strict, f"document {number}")


def data_of(document: Document) -> tuple[str, str]:
    """Return the text and the data that the journal has of a document."""
    data = json.loads(jsonl.to_line(document))
    text = data.pop("text", None)
    data["has_text"] = text is not None
    if text is None:
        text = "\n".join(" ".join(sentence.words) for sentence in document.sentences)
    return text, json.dumps(data, ensure_ascii=False)


def named_documents(source: Source) -> Iterator[tuple[str, Document]]:
    """Yield the documents of a corpus with unique names.

    Raises:
        CorpusError: The corpus cannot be read.
        InputError: A document is too long to be shown.
    """
    taken: set[str] = set()
    for number, document in enumerate(source.documents(), start=1):
        given = name = document.id or str(number)
        times = 1
        while name in taken:
            times += 1
            name = f"{given} ({times})"
        taken.add(name)
        words = sum(len(sentence.words) for sentence in document.sentences)
        if words > MOST_WORDS:
            raise InputError(
                f"{source.path}: document {shown(name)} has {words:,} words, but a page can show "
                f"{MOST_WORDS:,}; split it, or use --lines to read each line as a document"
            )
        yield name, document
