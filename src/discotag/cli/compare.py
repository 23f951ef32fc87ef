"""`discotag compare`: how far two annotations of the same text agree, and where they differ."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from discotag.cli.options import (
    AsJson,
    EncodingOption,
    Reporter,
    SkipBad,
    figure_table,
    plain_console,
    print_data,
    tracked,
)
from discotag.corpora import read
from discotag.corpora.parsing.files import STANDARD
from discotag.counts import counted, in_percent
from discotag.errors import InputError
from discotag.evaluation import (
    SLICES,
    Counts,
    Difference,
    EvaluationError,
    Pair,
    Report,
    align,
    describe_kinds,
)
from discotag.render import printable

COMPARED: Final = ("all", "discontinuous")
"""The slices that are the same whichever side is the first."""

SIDES: Final = ("first", "second")

KEYS: Final = {
    "wrong_label": "label",
    "set_split_or_merged": "set_split_or_merged",
    "gap_missed": "gap_only_in_first",
    "gap_invented": "gap_only_in_second",
    "one_component_wrong": "one_component",
    "boundary": "boundary",
    "missed": "only_in_first",
    "spurious": "only_in_second",
}
"""What the kinds of differences are called where no side is the right one."""


def compare(
    first: Annotated[
        Path, typer.Argument(help="A corpus with mentions, for example of one annotator.")
    ],
    second: Annotated[
        Path, typer.Argument(help="The same text with other mentions, for example of another.")
    ],
    format: Annotated[
        str | None,
        typer.Option(help="Format of the first; recognised from the content by default."),
    ] = None,
    second_format: Annotated[
        str | None, typer.Option(help="Format of the second; recognised by default.")
    ] = None,
    shown: Annotated[
        int, typer.Option(min=0, help="The most sentences with differences to list.")
    ] = 20,
    skip_bad: SkipBad = False,
    encoding: EncodingOption = None,
    as_json: AsJson = False,
) -> None:
    """Compare two annotations of the same text: how far they agree, and where they differ.

    Neither is taken to be right. Agreement is F1: twice the number of mentions that both have, by
    the number of mentions of both; a mention is the same if its label and all fragments are. The
    two corpora may have different formats, and different sentences and documents. The JSON has all
    sentences with differences.

    [bold]Examples[/bold]

    discotag compare ann.jsonl ben.jsonl

    discotag compare old-model.jsonl new-model.jsonl --shown 100

    discotag compare brat-of-ann/ brat-of-ben/ --json
    """
    if first == second == STANDARD:
        raise typer.BadParameter("standard input (-) can only be read once; use a file")
    reporter = Reporter(skip_bad)
    sides = (
        read(path, chosen, report=reporter.report, encoding=encoding, check_ids=True)
        for path, chosen in ((first, format), (second, second_format))
    )
    names = str(first), str(second)
    report = Report(*names, most=sys.maxsize if as_json else shown)
    try:
        report.add_all(tracked(align(*sides, names=names), "Sentences"))
    except EvaluationError as error:
        raise type(error)(f"{second}: {error}") from None
    reporter.close()
    if not report.tallies:
        raise InputError(f"{first}: no sentences to compare")
    if as_json:
        print_data(_data(report))
    else:
        _show(report, plain_console())


def _data(report: Report) -> dict[str, Any]:
    slices = dict(report.scores.slices())
    return {
        "first": report.first,
        "second": report.second,
        "documents": len(set(report.documents)),
        "sentences": len(report.tallies),
        "differing_sentences": report.differing_sentences,
        "agreement": {
            name: _counts_data(slices[name].micro)
            | {"labels": {key: _counts_data(each) for key, each in slices[name].labels.items()}}
            for name in COMPARED
        },
        "differences": {
            KEYS[kind]: {"first": count.first, "second": count.second}
            for kind, count in report.kinds.items()
        },
        "differing": [_sentence_data(pair, found) for pair, found in report.differing],
    }


def _counts_data(counts: Counts) -> dict[str, Any]:
    both = counts.gold + counts.predicted
    return {
        "first": counts.gold,
        "second": counts.predicted,
        "both": counts.correct,
        "f1": counts.f1 if both else None,
    }


def _sentence_data(pair: Pair, found: list[Difference]) -> dict[str, Any]:
    return pair.place() | {
        "differences": [
            {
                "kind": KEYS[each.kind],
                "first": [mention.to_dict() for mention in each.first],
                "second": [mention.to_dict() for mention in each.second],
            }
            for each in found
        ],
    }


def _show(report: Report, console: Console) -> None:
    for side, path in zip(SIDES, (report.first, report.second), strict=True):
        console.print(f"{side.capitalize()}: {printable(path)}", soft_wrap=True)
    console.print(
        f"Sentences: {len(report.tallies):,}, with differences: {report.differing_sentences:,}; "
        f"documents: {len(set(report.documents)):,}"
    )
    for name in COMPARED:
        table = figure_table(SLICES[name], ["label"], ["F1", *SIDES, "both"])
        part = dict(report.scores.slices())[name]
        for label, counts in {**part.labels, "all": part.micro}.items():
            figure = in_percent(counts.f1) if counts.gold + counts.predicted else "–"
            numbers = (counts.gold, counts.predicted, counts.correct)
            table.add_row(printable(label), figure, *(f"{n:,}" for n in numbers))
        console.print(table)
    if not report.differing_sentences:
        return
    table = figure_table("differences", ["what they are"], SIDES)
    for kind, about in describe_kinds(("the first", "the second")).items():
        count = report.kinds[kind]
        if count.first or count.second:
            table.add_row(about, f"{count.first:,}", f"{count.second:,}")
    console.print(table)
    for pair, found in report.differing:
        console.print(printable(str(pair)), soft_wrap=True)
        for each in found:
            for side, mentions in zip(SIDES, (each.first, each.second), strict=True):
                for mention in mentions:
                    console.print(f"  {side:6} {printable(str(mention))}", soft_wrap=True)
    hidden = report.differing_sentences - len(report.differing)
    if hidden:
        more = counted(hidden, "more sentence differs", "more sentences differ")
        console.print(f"{more}; --shown {report.differing_sentences} or --json lists all")
