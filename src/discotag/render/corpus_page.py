"""The HTML page of a corpus check: tables, problems and findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from discotag.corpora.checks import Checked, Finding
from discotag.corpora.checks.suspected_errors import RULES
from discotag.corpora.parsing.problems import KINDS
from discotag.render.counts import shapes
from discotag.render.html import MENTION_STYLE, draw_words, list_mentions, page, safe, spell, table
from discotag.scheme import REASONS

MOST_LABELS: Final = 100

STYLE: Final = (
    """
:root{color-scheme:light dark;--back:#fbfaf8;--card:#fff;--ink:#22242a;--soft:#6a6e78;
--line:#e4e1da;--mark:#3b5bdb;--bad:#b42318;
--c0:#2f6fde;--c1:#d9480f;--c2:#2b8a3e;--c3:#9c36b5;--c4:#b8860b;--c5:#0b8793}
@media (prefers-color-scheme:dark){:root{--back:#16181d;--card:#1e2128;--ink:#e6e6e3;--soft:#9aa0ac;
--line:#31353f;--mark:#91a7ff;--bad:#ff8f80;
--c0:#74a9ff;--c1:#ff9f68;--c2:#69db7c;--c3:#da77f2;--c4:#e8c547;--c5:#4fd1de}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:2rem 1.2rem 6rem;background:var(--back);color:var(--ink);
font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:0}h2{font-size:1.2rem;margin:2.6rem 0 .3rem}
h3{font-size:1rem;margin:1.8rem 0 0}p{margin:.3rem 0}
.soft,small,caption{color:var(--soft)}small{font-size:.8em}
a{color:var(--mark)}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:1.2rem 0;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.3rem}
th,td{text-align:left;padding:.25rem 1.1rem .25rem 0;border-bottom:1px solid var(--line);
vertical-align:top}
th{font-weight:600}.n{text-align:right}
article{background:var(--card);border:1px solid var(--line);border-radius:.6rem;
padding:.7rem 1rem .8rem;margin:.7rem 0}
article:focus{outline:2px solid var(--mark);outline-offset:1px}
fieldset{position:sticky;top:0;z-index:1;background:var(--back);border:0;
border-bottom:1px solid var(--line);margin:1.5rem 0 0;padding:.7rem 0;display:flex;flex-wrap:wrap;
gap:.3rem 1rem;align-items:center}
fieldset[hidden]{display:none}legend{position:absolute;left:-99rem}
label{cursor:pointer}input[type=search]{font:inherit;padding:.2rem .6rem;border-radius:.4rem;
border:1px solid var(--line);background:var(--card);color:inherit;min-width:14rem}
ol.problems{padding-left:1.4rem}
.error,.warning{font-weight:400;font-size:.85em;color:var(--bad)}.warning{color:var(--soft)}
@media print{fieldset{display:none}article{break-inside:avoid}}
"""
    + MENTION_STYLE
)

SCRIPT: Final = """
const all = [...document.querySelectorAll("article")];
const boxes = document.querySelectorAll("[name=kind]");
const search = document.querySelector("[type=search]"), shown = document.querySelector("output");
function filter() {
  const kinds = new Set([...boxes].filter(b => b.checked).map(b => b.value));
  const wanted = search.value.trim().toLowerCase();
  for (const each of all) each.hidden = !kinds.has(each.dataset.kind) ||
    !each.textContent.toLowerCase().includes(wanted);
  for (const part of document.querySelectorAll("section[data-kind]"))
    part.hidden = !part.querySelector("article:not([hidden])");
  shown.textContent = all.filter(each => !each.hidden).length + " of " + all.length;
}
function go(step) {
  const left = all.filter(each => !each.hidden), at = left.indexOf(document.activeElement);
  const next = left[at < 0 ? 0 : Math.min(Math.max(at + step, 0), left.length - 1)];
  if (next) { next.focus(); next.scrollIntoView({block: "center"}); }
}
if (all.length) {
  document.querySelector("fieldset").hidden = false;
  document.querySelector("fieldset").addEventListener("input", filter);
  document.addEventListener("keydown", event => {
    if (event.target.type === "search" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") go(1);
    if (event.key === "k") go(-1);
  });
  filter();
}
"""


def corpus_page(checked: Checked) -> str:
    """Return an HTML page with the results of `discotag.corpora.checks.check`."""
    analysis = checked.analysis
    found = {kind: text for kind, text in {**REASONS, **RULES}.items() if checked.counts[kind]}
    body = [
        f"<header><h1>{safe(checked.path)}</h1>",
        f'<p class="soft">Checked by discotag, scheme {safe(checked.setting)}: '
        f"{analysis.sentences:,} sentences, {analysis.mentions:,} mentions, "
        f"{analysis.discontinuous_mentions:,} of them discontinuous.</p></header>",
        "<main>",
        *_tables(checked),
        *_problems(checked),
        _filter(checked, found),
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
    return page(f"Check of {checked.path}", "\n".join(body), style=STYLE, script=SCRIPT)


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
    caption = f"Labels; {hidden:,} more are not shown" if hidden else "Labels"
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


def _filter(checked: Checked, found: dict[str, str]) -> str:
    """Return the check boxes and the search field; the script shows them when it runs."""
    boxes = "".join(
        f'<label><input type="checkbox" name="kind" value="{kind}" checked> {kind} '
        f"<small>{checked.counts[kind]:,}</small></label>"
        for kind in found
    )
    return (
        f"<fieldset hidden><legend>Show</legend>{boxes}"
        '<input type="search" placeholder="Search the findings" aria-label="Search the findings">'
        '<output aria-live="polite"></output>'
        "<small>keys: j next, k previous</small></fieldset>"
    )


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
    words, mentions = finding.sentence.words, list(dict.fromkeys(finding.sentence.mentions))
    instead = ""
    if finding.instead is not None:
        instead = f"<p><small>expected</small> {spell(words, finding.instead)}</p>"
    return (
        f'<article tabindex="-1" data-kind="{finding.kind}"><small>{safe(finding.place)}</small>'
        f"{draw_words(words, mentions)}"
        f"{list_mentions(words, mentions, finding.mentions)}{instead}</article>"
    )
