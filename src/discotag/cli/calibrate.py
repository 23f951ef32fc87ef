"""`discotag calibrate`: which candidates to review, so that few mentions are missed."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from discotag.cli.messages import say
from discotag.cli.options import (
    AsJson,
    DeviceOption,
    EncodingOption,
    InFormat,
    Reporter,
    RuntimeOption,
    SkipBad,
    plain_console,
    plain_table,
    print_data,
)
from discotag.corpora import read
from discotag.counts import counted
from discotag.errors import InputError
from discotag.model.guarantee import Count, Match, Unit
from discotag.render import percent

if TYPE_CHECKING:
    from discotag.prediction.guarantee import Measured

CountKind = StrEnum("CountKind", ["mentions", "documents"])
UnitKind = StrEnum("UnitKind", ["documents", "sentences"])
MatchKind = StrEnum("MatchKind", ["exact", "overlap"])


def _check_share(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"must be above 0 and below 1, got {value:g}")
    return value


def calibrate(
    model: Annotated[
        str,
        typer.Argument(
            help="The folder of a model, a name on the hub, or 'bundled'.", show_default=False
        ),
    ],
    data: Annotated[
        Path,
        typer.Argument(
            help="Labelled text like the text to predict on, new to the model: a file, a folder, "
            "or - for standard input.",
            show_default=False,
        ),
    ],
    target_recall: Annotated[
        float,
        typer.Option(
            help="The share of mentions or documents to find, above 0 and below 1.",
            show_default=False,
            callback=_check_share,
        ),
    ],
    confidence: Annotated[
        float,
        typer.Option(
            help="The probability with which this holds, above 0 and below 1.",
            callback=_check_share,
        ),
    ] = 0.9,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the model with its guarantee to this folder: a new one, or the model's.",
            show_default=False,
        ),
    ] = None,
    count: Annotated[
        CountKind,
        typer.Option(help="What is found or missed: mentions, or documents that have one."),
    ] = CountKind.mentions,
    unit: Annotated[
        UnitKind,
        typer.Option(help="What the data is a random sample of: documents, or sentences."),
    ] = UnitKind.documents,
    match: Annotated[
        MatchKind,
        typer.Option(help="What finds a mention: the same mention, or one that shares a word."),
    ] = MatchKind.exact,
    format: InFormat = None,
    encoding: EncodingOption = None,
    skip_bad: SkipBad = False,
    runtime: RuntimeOption = None,
    device: DeviceOption = None,
    as_json: AsJson = False,
) -> None:
    """Find which candidates a person has to review so that few mentions are missed.

    On the labelled data, find the highest score of candidates with which a share of the mentions,
    or of the documents with a mention, is found. The bound is not an estimate: for text that is
    like the data, it holds with the given confidence, whatever the size of the data and however
    good the model is. discotag predict then adds the candidates to the mentions, marked as to
    review.

    [bold]Examples[/bold]

    discotag calibrate run/model labelled.jsonl --target-recall 0.9 --match overlap --out careful

    discotag calibrate bundled posts.jsonl --target-recall 0.95 --count documents --out screening

    discotag predict new.xlsx --model screening --out found.xlsx
    """
    from discotag.model.files import copy_model
    from discotag.prediction.guarantee import find_guarantee
    from discotag.prediction.loading import load

    tagger = load(model, runtime=runtime, device=device)
    folder = tagger.folder
    assert folder is not None
    if out is not None:
        _check_out(out, folder)
    reporter = Reporter(skip_bad)
    documents = list(
        read(data, format, splitter=tagger.splitter, report=reporter.report, encoding=encoding)
    )
    reporter.close()
    try:
        found = find_guarantee(
            tagger,
            documents,
            target_recall=target_recall,
            confidence=confidence,
            count=cast(Count, count.value),
            unit=cast(Unit, unit.value),
            match=cast(Match, match.value),
            progress=True,
        )
    except InputError as error:
        raise type(error)(f"{data}: {error}") from None
    if out is not None:
        copy_model(folder, out, tagger.with_guarantee(found.guarantee).config)
        say(f"wrote {out}")
    if as_json:
        print_data(asdict(found) | {"model": str(folder)})
    else:
        _show(found)


def _check_out(out: Path, model: Path) -> None:
    """Raise if writing a model would replace anything but this one."""
    same = out.resolve() == model.resolve()
    if not same and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists already; give --out a new folder, or the model's own")


def _show(found: Measured) -> None:
    """Print what was found, for people."""
    bound = found.guarantee
    console = plain_console()
    least = f"{bound.threshold:.4g}"
    console.print(f"With candidates of a score of at least {least}, the model {bound}.")
    if found.other_labels:
        left_out = counted(found.other_labels, "gold mention was", "gold mentions were")
        console.print(f"{left_out} left out because of other labels.")
    whole = "mentions" if bound.count == "mentions" else f"{bound.unit} with a mention"
    table = plain_table(
        "on this data", f"found of {found.gold:,} {whole}", "to read", "for each found"
    )
    hits = found.predicted * found.gold, found.found * found.gold
    reads = found.mentions, found.mentions + found.candidates
    for name, hit, read_ in zip(("mentions", "and candidates"), hits, reads, strict=True):
        each = f"{read_ / hit:.1f}" if hit else "–"
        table.add_row(name, percent(hit / found.gold, 1), f"{read_:,}", each)
    console.print(table)
