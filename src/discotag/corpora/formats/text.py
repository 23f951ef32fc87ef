"""Plain text: a file is a document without mentions, or each of its lines is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from discotag.corpora.formats.format import Format, Reading
from discotag.corpora.parsing.files import lines, read_text
from discotag.corpora.parsing.problems import Problem
from discotag.mentions import Document

MAX_TEXT: Final = 64 << 20
"""The largest number of characters of a plain text that is read as one document: about 14 million
words, which need 4 GB of memory. Longer ones must be read line by line."""


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield the text as a document, or each line as one."""
    if reading.by_line:
        for number, line in lines(path, reading.report):
            if line is not None:
                identifier = str(number) if reading.name is None else f"{reading.name}-{number}"
                yield reading.splitter.document(line, id=identifier)
        return
    # brat counts a byte-order mark, and annotations of this text may be written for brat.
    text = read_text(path, reading.report, keep_mark=reading.keep_mark)
    if text is None:
        return
    if len(text) > MAX_TEXT:
        message = (
            f"the text has more than {MAX_TEXT >> 20} million characters; use --lines to read "
            "each line as a document"
        )
        reading.report(Problem("too_long", message, str(path)))
    else:
        yield reading.splitter.document(text, id=reading.name)


FORMAT: Final = Format(
    name="text",
    about="plain text without mentions (read only)",
    suffixes=(".txt", ".text", ".md"),
    read=read,
)
