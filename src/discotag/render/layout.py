"""The geometry of drawings: which mentions share a row, and where words, marks and captions go.

Nothing in this module knows an output format. The terminal, HTML and SVG all draw what it returns.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from operator import attrgetter
from typing import Final

from discotag.errors import InputError
from discotag.mentions import Fragment, Mention, Sentence

CONTINUED: Final = "…"
"""The sign in a caption that the mark comes from the previous line, or goes on in the next."""

Measure = Callable[[str], float]
"""Returns the width of a text in the units of an output."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of a mention's mark that belongs to one word.

    Attributes:
        word: The index of the word.
        covered: Whether the word belongs to the mention; otherwise it is in a gap.
        first: Whether it is the first word of a fragment.
        last: Whether it is the last word of a fragment.
    """

    word: int
    covered: bool
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Box:
    """A range of a line, from `left` to `right`."""

    left: float
    right: float

    @property
    def width(self) -> float:
        """The distance from left to right."""
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a mention on one line, and its caption.

    Attributes:
        mention: The index of the mention.
        row: The row below the words, from 0.
        covered: The boxes of words of the mention, from left to right.
        gaps: The boxes of words between them.
        caption: The caption as it is drawn, with the signs for marks that are continued.
        caption_box: The place of the caption, to the right of the mark.
        from_previous: Whether the mention began on an earlier line.
        to_next: Whether the mention goes on in a later line.
    """

    mention: int
    row: int
    covered: tuple[Box, ...]
    gaps: tuple[Box, ...]
    caption: str
    caption_box: Box
    from_previous: bool
    to_next: bool

    @property
    def box(self) -> Box:
        """The whole mark without its caption."""
        parts = (*self.covered, *self.gaps)
        return Box(min(part.left for part in parts), max(part.right for part in parts))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of words with its marks.

    Attributes:
        start: The index of the first word.
        words: The box of each word.
        marks: The marks below the words, by row and from left to right.
        rows: The number of rows of marks.
    """

    start: int
    words: tuple[Box, ...]
    marks: tuple[Mark, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Words, marks and captions, broken into lines.

    Attributes:
        lines: The lines.
        width: The right end of the widest line. It exceeds the width that was asked for only if a
            word with a caption is wider than that.
    """

    lines: tuple[Line, ...]
    width: float


def lanes(mentions: Sequence[Mention]) -> list[int]:
    """Return a row for each mention, so that mentions of one row do not overlap.

    Short mentions come first, so that they are inside: a mention in a gap is nearer to the words
    than the mention around it. A mention occupies all words from its first to its last.

    Example:
        >>> lanes([Mention("X", [(0, 1), (4, 5)]), Mention("X", [(2, 3)]), Mention("X", [(5, 6)])])
        [1, 0, 0]
    """
    return pack([(mention.start, mention.end) for mention in mentions])


def pack(ranges: Sequence[tuple[float, float]], sizes: Sequence[float] | None = None) -> list[int]:
    """Return a row for each half-open range, so that ranges of one row do not overlap.

    Args:
        ranges: Ranges that are not empty, in any order.
        sizes: What ranges are sorted by: smaller ones get the first rows. By default, their length.

    Example:
        >>> pack([(0, 9), (1, 2), (2, 4)])
        [1, 0, 0]
    """
    sizes = [end - start for start, end in ranges] if sizes is None else sizes
    rows: list[list[tuple[float, float]]] = []  # the ranges of each row, sorted
    found = [0] * len(ranges)
    for number in sorted(range(len(ranges)), key=lambda n: (sizes[n], ranges[n], n)):
        wanted = ranges[number]
        row = next((row for row, taken in enumerate(rows) if _is_free(taken, wanted)), len(rows))
        if row == len(rows):
            rows.append([])
        insort(rows[row], wanted)
        found[number] = row
    return found


def segments(mention: Mention) -> Iterator[Segment]:
    """Yield the part of the mark of each word, from the first to the last word of a mention."""
    passed = mention.start
    for start, end in mention.fragments:
        for word in range(passed, start):
            yield Segment(word, covered=False, first=False, last=False)
        for word in range(start, end):
            yield Segment(word, covered=True, first=word == start, last=word + 1 == end)
        passed = end


