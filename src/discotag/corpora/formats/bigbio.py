"""bigbio: JSON lines of the schema `bigbio_kb`, one document per line, or a list of documents.

The fields that are read are `document_id`, `passages` (`text` and `offsets`) and `entities`
(`type`, `text` and `offsets`, a pair for each fragment). `events`, `coreferences`, `relations` and
`normalized` are not read, and written empty, but references in them to unknown ids are reported.
Offsets count characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.parsing.json_documents import documents as documents_of
from discotag.corpora.parsing.json_documents import good, write_lines
from discotag.corpora.parsing.json_stream import first_object, values
from discotag.corpora.parsing.json_values import (
    as_list,
    as_name,
    as_number,
    as_object,
    as_objects,
    as_text,
    listed,
)
from discotag.corpora.parsing.problems import MalformedError, Report, shown
from discotag.corpora.parsing.standoff import (
    Annotation,
    Piece,
    Reference,
    Source,
    check_references,
    writable,
)
from discotag.counts import counted
from discotag.mentions import Document, Fragment
from discotag.words import Splitter


def recognises(path: Path, head: str) -> bool:
    """Return whether the file is JSON with the keys of the schema."""
    return first_object(head)[1].keys() >= {"document_id", "passages"}


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each line, or for each object of a list."""
    yield from documents(values(path, reading.report), str(path), reading.splitter, reading.report)


def documents(
    rows: Iterable[tuple[int | None, Any]], path: str, splitter: Splitter, report: Report
) -> Iterator[Document]:
    """Return the documents of plain data in this schema.

    Args:
        rows: The data of each document, with its line.
        path: The file, or what messages name instead of one.
        splitter: Splits text into sentences and words.
        report: Called with each problem.
    """
    return documents_of(rows, _source, path, splitter, report)


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write one line per document."""
    write_lines((to_dict(each, number) for number, each in enumerate(documents)), path)


FORMAT: Final = Format(
    name="bigbio",
    about="bigbio_kb as JSON lines: passages, entities with offsets",
    suffixes=(".jsonl", ".ndjson", ".json"),
    recognises=recognises,
    read=read,
    write=write,
)


def to_dict(document: Document, number: int) -> dict[str, Any]:
    """Return a document as plain data in this schema; scores are not kept.

    Args:
        document: The document.
        number: Its number in the corpus, which makes its ids unique.

    Raises:
        UnwritableError: The document cannot be represented.
    """
    text, marked = writable(document, FORMAT.name)
    passage = {"id": f"{number}_0", "type": "document", "text": [text], "offsets": [[0, len(text)]]}
    entities = [
        {
            "id": f"{number}_{place}",
            "type": mark.label,
            "text": [text[start:end] for start, end in mark.fragments],
            "offsets": [list(fragment) for fragment in mark.fragments],
            "normalized": [],
        }
        for place, mark in enumerate(marked, start=1)
    ]
    return {
        "id": str(number),
        "document_id": document.id or "",
        "passages": [passage],
        "entities": entities,
        "events": [],
        "coreferences": [],
        "relations": [],
    }


def _source(document: dict[str, Any], path: str, line: int | None, report: Report) -> Source:
    identifier = as_name(document.get("document_id"), "'document_id'")
    pieces: list[Piece] = []
    for passage in as_objects(document, "passages"):
        texts, offsets = _texts(passage), _offsets(passage)
        if len(texts) != len(offsets):
            lengths = f"{counted(len(texts), 'text')} but {counted(len(offsets), 'offset')}"
            raise MalformedError(f"a passage has {lengths}")
        pieces += [Piece(start, text) for text, (start, _) in zip(texts, offsets, strict=True)]
    entities = as_list(document, "entities")
    annotations = list(good(entities, partial(_annotation, line=line), path, line, report))
    held = [
        each
        for key in ("passages", "entities", "events", "relations", "coreferences")
        for each in listed(document, key)
    ]
    known = {str(each["id"]) for each in held if "id" in each}
    check_references(_references(document, line), known, path, report)
    return Source(identifier, pieces, annotations, path, line)


def _references(document: dict[str, Any], line: int | None) -> Iterator[Reference]:
    """Yield the references of relations, events and coreferences."""
    for kind in ("relations", "events", "coreferences"):
        for each in listed(document, kind):
            name = f"{kind[:-1]} {shown(str(each.get('id')))}"
            others = [each[key] for key in ("arg1_id", "arg2_id") if key in each]
            others += [one.get("ref_id") for one in listed(each, "arguments")]
            others += as_list(each, "entity_ids")
            yield from ((name, str(other), line) for other in others)


def _annotation(data: Any, line: int | None) -> Annotation:
    entity = as_object(data, "each of 'entities'")
    identifier = as_name(entity.get("id"), "the id of an entity")
    name = "an entity" if identifier is None else f"entity {shown(identifier)}"
    label = as_text(entity.get("type"), f"{name}: 'type'")
    return Annotation(name, label, _offsets(entity), _texts(entity), line)


def _texts(data: dict[str, Any]) -> tuple[str, ...]:
    found = data.get("text")
    if isinstance(found, str):  # not in the schema, but unambiguous
        return (found,)
    return tuple(as_text(each, "each of 'text'") for each in as_list(data, "text"))


def _offsets(data: dict[str, Any]) -> tuple[Fragment, ...]:
    pairs = []
    for pair in as_list(data, "offsets"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise MalformedError("'offsets' must be pairs of numbers, [[start, end], …]")
        pairs.append((as_number(pair[0], "an offset"), as_number(pair[1], "an offset")))
    return tuple(pairs)
