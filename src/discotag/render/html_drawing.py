"""Drawings of sentences as HTML: words that flow, bars below them, and a list of mentions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from discotag.counts import counted, percent
from discotag.mentions import Document, Fragment, Mention, Sentence
from discotag.render.colours import CLASSES, COLOURS, variables
from discotag.render.html import safe, visible
from discotag.render.layout import (
    Segment,
    colours,
    drawn_mentions,
    lanes,
    runs,
    segments,
    spaces,
    spelled,
)

REVIEW: Final = " <small>to review</small>"
"""What follows a candidate in the list of mentions."""

KEPT_TOGETHER: Final = 24
"""The most characters without white space that stay on one line; browsers wrap longer ones."""

RIGHT_TO_LEFT: Final = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Hebrew, Arabic, Syriac, Thaana, NKo and their neighbours, presentation forms, and the blocks that
Unicode reserves for further scripts from right to left."""

MOST_SENTENCES: Final = 200
"""The number of sentences of a document that a notebook shows."""

DRAWING_STYLE: Final = (
    """
.discotag .words{margin:.5rem 0 .2rem;line-height:1.5}
.discotag .run{white-space:nowrap}
.discotag .word{display:inline-block;vertical-align:top;max-width:100%;margin-bottom:.25rem}
.discotag .word b{display:block;font-weight:inherit;white-space:break-spaces;overflow-wrap:anywhere}
.discotag .bars{display:block;user-select:none;-webkit-user-select:none}
.discotag .bars i{display:flex;align-items:center;height:1rem;
font:700 .7rem/1rem system-ui,sans-serif;transition:opacity .2s;
-webkit-print-color-adjust:exact;print-color-adjust:exact}
.discotag .bars i::after{flex:1;height:.26rem}
.discotag .bar::after{content:"";background:var(--c)}
.discotag .gap::after{content:"";
background:radial-gradient(circle,var(--c) .09rem,transparent .1rem) 0/.42rem 100% round}
.discotag .first::before{content:attr(data-number)}
.discotag .first::before,.discotag .number{background:var(--c);color:var(--card);
border-radius:.5rem;padding:0 .32em;min-width:1rem;text-align:center;box-sizing:border-box}
.discotag .last::after{border-start-end-radius:.2rem;border-end-end-radius:.2rem;min-width:.1rem}
.discotag .spaced .last{margin-inline-end:.28em}
.discotag .mentions{list-style:none;padding:0;margin:.1rem 0 0;display:flex;flex-wrap:wrap;
gap:.2rem 1.2rem}
.discotag .mentions li{transition:opacity .2s;overflow-wrap:anywhere}
.discotag .number{display:inline-block;font:700 .7rem/1rem system-ui,sans-serif;
-webkit-print-color-adjust:exact;print-color-adjust:exact}
.discotag .bars .candidate{opacity:.55}.discotag li.candidate{font-style:italic}
.discotag .candidate .number{background:none;color:var(--c);box-shadow:inset 0 0 0 1px var(--c)}
.discotag .other .number{background:none;color:var(--c);box-shadow:inset 0 0 0 1px var(--c)}
.discotag .other,.discotag small{color:var(--soft)}.discotag small{font-size:.85em}
.discotag mark{background:var(--hit);color:inherit;text-decoration:underline}
.discotag .low{opacity:0;visibility:hidden}.discotag li.low{display:none}
.discotag .roof,.discotag .slot,.discotag .tag,.discotag .sure{display:block;font-size:.75rem;
line-height:1.2rem;height:1.2rem;font-style:normal;padding-inline-end:.5em;white-space:nowrap}
.discotag .roof{height:1.1rem;box-sizing:border-box;margin-bottom:.1rem;padding-inline-end:0;
color:var(--soft)}
.discotag .roof.set{border-top:2px solid var(--soft)}
.discotag .roof.open{border-inline-start:2px solid var(--soft);border-start-start-radius:.4rem;
padding-inline-start:.3em}
.discotag .roof.close{border-inline-end:2px solid var(--soft);border-start-end-radius:.4rem;
margin-inline-end:.3em}
.discotag .slot{font-weight:700;color:var(--c)}
.discotag .tag{font-family:ui-monospace,monospace}
.discotag .sure{height:auto;color:var(--ink);margin-inline-end:.3em;padding:0 .3em;
border-radius:.2rem;-webkit-print-color-adjust:exact;print-color-adjust:exact}
.discotag .p0{background:color-mix(in srgb,var(--mark) 0%,var(--card))}
.discotag .p1{background:color-mix(in srgb,var(--mark) 6%,var(--card))}
.discotag .p2{background:color-mix(in srgb,var(--mark) 12%,var(--card))}
.discotag .p3{background:color-mix(in srgb,var(--mark) 18%,var(--card))}
.discotag .p4{background:color-mix(in srgb,var(--mark) 24%,var(--card))}
.discotag .p5{background:color-mix(in srgb,var(--mark) 30%,var(--card))}
.discotag .unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
@media (forced-colors:active){.discotag .bars i,.discotag .number{forced-color-adjust:none;
--c:CanvasText;--card:Canvas}}
@media (prefers-reduced-motion:reduce){.discotag .bars i,.discotag .mentions li{transition:none}}
"""
    + CLASSES
    + "\n"
)
"""The style of drawings; pages define the colours, see `variables`."""

