"""Pictures of sentences as SVG, which load nothing and look the same with any font."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from discotag.mentions import Document, Sentence
from discotag.render.colours import CLASSES, COLOURS, variables
from discotag.render.html import safe, visible
from discotag.render.layout import (
    Box,
    Layout,
    Line,
    Mark,
    colours,
    lay_out,
    spaces,
    spelled,
    written,
)
from discotag.render.terminal import caption

SIZE, CAPTION_SIZE = 16, 12
MARGIN: Final = 12
WORD_HEIGHT, ROW_HEIGHT, LINE_GAP, SENTENCE_GAP = 22, 16, 8, 10
BAR: Final = 5
"""The height of a mark."""

WIDTHS: Final = dict(
    zip(
        map(chr, range(32, 127)),
        (
            278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
            556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
            1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
            667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
            333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
            556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
        ),
        strict=True,
    )
) | {"…": 1000, "·": 278}  # fmt: skip
"""The widths of Helvetica and Arial, in thousandths of the font size."""

OTHER, WIDE = 600, 1000
JOINER: Final = "\u200d"

STYLE: Final = (
    variables(".discotag-picture")
    + f".discotag-picture{{font:{SIZE}px Helvetica,Arial,'Liberation Sans',sans-serif}}"
    ".discotag-picture .card{fill:var(--card)}"
    ".discotag-picture text{fill:var(--ink);text-anchor:middle;white-space:pre}"
    f".discotag-picture text.caption{{font-size:{CAPTION_SIZE}px;fill:var(--c)}}"
    ".discotag-picture rect.mark{fill:var(--c)}"
    ".discotag-picture text.slot{font-weight:bold;fill:var(--c)}"
    f".discotag-picture text.tag{{font-size:{CAPTION_SIZE}px;fill:var(--soft)}}"
    ".discotag-picture path{fill:none;stroke:var(--soft);stroke-width:1.5}"
    ".discotag-picture line{stroke:var(--c);stroke-width:3;stroke-linecap:round;"
    "stroke-dasharray:0 6}" + CLASSES
)


def measure(text: str) -> float:
    """Return the width of a text in a font of `SIZE` pixels, in pixels.

    It is exact for ASCII in Helvetica and Arial. In other fonts, and for other characters, the text
    is stretched to this width when it is drawn.
    """
    total = 0
    joined = False
    for char in text:
        total += 0 if joined else _width(char)
        joined = char == JOINER  # what follows is part of the same emoji
    return total * SIZE / 1000


def draw_svg(item: Sentence | Document, *, width: float = 720, labels: Sequence[str] = ()) -> str:
    """Return a picture of a sentence or document, as a complete SVG file.

    The picture is light or dark as the system's setting is. Its title and description are the text
    and the list of mentions, for screen readers. Sentences that begin with a word in a
    right-to-left script are drawn from right to left.

    Args:
        item: The sentence or document.
        width: The width in pixels; longer sentences are continued in further lines.
        labels: All labels, so that several pictures have the same colours; by default, those of
            the item.

    Example:
        >>> from discotag import Mention
        >>> toes = Sentence(["toes", "hurt"], [Mention("ADR", [(0, 2)])])
        >>> draw_svg(toes).startswith("<svg")
        True
    """
    sentences = (item,) if isinstance(item, Sentence) else item.sentences
    labels = labels or sorted({m.label for each in sentences for m in each.mentions})
    laid_out = [_laid_out(sentence, width - 2 * MARGIN) for sentence in sentences]
    widest = max([width - 2 * MARGIN, *(layout.width for layout in laid_out)])
    top: float = MARGIN
    parts: list[str] = []
    for sentence, layout in zip(sentences, laid_out, strict=True):
        top += SENTENCE_GAP if parts else 0
        canvas = _Canvas(sentence, widest, labels)
        for line in layout.lines:
            parts += canvas.line(line, top)
            top += WORD_HEIGHT + ROW_HEIGHT * line.rows + LINE_GAP
    text = " ".join(written(each.words, spaces(each)) for each in sentences)
    height = max(top - LINE_GAP, MARGIN) + MARGIN
    return picture(parts, widest + 2 * MARGIN, height, title=text, about=_description(sentences))


def picture(parts: Sequence[str], width: float, height: float, *, title: str, about: str) -> str:
    """Return elements as a complete SVG file, with a title and description for screen readers."""
    size = f'width="{number(width)}" height="{number(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="discotag-picture" role="img" {size} '
        f'viewBox="0 0 {number(width)} {number(height)}">'
        f"<title>{safe(title)}</title><desc>{safe(about)}</desc><style>{STYLE}</style>"
        f'<rect class="card" {size} rx="8"/>{"".join(parts)}</svg>\n'
    )


def text_element(text: str, left: float, right: float, baseline: float, kind: str = "") -> str:
    """Return a text that reaches exactly from left to right, in any font."""
    attribute = f' class="{kind}"' if kind else ""
    return (
        f'<text{attribute} x="{number((left + right) / 2)}" y="{number(baseline)}" '
        f'textLength="{number(right - left)}" lengthAdjust="spacingAndGlyphs">'
        f"{safe(text)}</text>"
    )


def number(value: float) -> str:
    """Return a number as short as it can be written, with up to two digits after the point."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


