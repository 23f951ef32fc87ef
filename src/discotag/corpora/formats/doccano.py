"""doccano: JSON lines with a text and labelled ranges of its characters, as it exports them.

`{"text": "Sore toes", "label": [[0, 9, "ADR"]]}`, or, from projects with relations,
`{"text": "…", "entities": [{"id": 0, "label": "ADR", "start_offset": 0, "end_offset": 4}, …],
"relations": [{"id": 0, "type": "fragment", "from_id": 0, "to_id": 1}]}`.

doccano has no discontinuous mentions. Here each fragment is an entity, and relations of the type
`fragment` join the entities of a mention; a fragment of two mentions is two entities. This is what
is written, and what is read. Other relations are not read, but references in them to unknown ids
are reported. Further fields of a document are kept when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
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
    JOINING,
    Annotation,
    Piece,
    Source,
    check_references,
    joined,
    writable,
)
from discotag.mentions import Document

FIELDS: Final = frozenset({"id", "text", "label", "labels", "entities", "relations", "Comments"})
"""The fields of a document that are read, or that doccano has for itself."""

OFFSETS: Final = ("start_offset", "end_offset")

MARKED: Final = re.compile(
    r'"labels?"\s*:\s*\[\s*\[\s*\d+\s*,\s*\d+\s*,\s*"|"entities"\s*:\s*\[\s*\{[^{}]*"start_offset"'
)
"""Matches the beginning of a list of labelled ranges."""


def recognises(path: Path, head: str) -> bool:
    """Return whether documents have a text and labelled ranges, or entities and relations."""
    keys = first_text(head)
    return keys is not None and (
        MARKED.search(head) is not None or keys.keys() >= {"entities", "relations"}
    )


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each line, or for each object of a list."""
    rows = values(path, reading.report)
    return documents_of(rows, _source, str(path), reading.splitter, reading.report)


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write one line per document, with entities and relations."""
    write_lines(map(_data, documents), path)


FORMAT: Final = Format(
    name="doccano",
    about="doccano's JSON lines: text, labelled ranges; relations join fragments",
    suffixes=(".jsonl", ".json"),
    recognises=recognises,
    read=read,
    write=write,
)


def _source(document: dict[str, Any], path: str, line: int | None, report: Report) -> Source:
    text = as_text(document.get("text"), "'text'")
    labelled = (each for key in ("label", "labels") for each in as_list(document, key))
    annotations = list(good(labelled, partial(_labelled, line=line), path, line, report))
    annotations += _joined(document, path, line, report)
    name = as_name(document.get("id"), "'id'")
    extra = {key: value for key, value in document.items() if key not in FIELDS}
    return Source(name, [Piece(0, text)], annotations, path, line, extra)


def _labelled(data: Any, line: int | None) -> Annotation:
    """Return the annotation of a list of a start, an end and a label."""
    if not isinstance(data, list) or len(data) != 3:
        raise MalformedError("each of 'label' must look like [0, 4, \"ADR\"]")
    start, end = (as_number(each, "a start or an end") for each in data[:2])
    label = as_text(data[2], "a label")
    return Annotation(f"the label {shown(label)} at {start}", label, ((start, end),), line=line)


def _joined(
    document: dict[str, Any], path: str, line: int | None, report: Report
) -> Iterator[Annotation]:
    """Return an annotation for the entities that relations join."""
    found: dict[str, Annotation] = {}

    def add(data: Any) -> None:
        entity = as_object(data, "each of 'entities'")
        name = as_name(entity.get("id"), "the id of an entity")
        if name is None or name in found:
            raise MalformedError("an entity has no id, or that of another")
        label = as_text(entity.get("label"), f"entity {shown(name)}: 'label'")
        start, end = (as_number(entity.get(key), f"'{key}'") for key in OFFSETS)
        found[name] = Annotation(f"entity {shown(name)}", label, ((start, end),), line=line)

    for _ in good(as_list(document, "entities"), add, path, line, report):
        pass
    references, pairs = [], []
    for relation in listed(document, "relations"):
        one, other = (str(relation.get(key)) for key in ("from_id", "to_id"))
        called = f"relation {shown(str(relation.get('id')))}"
        references += [(called, one, line), (called, other, line)]
        if relation.get("type") in JOINING:
            pairs.append((one, other))
    check_references(references, found, path, report)
    return joined(found, pairs, path, report)


def _data(document: Document) -> dict[str, Any]:
    text, marked = writable(document, FORMAT.name)
    entities: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    for mark in marked:
        for number, (start, end) in enumerate(mark.fragments):
            name = len(entities)
            if number:
                relations.append(
                    {"id": len(relations), "type": JOINING[-1], "from_id": name - 1, "to_id": name}
                )
            entities.append(
                {"id": name, "label": mark.label, "start_offset": start, "end_offset": end}
            )
    named = {} if document.id is None else {"id": document.id}
    return {**named, "text": text, "entities": entities, "relations": relations}
