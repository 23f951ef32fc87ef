"""`discotag corpus check`: statistics, problems and misfits of a corpus."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, TextIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discotag.cli.options import (
    SHOWN_PROBLEMS,
    AsJson,
    EncodingOption,
    InFormat,
    InPath,
    Sentences,
    SentencesOption,
    Words,
    WordsOption,
    chosen_splitter,
    counting,
    plain_console,
    plain_table,
    share,
)
from discotag.cli.scheme import Naming
from discotag.corpora import Problem
from discotag.corpora.checks import Checked, Finding
from discotag.corpora.checks import check as run_check
from discotag.corpora.checks.scheme_fit import Setting
from discotag.corpora.checks.suspected_errors import RULES
from discotag.corpora.parsing.files import STANDARD, created, failed
from discotag.corpora.parsing.problems import KINDS
from discotag.counts import counted
from discotag.mentions import Sentence
from discotag.render import draw_mentions, printable
from discotag.render.corpus_page import corpus_page
from discotag.render.counts import shapes
from discotag.scheme import REASONS

SHOWN_LABELS: Final = 20
PAGE_FINDINGS: Final = 500
"""The number of findings and problems of each kind in the page, which keeps it below a few MB."""

CONTEXT: Final = 4
"""The number of words around the mentions of an example that are shown in the terminal."""

INDENT: Final = "    "


def check(
    path: InPath,
    format: InFormat = None,
    slots: Annotated[int, typer.Option(help="Component types, 0 (BIO) to 4.")] = 3,
    gap_mentions: Annotated[bool, typer.Option(help="Allow continuous mentions in gaps.")] = True,
    naming: Annotated[
        Naming, typer.Option(help="What slot names mean; does not change which sentences fit.")
    ] = Naming.structural,
    as_json: AsJson = False,
    html: Annotated[
        Path | None, typer.Option(help="Write an HTML page of the findings to this file.")
    ] = None,
    examples: Annotated[
        int, typer.Option(min=0, help="The number of examples of each finding to show.")
    ] = 3,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Exit with 0 even if there are errors.")
    ] = False,
    sentences: SentencesOption = Sentences.auto,
    words: WordsOption = Words.pattern,
    encoding: EncodingOption = None,
) -> None:
    """Check a corpus: its statistics, its problems, and which sentences fit which scheme.

    The whole corpus is read, even if there are errors. The exit code is 1 if there are errors, and
    0 if there are none or only warnings.

    [bold]Examples[/bold]

    discotag corpus check brat-folder/

    discotag corpus check train.jsonl --slots 2 --no-gap-mentions --html findings.html

    discotag corpus check train.txt --format inline --json
    """
    setting = Setting(slots, gap_mentions)
    if html is not None and html == STANDARD:
        raise typer.BadParameter("--html needs the name of a file, not -")
    if html is not None and path != STANDARD and os.path.realpath(html) == os.path.realpath(path):
        raise typer.BadParameter("--html would overwrite the corpus")
    with _spool() as spool, counting("Checking") as progress:

        def keep(problem: Problem) -> None:
            spool.write(json.dumps(_problem_data(problem), ensure_ascii=False) + "\n")

        checked = run_check(
            path,
            format,
            setting=setting,
            splitter=chosen_splitter(sentences, words),
            kept=max(examples, SHOWN_PROBLEMS, PAGE_FINDINGS if html else 0),
            report=keep if as_json else None,
            encoding=encoding,
            progress=progress,
        )
        if as_json:
            _print_json(checked, str(naming), examples, spool)
    if html is not None:
        _write_page(checked, html)
    if not as_json:
        _show(checked, examples, plain_console())
    if checked.errors and not skip_bad:
        raise typer.Exit(1)


@contextmanager
def _spool() -> Iterator[TextIO]:
    """Open a temporary file for problems, which may be too many for memory."""
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as stream:
            yield stream
    except OSError as error:
        raise failed(error, Path(tempfile.gettempdir())) from None


def _problem_data(problem: Problem) -> dict[str, object]:
    return {
        "kind": problem.kind,
        "severity": problem.severity,
        "path": problem.path,
        "line": problem.line,
        "message": problem.message,
    }


def _print_json(checked: Checked, naming: str, examples: int, spool: TextIO) -> None:
    """Print what was found as one JSON object; the problems are read from the spool one by one."""
    data = checked.to_dict(examples)
    data["scheme"]["naming"] = naming
    data["problems"] = _Spooled(spool, sum(checked.problem_counts.values()))
    with created(STANDARD) as stream:
        json.dump(data, stream, ensure_ascii=False)
        stream.write("\n")


class _Spooled(list[object]):
    """A list of which `json.dump` reads one item at a time from a file of JSON lines."""

    def __init__(self, stream: TextIO, length: int) -> None:
        self._stream = stream
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[object]:
        self._stream.seek(0)
        return map(json.loads, self._stream)


def _write_page(checked: Checked, html: Path) -> None:
    with created(html) as stream:
        stream.write(corpus_page(checked))


def _show(checked: Checked, examples: int, console: Console) -> None:
    for part in _parts(checked, examples, console.width):
        console.print(part, soft_wrap=isinstance(part, Text))


def _parts(checked: Checked, examples: int, width: int) -> Iterator[Text | Table]:
    yield from _problems(checked)
    yield _sizes(checked)
    if len(checked.analysis.labels) > 1:
        yield _labels(checked)
    if checked.analysis.discontinuous_mentions or checked.analysis.overlaps:
        yield _shapes(checked)
    yield _fits(checked)
    for title, kinds in (
        (f"Does not fit: {checked.setting}", REASONS),
        ("Suspected annotation errors", RULES),
    ):
        found = {kind: text for kind, text in kinds.items() if checked.counts[kind]}
        if found:
            yield Text(f"\n{title}", style="bold")
        for kind, text in found.items():
            yield Text(f"{kind} ({checked.counts[kind]:,}): ", style="yellow") + Text(
                text, style="default"
            )
            for finding in checked.findings[kind][:examples]:
                yield from _example(finding, width)


def _problems(checked: Checked) -> Iterator[Text | Table]:
    if not checked.problem_counts:
        yield Text("No problems in the files.", style="green")
        return
    table = plain_table("problem", "", "number", "means", title="Problems")
    table.columns[2].justify = "right"
    for kind, number in checked.problem_counts.most_common():
        severity = checked.problems[kind][0].severity
        table.add_row(kind, severity, f"{number:,}", KINDS[kind])
    yield table
    left = SHOWN_PROBLEMS
    for problems in checked.problems.values():
        for problem in problems[:left]:
            yield Text(str(problem))
        left -= min(left, len(problems))
    hidden = sum(checked.problem_counts.values()) - SHOWN_PROBLEMS
    if hidden > 0:
        yield Text(f"… and {hidden:,} more; --json lists all of them.")


def _sizes(checked: Checked) -> Table:
    analysis = checked.analysis
    table = plain_table("", "number", "share", title=printable(checked.path))
    for name, number, part in (
        ("documents", analysis.documents, ""),
        ("sentences", analysis.sentences, ""),
        (
            "  with a mention",
            analysis.sentences_with_mentions,
            share(analysis.sentences_with_mentions, analysis.sentences),
        ),
        (
            "  with a discontinuous mention",
            analysis.discontinuous_sentences,
            share(analysis.discontinuous_sentences, analysis.sentences),
        ),
        ("words", analysis.words, ""),
        ("mentions", analysis.mentions, ""),
        (
            "  discontinuous",
            analysis.discontinuous_mentions,
            share(analysis.discontinuous_mentions, analysis.mentions),
        ),
    ):
        table.add_row(name, f"{number:,}", part)
    return _right(table)


def _labels(checked: Checked) -> Table:
    counts = checked.analysis.labels
    labels = sorted(counts, key=lambda label: (-counts[label].mentions, label))
    table = plain_table("label", "mentions", "discontinuous", "share", title="Labels")
    for label in labels[:SHOWN_LABELS]:
        each = counts[label]
        table.add_row(
            printable(label),
            f"{each.mentions:,}",
            f"{each.discontinuous:,}",
            share(each.discontinuous, each.mentions),
        )
    if len(labels) > SHOWN_LABELS:
        rest = sum(counts[label].mentions for label in labels[SHOWN_LABELS:])
        table.add_row(f"… {counted(len(labels) - SHOWN_LABELS, 'more label')}", f"{rest:,}", "", "")
    return _right(table)


def _shapes(checked: Checked) -> Table:
    table = plain_table("shape", "counts", title="Shapes")
    for row in shapes(checked.analysis):
        table.add_row(*row)
    return table


def _fits(checked: Checked) -> Table:
    title = "Sentences that do not fit a scheme, and why, counted in groups of mentions"
    table = plain_table("scheme", "sentences", "share", "reasons", title=title)
    for fit in checked.fits.all:
        table.add_row(
            f"{fit.setting}{' ←' if fit is checked.fits.asked else ''}",
            f"{fit.sentences:,}",
            share(fit.sentences, checked.analysis.sentences),
            ", ".join(f"{reason} {number:,}" for reason, number in fit.reasons.most_common()),
        )
    _right(table).columns[-1].justify = "left"
    return table


def _right(table: Table) -> Table:
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _example(finding: Finding, width: int) -> Iterator[Text]:
    mentions = finding.mentions
    first = max(min(mention.start for mention in mentions) - CONTEXT, 0)
    last = max(mention.end for mention in mentions) + CONTEXT
    part = Sentence(finding.sentence.words[first:last], tuple(m.shifted(-first) for m in mentions))
    yield Text(f"  {printable(finding.place)}", style="dim")
    drawing = draw_mentions(part, width=width - len(INDENT))
    drawing.rstrip()
    for line in drawing.split("\n"):
        yield Text(INDENT) + line
    if finding.instead is not None:
        yield Text(f"{INDENT}expected: {printable(finding.instead.text or '')}", style="italic")
