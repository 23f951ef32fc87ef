"""Read the mentions of a table that discotag has written with a row for each document."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from discotag.corpora.parsing.problems import MalformedError
from discotag.corpora.tables.cells import as_text
from discotag.marks import Marked

LABELS: Final = "labels"
SPANS: Final = "spans"
SIGNS: Final = frozenset({"count", "input_mentions", LABELS, SPANS})
"""The fields of documents that such a table gives; other tables may have some of them, too."""

EACH: Final = frozenset({"label", SPANS, "score"})
"""The fields of documents that a table with a row for each mention gives, besides its texts."""


def has_row_for_each_mention(fields: Collection[str]) -> bool:
    """Return whether discotag has written a table with a row for each mention.

    Args:
        fields: The fields of documents that the table gives.

    Example:
        >>> has_row_for_each_mention(["label", "input_text", "spans", "score"])
        True
    """
    return {*fields} >= EACH and ("input_text" in fields or "sentence" in fields)


def marked(row: Mapping[str, Any], line: int) -> list[Marked]:
    """Return the mentions of a row as marks on its text; none if discotag has not written it.

    Args:
        row: The fields of the document.
        line: The line of the row.

    Raises:
        MalformedError: The labels and spans do not belong together.

    Example:
        >>> row = {"count": "1", "input_mentions": "sore toes", "labels": "ADR"}
        >>> marked({**row, "spans": "[[[0, 4], [9, 13]]]"}, 2)[0].fragments
        ((0, 4), (9, 13))
    """
    if not row.keys() >= SIGNS:
        return []
    labels, spans = row[LABELS], row[SPANS]
    if not _is_list(labels):
        labels = as_text(labels).split("; ") if labels else []
    if not _is_list(spans):
        try:
            spans = json.loads(as_text(spans)) if spans else []
        except (ValueError, RecursionError):
            spans = None
    if (
        not _is_list(spans)
        or len(spans) != len(labels)
        or not all(map(_are_spans, spans))
        or not all(isinstance(label, str) for label in labels)
    ):
        raise MalformedError(f"the columns {LABELS!r} and {SPANS!r} do not give a span each label")
    return [
        Marked(label, tuple((start, end) for start, end in each), line=line)
        for label, each in zip(labels, spans, strict=True)
    ]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _are_spans(value: Any) -> bool:
    return _is_list(value) and all(
        _is_list(pair) and len(pair) == 2 and all(type(place) is int for place in pair)
        for pair in value
    )
