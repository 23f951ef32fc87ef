"""Drawings of sentences for the terminal, with rows of marks below the words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from discotag.characters import printable
from discotag.counts import percent
from discotag.mentions import Mention, Sentence
from discotag.render.layers import column_lines, columns
from discotag.render.layout import Line, colours, drawn_mentions, lay_out, spaces
from discotag.scheme import Layers

STYLES: Final = ("green", "cyan", "magenta", "yellow", "blue", "red")
SLOT_STYLES: Final = ("bold cyan", "bold magenta", "bold yellow", "bold green")
COVERED, GAP = "━", "┄"


def draw_mentions(sentence: Sentence, *, width: int, labels: Sequence[str] = ()) -> Text:
    """Draw a sentence, and below its words a mark for each mention: `━` for words, `┄` for gaps.

    If the text of the sentence is unknown, its words are separated by spaces. A mark is followed by
    the label and, if known, the probability of the mention, and `to review` for a candidate.
    Mentions that do not collide share a row. Marks that go on in the next line have `…` after their
    caption, and there before it.

    Args:
        sentence: The sentence.
        width: The number of columns; longer sentences are continued in further lines.
        labels: All labels of the document, so that each has the same colour in every sentence.
    """
    words = [printable(word) for word in sentence.words]
    mentions = drawn_mentions(sentence)
    captions = [caption(mention) for mention in sentence.mentions]
    captions += [f"{caption(candidate)} to review" for candidate in sentence.candidates]
    layout = lay_out(words, spaces(sentence), mentions, captions, measure=cell_len, width=width)
    styles = [STYLES[n % len(STYLES)] for n in colours(mentions, labels)]
    drawing = Text()
    for line in layout.lines:
        shown = words[line.start : line.start + len(line.words)]
        parts = [(box.left, word, "") for box, word in zip(line.words, shown, strict=True)]
        drawing.append_text(_placed(parts))
        drawing.append("\n")
        for row in range(line.rows):
            drawing.append_text(_placed(_marks(line, row, styles)))
            drawing.append("\n")
    return drawing


def draw_layers(words: Sequence[str], layers: Layers, tags: Sequence[str], *, width: int) -> Text:
    """Draw words with their mention sets and slots above them, and their tags below."""
    given = columns(words, layers, tags)
    sizes = [max(_size(each.word), _size(each.tag)) for each in given]
    roof = _roof(layers, sizes)
    styles = ["" if each.slot is None else SLOT_STYLES[each.slot] for each in given]
    drawing = Text()
    for first, last in column_lines(given, measure=_cells, width=width):
        here = slice(first, last)
        if any(each.sign for each in given[here]):
            drawing.append("".join(roof[here]).rstrip() + "\n", style="dim")
            drawing.append_text(
                _row([each.sign for each in given[here]], sizes[here], styles[here])
            )
            drawing.append("\n")
        drawing.append_text(_row(words[here], sizes[here]))
        drawing.append("\n")
        below = [
            "dim" if each.tag == "O" else styles[first + n] for n, each in enumerate(given[here])
        ]
        drawing.append_text(_row(tags[here], sizes[here], below))
        drawing.append("\n")
    return drawing


def caption(mention: Mention) -> str:
    """Return the label and, if known, the probability of a mention."""
    return mention.label if mention.score is None else f"{mention.label} {percent(mention.score)}"


def _marks(line: Line, row: int, styles: Sequence[str]) -> Iterator[tuple[float, str, str]]:
    """Yield the marks and captions of a row, each with its column and style."""
    for mark in line.marks:
        if mark.row == row:
            style = styles[mark.mention]
            parts = [(box, COVERED) for box in mark.covered] + [(box, GAP) for box in mark.gaps]
            for box, sign in sorted(parts, key=lambda part: part[0].left):
                yield box.left, sign * int(box.width), style
            yield mark.caption_box.left, mark.caption, style


def _placed(parts: Iterable[tuple[float, str, str]]) -> Text:
    """Return a line of texts, each in its column."""
    row = Text()
    column = 0
    for left, text, style in parts:
        row.append(" " * (int(left) - column))
        row.append(text, style=style)
        column = int(left) + cell_len(text)
    return row


def _cells(text: str) -> int:
    return cell_len(printable(text))


def _size(text: str) -> int:
    return _cells(text) + 1


def _row(cells: Iterable[str], sizes: Sequence[int], styles: Sequence[str] | None = None) -> Text:
    row = Text()
    for number, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
        shown = printable(cell)
        row.append(shown, style=styles[number] if styles else "")
        row.append(" " * (size - cell_len(shown)))
    row.rstrip()
    return row


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
