"""Read a corpus into the journal: new documents, and what has changed about known ones."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from discotag.annotate.actions import content_json
from discotag.annotate.corpus import Source, data_of, document_of, named_documents
from discotag.annotate.journal import Journal, JournalError
from discotag.annotate.labels import keep_labels
from discotag.annotate.records import keep_fact, read_fact
from discotag.corpora.parsing.problems import shown
from discotag.errors import InputError
from discotag.mentions import Document
from discotag.words import Splitter

SPLITTING: Final = "splitting"
"""The name of the fact that keeps how the texts were split into sentences and words."""


@dataclass(slots=True)
class Imported:
    """What reading the corpus into the journal has done, in numbers of documents.

    Attributes:
        new: Documents that were added.
        known: Documents that were in the journal already.
        renamed: Known documents that the corpus now has under another name.
        updated: Known documents whose annotations in the corpus have changed, and were taken over
            because nobody had touched the document.
        outdated: Known documents whose annotations in the corpus have changed, but which somebody
            has begun to work on, so that they stay as they are.
        gone: Documents of the journal that the corpus no longer has.
    """

    new: int = 0
    known: int = 0
    renamed: int = 0
    updated: int = 0
    outdated: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class _Row:
    """A document of the journal, with digests of its text and of the corpus's annotations."""

    number: int
    digest: str
    annotations: str
    touched: bool


def import_corpus(
    journal: Journal, source: Source, progress: Callable[[int], None] | None = None
) -> Imported:
    """Add the documents of a corpus that the journal does not have, and note which are gone.

    Args:
        journal: The journal.
        source: The corpus.
        progress: Called with the number of sentences that have been read.

    Raises:
        JournalError: The journal is that of another corpus, or a text has changed.
        CorpusError: The corpus cannot be read.
    """
    imported = Imported()
    added: dict[str, list[tuple[int, str]]] = {}
    changed: str | None = None
    sentences = 0
    # One transaction: nothing of another corpus gets into the journal.
    with journal.writing() as db:
        rows = db.execute("SELECT name, number, digest, annotations, status FROM documents")
        known = {
            name: _Row(number, digest, annotations, status != "untouched")
            for name, number, digest, annotations, status in rows
        }
        before = len(known)
        for name, document in named_documents(source):
            digest, row = _digest(document), known.pop(name, None)
            if row is None:
                added.setdefault(digest, []).append((_insert(db, name, digest, document), name))
            elif row.digest == digest:
                imported.known += 1
                _compare(db, row, document, imported)
            else:
                changed = changed or name
            sentences += len(document.sentences)
            if progress is not None:
                progress(sentences)
        _rename(db, known, added, imported)
        imported.new = sum(map(len, added.values()))
        if before and (changed is not None or not imported.known):
            _check_splitting(db, journal, source.splitter)
        if before and not imported.known:
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
        if not before and not imported.new:
            raise InputError(f"{source.path}: it has no document")
        if not before:
            keep_fact(db, SPLITTING, _splitting(source.splitter))
        imported.gone = len(known)
        _mark_gone(db, [row.number for row in known.values()])
    return imported


def _rename(
    db: sqlite3.Connection,
    missing: dict[str, _Row],
    added: dict[str, list[tuple[int, str]]],
    imported: Imported,
) -> None:
    """Recognise documents under another name: one that is missing and one new one, the same text.

    Args:
        db: The journal.
        missing: The documents that the corpus does not have under their name; what is recognised
            is removed from it.
        added: The new documents by their digest, as numbers and names, likewise.
        imported: Gets the numbers of documents.
    """
    by_digest: dict[str, list[str]] = {}
    for name, row in missing.items():
        by_digest.setdefault(row.digest, []).append(name)
    for digest, names in by_digest.items():
        if len(names) != 1 or len(added.get(digest, ())) != 1:
            continue
        row = missing.pop(names[0])
        ((number, name),) = added.pop(digest)
        ((text, data),) = db.execute("SELECT text, data FROM texts WHERE number = ?", (number,))
        db.execute("DELETE FROM texts WHERE number = ?", (number,))
        db.execute("DELETE FROM documents WHERE number = ?", (number,))
        db.execute("UPDATE documents SET name = ? WHERE number = ?", (name, row.number))
        _compare(db, row, document_of(text, data, number), imported)
        imported.known += 1
        imported.renamed += 1


def _compare(db: sqlite3.Connection, row: _Row, document: Document, imported: Imported) -> None:
    """Take over the annotations of the corpus if they have changed and nobody has used them."""
    annotations = _annotations(document)
    if annotations == row.annotations:
        return
    if row.touched:  # versions begin with the annotations that they began with
        imported.outdated += 1
        return
    imported.updated += 1
    text, data = data_of(document)
    # Without a model, proposals are made again: they depend on the annotations.
    db.execute(
        "UPDATE documents SET annotations = ?, mentions = ?, uncertainty = NULL, priority = -1, "
        "model = NULL WHERE number = ?",
        (annotations, _mentions(document), row.number),
    )
    db.execute("DELETE FROM proposals WHERE number = ?", (row.number,))
    db.execute("UPDATE texts SET text = ?, data = ? WHERE number = ?", (text, data, row.number))
    keep_labels(db, _labels(document))


def _mark_gone(db: sqlite3.Connection, numbers: Iterable[int]) -> None:
    db.execute("UPDATE documents SET gone = 0 WHERE gone")
    db.executemany("UPDATE documents SET gone = 1 WHERE number = ?", ((n,) for n in numbers))


def _insert(db: sqlite3.Connection, name: str, digest: str, document: Document) -> int:
    """Add a document, and return its number."""
    words = sum(len(sentence.words) for sentence in document.sentences)
    number = db.execute(
        "INSERT INTO documents (name, digest, annotations, words, mentions) VALUES (?, ?, ?, ?, ?)",
        (name, digest, _annotations(document), words, _mentions(document)),
    ).lastrowid
    assert number is not None
    db.execute(
        "INSERT INTO texts (number, text, data) VALUES (?, ?, ?)", (number, *data_of(document))
    )
    keep_labels(db, _labels(document))
    return number


def _check_splitting(db: sqlite3.Connection, journal: Journal, splitter: Splitter) -> None:
    """Raise `JournalError` if the texts are split in another way than when the journal began."""
    before, now = read_fact(db, SPLITTING), _splitting(splitter)
    if before != now:
        raise JournalError(
            f"{journal.path}: was begun with {before}, and its words are not those of {now}; use "
            "the same options, or begin another journal with --journal"
        )


def _splitting(splitter: Splitter) -> str:
    """Return how texts are split, as options of the command."""
    return f"--sentences {splitter.sentences} --words {splitter.words}"


def _digest(document: Document) -> str:
    """Return a digest of the words and the text, by which a document is known again."""
    words = [list(sentence.words) for sentence in document.sentences]
    return _short(json.dumps([document.text, words], ensure_ascii=True))


def _annotations(document: Document) -> str:
    """Return a digest of the mentions that the corpus has of a document."""
    return _short(content_json([sentence.mentions for sentence in document.sentences]))


def _short(said: str) -> str:
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _mentions(document: Document) -> int:
    return sum(len(set(sentence.mentions)) for sentence in document.sentences)


def _labels(document: Document) -> set[str]:
    return {mention.label for sentence in document.sentences for mention in sentence.mentions}