def spaces(sentence: Sentence, start: int = 0, end: int | None = None) -> list[bool]:
    """Return for each word of a range whether white space follows it; the last word has none.

    If the text of the sentence is unknown, its words are separated by spaces.
    """
    words = sentence.words[start:end]
    if not words:
        return []
    if sentence.offsets is None:
        return [True] * (len(words) - 1) + [False]
    offsets = sentence.offsets[start:end]
    return [stop < follows for (_, stop), (follows, _) in pairwise(offsets)] + [False]


def written(words: Sequence[str], spaced: Sequence[bool]) -> str:
    """Return words as a text, with one space where white space is.

    Example:
        >>> written(["Sore", "toes", "."], [True, False, False])
        'Sore toes.'
    """
    parts = (f"{word} " if space else word for word, space in zip(words, spaced, strict=True))
    return "".join(parts).rstrip(" ")


def spelled(sentence: Sentence, mention: Mention) -> str:
    """Return the words of a mention, with `…` for its gaps.

    Example:
        >>> spelled(Sentence(["toes", "are", "sore"]), Mention("ADR", [(0, 1), (2, 3)]))
        'toes … sore'
    """
    return f" {CONTINUED} ".join(
        written(sentence.words[start:end], spaces(sentence, start, end))
        for start, end in mention.fragments
    )


def runs(spaced: Sequence[bool]) -> Iterator[Fragment]:
    """Yield the ranges of words that are written without white space between them.

    Example:
        >>> list(runs([True, False, False, False]))
        [(0, 1), (1, 4)]
    """
    first = 0
    for word, follows in enumerate(spaced):
        if follows or word + 1 == len(spaced):
            yield first, word + 1
            first = word + 1


def drawn_mentions(sentence: Sentence) -> tuple[Mention, ...]:
    """Return what is drawn of a sentence: its mentions, then its candidates."""
    return sentence.mentions + sentence.candidates


def colours(mentions: Sequence[Mention], labels: Sequence[str] = ()) -> list[int]:
    """Return the number of the colour of each mention.

    Colours distinguish labels if there are several, otherwise mentions.

    Args:
        mentions: The mentions.
        labels: All labels, in the order of their colours; by default, those of the mentions.

    Raises:
        InputError: There are several labels, and that of a mention is not among them.

    Example:
        >>> colours([Mention("X", [(0, 1)]), Mention("X", [(1, 2)])])
        [0, 1]
        >>> colours([Mention("X", [(0, 1)]), Mention("X", [(1, 2)])], ["W", "X"])
        [1, 1]
    """
    known = list(labels) or sorted({mention.label for mention in mentions})
    if len(known) < 2:
        return list(range(len(mentions)))
    number = {label: place for place, label in enumerate(known)}
    unknown = [mention.label for mention in mentions if mention.label not in number]
    if unknown:
        raise InputError(f"the label {unknown[0]!r} is not among the given ones, {known}")
    return [number[mention.label] for mention in mentions]


