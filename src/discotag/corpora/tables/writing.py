"""Documents to rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from discotag.corpora.parsing.problems import shown
from discotag.corpora.parsing.unwritable import unwritable
from discotag.corpora.tables.columns import FILE, ID, ROW, unused
from discotag.corpora.tables.table import (
    CARRIED,
    INTEGER,
    NUMBER,
    NUMBERS,
    SPANS,
    SPANS_OF_EACH,
    TEXT,
    TEXTS,
    Rows,
    Table,
)
from discotag.mentions import Document, Mention, Sentence

OWN_COLUMNS: Final[dict[Rows, dict[str, str]]] = {
    "mentions": {
        ID: TEXT,
        "label": TEXT,
        "text": TEXT,
        "spans": SPANS,
        "score": NUMBER,
        "sentence": TEXT,
    },
    "documents": {
        ID: TEXT,
        "text": TEXT,
        "count": INTEGER,
        "mentions": TEXTS,
        "labels": TEXTS,
        "scores": NUMBERS,
        "spans": SPANS_OF_EACH,
    },
}
"""The columns that come from the tagger, with what their cells hold."""

PLACES: Final = (FILE, ROW)
"""Fields that say where a document was read; their columns are the first."""

LOOK_AHEAD: Final = 1000
"""The number of documents whose fields become columns."""

DIGITS: Final = 4
"""The digits of scores after the point."""


def write_rows(
    documents: Iterable[Document],
    path: Path,
    table: Table,
    rows: Rows,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Write documents to a table.

    Args:
        documents: The documents.
        path: The file.
        table: The kind of table.
        rows: What a row is.
        columns: The fields of the documents that become columns, with what they hold; those of
            the first documents are added.

    Raises:
        CorpusError: The file cannot be written.
        UnwritableError: A document has a field that is not among the columns.
    """
    given = iter(documents)
    start = list(islice(given, LOOK_AHEAD))
    given = chain(start, given)
    seen = dict.fromkeys((key for each in start for key in each.extra), CARRIED)
    columns = seen | dict(columns or {})
    carried = [key for key in columns if key not in (*PLACES, ID)]
    header = header_of(rows, columns)
    known = {*columns, *PLACES, ID}
    with table.create(path, header) as append:
        for document in given:
            if not document.extra.keys() <= known:
                field = next(key for key in document.extra if key not in known)
                raise unwritable(
                    table.name,
                    f"the field {shown(field)}, which the first {LOOK_AHEAD:,} documents do not "
                    "have, because it needs a column for it from the beginning; write JSON lines",
                )
            extra = document.extra
            before = [extra.get(key) for key in PLACES if key in header]
            after = [extra.get(key) for key in carried]
            for own in rows_of(document, rows):
                append([*before, *own, *after])


def header_of(rows: Rows, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of an output in order, with what their cells hold.

    A field that has the name of a column of the tagger is renamed.

    Args:
        rows: What a row is.
        columns: The fields of the documents, with what they hold.
    """
    header: dict[str, Any] = {
        key: INTEGER if key == ROW else TEXT for key in PLACES if key in columns
    }
    header |= OWN_COLUMNS[rows]
    if columns.get(ID, CARRIED) != CARRIED:
        header[ID] = columns[ID]
    for key, kind in columns.items():
        if key not in (*PLACES, ID):
            header[unused(key, header)] = kind
    return header


def rows_of(document: Document, rows: Rows) -> Iterator[list[Any]]:
    """Yield the cells of a document in `OWN_COLUMNS`.

    With a row for each mention, a document without mentions has no rows.
    """
    # An id that was not a text in its table stays a number or a date.
    identifier = document.extra.get(ID, document.id)
    if rows == "mentions":
        for sentence in document.sentences:
            for each in sentence.mentions:
                yield [
                    identifier,
                    each.label,
                    each.text,
                    _spans(each),
                    _score(each),
                    _text(sentence),
                ]
        return
    found = [each for sentence in document.sentences for each in sentence.mentions]
    text = document.text
    if text is None:
        text = "\n".join(map(_text, document.sentences))
    yield [
        identifier,
        text,
        len(found),
        [each.text for each in found],
        [each.label for each in found],
        [_score(each) for each in found],
        [_spans(each) for each in found],
    ]


def _text(sentence: Sentence) -> str:
    return " ".join(sentence.words) if sentence.text is None else sentence.text


def _spans(mention: Mention) -> list[list[int]] | None:
    return None if mention.spans is None else [list(span) for span in mention.spans]


def _score(mention: Mention) -> float | None:
    return None if mention.score is None else round(mention.score, DIGITS)
