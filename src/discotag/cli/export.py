"""`discotag export`: a model as ONNX, which needs no PyTorch to predict."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from discotag.cli.messages import say
from discotag.cli.options import AsJson, plain_console, plain_table, print_data
from discotag.extras import check_installed
from discotag.model.precision import EightBits


def export(
    model: Annotated[Path, typer.Argument(help="The folder of a model.", show_default=False)],
    out: Annotated[
        Path, typer.Argument(help="The folder to write; may be the same.", show_default=False)
    ],
    texts: Annotated[
        Path | None,
        typer.Option(
            help="A file with one text per line, to compare results on. [default: a few sentences]",
            show_default=False,
        ),
    ] = None,
    eight_bits: Annotated[
        EightBits,
        typer.Option(
            help="What the export in eight bits computes with: products is the fastest on a CPU, "
            "weights the closest to the model.",
        ),
    ] = EightBits.PRODUCTS,
    as_json: AsJson = False,
) -> None:
    """Write a model as ONNX, in floats and in eight bits, and compare its answers with PyTorch.

    OUT gets model.onnx, model_int8.onnx and copies of the configuration, the tokenizer and the
    card: all that is needed to predict where PyTorch is not installed. If OUT is the model's own
    folder, its model.safetensors stays the default; --runtime onnx or onnx-int8 uses the export.

    [bold]Examples[/bold]

    discotag export run/model small-model/

    discotag export model/ model/ --texts reviews.txt --eight-bits weights --json
    """
    check_installed("export", "train", "torch", "transformers", "onnx")
    from discotag.model.files import check_weights, read_config

    config = read_config(model)[1]  # before PyTorch is loaded, which takes seconds
    check_weights(model)
    from discotag.export import SAMPLE
    from discotag.export import export as write
    from discotag.export.agreement import NEAR

    sample = SAMPLE if texts is None else tuple(_lines(texts))
    say("exporting, which takes a while …")
    found = write(model, out, sample, eight_bits)
    if config.guarantee is not None and read_config(out)[1].guarantee is None:
        say(
            f"{out}: without the guarantee of {model}, which was measured with other weights; "
            "`discotag calibrate` measures one"
        )
    if as_json:
        print_data([asdict(each) for each in found])
        return
    table = plain_table(
        "file for", "MB", "scores differ by", "probabilities by", f"within {NEAR}", "same mentions"
    )
    for each in found:
        table.add_row(
            each.runtime,
            f"{each.size / 1e6:.1f}",
            f"{each.score_difference:.2g}",
            f"{each.mention_difference:.2g}",
            f"{each.near:.1%}",
            f"{each.same:.1%} of {each.sentences:,} sentences",
        )
    plain_console().print(table)


def _lines(path: Path) -> list[str]:
    from discotag.corpora import strict
    from discotag.corpora.parsing.files import lines

    return [line for _, line in lines(path, strict) if line]
