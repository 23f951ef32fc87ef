"""Annotations as files: which documents are settled, and how each format takes them."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from discotag.annotate import records
from discotag.annotate.corpus import document_of
from discotag.corpora import FORMATS, write
from discotag.corpora.parsing.problems import CorpusError, shown
from discotag.errors import DiscotagError
from discotag.mentions import Document
from discotag.web.downloads import file_name, write_download

Which = Literal["finished", "all"]

NAME: Final = "annotations"
"""The name of a downloaded file, before its ending."""

MOST_LEFT_OUT: Final = 200
"""The most documents that a summary names; further ones are counted."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A document that is not exported.

    Attributes:
        number: Its number.
        name: Its name.
        reason: Why, as a sentence.
    """

    number: int
    name: str
    reason: str


def settled_documents(
    db: sqlite3.Connection,
    which: Which,
    annotator: str | None,
    left_out: list[LeftOut] | None = None,
) -> Iterator[tuple[int, Document]]:
    """Yield the annotated documents with their numbers, in the order of the corpus.

    Args:
        db: The journal, one state of it.
        which: `finished`: the documents that are finished or decided. `all`: also the accepted
            mentions of those that are not; a document that nobody has touched is as in the corpus,
            unless it is no longer there.
        annotator: Whose versions to take; None: what all have settled on.
        left_out: Gets the documents that are left out though somebody has finished them.
    """
    condition, values = "", []
    if annotator is not None:
        condition = "WHERE number IN (SELECT document FROM versions WHERE annotator = ?)"
        values = [annotator]
    elif which == "finished":
        condition = "WHERE part <> 'open'"
    else:
        condition = "WHERE NOT (gone AND status = 'untouched')"
    rows = db.execute(
        "SELECT number, name, text, data FROM documents JOIN texts USING (number) "
        f"{condition} ORDER BY number",
        values,
    )
    for number, name, text, data in rows:
        content = _content(db, number, which, annotator)
        if isinstance(content, str):
            if left_out is not None and content:
                left_out.append(LeftOut(number, name, content))
            continue
        document = document_of(text, data, number)
        if content is None:
            content = tuple(sentence.mentions for sentence in document.sentences)
        annotated = document.with_mentions(
            dict.fromkeys(mention.with_score(None) for mention in mentions) for mentions in content
        )
        # Names are unique, which ids of documents need not be.
        yield number, replace(annotated, id=name)


def summary(
    db: sqlite3.Connection, which: Which, annotator: str | None, format: str | None
) -> dict[str, Any]:
    """Return how many documents an export has, what it leaves out, and what the format loses."""
    left_out: list[LeftOut] = []
    documents = mentions = 0
    name: str | None = None
    cannot: list[str] = []

    def counted() -> Iterator[Document]:
        nonlocal documents, mentions, name
        for _, document in settled_documents(db, which, annotator, left_out):
            documents += 1
            name = document.id
            mentions += sum(len(sentence.mentions) for sentence in document.sentences)
            yield document

    if format is None:
        for _ in counted():
            pass
    else:
        with tempfile.TemporaryDirectory() as folder:
            try:
                write(counted(), Path(folder) / f"{NAME}{FORMATS[format].ending}", format)
            except CorpusError as error:
                cannot.append(f"{_unwritable(error, name)}.")
        cannot += _losses(format)
    return {
        "documents": documents,
        "mentions": mentions,
        "left_out": [asdict(each) for each in left_out[:MOST_LEFT_OUT]],
        "more_left_out": max(0, len(left_out) - MOST_LEFT_OUT),
        "cannot_hold": cannot,
    }


def export_to_folder(
    db: sqlite3.Connection, which: Which, annotator: str | None, format: str, folder: Path
) -> Path:
    """Write an export into a folder, and return its file; a folder of files becomes a ZIP archive.

    Raises:
        NothingError: There is nothing to export.
        CorpusError: The format cannot represent a document, which the problem's message names.
    """
    name: str | None = None

    def watched() -> Iterator[Document]:
        nonlocal name
        for _, document in settled_documents(db, which, annotator):
            name = document.id
            yield document

    try:
        path = write_download(watched(), folder, file_name(NAME, format), format)
    except CorpusError as error:
        raise CorpusError(replace(error.problem, message=_unwritable(error, name))) from None
    if name is None:
        raise NothingError(
            "there is nothing to export yet: finish a document, or export all of them"
        )
    return path


class NothingError(DiscotagError):
    """An export without documents."""


def _unwritable(error: CorpusError, name: str | None) -> str:
    """Return why a document cannot be written, as a sentence that names it."""
    return f"Document {shown('' if name is None else name)}: {error.problem.message}"


def _content(
    db: sqlite3.Connection, number: int, which: Which, annotator: str | None
) -> records.Content | str | None:
    """Return the mentions to export, None for those of the corpus, or why there are none."""
    versions = records.versions_of(db, number)
    if annotator is not None:
        own = next(each for each in versions if each.annotator == annotator)
        if not own.finished and which == "finished":
            return ""
        return records.accepted_content(db, number, annotator)
    decision = records.decision_of(db, number)
    status = records.status_of(versions, decision)
    if status == "disagreement":
        finished = [each.annotator for each in versions if each.finished]
        if len(finished) > 1:
            return f"The versions of {_listed(finished)} differ, and nobody has decided."
        return "A version has changed since the decision, and is not finished."
    if status == "untouched":
        return None
    settled = records.settled_content(versions, decision)
    if settled is not None:
        return settled
    if len(versions) > 1:
        names = _listed([each.annotator for each in versions])
        return f"{names} have begun it, and nobody has finished it."
    return records.accepted_content(db, number, versions[0].annotator)


def _listed(names: Sequence[str]) -> str:
    """Return names as people write them in a row.

    Example:
        >>> _listed(["Ann", "Ben", "Cy"])
        'Ann, Ben and Cy'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _losses(format: str) -> list[str]:
    """Return what a format does not keep, as sentences."""
    if not FORMATS[format].keeps_text:
        return ["It keeps words and mentions only, not the texts and the names of documents."]
    if FORMATS[format].table is not None:
        return [
            "A table has a row for each mention: documents without mentions are not in it, and "
            "discotag train does not read it."
        ]
    return []
