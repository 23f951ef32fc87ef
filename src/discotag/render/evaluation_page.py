"""The HTML report of an evaluation: figures, plots, errors, and the sentences with errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from discotag.counts import counted, in_percent
from discotag.evaluation import (
    SLICES,
    Bin,
    Counts,
    Difference,
    FigureIntervals,
    Pair,
    Point,
    Report,
    calibration,
    calibration_error,
    describe_kinds,
    precision_recall,
)
from discotag.mentions import Mention, Sentence
from discotag.render.filtering import FILTER_SCRIPT, filter_fields
from discotag.render.html import PAGE_STYLE, page, safe, table
from discotag.render.html_drawing import DRAWING_STYLE, draw_sentence
from discotag.render.plots import PLOT_STYLE, plot

MOST_POINTS: Final = 200
"""The number of points of a curve."""

STYLE: Final = (
    PAGE_STYLE
    + PLOT_STYLE
    + DRAWING_STYLE
    + "article h3{margin:.4rem 0 0;font-size:.85rem;color:var(--soft);font-weight:600}\n"
)


def evaluation_page(report: Report) -> str:
    """Return a report as an HTML page that loads nothing."""
    counts = Counter(
        kind for _, found in report.differing for kind in {each.kind for each in found}
    )
    kinds = {kind: counts[kind] for kind in report.kinds if counts[kind]}
    labels = sorted(report.scores.all.labels)
    sentences = counted(len(report.tallies), "sentence")
    body = [
        f"<header><h1>{safe(report.second)}</h1>",
        f'<p class="soft">Compared with {safe(report.first)}: {sentences}, '
        f"{report.differing_sentences:,} of them with errors. A mention is right if its label and "
        "all its fragments are.</p></header><main>",
        _figures(report),
        *_trust(report),
        *_errors(report),
        "<h2>Sentences with errors</h2>",
        _shown(report) + filter_fields(kinds, "the sentences") if kinds else "<p>None.</p>",
        *(_article(pair, found, labels) for pair, found in report.differing),
        "</main>",
    ]
    title = f"Evaluation of {report.second}"
    return page(title, "\n".join(body), style=STYLE, script=FILTER_SCRIPT)


def _figures(report: Report) -> str:
    columns = ["mentions", "label", "precision", "recall", "F1", "gold", "predicted", "right"]
    if report.intervals is not None:
        columns.insert(5, "95% of F1")

    def row(
        about: str, label: str, counts: Counts, interval: FigureIntervals | None
    ) -> list[object]:
        figures = (in_percent(each, 1) for each in (counts.precision, counts.recall, counts.f1))
        cells: list[object] = [about[0].upper() + about[1:], label, *figures]
        if interval is not None:
            cells.append(f"{in_percent(interval.f1.low, 1)} to {in_percent(interval.f1.high, 1)}")
        return [*cells, counts.gold, counts.predicted, counts.correct]

    rows = []
    for name, part in report.scores.slices():
        ends = None if report.intervals is None else report.intervals[name]
        rows.append(row(SLICES[name], "all", part.micro, ends.micro if ends else None))
        for label, counts in part.labels.items() if len(part.labels) > 1 else ():
            rows.append(row(SLICES[name], label, counts, ends.labels[label] if ends else None))
    return table(columns, rows, caption="Precision, recall and F1, in percent", left=2)


def _trust(report: Report) -> Iterator[str]:
    """Yield the plots of scores, if mentions have them."""
    if not report.scored:
        return
    bins = [each for each in calibration(report.scored) if each.mentions]
    points = precision_recall(report.scored, report.scores.all.micro.gold)
    error = calibration_error(bins)
    yield "<h2>Scores</h2>"
    yield '<div class="plots">'
    yield (
        "<figure>"
        + plot(
            "Precision against recall; the table has the numbers",
            "recall",
            "precision",
            curve=[(each.recall, each.precision) for each in _thinned(points)],
        )
        + "<figcaption>Precision and recall of the mentions above a score, from the highest score "
        "to the lowest.</figcaption></figure>"
    )
    yield (
        "<figure>"
        + plot(
            "The share of right mentions against their score; the table has the numbers",
            "score",
            "share that is right",
            dots=[(each.scores / each.mentions, each.right / each.mentions, each.mentions)
                  for each in bins],
            diagonal=True,
        )
        + f"<figcaption>Calibration: on the dashed line, a score is the probability that a mention "
        f"is right. The expected calibration error is {error:.3f}.</figcaption></figure>"
    )  # fmt: skip
    yield "</div>"
    yield _score_table(bins, points)


def _score_table(bins: Sequence[Bin], points: Sequence[Point]) -> str:
    rows: list[tuple[object, ...]] = []
    for each in bins:
        above = [point for point in points if point.threshold >= each.low or not each.low]
        rows.append((
            f"{each.low:g} to {each.high:g}",
            each.mentions,
            f"{each.scores / each.mentions:.2f}",
            in_percent(each.right / each.mentions, 1),
            in_percent(above[-1].precision, 1),
            in_percent(above[-1].recall, 1),
        ))  # fmt: skip
    columns = ("score", "mentions", "mean score", "right", "precision from here", "recall")
    return table(columns, rows, caption="Mentions by their score")


def _errors(report: Report) -> Iterator[str]:
    yield "<h2>Errors</h2>"
    yield table(
        ("kind", "what it is", "not found", "wrong"),
        [
            (kind.replace("_", " "), about, report.kinds[kind].first, report.kinds[kind].second)
            for kind, about in describe_kinds().items()
        ],
        caption="Mentions by kind of error",
        left=2,
    )
    yield table(
        ("words in gaps", "gold", "found", "recall"),
        [
            (name, each.first, each.both, in_percent(each.both / each.first, 1))
            for name, each in report.by_gap.items()
            if each.first
        ],
        caption="Gold mentions by the number of words in their gaps",
    )


def _shown(report: Report) -> str:
    hidden = report.differing_sentences - len(report.differing)
    more = counted(hidden, "more is", "more are")
    first = f"The first {len(report.differing):,}; {more} not shown. " if hidden else ""
    return (
        f'<p class="soft">{first}Mentions with a filled number are part of an error; the others '
        "are right.</p>"
    )


def _article(pair: Pair, found: Sequence[Difference], labels: Sequence[str]) -> str:
    document = pair.document if pair.id is None else pair.id
    kinds = dict.fromkeys(each.kind for each in found)
    missed = {mention for each in found for mention in each.first}
    wrong = {mention for each in found for mention in each.second}
    names = ", ".join(kind.replace("_", " ") for kind in kinds)
    return (
        f'<article tabindex="-1" data-kind="{" ".join(kinds)}">'
        f"<small>{safe(document)}, sentence {pair.sentence}: {names}</small>"
        f'<div class="discotag"><h3>Gold</h3>{_drawn(pair, pair.first, missed, labels)}'
        f"<h3>Predicted</h3>{_drawn(pair, pair.second, wrong, labels)}</div></article>"
    )


def _drawn(
    pair: Pair, mentions: Sequence[Mention], among: set[Mention], labels: Sequence[str]
) -> str:
    """Draw one side; a mention that reaches into the next sentence is listed only."""
    inside = tuple(each for each in dict.fromkeys(mentions) if each.end <= len(pair.words))
    drawn = draw_sentence(Sentence(pair.words, inside), labels=labels, among=among)
    outside = len(set(mentions)) - len(inside)
    note = f"<p><small>and {outside} that reach into the next sentence</small></p>"
    return drawn + (note if outside else "")


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Return at most `MOST_POINTS` points, the last one among them."""
    step = -(-len(points) // MOST_POINTS)
    return [*points[:-1:step], points[-1]]
