"""The HTML page of a corpus check: tables, problems and findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from discotag.corpora.checks import Checked, Finding
from discotag.corpora.checks.suspected_errors import RULES
from discotag.corpora.parsing.problems import KINDS
from discotag.counts import counted
from discotag.render.counts import shapes
from discotag.render.filtering import FILTER_SCRIPT, filter_fields
from discotag.render.html import PAGE_STYLE, page, safe, table
from discotag.render.html_drawing import DRAWING_STYLE, draw_sentence
from discotag.render.layout import spelled
from discotag.scheme import REASONS

MOST_LABELS: Final = 100

STYLE: Final = (
    PAGE_STYLE
    + """
ol.problems{padding-left:1.4rem}
.error,.warning{font-weight:400;font-size:.85em;color:var(--bad)}.warning{color:var(--soft)}
"""
    + DRAWING_STYLE
)


def corpus_page(checked: Checked) -> str:
    """Return an HTML page with the results of `discotag.corpora.checks.check`."""
    analysis = checked.analysis
    found = {kind: text for kind, text in {**REASONS, **RULES}.items() if checked.counts[kind]}
    body = [
        f"<header><h1>{safe(checked.path)}</h1>",
        f'<p class="soft">Checked by discotag, scheme {safe(checked.setting)}: '
        f"{counted(analysis.sentences, 'sentence')}, {counted(analysis.mentions, 'mention')}, "
        f"{analysis.discontinuous_mentions:,} of them discontinuous.</p></header>",
        "<main>",
        *_tables(checked),
        *_problems(checked),
        filter_fields({kind: checked.counts[kind] for kind in found}, "the findings"),
    ]
    for title, kinds in (("Does not fit", REASONS), ("Suspected annotation errors", RULES)):
        here = [kind for kind in found if kind in kinds]
        if here:
            body.append(f"<h2>{title}</h2>")
        for kind in here:
            body += _section(checked, kind, found[kind])
    if not found:
        body.append("<h2>Findings</h2><p>Every sentence fits, and nothing looks wrong.</p>")
    body.append("</main>")
    return page(f"Check of {checked.path}", "\n".join(body), style=STYLE, script=FILTER_SCRIPT)


def _tables(checked: Checked) -> Iterator[str]:
    analysis = checked.analysis
    yield table(
        ("", "number"),
        (
            ("documents", analysis.documents),
            ("sentences", analysis.sentences),
            ("sentences with a mention", analysis.sentences_with_mentions),
            ("sentences with a discontinuous mention", analysis.discontinuous_sentences),
            ("words", analysis.words),
            ("mentions", analysis.mentions),
            ("discontinuous mentions", analysis.discontinuous_mentions),
        ),
        caption="Sizes",
    )
    yield table(("", ""), shapes(analysis), caption="Shapes", left=2)
    labels = sorted(analysis.labels.items(), key=lambda item: (-item[1].mentions, item[0]))
    rows = [(label, each.mentions, each.discontinuous) for label, each in labels[:MOST_LABELS]]
    hidden = len(labels) - len(rows)
    caption = f"Labels; {counted(hidden, 'more is', 'more are')} not shown" if hidden else "Labels"
    yield table(("label", "mentions", "discontinuous"), rows, caption=caption)
    reasons = [reason for reason in REASONS if any(fit.reasons[reason] for fit in checked.fits.all)]
    yield table(
        ("scheme", "sentences", *reasons),
        [
            (fit.setting, fit.sentences, *(fit.reasons[reason] for reason in reasons))
            for fit in checked.fits.all
        ],
        caption="Sentences that do not fit, and why, counted in groups of mentions",
    )


def _problems(checked: Checked) -> Iterator[str]:
    if not checked.problems:
        return
    yield "<h2>Problems in the files</h2>"
    for kind, problems in checked.problems.items():
        number = checked.problem_counts[kind]
        severity = problems[0].severity
        yield f'<h3>{safe(kind)} <span class="{severity}">{severity}</span></h3>'
        yield f'<p class="soft">{safe(KINDS[kind])}{_more(number, len(problems))}</p>'
        items = "".join(f"<li>{safe(problem)}</li>" for problem in problems)
        yield f'<ol class="problems">{items}</ol>'


def _section(checked: Checked, kind: str, text: str) -> Iterator[str]:
    findings = checked.findings[kind]
    yield f'<section data-kind="{kind}"><h3>{kind}</h3>'
    yield f'<p class="soft">{safe(text)}{_more(checked.counts[kind], len(findings))}</p>'
    for finding in findings:
        yield _article(finding)
    yield "</section>"


def _more(number: int, shown: int) -> str:
    if number > shown:
        return f" – {number:,} in all, of which the first {shown:,} are shown here"
    return f" – {number:,}"


def _article(finding: Finding) -> str:
    sentence = finding.sentence.with_mentions(dict.fromkeys(finding.sentence.mentions))
    instead = ""
    if finding.instead is not None:
        instead = f"<p><small>expected</small> {safe(spelled(sentence, finding.instead))}</p>"
    return (
        f'<article tabindex="-1" data-kind="{finding.kind}"><small>{safe(finding.place)}</small>'
        f'<div class="discotag">{draw_sentence(sentence, among=finding.mentions)}</div>'
        f"{instead}</article>"
    )
