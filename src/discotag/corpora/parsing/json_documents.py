"""Documents of JSON: a text with labels on its characters, as annotation tools export them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from discotag.corpora.parsing.files import created
from discotag.corpora.parsing.json_stream import first_object
from discotag.corpora.parsing.json_values import as_object
from discotag.corpora.parsing.problems import MalformedError, Problem, Report
from discotag.corpora.parsing.standoff import Source, assembled
from discotag.mentions import Document
from discotag.words import Splitter

Part = TypeVar("Part")

Make = Callable[[dict[str, Any], str, int | None, Report], Source | None]
"""Returns what an object says, given the file and the line; None for one that is left out."""

OWN: Final = ("discotag", "mentions", "sentences")
"""The keys of discotag's own documents."""


def first_text(head: str) -> dict[str, str] | None:
    """Return the keys of the first object if it has a text and is not one of discotag's own.

    Args:
        head: The beginning of the file.

    Returns:
        The keys with the first character of each value, as `first_object` returns them.
    """
    keys = first_object(head)[1]
    return keys if keys.get("text") in ('"', "") and keys.keys().isdisjoint(OWN) else None


def documents(
    rows: Iterable[tuple[int | None, Any]],
    make: Make,
    path: str,
    splitter: Splitter,
    report: Report,
) -> Iterator[Document]:
    """Yield the documents of plain data; what is malformed is reported and left out.

    Args:
        rows: The data of each document, with its line.
        make: Returns what the data of a document says.
        path: The file, or what messages name instead of one.
        splitter: Splits text into sentences and words.
        report: Called with each problem.
    """
    for line, data in rows:
        try:
            source = make(as_object(data, "a document"), path, line, report)
        except MalformedError as error:
            report(Problem("syntax", str(error), path, line))
            continue
        document = None if source is None else assembled(source, splitter, report)
        if document is not None:
            yield document


def write_lines(items: Iterable[dict[str, Any]], path: Path) -> None:
    """Write one object per line."""
    with created(path) as stream:
        for each in items:
            stream.write(json.dumps(each, ensure_ascii=False) + "\n")


def good(
    items: Iterable[Any],
    make: Callable[[Any], Part],
    path: str,
    line: int | None,
    report: Report,
) -> Iterator[Part]:
    """Yield what a function makes of each item; what is malformed is reported and left out."""
    for each in items:
        try:
            made = make(each)
        except MalformedError as error:
            report(Problem("syntax", str(error), path, line))
        else:
            yield made
