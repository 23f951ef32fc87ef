"""`discotag benchmark`: how fast a model is on this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from discotag import __version__
from discotag.cli.messages import say
from discotag.cli.options import (
    AsJson,
    DeviceOption,
    EncodingOption,
    RuntimeOption,
    plain_console,
    plain_table,
    print_data,
)
from discotag.counts import counted


def benchmark(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files or folders with texts, as for predict. [default: made-up posts]",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option("--text", "-t", help="A text; may be repeated.", show_default=False),
    ] = None,
    encoding: EncodingOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="A folder or a name on the hub. [default: the bundled model]",
            show_default=False,
        ),
    ] = None,
    runtime: RuntimeOption = None,
    device: DeviceOption = None,
    sentences: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The number of sentences. [default: as many as take about 3 seconds]",
            show_default=False,
        ),
    ] = None,
    repeat: Annotated[
        int, typer.Option(min=1, help="Runs of each measurement; the fastest counts.")
    ] = 3,
    as_json: AsJson = False,
) -> None:
    """Measure how fast a model finds mentions on this machine, and where the time goes.

    [bold]Examples[/bold]

    discotag benchmark

    discotag benchmark reviews.txt --model run/model --device cuda --json
    """
    from discotag.corpora.inputs import Inputs
    from discotag.prediction.benchmark import STEPS, WORDS_IN, measure
    from discotag.prediction.loading import load

    documents = None
    if inputs or text:
        documents = list(Inputs(inputs or (), text or (), encoding=encoding).documents())
    tagger = load(model, runtime=runtime, device=device)
    say("measuring, which takes about half a minute …")
    speed = measure(tagger, documents, sentences=sentences, repeat=repeat)
    if as_json:
        print_data(
            {
                "discotag": __version__,
                "model": str(tagger.folder),
                "runtime": tagger.runtime.name,
                "device": tagger.runtime.device,
                **asdict(speed),
                "sentences_per_second": speed.sentences_per_second,
            }
        )
        return
    table = plain_table("", "sentences a second", "share of the time")
    whole = speed.seconds[WORDS_IN]
    for name, rate in speed.sentences_per_second.items():
        share = f"{speed.seconds[name] / whole:.0%}" if name in STEPS[1:] else ""
        table.add_row(name, f"{rate:,.0f}", share)
    console = plain_console()
    console.print(repr(tagger))
    console.print(
        f"{counted(speed.sentences, 'sentence')} of {speed.words / speed.sentences:.1f} words, "
        f"{counted(speed.mentions, 'mention')} found"
    )
    console.print(table)
    if tagger.runtime.depth > 1:
        console.print("Steps were measured one by one; together they overlap.")
