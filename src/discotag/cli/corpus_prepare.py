"""`discotag corpus prepare`: make training files from a downloaded corpus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from discotag.cli.messages import say, warn
from discotag.cli.options import AsJson, plain_console, plain_table, print_data
from discotag.corpora.checks.analysis import Analysis
from discotag.corpora.parsing.problems import KINDS
from discotag.corpora.recipes import RECIPES, Summary
from discotag.corpora.recipes import prepare as prepare_corpus
from discotag.corpora.recipes.recipe import Progress as Tell
from discotag.corpora.recipes.recipe import no_progress
from discotag.render import printable

NAMES = ", ".join(RECIPES)
DEFAULTS = "; ".join(f"{name} {', '.join(each.default_labels)}" for name, each in RECIPES.items())


def prepare(
    corpus: Annotated[str, typer.Argument(help=f"The name of the corpus: {NAMES}.")],
    source: Annotated[Path, typer.Argument(help="The downloaded file, archive or folder.")],
    out: Annotated[Path, typer.Argument(help="The folder to write to.")],
    labels: Annotated[
        str | None,
        typer.Option(help=f"Labels to keep, separated by commas, or 'all'. Default: {DEFAULTS}."),
    ] = None,
    splits: Annotated[
        list[Path] | None,
        typer.Option(
            help="A list of document names, one per line, with train, dev or test in the name of "
            "the file; or a folder of such lists. Repeat the option for more."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write to a folder that is not empty.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make training files from a corpus as it was downloaded, and check its published counts.

    Writes train.jsonl, dev.jsonl and test.jsonl (cadec without --splits: all.jsonl), report.json,
    and problems.json with everything that was left out or changed. Counts that differ from the
    published ones are reported; the files are written anyway.

    [bold]Examples[/bold]

    discotag corpus prepare psytar PsyTAR_dataset.xlsx psytar

    discotag corpus prepare cadec CADEC.v2.zip cadec --splits split/

    discotag corpus prepare share2013 shareclefehealth2013/ share2013 --splits dev.txt
    """
    if corpus not in RECIPES:
        raise typer.BadParameter(f"unknown corpus {corpus!r}; corpora are {NAMES}")
    chosen = None if labels is None else [label.strip() for label in labels.split(",")]
    if chosen is not None and not all(chosen):
        raise typer.BadParameter("--labels needs names separated by commas, such as ADR,Drug")
    with _progress() as tell:
        summary = prepare_corpus(
            corpus,
            source,
            out,
            labels=chosen,
            splits=splits or (),
            force=force,
            progress=tell,
        )
    if as_json:
        print_data(asdict(summary))
    else:
        _show(summary)
    for difference in summary.differences:
        warn(str(difference))
    if summary.passed_over:
        say(f"not read: {', '.join(summary.passed_over)}")
    say(f"wrote {out}: {', '.join(summary.files)}")


def _show(summary: Summary) -> None:
    console = plain_console()
    title = f"{summary.recipe}: {', '.join(summary.labels)}"
    table = plain_table("", *summary.parts, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for name in Analysis().sizes:
        counts = (f"{count[name]:,}" for count in summary.parts.values())
        table.add_row(name.replace("_", " "), *counts)
    console.print(table)
    facts = Table("in the source", "", box=None, pad_edge=False)
    for fact, number in summary.facts.items():
        facts.add_row(printable(fact), f"{number:,}")
    problems = Table("left out or changed", "", "", box=None, pad_edge=False)
    for kind, number in summary.problems.items():
        problems.add_row(kind, f"{number:,}", KINDS[kind])
    for further, rows in ((facts, summary.facts), (problems, summary.problems)):
        further.columns[1].justify = "right"
        if rows:
            console.print()
            console.print(further)
    if summary.checked:
        met = summary.checked - len(summary.differences)
        console.print(f"\npublished counts met: {met} of {summary.checked}")


@contextmanager
def _progress() -> Iterator[Tell]:
    """Show a progress bar on a terminal; yield the function that updates it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield no_progress
        return
    columns = (TextColumn("preparing"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("preparing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