def lay_out(
    words: Sequence[str],
    spaced: Sequence[bool],
    mentions: Sequence[Mention],
    captions: Sequence[str],
    *,
    measure: Measure,
    width: float,
) -> Layout:
    """Break words into lines, and place the marks and captions of mentions below them.

    A line breaks at white space, or between words if a run without white space is too wide. A mark
    has its caption on every line that it is on. Marks and captions of one row do not overlap.

    Args:
        words: The words as they are drawn.
        spaced: For each word, whether white space follows it; see `spaces`.
        mentions: The mentions.
        captions: The text next to each mark.
        measure: Returns the width of a text.
        width: The width of the lines.
    """
    gap = measure(" ")
    # Words without a width, such as a single combining character, would have no mark.
    widths = [max(measure(word), gap) for word in words]
    touching: list[list[int]] = [[] for _ in words]  # the mentions that each word is in
    for number, mention in enumerate(mentions):
        for word in range(mention.start, mention.end):
            touching[word].append(number)

    @cache
    def caption_width(number: int, before: bool, after: bool) -> float:
        return gap + measure(_shown(captions[number], before, after))

    def reserved(word: int, line: int) -> float:
        """Return the space for captions to the right of a word, if it ends the line."""
        return max(
            (
                caption_width(n, mentions[n].start < line, mentions[n].end > word + 1)
                for n in touching[word]
            ),
            default=0,
        )

    starts: list[int] = []
    lefts = [0.0] * len(words)
    position: float = 0

    def place(first: int, end: int, left: float, line: int) -> bool:
        """Place a run of words, and return whether they fit into the line that begins at `line`."""
        fits = True
        for word in range(first, end):
            lefts[word] = left
            left += widths[word]
            fits = fits and left + reserved(word, line) <= width
            left += gap if spaced[word] else 0
        return fits

    def advance(first: int, end: int, *, whole: bool) -> None:
        """Append a run of words to the line, or begin another line with it."""
        nonlocal position
        if not starts or not place(first, end, position, starts[-1]):
            if not place(first, end, 0, first) and whole and end - first > 1:
                for word in range(first, end):
                    advance(word, word + 1, whole=False)
                return
            starts.append(first)
        last = end - 1
        position = lefts[last] + widths[last] + (gap if spaced[last] else 0)

    for first, end in runs(spaced):
        advance(first, end, whole=True)
    boxes = [Box(left, left + size) for left, size in zip(lefts, widths, strict=True)]
    marks: list[list[Mark]] = [[] for _ in starts]
    for number, (mention, caption) in enumerate(zip(mentions, captions, strict=True)):
        touched = range(bisect_right(starts, mention.start) - 1, bisect_left(starts, mention.end))
        for line in touched:
            end = starts[line + 1] if line + 1 < len(starts) else len(words)
            mark = _mark(number, mention, caption, boxes, starts[line], end, measure)
            marks[line].append(mark)
    lines = [
        _line(boxes, start, end, found, mentions, gap)
        for (start, end), found in zip(pairwise([*starts, len(words)]), marks, strict=True)
    ]
    rights = [box.right for box in boxes]
    rights += [mark.caption_box.right for line in lines for mark in line.marks]
    return Layout(tuple(lines), max(rights, default=0))


def _is_free(taken: Sequence[tuple[float, float]], wanted: tuple[float, float]) -> bool:
    """Return whether a range overlaps none of those in a row, which are sorted."""
    place = bisect_left(taken, wanted)
    before = place == 0 or taken[place - 1][1] <= wanted[0]
    return before and (place == len(taken) or wanted[1] <= taken[place][0])


def _shown(caption: str, before: bool, after: bool) -> str:
    """Return a caption with the signs for a mark that comes from, or goes on in, another line."""
    return " ".join(part for part in (CONTINUED * before, caption, CONTINUED * after) if part)


def _mark(
    number: int,
    mention: Mention,
    caption: str,
    boxes: Sequence[Box],
    first: int,
    end: int,
    measure: Measure,
) -> Mark:
    """Return the mark of a mention on the line of the words `first` to `end`; its row is 0."""

    def box(start: int, stop: int) -> tuple[Box, ...]:
        start, stop = max(start, first), min(stop, end)
        return (Box(boxes[start].left, boxes[stop - 1].right),) if start < stop else ()

    covered = [part for start, stop in mention.fragments for part in box(start, stop)]
    gaps = []
    for (_, start), (stop, _) in pairwise(mention.fragments):
        for part in box(start, stop):
            # A gap reaches to the fragments on both sides, over the white space.
            left = boxes[start - 1].right if start - 1 >= first else part.left
            right = boxes[stop].left if stop < end else part.right
            gaps.append(Box(left, right))
    before, after = mention.start < first, mention.end > end
    shown = _shown(caption, before, after)
    left = max(part.right for part in (*covered, *gaps)) + measure(" ")
    right = left + (measure(shown) if shown else 0)
    return Mark(number, 0, tuple(covered), tuple(gaps), shown, Box(left, right), before, after)


def _line(
    boxes: Sequence[Box],
    first: int,
    end: int,
    marks: Sequence[Mark],
    mentions: Sequence[Mention],
    gap: float,
) -> Line:
    """Return a line whose marks have their rows, with a gap between marks of a row."""
    # By the length of the whole mention, so that the order is the same on all lines.
    sizes = [mentions[mark.mention].end - mentions[mark.mention].start for mark in marks]
    rows = pack([(mark.box.left, mark.caption_box.right + gap) for mark in marks], sizes)
    placed = [replace(mark, row=row) for row, mark in zip(rows, marks, strict=True)]
    placed.sort(key=attrgetter("row", "box.left"))
    return Line(first, tuple(boxes[first:end]), tuple(placed), max(rows, default=-1) + 1)
