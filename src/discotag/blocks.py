"""Split text into blocks that no sentence crosses: paragraphs, headings and list items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, repeat
from typing import Final, NamedTuple

from discotag.mentions import Fragment

LINE_END: Final = re.compile(r"(\r\n|\n|\r)")

NUMBERED: Final = re.compile(r"\s*+(\d{1,2})\.(?!\d)\s*+(?=\S)")
"""Matches `1.`, but neither `1.5` nor a year."""

LETTERED: Final = re.compile(
    r"\s*+(\d{1,2}|[a-z]|[ivx]{2,4})\)(?![.,;:)\]])\s*+(?=\S)", re.IGNORECASE
)
"""Matches `1)`, `a)` or `ii)`, unless punctuation follows, as after any other parenthesis."""

MARKER: Final = re.compile(r"\s*+(?:\d|\w{1,4}\)|[•‣▪●◦–*·-])")
"""Matches how a line with any marker begins: most lines do not, and need no further look."""

FIRST: Final = ("1", "a", "i")
"""The markers of first list items."""

BULLET: Final = re.compile(r"\s*+(?:[•‣▪●◦]\s*+|(?P<dash>[-–*·])\s++)(?=\S)")
"""Matches `•`, `- ` or `* `; characters that also occur in sentences need a space after them."""

TITLE: Final = r"\s*+([^\W\d_]{2,}+(?:[ /&-]{1,3}+[^\W\d_]++){0,4}+)"
"""Matches up to five words. The first has at least two letters: *I* begins no heading."""

HEADING: Final = re.compile(rf"{TITLE} ?:(?=\s|\Z)")
CAPITALS: Final = re.compile(rf"{TITLE}\s*+\Z")

UNCLOSED: Final = re.compile(r"(?<![:;=-])\([^()]*+\Z")
"""Matches a parenthesis that is open at the end of a line, but not `:(`."""

WRAPPED: Final = 60
"""The smallest width, in characters, at which text is usually wrapped."""


class Block(NamedTuple):
    """A range of characters that no sentence crosses, without surrounding line ends.

    Attributes:
        start: The start of the block.
        words: The start of its words, after the marker of a list item.
        end: The end of the block.
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
    return _lines(text)[1]


def _lines(text: str) -> tuple[list[str], list[Fragment]]:
    """Return the lines of a text, without their ends, and their character ranges."""
    parts = LINE_END.split(text)  # a line, its end, a line, ...
    borders = list(accumulate(map(len, parts), initial=0))
    return parts[::2], list(zip(borders[::2], borders[1::2], strict=True))


def blocks(text: str) -> Iterator[Block]:
    r"""Yield the blocks of a text in order; only white space separates them.

    A block begins after a blank line, at a list item, at a heading, and after a heading that has
    its own line. Any other line continues the block, so that wrapped prose stays together.

    Example:
        >>> text = "Works well.\nCONS: tired\n1) sore\ntoes"
        >>> [text[block.start : block.end] for block in blocks(text)]
        ['Works well.', 'CONS: tired', '1) sore\ntoes']
    """
    lines, ranges = _lines(text)
    first = words = last = -1  # of the block so far; there is none if `first` is negative
    heading = 0
    for number, marker in enumerate(_markers(lines)):
        (start, end), line = ranges[number], lines[number]
        blank = not line or line.isspace()
        alone = heading and not lines[number - 1][heading:].strip()
        heading = _heading(line, lines, number)
        if first >= 0 and (blank or marker or heading or alone):
            yield Block(first, words, last)
            first = -1
        if not blank:
            if first < 0:
                first, words = start, start + marker
            last = end
    if first >= 0:
        yield Block(first, words, last)


def _markers(lines: Sequence[str]) -> Iterator[int]:
    """Yield for each line the length of its list marker, 0 if it has none."""
    candidates = [MARKER.match(line) for line in lines]
    if not any(candidates):
        yield from repeat(0, len(lines))
        return
    sequence = _in_sequence(lines)
    before, in_list = "", False
    for number, line in enumerate(lines):
        found: re.Match[str] | None = None
        if not candidates[number]:
            is_item = False
        elif found := NUMBERED.match(line):
            # A sentence can also end with a number at the start of a line: "from 5 to\n10. Then".
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
    """Return the lines that begin with consecutive numbers, such as `1.` and `2.`."""
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
    r"""Return whether a line that begins with a dash continues the sentence of the line before.

    It does in a range, "10\n- 20 mg", and where a long line of prose was wrapped before a dash,
    "\n- or so I thought -".

    Args:
        before: The line before the dash.
        first: The character after the dash.
        in_list: Whether its paragraph has a list item before it, or in the next line.
    """
    if first.isdigit():
        return before.rstrip()[-1:].isdigit()
    return first.islower() and _may_be_wrapped(before) and not in_list


def _may_be_wrapped(line: str) -> bool:
    """Return whether a line may have been wrapped in the middle of a sentence."""
    return len(line) >= WRAPPED and not line.rstrip().endswith((".", "!", "?", ":", ";"))


def _heading(line: str, lines: Sequence[str], number: int) -> int:
    """Return the length of the heading of line `number` of `lines`, 0 if it has none.

    A heading begins with a capital and ends with a colon: "Side effects: none". A heading in
    capitals on its own line needs no colon if the next line is not in capitals.
    """
    if ":" in line and (found := HEADING.match(line)) and found[1][0].isupper():
        return found.end()
    if line.isupper() and (found := CAPITALS.match(line)):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        return found.end() if following.strip() and not following.isupper() else 0
    return 0
