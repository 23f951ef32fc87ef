"""The corpus of an annotation project: read once into the journal, and never written to."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from discotag.corpora import read
from discotag.corpora.formats import brat, jsonl
from discotag.corpora.inputs import PLAIN, Inputs
from discotag.corpora.parsing.files import STANDARD
from discotag.corpora.parsing.problems import Problem, Report, shown, strict
from discotag.corpora.tables import TableOptions
from discotag.errors import InputError
from discotag.mentions import Document
from discotag.serve.annotation.facts import keep_fact, read_fact
from discotag.serve.annotation.journal import Journal, JournalError
from discotag.words import Splitter

ENDING: Final = ".journal"
"""What the name of a journal adds to that of its corpus."""

MOST_WORDS: Final = 20_000
"""The most words of a document: a page of 50 book pages, beyond which browsers become slow."""

LABELS: Final = "labels"
"""The name of the fact that keeps the labels of the project."""


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
            if problem.kind == "missing" and problem.path.endswith(brat.TEXT):
                alone.append(Path(problem.path))
            else:
                self.report(problem)

        reading: dict[str, Any] = {"splitter": self.splitter, "encoding": self.encoding}
        yield from read(self.path, brat.FORMAT.name, report=report, **reading)
        for path in alone:
            below = path.relative_to(self.path) if self.path.is_dir() else Path(path.name)
            name = below.as_posix().removesuffix(brat.TEXT)
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


@dataclass(frozen=True, slots=True)
class Taken:
    """What reading the corpus into the journal has done.

    Attributes:
        new: The number of documents that were added.
        known: The number of documents that were in the journal already.
        gone: The number of documents of the journal that the corpus no longer has.
    """

    new: int
    known: int
    gone: int


def take_in(
    journal: Journal, source: Source, progress: Callable[[int], None] | None = None
) -> Taken:
    """Add the documents of a corpus that the journal does not have.

    Args:
        journal: The journal.
        source: The corpus.
        progress: Called with the number of sentences that have been read.

    Raises:
        JournalError: The journal is that of another corpus.
        CorpusError: The corpus cannot be read.
    """
    with journal.reading() as db:
        known = dict(db.execute("SELECT name, digest FROM documents"))
    before = len(known)
    new = found = sentences = 0
    changed: str | None = None
    # One transaction: nothing of another corpus gets into the journal.
    with journal.writing() as db:
        for name, document in _named(source):
            digest = _digest(document)
            if name not in known:
                _insert(db, name, digest, document)
                new += 1
            elif known.pop(name) == digest:
                found += 1
            else:
                changed = changed or name
            sentences += len(document.sentences)
            if progress is not None:
                progress(sentences)
        if before and not found:
            raise JournalError(
                f"{journal.path}: is the journal of another corpus than {source.path}; give "
                "another file with --journal"
            )
        if changed is not None:
            raise JournalError(
                f"{source.path}: document {shown(changed)} has another text than in "
                f"{journal.path}; restore it, give it another name, or begin another journal with "
                "--journal"
            )
        if not before and not new:
            raise InputError(f"{source.path}: it has no document")
    return Taken(new, found, len(known))


def document_of(text: str, data: str, number: int) -> Document:
    """Return the document that the journal has as text and data."""
    plain = json.loads(data)
    if plain.pop("has_text"):
        plain["text"] = text
    return jsonl.from_dict(plain, Splitter(), strict, f"document {number}")


def known_labels(db: sqlite3.Connection) -> list[str]:
    """Return the labels that the journal keeps, in alphabetical order.

    These are the labels of the corpus's mentions, and all that the project has had so far.
    """
    found = read_fact(db, LABELS)
    return [] if found is None else sorted(json.loads(found))


def _named(source: Source) -> Iterator[tuple[str, Document]]:
    """Yield the documents with unique names."""
    times: Counter[str] = Counter()
    for number, document in enumerate(source.documents(), start=1):
        name = document.id or str(number)
        times[name] += 1
        if times[name] > 1:
            name = f"{name} ({times[name]})"
        words = sum(len(sentence.words) for sentence in document.sentences)
        if words > MOST_WORDS:
            raise InputError(
                f"{source.path}: document {shown(name)} has {words:,} words, but a page can show "
                f"{MOST_WORDS:,}; split it, or use --lines to read each line as a document"
            )
        yield name, document


def _digest(document: Document) -> str:
    """Return a digest of the words and the text, by which a document is known again."""
    words = [list(sentence.words) for sentence in document.sentences]
    said = json.dumps([document.text, words], ensure_ascii=True)
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def _insert(db: sqlite3.Connection, name: str, digest: str, document: Document) -> None:
    data = json.loads(jsonl.to_line(document))
    text = data.pop("text", None)
    data["has_text"] = text is not None
    if text is None:
        text = "\n".join(" ".join(sentence.words) for sentence in document.sentences)
    words = sum(len(sentence.words) for sentence in document.sentences)
    mentions = sum(len(set(sentence.mentions)) for sentence in document.sentences)
    number = db.execute(
        "INSERT INTO documents (name, digest, words, mentions) VALUES (?, ?, ?, ?)",
        (name, digest, words, mentions),
    ).lastrowid
    db.execute(
        "INSERT INTO texts (number, text, data) VALUES (?, ?, ?)",
        (number, text, json.dumps(data, ensure_ascii=False)),
    )
    labels = {mention.label for sentence in document.sentences for mention in sentence.mentions}
    known = set(known_labels(db))
    if not labels <= known:
        keep_fact(db, LABELS, json.dumps(sorted(labels | known), ensure_ascii=False))
