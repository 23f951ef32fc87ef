"""Read XML as a stream of elements with line numbers, safely and with bounded memory.

A document type may be named, as in BioC files, but it is never fetched. Files that define entities
are rejected: a few lines of them can expand to gigabytes, or to files of the machine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import ParseError
from xml.parsers.expat import errors

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from discotag.corpora.parsing.files import ADVICE, MAX_LINE, opened
from discotag.corpora.parsing.problems import MalformedError, Problem, Report

CHUNK: Final = 1 << 20
"""The number of bytes that are parsed at a time. The parser scans an unfinished tag again with each
chunk, so that the time for a long tag is quadratic in its number of chunks."""

MAX_ASCII: Final = 0x7F

MAX_DEPTH: Final = 100
"""The deepest nesting of elements; the formats need eight levels."""


@dataclass(slots=True)
class Element:
    """An element with its content.

    Attributes:
        tag: The name, without a namespace.
        attributes: The attributes by name.
        line: The line where the element begins.
        children: The child elements.
        text: The text, without the text of children.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """Iterate over the children with this name."""
        return (child for child in self.children if child.tag == tag)

    def text_of(self, tag: str) -> str | None:
        """Return the text of the first child with this name, or None."""
        first = next(self.all(tag), None)
        return None if first is None else first.text


def elements(path: Path, tags: Collection[str], report: Report) -> Iterator[Element]:
    """Yield the elements with these names in an XML file, one after the other.

    A chunk of the file and the elements that end in it are kept in memory. An element inside a
    yielded one is its child. A file that is not well-formed is reported, which ends the iteration.
    """
    with opened(path) as stream:
        builder = _Builder(tags)
        # A known encoding has precedence over the one that the file declares.
        known = None if stream.encoding is None else "utf-8"
        parser = DefusedXMLParser(target=builder, encoding=known)
        expat = builder.expat = parser.parser
        passed = held = 0
        chunk = b""
        try:
            while chunk := stream.read(CHUNK):
                parser.feed(chunk)
                passed += len(chunk)
                finished = builder.taken()
                held = len(chunk) if finished else held + len(chunk)
                yield from finished
                if held > MAX_LINE:
                    raise _TooLongError(f"an element is longer than {MAX_LINE >> 20} MiB")
            parser.close()
        except (ParseError, DefusedXmlException, MalformedError, ValueError, LookupError) as error:
            yield from builder.taken()
            place = expat.ErrorByteIndex - passed
            bad = chunk[place] if 0 <= place < len(chunk) else 0
            report(Problem(*_explained(error, bad), str(path), expat.CurrentLineNumber))
            return
        yield from builder.taken()


class _TooLongError(MalformedError):
    """An element that exceeds the bound."""


class _Builder:
    """Builds the wanted elements from the events of the parser."""

    def __init__(self, tags: Collection[str]) -> None:
        self.expat: Any = None  # the parser, which knows the line
        self._tags = tags
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._finished: list[Element] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if not self._open and name not in self._tags:
            return
        if len(self._open) >= MAX_DEPTH:
            raise MalformedError(f"elements are nested more than {MAX_DEPTH} deep")
        element = Element(name, attributes, self.expat.CurrentLineNumber)
        if self._open:
            self._open[-1].children.append(element)
        self._open.append(element)
        self._texts.append([])

    def data(self, data: str) -> None:
        if self._texts:
            self._texts[-1].append(data)

    def end(self, tag: str) -> None:
        if not self._open:
            return
        element = self._open.pop()
        element.text = "".join(self._texts.pop())
        if not self._open:
            self._finished.append(element)

    def close(self) -> None:
        """Do nothing; the parser calls this at the end."""

    def taken(self) -> list[Element]:
        finished, self._finished = self._finished, []
        return finished


def _explained(error: Exception, bad: int) -> tuple[str, str]:
    """Return the kind of problem and a message, for an error at a byte of the file."""
    if isinstance(error, DefusedXmlException):
        return "syntax", "the file defines entities, which is not safe; remove them to read it"
    if isinstance(error, _TooLongError):
        return "too_long", str(error)
    if not isinstance(error, ParseError):
        kind = "syntax" if isinstance(error, MalformedError) else "encoding"
        return kind, f"not readable as XML: {error}"
    if error.code == errors.codes[errors.XML_ERROR_INVALID_TOKEN] and bad > MAX_ASCII:
        return (
            "encoding",
            f"byte 0x{bad:02x} is not in the encoding that the file declares; {ADVICE}",
        )
    return "syntax", f"not XML: {str(error).partition(': line ')[0]}"
