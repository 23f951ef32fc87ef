"""`discotag evaluate`: precision, recall and F1, with intervals and kinds of errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from discotag.cli.messages import say, warn
from discotag.cli.options import (
    EncodingOption,
    Reporter,
    figure_table,
    plain_console,
    print_data,
    tracked,
)
from discotag.corpora import read
from discotag.corpora.parsing.files import created
from discotag.corpora.parsing.problems import Report as ReportProblem
from discotag.corpora.parsing.problems import strict
from discotag.counts import in_percent
from discotag.evaluation import (
    SLICES,
    Counts,
    Difference,
    EvaluationError,
    FigureIntervals,
    Figures,
    Interval,
    Pair,
    Report,
    SliceComparison,
    Tally,
    align,
    compare,
    describe_kinds,
    intervals,
)
from discotag.mentions import Document
from discotag.model.files import BUNDLED_NAME, CONFIG
from discotag.render import printable
from discotag.render.evaluation_page import evaluation_page
from discotag.words import Splitter

STANDARD_INPUT = Path("-")

Unit = StrEnum("Unit", ["sentence", "document"])


def evaluate(
    gold: Annotated[Path, typer.Argument(help="The corpus with the gold mentions.")],
    predicted: Annotated[
        Path,
        typer.Argument(help="The same text with predicted mentions, or the folder of a model."),
    ],
    other: Annotated[
        Path | None,
        typer.Option(help="Predictions of a second system, to compare with the first."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Format of the gold; recognised from the content by default.")
    ] = None,
    predicted_format: Annotated[
        str | None, typer.Option(help="Format of the predictions; recognised by default.")
    ] = None,
    by: Annotated[
        Unit, typer.Option(help="The unit of resampling for intervals and comparisons.")
    ] = Unit.sentence,
    seed: Annotated[int, typer.Option(min=0, help="The seed of intervals and tests.")] = 0,
    no_intervals: Annotated[
        bool,
        typer.Option("--no-intervals", help="Do not compute intervals, which takes some seconds."),
    ] = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Show the kinds of errors, with examples.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(help="Write an HTML report to this file: figures, plots, wrong sentences."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    encoding: EncodingOption = None,
) -> None:
    """Score predicted mentions: precision, recall and F1, as in Dai et al. (2020).

    A mention is correct if its label and all fragments are. There are three tables: all mentions;
    all mentions of sentences with a discontinuous gold mention; discontinuous mentions only. The
    two corpora may have different formats, and different sentences and documents. Instead of
    predictions, the folder of a model can be given, before or after the gold.

    [bold]Examples[/bold]

    discotag evaluate test.jsonl predicted.jsonl

    discotag evaluate brat-folder predicted.txt --errors --by document

    discotag evaluate test.txt ours.txt --other theirs.txt --json

    discotag evaluate run/model test.jsonl --report report.html
    """
    if is_model(gold) and is_model(predicted):
        raise typer.BadParameter("both are models; one must be a corpus with gold mentions")
    if is_model(gold):
        gold, predicted = predicted, gold
    if [gold, predicted, other].count(STANDARD_INPUT) > 1 or (other and gold == STANDARD_INPUT):
        raise typer.BadParameter("standard input (-) can only be read once; use a file")
    if gold == STANDARD_INPUT and is_model(predicted):
        raise typer.BadParameter("a model reads the gold a second time; use a file")
    if report is not None:
        _check_report(report, [gold, predicted, other])
    reporter = Reporter(skip_bad=False)
    systems: list[Report] = []
    for path in (predicted, other):
        if path is not None:
            found: Iterable[Document]
            of_gold = strict if systems else reporter.report  # once
            truth = _documents(gold, format, encoding, of_gold)
            if is_model(path):
                from discotag.prediction.loading import load

                tagger = load(path)
                truth = _documents(gold, format, encoding, of_gold, tagger.splitter)
                again = _documents(gold, format, encoding, splitter=tagger.splitter)
                found = tagger.predict(again, candidates=False)
            else:
                found = _documents(path, predicted_format, encoding, reporter.report)
            systems.append(Report(str(gold), str(path)))
            _add_all(systems[-1], align(truth, found))
    reporter.close()
    if not systems[0].tallies:
        raise EvaluationError(f"{gold}: no sentences to score")
    if systems[0].first_scored and not systems[0].scored:
        warn(
            f"the mentions of {gold} have scores, those of {predicted} have none; the gold must "
            "come first"
        )
    compared = None
    try:
        for system in systems if not no_intervals else ():
            system.intervals = intervals(_units(system, by), seed=seed)
        if other is not None:
            compared = compare(*(_units(system, by) for system in systems), seed=seed)
    except EvaluationError as error:  # the figures are valid without intervals
        say(f"no intervals: {error}")
    if report is not None:
        with created(report) as stream:
            stream.write(evaluation_page(systems[0]))
        say(f"wrote {report}")
    if as_json:
        print_data(_data(systems, compared, by, seed, errors))
    else:
        _show(systems, compared, by, errors)


def _documents(
    path: Path,
    format: str | None,
    encoding: str | None,
    report: ReportProblem = strict,
    splitter: Splitter | None = None,
) -> Iterator[Document]:
    return read(path, format, splitter=splitter, report=report, encoding=encoding, check_ids=True)


def is_model(path: Path) -> bool:
    """Return whether a path is the folder of a model, or the name of the bundled one."""
    return (path / CONFIG).is_file() or (str(path) == BUNDLED_NAME and not path.exists())


def _check_report(report: Path, inputs: Iterable[Path | None]) -> None:
    """Raise if the report cannot be written or would replace what is evaluated."""
    if report == STANDARD_INPUT:
        raise typer.BadParameter("--report needs the name of a file, not -")
    if not report.parent.is_dir():
        raise typer.BadParameter(f"{report.parent} is not a folder; give --report another file")
    if report.is_dir():
        raise typer.BadParameter(f"{report} is a folder; give --report the name of a file")
    if any(path is not None and report.resolve() == path.resolve() for path in inputs):
        raise typer.BadParameter("--report would overwrite what is evaluated")


def _add_all(report: Report, pairs: Iterable[Pair]) -> None:
    """Add sentences to a report, and show the progress on a terminal."""
    try:
        report.add_all(tracked(pairs, "Sentences"))
    except EvaluationError as error:
        raise EvaluationError(f"{report.second}: {error}") from error


def _units(report: Report, by: Unit) -> list[Tally]:
    return report.tallies if by is Unit.sentence else report.of_documents()


def _data(
    systems: list[Report],
    compared: dict[str, SliceComparison] | None,
    by: Unit,
    seed: int,
    errors: bool,
) -> dict[str, Any]:
    first = systems[0]
    data: dict[str, Any] = {
        "sentences": len(first.tallies),
        "discontinuous_sentences": first.discontinuous_sentences,
        "documents": len(set(first.documents)),
        "by": str(by),
        "seed": seed,
        **_system_data(first, errors),
    }
    if compared is not None:
        data["other"] = _system_data(systems[1], errors)
        data["comparison"] = {name: asdict(part) for name, part in compared.items()}
    return data


def _system_data(system: Report, errors: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"predictions": system.second, "slices": {}}
    for name, part in system.scores.slices():
        ends = None if system.intervals is None else system.intervals[name]
        data["slices"][name] = {
            "micro": _row_data(part.micro, ends.micro if ends else None),
            "macro": _row_data(part.macro, ends.macro if ends else None),
            "labels": {
                label: _row_data(counts, ends.labels[label] if ends else None)
                for label, counts in part.labels.items()
            },
        }
    if errors:
        data["errors"] = {
            kind: {
                "gold": count.first,
                "predicted": count.second,
                "examples": [_example_data(*example) for example in count.examples],
            }
            for kind, count in system.kinds.items()
        }
    return data


def _row_data(row: Counts | Figures, ends: FigureIntervals | None) -> dict[str, Any]:
    data: dict[str, Any] = asdict(row)
    if isinstance(row, Counts):
        data |= asdict(row.figures)
    if ends is not None:
        data["intervals"] = {
            figure: [interval["low"], interval["high"]] for figure, interval in asdict(ends).items()
        }
    return data


def _example_data(pair: Pair, error: Difference) -> dict[str, Any]:
    return pair.place() | {
        "gold": [mention.to_dict() for mention in error.first],
        "predicted": [mention.to_dict() for mention in error.second],
    }


def _show(
    systems: list[Report], compared: dict[str, SliceComparison] | None, by: Unit, errors: bool
) -> None:
    console = plain_console()
    first = systems[0]
    console.print(
        f"Sentences: {len(first.tallies)}, with a discontinuous mention in the gold: "
        f"{first.discontinuous_sentences}; documents: {len(set(first.documents))}"
    )
    for system in systems:
        if compared is not None:
            console.print(f"\n{printable(system.second)}", style="bold")
        for name, about in SLICES.items():
            console.print(_score_table(system, name, about))
        if errors:
            console.print(_error_table(system))
            _show_examples(console, system)
    if compared is not None:
        console.print(_comparison_table(compared))
    if compared is not None or first.intervals is not None:
        console.print(f"Intervals: 95%, by bootstrap over {by}s.", style="dim")


def _score_table(system: Report, name: str, about: str) -> Table:
    part = dict(system.scores.slices())[name]
    ends = None if system.intervals is None else system.intervals[name]
    numbers = ["precision", "recall", "F1", "gold", "predicted", "correct"]
    if ends is not None:
        numbers.insert(3, "95% of F1")
    table = figure_table(about, ["label"], numbers)

    def add_row(title: str, row: Counts | Figures, interval: FigureIntervals | None) -> None:
        cells = [in_percent(row.precision), in_percent(row.recall), in_percent(row.f1)]
        if interval is not None:
            cells.append(_range(interval.f1))
        if isinstance(row, Counts):
            cells += [str(row.gold), str(row.predicted), str(row.correct)]
        table.add_row(title, *cells)

    for label, counts in part.labels.items():
        add_row(printable(label), counts, ends.labels[label] if ends else None)
    table.add_section()
    add_row("micro", part.micro, ends.micro if ends else None)
    add_row("macro", part.macro, ends.macro if ends else None)
    return table


def _comparison_table(compared: dict[str, SliceComparison]) -> Table:
    title = "the F1 of the second system minus the F1 of the first"
    table = figure_table(title, ["mentions", "labels"], ["difference", "95%", "p"])
    for name, part in compared.items():
        for row, figure in (("micro", part.micro), ("macro", part.macro)):
            difference = f"{100 * figure.difference:+.2f}"
            interval = _range(figure.interval)
            table.add_row(_title(name), row, difference, interval, f"{figure.p_value:.4f}")
    return table


def _error_table(system: Report) -> Table:
    table = figure_table("errors", ["kind", "what it is"], ["not found", "wrong"])
    counts = system.kinds
    for kind, about in describe_kinds().items():
        table.add_row(_title(kind), about, str(counts[kind].first), str(counts[kind].second))
    table.add_section()
    sums = sum(each.first for each in counts.values()), sum(each.second for each in counts.values())
    table.add_row("all", "", *map(str, sums))
    return table


def _show_examples(console: Console, system: Report) -> None:
    for kind, count in system.kinds.items():
        if count.examples:
            console.print(f"\n{_title(kind)}", style="bold")
        for pair, error in count.examples:
            console.print(printable(str(pair)), soft_wrap=True)
            for side, mentions in (("gold", error.first), ("predicted", error.second)):
                for mention in mentions:
                    console.print(f"  {side:9} {printable(str(mention))}", soft_wrap=True)
        if count.not_shown:
            console.print(f"and {count.not_shown:,} more; --report shows them", soft_wrap=True)


def _title(kind: str) -> str:
    return kind.replace("_", " ")


def _range(interval: Interval) -> str:
    return f"{in_percent(interval.low)} to {in_percent(interval.high)}"