class _Canvas:
    """Draws the lines of a sentence."""

    def __init__(self, sentence: Sentence, width: float, labels: Sequence[str]) -> None:
        self.sentence = sentence
        self.width = width
        self.colours = [colour % COLOURS for colour in colours(sentence.mentions, labels)]
        self.mirrored = _is_right_to_left(sentence.words)

    def line(self, line: Line, top: float) -> Iterator[str]:
        """Yield the elements of a line that begins at height `top`."""
        baseline = top + WORD_HEIGHT - 6
        for word, box in enumerate(line.words, line.start):
            yield text_element(drawn(self.sentence.words[word]), *self._placed(box), baseline)
        for mark in line.marks:
            yield from self._mark(mark, top + WORD_HEIGHT + ROW_HEIGHT * mark.row)

    def _mark(self, mark: Mark, top: float) -> Iterator[str]:
        middle = top + ROW_HEIGHT / 2
        yield f'<g class="c{self.colours[mark.mention]}">'
        for box in mark.gaps:
            left, right = self._placed(box)
            yield (
                f'<line x1="{number(left + 3)}" x2="{number(right - 3)}" '
                f'y1="{number(middle)}" y2="{number(middle)}"/>'
            )
        for box in mark.covered:
            left, right = self._placed(box)
            yield (
                f'<rect class="mark" x="{number(left)}" y="{number(middle - BAR / 2)}" '
                f'width="{number(right - left)}" height="{BAR}" rx="{BAR / 2}"/>'
            )
        box = mark.caption_box
        smaller = Box(box.left, box.left + box.width * CAPTION_SIZE / SIZE)
        baseline = middle + CAPTION_SIZE / 3
        yield text_element(mark.caption, *self._placed(smaller), baseline, "caption")
        yield "</g>"

    def _placed(self, box: Box) -> tuple[float, float]:
        """Return where a box is in the picture."""
        if self.mirrored:
            return MARGIN + self.width - box.right, MARGIN + self.width - box.left
        return MARGIN + box.left, MARGIN + box.right


def _laid_out(sentence: Sentence, width: float) -> Layout:
    captions = [caption(mention) for mention in sentence.mentions]
    spaced = spaces(sentence)
    words = [drawn(word) for word in sentence.words]
    return lay_out(words, spaced, sentence.mentions, captions, measure=measure, width=width)


def drawn(word: str) -> str:
    """Return a word as it is drawn: accents without a letter, which no width fits, become a dot."""
    shown = visible(word)
    letters = shown.lstrip("".join(char for char in shown if unicodedata.category(char)[0] == "M"))
    return shown if letters == shown else f"·{letters}"


@cache
def _width(char: str) -> int:
    base = unicodedata.normalize("NFD", char)[0]
    if base in WIDTHS:
        return WIDTHS[base]
    if unicodedata.category(char) in ("Mn", "Me") or char in ("\u200c", JOINER):
        return 0
    if "\U0001f3fb" <= char <= "\U0001f3ff":  # the colour of the skin of the emoji before it
        return 0
    return WIDE if unicodedata.east_asian_width(char) in "WF" else OTHER


def _is_right_to_left(words: Sequence[str]) -> bool:
    """Return whether the first letter with a direction belongs to a right-to-left script."""
    kinds = (unicodedata.bidirectional(char) for word in words for char in word)
    return next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L"


def _description(sentences: Sequence[Sentence]) -> str:
    found = [
        f"{caption(mention)}: {spelled(sentence, mention)}"
        for sentence in sentences
        for mention in sentence.mentions
    ]
    return "Mentions: " + "; ".join(found) if found else "No mentions."
