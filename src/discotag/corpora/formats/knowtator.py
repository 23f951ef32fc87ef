"""Knowtator XML, versions 1 and 2, as in CRAFT; read only.

Knowtator 1 has a file for each text: `annotation` elements with one or more `span`s, and for each
of them a `classMention` with its class. Knowtator 2 has projects of documents; an `annotation`
has its `class` and `span`s. The label is the id of the class, `CL:0000540`; the addresses that
Knowtator 2 uses for classes of the OBO Foundry are shortened to the same form.

The text is in another file, which the XML names. It is searched in a folder that the caller gives,
or in the folder of the XML and up to `MAX_LEVELS` folders above it, and in the folders `PLACES` of
each of them, such as CRAFT's `articles/txt`. A name with a folder in it is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from discotag.corpora.formats.format import Format, Reading
from discotag.corpora.parsing.files import is_inside, read_text
from discotag.corpora.parsing.problems import CorpusError, Problem, Report, shown
from discotag.corpora.parsing.standoff import Annotation, Piece, Source, assembled
from discotag.corpora.parsing.xml_elements import Element, elements
from discotag.mentions import Document, Fragment

FIRST: Final = "annotations"
SECOND: Final = "knowtator-project"
START: Final = re.compile(rf"<({FIRST}\s[^>]*textSource|{SECOND}[\s>])")

NUMBER: Final = re.compile(r"[0-9]{1,15}")
OBO: Final = re.compile(r"http://purl\.obolibrary\.org/obo/([A-Za-z_]+)_([0-9]+)")

ELLIPSIS: Final = " ... "
"""The text between the fragments of a mention in Knowtator 1."""

MAX_LEVELS: Final = 4
"""The levels from CRAFT's `concept-annotation/CL/CL/knowtator` to the folder with `articles`."""

PLACES: Final = (".", "txt", "text", "articles", "Articles", "articles/txt")
"""The folders of texts; Knowtator 2 uses `Articles`."""


def recognises(path: Path, head: str) -> bool:
    """Return whether the outermost element is one of Knowtator's."""
    return head.lstrip().startswith("<") and START.search(head) is not None


def read(path: Path, reading: Reading, *, texts: Path | None = None) -> Iterator[Document]:
    """Yield a document for each text that the file annotates.

    Args:
        path: The XML.
        reading: How the text is split into words, and what is called with each problem.
        texts: The folder with the texts; by default it is searched.
    """
    for source in sources(path, reading.report, texts=texts):
        document = assembled(source, reading.splitter, reading.report)
        if document is not None:
            yield document


def sources(path: Path, report: Report, *, texts: Path | None = None) -> Iterator[Source]:
    """Yield what `read` reads, before it is checked and split into words."""
    for element in elements(path, (FIRST, SECOND), report):
        first = element.tag == FIRST
        for part in (element,) if first else element.all("document"):
            name = part.attributes.get("textSource" if first else "text-file", "")
            text = _text(path, name, texts, part.line, report)
            if text is not None:
                found = _first(part, path, report) if first else _second(part, path, report)
                pieces = [Piece(0, text)]
                yield Source(name.removesuffix(".txt"), pieces, list(found), str(path), part.line)


FORMAT: Final = Format(
    name="knowtator",
    about="Knowtator 1 and 2 XML; the texts are in the same folder or near it (read only)",
    suffixes=(".xml",),
    recognises=recognises,
    read=read,
    write=None,
)


def find_text(path: Path, name: str) -> Path | None:
    """Find the text with this name in the folders near an XML file."""
    folder = path.absolute().parent
    for level in (folder, *folder.parents[:MAX_LEVELS]):
        for place in PLACES:
            found = level / place / name
            if found.is_file():
                return found
    return None


def _text(
    path: Path, name: str, texts: Path | None, line: int, report: Report
) -> str | None:  # fmt: skip
    if not name or not name.isprintable() or not is_inside(name) or Path(name).name != name:
        message = f"{shown(name)} cannot be the file name of a text"
        report(Problem("syntax", message, str(path), line))
        return None
    try:
        found = find_text(path, name) if texts is None else texts / name
        missing = found is None or not found.is_file()
    except OSError:  # the name is too long for the file system
        missing = True
    if missing or found is None:
        where = (
            f"in {texts}"
            if texts
            else f"in the same folder, nor in {', '.join(PLACES[1:])} above it"
        )
        message = f"the text {shown(name)} is not {where}"
        report(Problem("missing", message, str(path), line))
        return None
    try:
        return read_text(found, report)
    except CorpusError as error:  # go on with the other texts of the file
        report(error.problem)
        return None


def _first(document: Element, path: Path, report: Report) -> Iterator[Annotation]:
    classes = {}
    for mention in document.all("classMention"):
        found = next(mention.all("mentionClass"), None)
        if found is not None and "id" in mention.attributes:
            classes[mention.attributes["id"]] = found.attributes.get("id", "")
    for each in document.all("annotation"):
        identifier = next((one.attributes.get("id") for one in each.all("mention")), None)
        name = "an annotation" if identifier is None else f"annotation {shown(identifier)}"
        spans = _fragments(each, name, path, report)
        if spans is None:
            continue
        if identifier not in classes:
            report(Problem("syntax", f"{name} has no class", str(path), each.line))
            continue
        given = each.text_of("spannedText")
        parts = () if given is None else tuple(given.split(ELLIPSIS))
        texts = parts if len(parts) == len(spans) else (given or "",)
        yield Annotation(name, _label(classes[identifier]), spans, texts, each.line)


def _second(document: Element, path: Path, report: Report) -> Iterator[Annotation]:
    for each in document.all("annotation"):
        identifier = each.attributes.get("id")
        name = "an annotation" if identifier is None else f"annotation {shown(identifier)}"
        spans = _fragments(each, name, path, report)
        if spans is None:
            continue
        found = next(each.all("class"), None)
        if found is None:
            report(Problem("syntax", f"{name} has no class", str(path), each.line))
            continue
        texts = tuple(span.text for span in each.all("span"))
        label = _label(found.attributes.get("id", ""))
        yield Annotation(name, label, spans, texts if any(texts) else (), each.line)


def _fragments(
    annotation: Element, name: str, path: Path, report: Report
) -> tuple[Fragment, ...] | None:
    fragments = []
    for span in annotation.all("span"):
        start, end = (span.attributes.get(key, "") for key in ("start", "end"))
        if not NUMBER.fullmatch(start) or not NUMBER.fullmatch(end):
            message = f"{name}: a span needs a start and an end, got {shown(start)}, {shown(end)}"
            report(Problem("syntax", message, str(path), span.line))
            return None
        fragments.append((int(start), int(end)))
    return tuple(fragments)


def _label(identifier: str) -> str:
    match = OBO.fullmatch(identifier)
    return identifier if match is None else f"{match[1]}:{match[2]}"
