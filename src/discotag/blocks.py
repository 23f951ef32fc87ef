"""Split text into blocks that no sentence crosses: paragraphs, headings and list items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from discotag.mentions import Fragment

LINE_END: Final = re.compile(r"\r\n|\n|\r")

NUMBERED: Final = re.compile(r"\s*+(\d{1,2})\.(?!\d)\s*+(?=\S)")
"""`1.`, but neither `1.5` nor a year."""

LETTERED: Final = re.compile(
    r"\s*+(\d{1,2}|[a-z]|[ivx]{2,4})\)(?![.,;:)\]])\s*+(?=\S)", re.IGNORECASE
)
"""`1)`, `a)` or `ii)`; with punctuation after it, the parenthesis ends something else."""

FIRST: Final = ("1", "a", "i")
"""What a list begins with."""

BULLET: Final = re.compile(r"\s*+(?:[•‣▪●◦]\s*+|(?P<dash>[-–*·])\s++)(?=\S)")
"""`•`, or `- ` or `* `: a sign that also occurs inside sentences needs a space after it."""

TITLE: Final = r"\s*+([^\W\d_]{2,}+(?:[ /&-]{1,3}+[^\W\d_]++){0,4}+)"
"""Up to five words. The first has two letters or more: *I* does not begin a heading."""

HEADING: Final = re.compile(rf"{TITLE} ?:(?=\s|\Z)")
CAPITALS: Final = re.compile(rf"{TITLE}\s*+\Z")

UNCLOSED: Final = re.compile(r"(?<![:;=-])\([^()]*+\Z")
"""A parenthesis that is still open at the end of a line; the one of `:(` is not."""

WRAPPED: Final = 60
"""Characters: text is seldom wrapped at fewer."""


class Block(NamedTuple):
    """Characters of a text that no sentence crosses, without a line end around them.

    Attributes:
        start: Where it begins.
        words: Where its words begin, after the marker of a list item.
        end: Where it ends.
    """

    start: int
    words: int
    end: int


def line_ranges(text: str) -> list[Fragment]:
    r"""Return the character ranges of the lines, without their ends.

    Example:
        >>> line_ranges("sore\r\ntoes\n")
        [(0, 4), (6, 10), (11, 11)]
    """
    borders = [0, *(place for end in LINE_END.finditer(text) for place in end.span()), len(text)]
    return list(zip(borders[::2], borders[1::2], strict=True))


def blocks(text: str) -> Iterator[Block]:
    r"""Yield the blocks of a text in order; only white space is between them.

    A block begins after a blank line, at a list item, at a heading, and after a heading that has
    the line to itself. Any other line continues the block, so that wrapped prose stays together.

    Example:
        >>> text = "Works well.\nCONS: tired\n1) sore\ntoes"
        >>> [text[block.start : block.end] for block in blocks(text)]
        ['Works well.', 'CONS: tired', '1) sore\ntoes']
    """
    ranges = line_ranges(text)
    lines = [text[start:end] for start, end in ranges]
    block: Block | None = None
    heading = 0
    for number, marker in enumerate(_markers(lines)):
        (start, end), line = ranges[number], lines[number]
        alone = heading and not lines[number - 1][heading:].strip()
        heading = _heading(line, lines[number + 1] if number + 1 < len(lines) else "")
        if block and (alone or marker or heading or not line.strip()):
            yield block
            block = None
        if block:
            block = block._replace(end=end)
        elif line.strip():
            block = Block(start, start + marker, end)
    if block:
        yield block


def _markers(lines: Sequence[str]) -> Iterator[int]:
    """Yield how many characters of each line are the marker of a list item; 0 if it is none."""
    sequence = _in_sequence(lines)
    before, in_list = "", False
    for number, line in enumerate(lines):
        if found := NUMBERED.match(line):
            # A sentence, too, can end with a number that begins a line: "from 5 to\n10. Then".
            is_item = number in sequence or not before.strip()
        elif found := LETTERED.match(line):
            # "(see figure\n1) shows", and "on day 4 or\n5) in the morning"
            begins = in_list or not _may_be_wrapped(before) or found[1].lower() in FIRST
            is_item = begins and not UNCLOSED.search(before)
        elif found := BULLET.match(line):
            in_list = in_list or bool(BULLET.match("".join(lines[number + 1 : number + 2])))
            first = line[found.end()]
            is_item = not found["dash"] or not _goes_on(before, first, in_list)
        else:
            is_item = False
        yield found.end() if found and is_item else 0
        in_list = bool(line.strip()) and (in_list or is_item)
        before = line


def _in_sequence(lines: Sequence[str]) -> set[int]:
    """Return the lines that begin with `1.`, `2.` and so on, if there are two or more in a row."""
    numbers = [
        (line, int(found[1])) for line, found in enumerate(map(NUMBERED.match, lines)) if found
    ]
    return {
        line
        for (first, one), (second, other) in pairwise(numbers)
        if one + 1 == other
        for line in (first, second)
    }


def _goes_on(before: str, first: str, in_list: bool) -> bool:
    r"""Return whether a dash goes on with the sentence of the line before it.

    That is so in a range, "10\n- 20 mg", and where a long line of prose was wrapped ahead of a
    dash, "\n- or so I thought -".

    Args:
        before: The line before the dash.
        first: The character after the dash.
        in_list: Whether a list item is before it in its paragraph, or in the next line.
    """
    if first.isdigit():
        return before.rstrip()[-1:].isdigit()
    return first.islower() and _may_be_wrapped(before) and not in_list


def _may_be_wrapped(line: str) -> bool:
    """Return whether a line may have ended because it was full, in the middle of a sentence."""
    return len(line) >= WRAPPED and not line.rstrip().endswith((".", "!", "?", ":", ";"))


def _heading(line: str, following: str) -> int:
    """Return how many characters of a line are a heading; 0 if it has none.

    A heading begins with a capital and ends with a colon: "Side effects: none". One in capitals
    needs no colon if a line of other letters follows it. It must have the line to itself.
    """
    if (found := HEADING.match(line)) and found[1][0].isupper():
        return found.end()
    if (found := CAPITALS.match(line)) and found[1].isupper() and not following.isupper():
        return found.end() if following.strip() else 0
    return 0
