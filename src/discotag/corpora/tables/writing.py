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

CANDIDATES: Final[dict[Rows, dict[str, str]]] = {
    "mentions": {"status": TEXT},
    "documents": {
        "candidates": TEXTS,
        "candidate_labels": TEXTS,
        "candidate_scores": NUMBERS,
        "candidate_spans": SPANS_OF_EACH,
    },
}
"""The columns that come after these if documents have candidates."""

STATUS: Final = {False: "found", True: "to review"}
"""The status of mentions, and of candidates."""

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
    candidates: bool = False,
) -> None:
    """Write documents to a table.

    Args:
        documents: The documents.
        path: The file.
        table: The kind of table.
        rows: What a row is.
        columns: The fields of the documents that become columns, with what they hold; those of
            the first documents are added.
        candidates: Whether there are columns for candidates; there are if the first documents have
            some.

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
    candidates = candidates or any(each.candidates for each in start)
    header = header_of(rows, columns, candidates)
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
            if not candidates and document.candidates:
                raise unwritable(
                    table.name,
                    f"candidates, which the first {LOOK_AHEAD:,} documents do not have, because "
                    "they need columns from the beginning; write JSON lines",
                )
            extra = document.extra
            before = [extra.get(key) for key in PLACES if key in header]
            after = [extra.get(key) for key in carried]
            for own in rows_of(document, rows, candidates):
                append([*before, *own, *after])


def own_columns(rows: Rows, candidates: bool) -> dict[str, str]:
    """Return the columns that come from the tagger, with what their cells hold."""
    return OWN_COLUMNS[rows] | (CANDIDATES[rows] if candidates else {})


def header_of(rows: Rows, columns: Mapping[str, Any], candidates: bool) -> dict[str, Any]:
    """Return the columns of an output in order, with what their cells hold.

    A field that has the name of a column of the tagger is renamed.

    Args:
        rows: What a row is.
        columns: The fields of the documents, with what they hold.
        candidates: Whether there are columns for candidates.
    """
    header: dict[str, Any] = {
        key: INTEGER if key == ROW else TEXT for key in PLACES if key in columns
    }
    header |= own_columns(rows, candidates)
    if columns.get(ID, CARRIED) != CARRIED:
        header[ID] = columns[ID]
    for key, kind in columns.items():
        if key not in (*PLACES, ID):
            header[unused(key, header)] = kind
    return header


def rows_of(document: Document, rows: Rows, candidates: bool) -> Iterator[list[Any]]:
    """Yield the cells of a document in `own_columns`.

    With a row for each mention, and for each candidate if they are wanted, a document without them
    has no rows.
    """
    # An id that was not a text in its table stays a number or a date.
    identifier = document.extra.get(ID, document.id)
    if rows == "mentions":
        for sentence in document.sentences:
            kinds = [(each, False) for each in sentence.mentions]
            if candidates:
                kinds += [(each, True) for each in sentence.candidates]
                kinds.sort(key=lambda kind: kind[0])
            for each, further in kinds:
                yield [
                    identifier,
                    each.label,
                    each.text,
                    _spans(each),
                    _score(each),
                    _text(sentence),
                    *([STATUS[further]] if candidates else []),
                ]
        return
    found = [each for sentence in document.sentences for each in sentence.mentions]
    more = [each for sentence in document.sentences for each in sentence.candidates]
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
        *(
            [
                [each.text for each in more],
                [each.label for each in more],
                [_score(each) for each in more],
                [_spans(each) for each in more],
            ]
            if candidates
            else []
        ),
    ]


def _text(sentence: Sentence) -> str:
    return " ".join(sentence.words) if sentence.text is None else sentence.text


def _spans(mention: Mention) -> list[list[int]] | None:
    return None if mention.spans is None else [list(span) for span in mention.spans]


def _score(mention: Mention) -> float | None:
    return None if mention.score is None else round(mention.score, DIGITS)