NOTEBOOK_STYLE: Final = (
    variables(
        ".discotag.alone",
        dark='[data-jp-theme-light="false"] .discotag.alone,.vscode-dark .discotag.alone,'
        '[theme="dark"] .discotag.alone',
    )
    + ".discotag.alone{background:var(--card);color:var(--ink);border:1px solid var(--line);"
    "border-radius:.6rem;padding:.4rem 1rem .7rem;margin:.4rem 0;max-width:64rem;"
    "font:16px/1.5 system-ui,sans-serif}"
    ".discotag.alone p{margin:.3rem 0}.discotag.alone ol{padding:0}" + DRAWING_STYLE
)

DRAWING_SCRIPT: Final = Path(__file__).with_name("drawing.js").read_text("utf-8")
"""Functions that draw what `drawing_data` returns, exactly as `draw_sentence` does.

They put text into elements as text, never as markup. Rows and colours come with the data."""


def draw_html(item: Sentence | Document, *, labels: Sequence[str] = ()) -> str:
    """Return a drawing of a sentence or document with its style, to be put into any page.

    It is what notebooks show. Of a long document only the first sentences are drawn.

    Args:
        item: The sentence or document.
        labels: All labels, so that several drawings have the same colours; by default, those of
            the item.

    Example:
        >>> toes = Sentence(["toes", "hurt"], [Mention("ADR", [(0, 2)])])
        >>> draw_html(toes).startswith('<div class="discotag alone"><style>')
        True
    """
    return alone(_drawn(item, labels))


def alone(body: str) -> str:
    """Return drawings with their style, to be put into any page."""
    return f'<div class="discotag alone"><style>{NOTEBOOK_STYLE}</style>{body}</div>'


def draw_documents(documents: Sequence[Document], note: str = "") -> str:
    """Return drawings of several documents, and a note below them, to be put into any page."""
    labels = _labels(sentence for each in documents for sentence in each.sentences)
    body = "<hr>".join(_drawn(document, labels) for document in documents)
    return alone(body + (f"<p><small>{safe(note)}</small></p>" if note else ""))


def draw_sentence(
    sentence: Sentence, *, labels: Sequence[str] = (), among: Collection[Mention] | None = None
) -> str:
    """Draw words, below them a bar for each mention, dotted in its gaps, and the list of mentions.

    Candidates come after the mentions, paler, and with the words `to review`.

    Mentions that do not overlap share a row. Each has a number, which is at the beginning of its
    fragments and in the list. Screen readers read the words and the list, not the bars. The drawing
    belongs into an element of the class `discotag`, in a page with `DRAWING_STYLE`.

    Args:
        sentence: The sentence.
        labels: All labels; see `discotag.render.layout.colours`.
        among: The mentions that are pointed out in the list; by default, all of them.
    """
    mentions = drawn_mentions(sentence)
    if not mentions:
        return draw_words(sentence)
    chosen = [number % COLOURS for number in colours(mentions, labels)]
    items = []
    for number, mention in enumerate(mentions):
        other = "" if among is None or mention in among else " other"
        if number >= len(sentence.mentions):
            other += " candidate"
        score = "" if mention.score is None else f" <small>{percent(mention.score)}</small>"
        items.append(
            f'<li class="c{chosen[number]}{other}"><b class="number">{number + 1}</b> '
            f"<small>{safe(mention.label)}</small> <bdi>{safe(spelled(sentence, mention))}</bdi>"
            f"{score}{REVIEW if number >= len(sentence.mentions) else ''}</li>"
        )
    listed = f'<ol class="mentions" role="list">{"".join(items)}</ol>'
    return draw_words(sentence, labels=labels) + listed


