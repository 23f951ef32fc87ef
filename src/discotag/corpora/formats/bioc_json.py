"""BioC JSON: the content of BioC XML as JSON.

A file has a collection with its `documents`, a list of documents, or one or more documents. What is
read and written is the same as in `discotag.corpora.formats.bioc_xml`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats.bioc import LABEL, PREFIX, called
from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.parsing.files import created
from discotag.corpora.parsing.json_documents import documents as documents_of
from discotag.corpora.parsing.json_documents import good
from discotag.corpora.parsing.json_stream import first_object, objects
from discotag.corpora.parsing.json_values import (
    as_list,
    as_name,
    as_number,
    as_object,
    as_objects,
    as_text,
    listed,
)
from discotag.corpora.parsing.problems import MalformedError, Report
from discotag.corpora.parsing.standoff import (
    Annotation,
    Piece,
    Reference,
    Source,
    check_references,
    writable,
)
from discotag.mentions import Document

DOCUMENTS: Final = ("documents", "PubTator3")
"""The keys of the documents of a collection; the second is used by PubTator."""

START: Final = '{"source": "discotag", "date": "", "key": "", "infons": {}, "documents": ['
END: Final = "\n]}\n"


def recognises(path: Path, head: str) -> bool:
    """Return whether the file has an object with a list of passages or documents."""
    keys = first_object(head)[1]
    return any(keys.get(key) in ("[", "") for key in ("passages", *DOCUMENTS))


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Return the documents of the collection."""
    rows = ((None, data) for data in objects(path, DOCUMENTS, reading.report))
    return documents_of(rows, _source, str(path), reading.splitter, reading.report)


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write a collection of documents."""
    with created(path) as stream:
        stream.write(START)
        for number, document in enumerate(documents):
            data = json.dumps(_data(document), ensure_ascii=False)
            stream.write(f"{',' if number else ''}\n{data}")
        stream.write(END)


FORMAT: Final = Format(
    name="bioc-json",
    about="BioC JSON: documents, passages, annotations with locations",
    suffixes=(".json",),
    recognises=recognises,
    read=read,
    write=write,
)


def _source(document: dict[str, Any], path: str, line: int | None, report: Report) -> Source:
    identifier = as_name(document.get("id"), "a document's id")
    pieces: list[Piece] = []
    annotations: list[Annotation] = []
    known: set[str] = set()
    references: list[Reference] = []
    for passage in (document, *as_objects(document, "passages")):
        sentences = as_objects(passage, "sentences")
        if passage.get("text") is not None:
            pieces.append(_piece(passage))
        else:
            pieces += [_piece(each) for each in sentences if each.get("text") is not None]
        for holder in (passage, *sentences):
            held = as_list(holder, "annotations")
            make = partial(_annotation, document=identifier)
            annotations += good(held, make, path, line, report)
            for each in (*listed(holder, "annotations"), *listed(holder, "relations")):
                known.add(str(each.get("id")))
            for each in listed(holder, "relations"):
                name = called(str(each.get("id")), identifier, "relation")
                nodes = listed(each, "nodes")
                references += ((name, str(node.get("refid")), None) for node in nodes)
    check_references(references, known, path, report)
    return Source(identifier, pieces, annotations, path, line)


def _piece(holder: dict[str, Any]) -> Piece:
    return Piece(
        as_number(holder.get("offset"), "an offset"), as_text(holder.get("text"), "a text")
    )


def _annotation(data: Any, document: str | None) -> Annotation:
    annotation = as_object(data, "an annotation")
    name = called(as_name(annotation.get("id"), "an annotation's id"), document)
    label = as_object(annotation.get("infons", {}), "'infons'").get(LABEL)
    if not isinstance(label, str):
        raise MalformedError(f"{name} has no {LABEL!r} among its infons")
    fragments = []
    for location in as_objects(annotation, "locations"):
        start = as_number(location.get("offset"), "a location's offset")
        fragments.append((start, start + as_number(location.get("length"), "a location's length")))
    text = annotation.get("text")
    texts = () if text is None else (as_text(text, "an annotation's text"),)
    return Annotation(name, label, tuple(fragments), texts)


def _data(document: Document) -> dict[str, Any]:
    text, marked = writable(document, FORMAT.name)
    annotations = [
        {
            "id": f"{PREFIX}{number}",
            "infons": {LABEL: mark.label},
            "text": " ".join(text[start:end] for start, end in mark.fragments),
            "locations": [
                {"offset": start, "length": end - start} for start, end in mark.fragments
            ],
        }
        for number, mark in enumerate(marked, start=1)
    ]
    passage = {
        "offset": 0,
        "infons": {},
        "text": text,
        "sentences": [],
        "annotations": annotations,
        "relations": [],
    }
    return {
        "id": document.id or "",
        "infons": {},
        "passages": [passage],
        "annotations": [],
        "relations": [],
    }
