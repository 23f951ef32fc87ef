"""Pictures of the two layers of a sentence as SVG: tags below the words, slots above them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discotag.render.colours import COLOURS
from discotag.render.layers import Column, columns
from discotag.render.layout import Box, lay_out
from discotag.render.svg import (
    CAPTION_SIZE,
    MARGIN,
    SIZE,
    WORD_HEIGHT,
    drawn,
    measure,
    number,
    picture,
    text_element,
)
from discotag.scheme import Layers

ROOF_HEIGHT, SLOT_HEIGHT, TAG_HEIGHT, GAP = 20, 18, 18, 10
PADDING = 4
"""The space between columns, besides that between words."""
SMALLER = CAPTION_SIZE / SIZE


def draw_layers_svg(
    words: Sequence[str], layers: Layers, tags: Sequence[str], *, width: float = 720
) -> str:
    """Return a picture of words with their mention sets and slots above, and their tags below.

    Args:
        words: The words.
        layers: The mention sets; see `Scheme.layers`.
        tags: The tag of each word.
        width: The width in pixels; longer sentences are continued in further lines.

    Example:
        >>> from discotag import Mention, Scheme
        >>> scheme = Scheme(["ADR"])
        >>> layers = scheme.layers(3, [Mention("ADR", [(0, 1), (2, 3)])])
        >>> picture = draw_layers_svg(["toes", "are", "sore"], layers, scheme.write(layers))
        >>> "DB-Bx" in picture
        True
    """
    given = columns([drawn(word) for word in words], layers, tags)
    # A column is as wide as its word or its tag, which is smaller.
    sizes = [max(measure(each.word), measure(each.tag) * SMALLER) + PADDING for each in given]
    names = {str(place): size for place, size in enumerate(sizes)}
    layout = lay_out(
        list(names),
        [True] * len(given),
        [],
        [],
        measure=lambda text: names.get(text, measure(text)),
        width=width - 2 * MARGIN,
    )
    parts: list[str] = []
    top: float = MARGIN
    for line in layout.lines:
        here = given[line.start : line.start + len(line.words)]
        boxes = [Box(MARGIN + box.left, MARGIN + box.right) for box in line.words]
        if any(each.label is not None for each in here):
            parts += _roofs(here, boxes, top)
            top += ROOF_HEIGHT
            for each, box in zip(here, boxes, strict=True):
                if each.slot is not None:
                    right = box.left + measure(each.sign)
                    sign = text_element(each.sign, box.left, right, top + SLOT_HEIGHT - 5, "slot")
                    parts.append(f'<g class="c{each.slot % COLOURS}">{sign}</g>')
            top += SLOT_HEIGHT
        for each, box in zip(here, boxes, strict=True):
            right = box.left + measure(each.word)
            parts.append(text_element(each.word, box.left, right, top + WORD_HEIGHT - 6))
            right = box.left + measure(each.tag) * SMALLER
            baseline = top + WORD_HEIGHT + TAG_HEIGHT - 6
            parts.append(text_element(each.tag, box.left, right, baseline, "tag"))
        top += WORD_HEIGHT + TAG_HEIGHT + GAP
    full = max(width, layout.width + 2 * MARGIN)
    tagged = ", ".join(f"{word} {tag}" for word, tag in zip(words, tags, strict=True))
    height = max(top - GAP, MARGIN) + MARGIN
    return picture(parts, full, height, title=" ".join(words), about=f"Tags: {tagged}")


def _roofs(here: Sequence[Column], boxes: Sequence[Box], top: float) -> Iterator[str]:
    """Yield the brackets over the mention sets of a line, open where a set is continued."""
    y, foot = number(top + 2), number(top + ROOF_HEIGHT - 4)
    start: int | None = None
    for place, column in enumerate(here):
        if column.label is not None and start is None:
            start = place
        ends = column.closes or place + 1 == len(here)
        if start is None or not ends:
            continue
        left, right = boxes[start].left, boxes[place].right - PADDING
        path = f"M{number(left)} {foot}V{y}" if here[start].opens else f"M{number(left)} {y}"
        path += f"H{number(right)}" + (f"V{foot}" if column.closes else "")
        yield f'<path d="{path}"/>'
        label = here[start].label or ""
        size = measure(label) * SMALLER
        if here[start].opens and size + 12 <= right - left:
            baseline = top + ROOF_HEIGHT - 4
            yield text_element(label, left + 6, left + 6 + size, baseline, "tag")
        start = None