def draw_words(sentence: Sentence, *, labels: Sequence[str] = ()) -> str:
    """Draw words and bars without the list of mentions; see `draw_sentence`."""
    mentions = drawn_mentions(sentence)
    predicted = len(sentence.mentions)
    bars: list[list[str]] = [[] for _ in sentence.words]
    chosen = [number % COLOURS for number in colours(mentions, labels)]
    placed = lanes(mentions)
    for number in sorted(range(len(mentions)), key=placed.__getitem__):
        for segment in segments(mentions[number]):
            below = bars[segment.word]
            below += ["<i></i>"] * (placed[number] - len(below))
            below.append(_bar(segment, number, chosen[number], candidate=number >= predicted))
    spaced = spaces(sentence)
    cells = [
        f'<span class="{"word spaced" if space else "word"}">'
        f"<b>{safe(word)}{' ' if space else ''}</b>"
        + (f'<span class="bars" aria-hidden="true">{"".join(below)}</span>' if below else "")
        + "</span>"
        for word, space, below in zip(sentence.words, spaced, bars, strict=True)
    ]
    units: list[tuple[str, str]] = []  # text and markup of what stays together
    passed = 0
    for first, end in [*_together(sentence.words, spaced), (len(cells), len(cells))]:
        units += zip(sentence.words[passed:first], cells[passed:first], strict=True)
        if first < end:
            inside = f'<span class="run">{"".join(cells[first:end])}</span>'
            units.append(("".join(sentence.words[first:end]), inside))
        passed = end
    return f'<p class="words" dir="auto">{"".join(_ordered(units))}</p>'


def drawing_data(sentence: Sentence, labels: Sequence[str]) -> dict[str, Any]:
    """Return plain data from which `DRAWING_SCRIPT` draws a sentence.

    Args:
        sentence: The sentence.
        labels: All labels that occur in the page.
    """
    spaced = spaces(sentence)
    data: dict[str, Any] = {"words": [visible(word) for word in sentence.words]}
    glued = [word for word, space in enumerate(spaced[:-1]) if not space]
    if glued:
        data["glued"] = glued
        data["together"] = list(_together(sentence.words, spaced))
    mentions = drawn_mentions(sentence)
    if mentions:
        chosen = colours(mentions, labels)
        data["mentions"] = [
            [
                labels.index(mention.label),
                None if mention.score is None else round(mention.score, 4),
                None if mention.score is None else int(percent(mention.score).removesuffix("%")),
                lane,
                colour % COLOURS,
                mention.fragments,
                *([] if number < len(sentence.mentions) else [1]),
            ]
            for number, (mention, lane, colour) in enumerate(
                zip(mentions, lanes(mentions), chosen, strict=True)
            )
        ]
    return data


def _drawn(item: Sentence | Document, labels: Sequence[str]) -> str:
    if isinstance(item, Sentence):
        return draw_sentence(item, labels=labels)
    labels = labels or _labels(item.sentences)
    drawn = [draw_sentence(each, labels=labels) for each in item.sentences[:MOST_SENTENCES]]
    name = "" if item.id is None else f"<p><small>{safe(item.id)}</small></p>"
    more = len(item.sentences) - len(drawn)
    rest = f"<p><small>and {counted(more, 'more sentence')}</small></p>" if more > 0 else ""
    return name + "".join(drawn) + rest


def _labels(sentences: Iterable[Sentence]) -> list[str]:
    return sorted({mention.label for each in sentences for mention in drawn_mentions(each)})


def _bar(segment: Segment, number: int, colour: int, *, candidate: bool) -> str:
    kind = "bar" if segment.covered else "gap"
    shown = ""
    if segment.first:
        kind += " first"
        shown = f' data-number="{number + 1}"'
    if segment.last:
        kind += " last"
    marked = " candidate" if candidate else ""
    return f'<i class="{kind} c{colour}{marked}"{shown}></i>'


def _ordered(units: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the markup of units, with a direction for those that run against the sentence.

    Browsers order letters by script, but each word of a drawing is a box, which counts as a neutral
    character. So neighbouring units that run against the sentence are put into an element with
    their direction. Neutral units, such as numbers, join them if they are between two of them.

    Args:
        units: The text and the markup of each unit.
    """
    directions = [_direction(text) for text, _ in units]
    base = next(filter(None, directions), "")
    passed = 0
    while passed < len(units):
        first = last = passed
        if directions[first] and directions[first] != base:
            at = first + 1
            while at < len(units) and directions[at] != base:
                last = at if directions[at] else last
                at += 1
        markup = "".join(each for _, each in units[first : last + 1])
        turned = directions[first] not in ("", base)
        yield f'<span dir="{directions[first]}">{markup}</span>' if turned else markup
        passed = last + 1


def _direction(text: str) -> str:
    """Return the direction of the first letter: `ltr`, `rtl`, or nothing if there is none."""
    letter = next(filter(str.isalpha, text), None)
    if letter is None:
        return ""
    return "rtl" if RIGHT_TO_LEFT.match(letter) else "ltr"


def _together(words: Sequence[str], spaced: Sequence[bool]) -> Iterator[Fragment]:
    """Yield the ranges of several words that must stay on one line."""
    for first, end in runs(spaced):
        if end - first > 1 and sum(map(len, words[first:end])) <= KEPT_TOGETHER:
            yield first, end
