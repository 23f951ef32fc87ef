"""Drawings of sentences for the terminal, with a row for each mention."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from discotag.characters import printable
from discotag.mentions import Mention, Sentence
from discotag.render.counts import percent
from discotag.scheme import Layers
from discotag.scheme.tags import SLOT_NAMES

LABEL_STYLES: Final = ("green", "cyan", "magenta", "yellow", "blue", "red")
SLOT_STYLES: Final = ("bold cyan", "bold magenta", "bold yellow", "bold green")
COVERED, GAP = "━", "┄"


def draw_mentions(sentence: Sentence, *, width: int) -> Text:
    """Draw a sentence, and below it a row for each mention: `━` for words, `┄` for gaps.

    If the text of the sentence is unknown, its words are separated by spaces. A row ends with the
    label and, if known, the probability of the mention.

    Args:
        sentence: The sentence.
        width: The number of columns; longer sentences are continued in further blocks.
    """
    labels = sorted({mention.label for mention in sentence.mentions})
    style = {label: LABEL_STYLES[n % len(LABEL_STYLES)] for n, label in enumerate(labels)}
    margin = max((cell_len(_caption(m)) for m in sentence.mentions), default=0) + 1
    widths = [cell_len(printable(word)) for word in sentence.words]
    sizes = [width + gap for width, gap in zip(widths, _gaps(sentence), strict=True)]
    drawing = Text()
    blocks = list(_blocks(sizes, width - margin))
    starts = [first for first, _ in blocks]
    rows: list[list[Mention]] = [[] for _ in blocks]
    for mention in sentence.mentions:
        touched = range(bisect_right(starts, mention.start) - 1, bisect_left(starts, mention.end))
        for block in touched:
            rows[block].append(mention)
    for (first, last), mentions in zip(blocks, rows, strict=True):
        drawing.append_text(_row(sentence.words[first:last], sizes[first:last]))
        drawing.append("\n")
        for mention in mentions:
            bar = "".join(_bar(mention, widths, sizes, first, last))
            drawing.append(f"{bar} {_caption(mention)}\n", style=style[mention.label])
    return drawing


def draw_layers(words: Sequence[str], layers: Layers, tags: Sequence[str], *, width: int) -> Text:
    """Draw words with their mention sets and slots above them, and their tags below."""
    sizes = [max(_size(word), _size(tag)) for word, tag in zip(words, tags, strict=True)]
    roof = _roof(layers, sizes)
    slots: list[tuple[str, str]] = [("", "")] * len(words)
    for group in layers.sets:
        for (start, end), slot in group.components:
            mark = SLOT_NAMES[slot]
            for word in range(start, end):
                slots[word] = (mark if word == start else "·", SLOT_STYLES[slot])
    drawing = Text()
    for first, last in _blocks(sizes, width):
        here = slice(first, last)
        if any(mark for mark, _ in slots[here]):
            drawing.append("".join(roof[here]).rstrip() + "\n", style="dim")
            drawing.append_text(
                _row([m for m, _ in slots[here]], sizes[here], [s for _, s in slots[here]])
            )
            drawing.append("\n")
        drawing.append_text(_row(words[here], sizes[here]))
        drawing.append("\n")
        styles = ["dim" if tag == "O" else slots[first + n][1] for n, tag in enumerate(tags[here])]
        drawing.append_text(_row(tags[here], sizes[here], styles))
        drawing.append("\n")
    return drawing


def _caption(mention: Mention) -> str:
    """Return the label and, if known, the probability of a mention."""
    return mention.label if mention.score is None else f"{mention.label} {percent(mention.score)}"


def _size(text: str) -> int:
    return cell_len(printable(text)) + 1


def _blocks(sizes: Sequence[int], width: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of words that fit into `width`, with at least one word each."""
    first, used = 0, 0
    for word, size in enumerate(sizes):
        if used + size > width and word > first:
            yield first, word
            first, used = word, 0
        used += size
    if sizes:
        yield first, len(sizes)


def _row(cells: Iterable[str], sizes: Sequence[int], styles: Sequence[str] | None = None) -> Text:
    row = Text()
    for number, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
        shown = printable(cell)
        row.append(shown, style=styles[number] if styles else "")
        row.append(" " * (size - cell_len(shown)))
    row.rstrip()
    return row


def _gaps(sentence: Sentence) -> list[int]:
    """Return for each word 1 if white space follows it, else 0; the last word has 1."""
    if not sentence.offsets:
        return [1] * len(sentence.words)
    return [int(end < start) for (_, end), (start, _) in pairwise(sentence.offsets)] + [1]


def _bar(
    mention: Mention, widths: Sequence[int], sizes: Sequence[int], first: int, last: int
) -> Iterator[str]:
    covered = set(mention.words)
    for word in range(first, last):
        if word in covered:
            joined = COVERED if word + 1 in covered else GAP if word + 1 < mention.end else " "
            yield COVERED * widths[word] + joined * (sizes[word] - widths[word])
        else:
            inside = mention.start < word < mention.end
            yield (GAP if inside else " ") * sizes[word]


def _roof(layers: Layers, sizes: Sequence[int]) -> list[str]:
    """Return for each word its part of the bracket over its mention set."""
    pieces = [" " * size for size in sizes]
    for group in layers.sets:
        inner = sum(sizes[group.start : group.end]) - 1
        # A label that is too long, or has wide characters, is left out.
        fits = len(group.label) == cell_len(group.label) <= inner - 4
        name = f" {group.label} " if fits else ""
        bracket = "╭" + name.center(inner - 2, "─") + "╮ "
        position = 0
        for word in range(group.start, group.end):
            pieces[word] = bracket[position : position + sizes[word]]
            position += sizes[word]
    return pieces
