"""Prodigy's JSON lines: a text with labelled spans of its characters, as `db-out` writes them.

`{"text": "Sore toes", "spans": [{"start": 0, "end": 9, "label": "ADR"}], "answer": "accept"}`

Examples that were rejected or ignored are left out and counted. Prodigy's tokens and relations are
not read: words are found in the text, as in other formats without words. Further fields of an
example, such as `meta`, are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats.format import Format, Reading
from discotag.corpora.parsing.json_documents import documents, first_text, good
from discotag.corpora.parsing.json_stream import values
from discotag.corpora.parsing.json_values import as_list, as_name, as_number, as_object, as_text
from discotag.corpora.parsing.problems import Problem, Report, shown
from discotag.corpora.parsing.standoff import Annotation, Piece, Source
from discotag.counts import counted
from discotag.mentions import Document

FIELDS: Final = frozenset({"id", "text", "spans", "tokens", "relations", "answer"})
"""The fields of an example that are read, or that Prodigy has for itself, like those with a `_`."""

MARKED: Final = re.compile(r'"spans"\s*:\s*\[\s*\{[^{}]*"(?:start|token_start)"')
"""Matches the beginning of a list of spans."""


def recognises(path: Path, head: str) -> bool:
    """Return whether examples have a text and spans."""
    keys = first_text(head)
    return keys is not None and (
        MARKED.search(head) is not None
        or "_task_hash" in keys
        or keys.keys() >= {"spans", "answer"}
    )


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each example that was accepted, or that has no answer."""
    rows, report = values(path, reading.report), reading.report
    left_out: Counter[str] = Counter()

    def make(example: dict[str, Any], path: str, line: int | None, report: Report) -> Source | None:
        answer = as_text(example.get("answer", "accept"), "'answer'")
        if answer != "accept":
            left_out[answer] += 1
            return None
        return _source(example, path, line, report)

    yield from documents(rows, make, str(path), reading.splitter, report)
    for answer, number in left_out.items():
        count = counted(number, "example is left out: its", "examples are left out: their")
        report(Problem("left_out", f"{count} answer is {shown(answer)}", str(path)))


FORMAT: Final = Format(
    name="prodigy",
    about="Prodigy's JSON lines: text, labelled spans (read only)",
    suffixes=(".jsonl", ".json"),
    recognises=recognises,
    read=read,
)


def _source(example: dict[str, Any], path: str, line: int | None, report: Report) -> Source:
    def annotation(data: Any) -> Annotation:
        span = as_object(data, "each of 'spans'")
        label = as_text(span.get("label"), "'label' of a span")
        start, end = (as_number(span.get(key), f"'{key}' of a span") for key in ("start", "end"))
        return Annotation(f"span of {shown(label)} at {start}", label, ((start, end),), line=line)

    text = as_text(example.get("text"), "'text'")
    annotations = list(good(as_list(example, "spans"), annotation, path, line, report))
    name = as_name(example.get("id"), "'id'")
    extra = {
        key: value
        for key, value in example.items()
        if key not in FIELDS and not key.startswith("_")
    }
    return Source(name, [Piece(0, text)], annotations, path, line, extra)
