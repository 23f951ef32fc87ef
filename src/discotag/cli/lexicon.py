"""`discotag lexicon`: names of body parts from UMLS, and what a lexicon finds in a text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from discotag.cli.messages import say
from discotag.cli.options import SHOWN_PROBLEMS, plain_console, plain_table, print_data
from discotag.counts import counted
from discotag.lexicon import Lexicon, LexiconError, UmlsCounts, convert_umls
from discotag.lexicon.umls import Progress as Tell
from discotag.render import printable


def umls(
    meta: Annotated[
        Path, typer.Argument(help="The folder META of UMLS: MRCONSO.RRF and MRSTY.RRF, or .gz.")
    ],
    out: Annotated[Path, typer.Argument(help="The lexicon file to write.")],
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out invalid lines, and count them.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Write the names of body parts of a UMLS Metathesaurus to a lexicon file.

    The names are the English names of the semantic types T023, T029 and T030, without abbreviations
    and without names that are obsolete or suppressible.

    [bold]Examples[/bold]

    discotag lexicon umls 2023AB/META body-parts.tsv

    discotag lexicon match "pain in both knees" --lexicon body-parts.tsv
    """
    shown = 0

    def show(problem: LexiconError) -> None:
        nonlocal shown
        shown += 1
        if shown <= SHOWN_PROBLEMS:
            say(f"left out: {problem}")

    with _progress() as tell:
        counts = convert_umls(meta, out, skip=show if skip_bad else None, progress=tell)
    if shown > SHOWN_PROBLEMS:
        say(f"left out: {counted(shown - SHOWN_PROBLEMS, 'more line')}")
    if as_json:
        print_data(asdict(counts))
    else:
        _show(counts, out)


def match(
    text: Annotated[str, typer.Argument(help="Words, separated by spaces.")],
    lexicon: Annotated[
        Path | None,
        typer.Option(help="A lexicon file. Default: the body parts of WordNet."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which words of a text are terms of a lexicon.

    [bold]Examples[/bold]

    discotag lexicon match "pain I was experiencing around the hipjoints"

    discotag lexicon match "pain in both knees" --lexicon body-parts.tsv
    """
    chosen = Lexicon.default() if lexicon is None else Lexicon.load(lexicon)
    words = text.split()
    found = [
        {
            "fragment": list(match.fragment),
            "text": " ".join(words[slice(*match.fragment)]),
            "term": match.term,
            "source": chosen.terms[match.term],
        }
        for match in chosen.find(words)
    ]
    if as_json:
        print_data(found)
    elif not found:
        say("the text contains no term of the lexicon")
    else:
        table = plain_table("words", "text", "term", "source")
        for row in found:
            start, end = row["fragment"]
            shown = (printable(str(row[key])) for key in ("text", "term", "source"))
            table.add_row(f"{start}:{end}", *shown)
        plain_console().print(table)


def _show(counts: UmlsCounts, out: Path) -> None:
    table = plain_table("", "number")
    table.columns[1].justify = "right"
    for name, number in (
        ("lines of MRCONSO", counts.lines),
        ("concepts that are body parts", counts.concepts),
        ("their English names", counts.names),
        ("of these, abbreviations, left out", counts.abbreviations),
        ("obsolete or suppressible, left out", counts.suppressed),
        ("bad lines, left out", counts.bad),
        ("different terms written", counts.terms),
    ):
        table.add_row(name, f"{number:,}")
    plain_console().print(table)
    say(f"wrote {out}")


@contextmanager
def _progress() -> Iterator[Tell | None]:
    """Show a progress bar for each file on a terminal; yield the function that updates it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(name: str, done: int, size: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=size)
            bar.update(tasks[name], completed=done)

        yield tell
