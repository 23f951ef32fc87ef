"""BioC XML: a collection of documents, each with passages and annotations.

The text of a passage is read, or the text of its sentences. Of an annotation, its locations
(several for a discontinuous mention), the infon `type` and its text are read; the text is checked.
Relations and other infons are not read, but a relation to an unknown id is reported. A document is
written as one passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Final

from discotag.corpora.formats.bioc import LABEL, PREFIX, called
from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.parsing.files import created
from discotag.corpora.parsing.problems import MalformedError, Problem, Report
from discotag.corpora.parsing.standoff import (
    Annotation,
    Piece,
    Reference,
    Source,
    assembled,
    check_references,
    writable,
)
from discotag.corpora.parsing.unwritable import unwritable
from discotag.corpora.parsing.xml_elements import Element, elements
from discotag.mentions import Document

COLLECTION: Final = re.compile(r"<(!DOCTYPE\s+)?collection[\s>]")
NUMBER: Final = re.compile(r"\s*(-?[0-9]{1,15})\s*")

NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Matches characters that are not allowed in XML, not even as a reference."""

START: Final = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>discotag</source><date></date><key></key>
"""
END: Final = "</collection>\n"


def recognises(path: Path, head: str) -> bool:
    """Return whether the outermost element is a collection."""
    return head.lstrip().startswith("<") and COLLECTION.search(head) is not None


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield the documents of the collection."""
    for element in elements(path, ("document",), reading.report):
        try:
            source = _source(element, path, reading.report)
        except MalformedError as error:
            reading.report(Problem("syntax", str(error), str(path), element.line))
            continue
        document = assembled(source, reading.splitter, reading.report)
        if document is not None:
            yield document


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write a collection of documents.

    Raises:
        CorpusError: A text or id has characters that are not allowed in XML.
    """
    with created(path) as stream:
        stream.write(START)
        for document in documents:
            stream.write(_written(document))
        stream.write(END)


FORMAT: Final = Format(
    name="bioc-xml",
    about="BioC XML: documents, passages, annotations with locations",
    suffixes=(".xml",),
    recognises=recognises,
    read=read,
    write=write,
    outputs=(".xml",),
)


def _source(document: Element, path: Path, report: Report) -> Source:
    pieces: list[Piece] = []
    annotations: list[Annotation] = []
    known: set[str] = set()
    references: list[Reference] = []
    identifier = document.text_of("id") or None
    for passage in (document, *document.all("passage")):
        sentences = list(passage.all("sentence"))
        if passage.text_of("text") is not None:
            pieces.append(_piece(passage))
        else:
            pieces += [_piece(each) for each in sentences if each.text_of("text") is not None]
        for holder in (passage, *sentences):
            for each in holder.all("annotation"):
                try:
                    annotations.append(_annotation(each, identifier))
                except MalformedError as error:
                    report(Problem("syntax", str(error), str(path), each.line))
            for kind in ("annotation", "relation"):
                known.update(each.attributes.get("id", "") for each in holder.all(kind))
            for each in holder.all("relation"):
                name = called(each.attributes.get("id"), identifier, "relation")
                references += (
                    (name, node.attributes.get("refid", ""), node.line) for node in each.all("node")
                )
    check_references(references, known, str(path), report)
    return Source(identifier, pieces, annotations, str(path), document.line)


def _piece(holder: Element) -> Piece:
    return Piece(_number(holder.text_of("offset"), "an offset"), holder.text_of("text") or "")


def _annotation(element: Element, document: str | None) -> Annotation:
    name = called(element.attributes.get("id"), document)
    label = next(
        (each.text for each in element.all("infon") if each.attributes.get("key") == LABEL), None
    )
    if label is None:
        raise MalformedError(f"{name} has no infon with the key {LABEL!r}")
    fragments = []
    for location in element.all("location"):
        start = _number(location.attributes.get("offset"), "a location's offset")
        fragments.append(
            (start, start + _number(location.attributes.get("length"), "a location's length"))
        )
    text = element.text_of("text")
    texts = () if text is None else (text,)
    return Annotation(name, label, tuple(fragments), texts, element.line)


def _number(text: str | None, what: str) -> int:
    match = NUMBER.fullmatch(text or "")
    if match is None:
        raise MalformedError(f"{what} must be a whole number, got {text!r}")
    return int(match[1])


def _written(document: Document) -> str:
    text, marked = writable(document, FORMAT.name)
    if bad := NOT_XML.search(f"{document.id}{text}"):
        raise unwritable(FORMAT.name, f"the character {bad[0]!r}")
    lines = [
        f"<document><id>{_escaped(document.id or '')}</id>",
        f"<passage><offset>0</offset><text>{_escaped(text)}</text>",
    ]
    for number, mark in enumerate(marked, start=1):
        locations = "".join(
            f'<location offset="{start}" length="{end - start}"/>' for start, end in mark.fragments
        )
        words = " ".join(text[start:end] for start, end in mark.fragments)
        lines.append(
            f'<annotation id="{PREFIX}{number}"><infon key="{LABEL}">{_escaped(mark.label)}</infon>'
            f"{locations}<text>{_escaped(words)}</text></annotation>"
        )
    return "\n".join((*lines, "</passage></document>\n"))


def _escaped(text: str) -> str:
    """Escape text for XML; a carriage return, which parsers change, becomes a reference."""
    return escape(text, quote=False).replace("\r", "&#13;")
