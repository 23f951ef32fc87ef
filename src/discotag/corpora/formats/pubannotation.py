"""PubAnnotation's JSON: a text and its denotations, in a list or one per file or line.

`{"text": "Sore toes", "denotations": [{"id": "T1", "span": {"begin": 0, "end": 9}, "obj": "ADR"}]}`

The `span` of a discontinuous mention is a list. A chain is read, too: the relation
`_lexicallyChainedTo` joins a denotation to one of the label `_FRAGMENT`. Other relations,
attributes and modifications are not read. The id of a document is its `sourceid`, with its
`divid` if it has one. Further fields are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.parsing.json_documents import documents as documents_of
from discotag.corpora.parsing.json_documents import first_text, good, write_lines
from discotag.corpora.parsing.json_stream import values
from discotag.corpora.parsing.json_values import (
    as_list,
    as_name,
    as_number,
    as_object,
    as_text,
    listed,
)
from discotag.corpora.parsing.problems import MalformedError, Report, shown
from discotag.corpora.parsing.standoff import (
    Annotation,
    Piece,
    Source,
    check_references,
    joined,
    writable,
)
from discotag.mentions import Document

CHAINED: Final = "_lexicallyChainedTo"
FRAGMENT: Final = "_FRAGMENT"

FIELDS: Final = frozenset(
    {"text", "sourceid", "divid", "denotations", "relations", "attributes", "modifications"}
)


def recognises(path: Path, head: str) -> bool:
    """Return whether documents have a text and denotations."""
    keys = first_text(head)
    return keys is not None and "denotations" in keys


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each object."""
    rows = values(path, reading.report)
    return documents_of(rows, _source, str(path), reading.splitter, reading.report)


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write one line per document."""
    write_lines(map(_data, documents), path)


FORMAT: Final = Format(
    name="pubannotation",
    about="PubAnnotation's JSON: text, denotations with spans",
    suffixes=(".json", ".jsonl"),
    recognises=recognises,
    read=read,
    write=write,
)


def _source(document: dict[str, Any], path: str, line: int | None, report: Report) -> Source:
    text = as_text(document.get("text"), "'text'")
    found: dict[str | int, Annotation] = {}

    def add(data: Any) -> Annotation:
        denotation = as_object(data, "each of 'denotations'")
        name = as_name(denotation.get("id"), "'id' of a denotation")
        called = "a denotation" if name is None else f"denotation {shown(name)}"
        label = as_text(denotation.get("obj"), f"{called}: 'obj'")
        spans = denotation.get("span")
        places = [
            as_object(span, f"{called}: each 'span'")
            for span in (spans if isinstance(spans, list) else [spans])
        ]
        fragments = tuple(
            (as_number(place.get("begin"), f"{called}: 'begin'"),
             as_number(place.get("end"), f"{called}: 'end'"))
            for place in places
        )  # fmt: skip
        if name is not None and name in found:
            raise MalformedError(f"an earlier denotation also has the id {shown(name)}")
        return found.setdefault(
            len(found) if name is None else name, Annotation(called, label, fragments, line=line)
        )

    list(good(as_list(document, "denotations"), add, path, line, report))
    relations = listed(document, "relations")
    known = {*map(str, found), *(str(each.get("id")) for each in relations)}
    pairs = []
    for each in relations:
        one, other = (str(each.get(key)) for key in ("subj", "obj"))
        called = f"relation {shown(str(each.get('id')))}"
        check_references([(called, one, line), (called, other, line)], known, path, report)
        if each.get("pred") == CHAINED and one in found and other in found:
            pairs.append((one, other))
    before = {other: one for one, other in pairs}
    for last in before:
        chain: dict[str, None] = {}
        head = last
        while head in before and head not in chain and found[head].label == FRAGMENT:
            chain[head] = None
            head = before[head]
        for part in chain:
            found[part] = replace(found[part], label=found[head].label)
    annotations = list(joined(found, pairs, path, report))
    parts = (document.get(key) for key in ("sourceid", "divid"))
    named = [name for part in parts if (name := as_name(part, "'sourceid' or 'divid'"))]
    extra = {key: value for key, value in document.items() if key not in FIELDS}
    return Source("-".join(named) or None, [Piece(0, text)], annotations, path, line, extra)


def _data(document: Document) -> dict[str, Any]:
    text, marked = writable(document, FORMAT.name)
    denotations = []
    for number, mark in enumerate(marked, start=1):
        spans = [{"begin": start, "end": end} for start, end in mark.fragments]
        span = spans if len(spans) > 1 else spans[0]
        denotations.append({"id": f"T{number}", "span": span, "obj": mark.label})
    named = {} if document.id is None else {"sourceid": document.id}
    return {**named, "text": text, "denotations": denotations}
