"""Self-contained HTML pages: they load nothing, and escape all text of users."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final

from discotag.characters import printable
from discotag.mentions import Mention

COLOURS: Final = 6
"""The number of colours, the classes `c0` to `c5`; further mentions reuse them."""

MENTION_STYLE: Final = """
.words{line-height:1.35;margin:.5rem 0;display:flex;flex-wrap:wrap;row-gap:.35rem}
.words span{display:flex;flex-direction:column;white-space:pre-wrap;max-width:100%}
.words b{font-weight:inherit;padding-right:.3em}
.words i{height:.3rem;margin-top:.15rem;border:0 solid transparent}
.words .m{background:var(--c);opacity:.9}
.words .s{border-radius:.3rem 0 0 .3rem}
.words .e{margin-right:.3em;border-top-right-radius:.3rem;border-bottom-right-radius:.3rem}
.words .g{background:radial-gradient(circle,var(--c) .09rem,transparent .1rem) center/.42rem 100%}
.mentions{list-style:none;padding:0;margin:.4rem 0 0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem}
.mentions li::before{content:"";display:inline-block;width:.7em;height:.7em;border-radius:.2em;
margin-right:.45em;background:var(--c)}
.mentions .other{opacity:.6}
.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}
.c3{--c:var(--c3)}.c4{--c:var(--c4)}.c5{--c:var(--c5)}
"""
"""The style of `draw_words` and `list_mentions`; pages define the colours `--c0` to `--c5`."""


def safe(text: object) -> str:
    """Escape text for HTML, and make control characters visible.

    Example:
        >>> safe("<b>")
        '&lt;b&gt;'
    """
    return escape(printable(str(text)))


def page(title: str, body: str, *, style: str, script: str) -> str:
    """Return a complete page, with a policy that allows no resources and only this script.

    Args:
        title: Plain text.
        body: Markup.
        style: A style sheet.
        script: JavaScript; the page must be readable without it.
    """
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{safe(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str, left: int = 1
) -> str:
    """Return a table; the first `left` columns are text, the others numbers."""

    def cells(row: Sequence[object]) -> Iterator[str]:
        for number, cell in enumerate(row):
            shown = f"{cell:,}" if isinstance(cell, int) else safe(cell)
            yield f"<td>{shown}</td>" if number < left else f'<td class="n">{shown}</td>'

    heads = "".join(
        f'<th scope="col">{safe(column)}</th>'
        if number < left
        else f'<th scope="col" class="n">{safe(column)}</th>'
        for number, column in enumerate(columns)
    )
    lines = "\n".join(f"<tr>{''.join(cells(row))}</tr>" for row in rows)
    return (
        f'<div class="wide"><table><caption>{safe(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>{lines}</tbody></table></div>"
    )


def draw_words(words: Sequence[str], mentions: Sequence[Mention]) -> str:
    """Draw words, and below them a bar for each mention, dotted in its gaps.

    Mentions that do not overlap share a row. A mention has the colour of its index in `mentions`.

    Example:
        >>> draw_words(["a", "b"], [Mention("X", [(0, 1)])]).count("<i")
        1
    """
    rows = _rows(mentions)
    bars: list[list[str]] = [[] for _ in words]
    for above, row in enumerate(rows):
        for number in row:
            for word, kind in _bars(mentions[number]):
                bars[word] += ["<i></i>"] * (above - len(bars[word]))
                bars[word].append(f'<i class="{kind} c{number % COLOURS}"></i>')
    shown = " ".join(  # the spaces are for searching and copying
        f"<span><b>{safe(word)}</b>{''.join(below)}</span>"
        for word, below in zip(words, bars, strict=True)
    )
    return f'<div class="words">{shown}</div>'


def list_mentions(
    words: Sequence[str], mentions: Sequence[Mention], among: Sequence[Mention]
) -> str:
    """List mentions in the colours of `draw_words`; those that are not `among` are paler."""
    items = "".join(
        f'<li class="c{number % COLOURS}{"" if mention in among else " other"}">'
        f"<small>{safe(mention.label)}</small> {spell(words, mention)}</li>"
        for number, mention in enumerate(mentions)
    )
    return f'<ul class="mentions">{items}</ul>'


def spell(words: Sequence[str], mention: Mention) -> str:
    """Return the words of a mention as HTML, with `…` for its gaps."""
    parts = (safe(" ".join(words[start:end])) for start, end in mention.fragments)
    return " … ".join(parts)


def _rows(mentions: Sequence[Mention]) -> list[list[int]]:
    """Assign mentions, by index, to rows without overlaps, short mentions first."""
    rows: list[list[int]] = []
    for number in sorted(range(len(mentions)), key=lambda n: _length(mentions[n])):
        mention = mentions[number]
        for row in rows:
            if all(
                mention.end <= mentions[other].start or mentions[other].end <= mention.start
                for other in row
            ):
                row.append(number)
                break
        else:
            rows.append([number])
    return rows


def _length(mention: Mention) -> int:
    return mention.end - mention.start


def _bars(mention: Mention) -> Iterator[tuple[int, str]]:
    """Yield the class of the bar of each word from the first to the last of a mention."""
    for start, end in mention.fragments:
        for word in range(start, end):
            ends = " e" if word + 1 == end else ""
            yield word, ("m s" if word == start else "m") + ends
    for left, right in pairwise(mention.fragments):
        for word in range(left[1], right[0]):
            yield word, "g"


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
