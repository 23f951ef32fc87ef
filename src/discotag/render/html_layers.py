"""The two layers of a sentence as HTML: tags below the words, slots above them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from discotag.counts import counted, percent
from discotag.errors import InputError
from discotag.render.colours import COLOURS
from discotag.render.html import safe, table
from discotag.render.html_drawing import alone
from discotag.render.layers import Column, columns
from discotag.scheme import Layers

SHADES: Final = 6
"""The number of shades of probabilities, the classes `p0` to `p5`."""

MOST_TAGS: Final = 3
"""The number of tags whose probabilities are shown when the pointer is on a word."""


def draw_layers_html(
    words: Sequence[str],
    layers: Layers,
    tags: Sequence[str],
    *,
    marginals: Sequence[Sequence[float]] | None = None,
    tagset: Sequence[str] = (),
) -> str:
    """Draw words with their mention sets and slots above them, and their tags below.

    Screen readers get a table instead of the drawing. The result has its style with it, to be put
    into any page.

    Args:
        words: The words.
        layers: The mention sets; see `Scheme.layers`.
        tags: The tag of each word.
        marginals: The probability of each tag of the tagset for each word, as
            `Tagger.marginals` returns them. That of the word's tag is shown below it, on a shade,
            and the most probable tags when the pointer is on it.
        tagset: All tags, in the order of the marginals, `Scheme.tags`.

    Raises:
        InputError: The marginals do not have a row for each word and a number for each tag.

    Example:
        >>> from discotag import Mention, Scheme
        >>> scheme = Scheme(["ADR"])
        >>> layers = scheme.layers(3, [Mention("ADR", [(0, 1), (2, 3)])])
        >>> drawing = draw_layers_html(["toes", "are", "sore"], layers, scheme.write(layers))
        >>> "DB-Bx" in drawing
        True
    """
    given = columns(words, layers, tags)
    if marginals is None:
        rows: list[Sequence[float] | None] = [None] * len(given)
    elif len(marginals) != len(given) or any(len(row) != len(tagset) for row in marginals):
        raise InputError(
            f"marginals need {counted(len(given), 'row')}, one for each word, of "
            f"{len(tagset)} numbers, one for each tag"
        )
    else:
        rows = list(marginals)
    above = bool(layers.sets)
    cells = "".join(_cell(each, row, tagset, above) for each, row in zip(given, rows, strict=True))
    drawing = f'<p class="words" dir="auto" aria-hidden="true">{cells}</p>'
    return alone(drawing + _table(given, rows, tagset))


def _cell(column: Column, row: Sequence[float] | None, tagset: Sequence[str], above: bool) -> str:
    parts = "".join(_above(column)) if above else ""
    parts += f'<b>{safe(column.word)} </b><i class="tag">{safe(column.tag)}</i>'
    if row is not None:
        sure = row[tagset.index(column.tag)]
        best = sorted(range(len(tagset)), key=lambda tag: -row[tag])[:MOST_TAGS]
        shown = ", ".join(f"{tagset[tag]} {percent(row[tag])}" for tag in best)
        shade = min(int(sure * SHADES), SHADES - 1)
        parts += f'<i class="sure p{shade}" title="{safe(shown)}">{percent(sure)}</i>'
    return f'<span class="word">{parts}</span>'


def _above(column: Column) -> Iterator[str]:
    kind = "roof"
    if column.label is not None:
        kind += " set" + (" open" if column.opens else "") + (" close" if column.closes else "")
    name = safe(column.label) if column.opens else ""
    yield f'<i class="{kind}">{name}</i>'
    colour = "" if column.slot is None else f" c{column.slot % COLOURS}"
    yield f'<i class="slot{colour}">{safe(column.sign)}</i>'


def _table(
    given: Sequence[Column], rows: Sequence[Sequence[float] | None], tagset: Sequence[str]
) -> str:
    """Return the columns as a table for screen readers."""
    heads = ["word", "slot", "tag"] + (["probability"] if any(r is not None for r in rows) else [])
    cells = []
    for column, row in zip(given, rows, strict=True):
        sure = [] if row is None else [percent(row[tagset.index(column.tag)])]
        cells.append([column.word, column.sign, column.tag, *sure])
    shown = table(heads, cells, caption="Words, slots and tags", left=len(heads))
    return f'<div class="unseen">{shown}</div>'
