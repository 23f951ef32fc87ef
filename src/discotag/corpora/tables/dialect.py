"""Find out the encoding of a file and what separates its cells."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from discotag.corpora.parsing.files import STANDARD, opened
from discotag.corpora.parsing.streams import CHUNK

SEPARATORS: Final = (",", ";", "\t", "|")

NO_SEPARATOR: Final = "\x1f"
"""A character that texts do not contain, for files of one column: commas there are text."""

DECLARED: Final = "sep="
"""The beginning of the first line in which Excel declares the separator."""

FEWEST_FIT: Final = 0.5
"""The smallest share of rows that have the same number of cells if the separator is right."""

MANY_ZEROS: Final = 0.3
"""The share of zero bytes from which on a file is UTF-16."""

INVALID: Final = re.compile("[\udc80-\udcff]")
"""Bytes that are invalid in UTF-8, as the decoder writes them."""

FALLBACK: Final = "cp1252"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the cells of a file are written.

    Attributes:
        separator: What separates cells.
        width: The number of cells that most rows have.
        skipped: The number of lines at the beginning that only declare the separator.
    """

    separator: str
    width: int
    skipped: int = 0


def find_encoding(path: Path) -> str | None:
    """Return the encoding of a file without a byte-order mark; None if it is UTF-8, or declared.

    A file with more bytes that are invalid in UTF-8 than characters beyond ASCII that are valid is
    Windows-1252. Standard input and pipes, which can only be read once, are taken to be UTF-8.
    """
    if path == STANDARD or not path.is_file():
        return None
    valid = invalid = 0
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    with opened(path) as stream:
        if stream.encoding is not None:
            return None
        start = stream.look()
        if start.count(0) > MANY_ZEROS * len(start):
            return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
        while chunk := stream.read(CHUNK):
            text = decoder.decode(chunk)
            if not text.isascii():
                wrong = len(INVALID.findall(text))
                invalid += wrong
                valid += max(0, len(text.encode("utf-8", "surrogateescape")) - len(text) - wrong)
    return FALLBACK if invalid > valid else None


def find_dialect(start: str, separators: tuple[str, ...] = SEPARATORS) -> Dialect:
    r"""Return how the cells of a file are written, given its beginning.

    The separator is the one with which most rows have the same number of cells.

    Example:
        >>> find_dialect("id;text\n1;Sore toes, nausea, rash\n2;Tired, sleepy\n").separator
        ';'
        >>> find_dialect("sep=|\nid|text\n1|Sore; tired\n")
        Dialect(separator='|', width=2, skipped=1)
    """
    lines = start.splitlines(keepends=True)
    if lines and lines[0].lower().startswith(DECLARED) and len(lines[0].strip("\r\n")) == 5:
        separator = lines[0][len(DECLARED)]
        return Dialect(separator, _fit(lines[1:], separator)[1], skipped=1)
    best = max(((_fit(lines, each), each) for each in separators), key=lambda item: item[0])
    (share, width), separator = best
    if share < FEWEST_FIT or width < 2:
        return Dialect(NO_SEPARATOR, 1)
    return Dialect(separator, width)


def _fit(lines: list[str], separator: str) -> tuple[float, int]:
    """Return the share of rows with the most frequent number of cells, and that number."""
    widths: Counter[int] = Counter()
    rows = csv.reader(lines, delimiter=separator)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            break
        except csv.Error:
            continue
        if row:
            widths[len(row)] += 1
    several = [(count, width) for width, count in widths.items() if width > 1]
    if not several:
        return 0.0, 1
    count, width = max(several)
    return count / widths.total(), width
