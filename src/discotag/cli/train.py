"""`discotag train`: a corpus to a model."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from discotag.cli.messages import Interrupted
from discotag.errors import DiscotagError
from discotag.training.settings import DEFAULT_ENCODER, OBJECTIVES, PRECISIONS, make_settings

Objective = StrEnum("Objective", list(OBJECTIVES))  # type: ignore[misc]
Naming = StrEnum("Naming", ["structural", "semantic"])
Precision = StrEnum("Precision", list(PRECISIONS))  # type: ignore[misc]

LEARNING, SCHEME, DATA, TEACHERS = "Learning", "Scheme", "Data", "Learning from models"


def train(
    train: Annotated[Path, typer.Argument(help="The corpus to train on, in any format.")],
    dev: Annotated[Path, typer.Option(help="The corpus to choose the best epoch and seed by.")],
    out: Annotated[Path, typer.Option(help="The folder of the run; one not finished goes on.")],
    test: Annotated[Path | None, typer.Option(help="A corpus to evaluate on at the end.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="Settings as YAML; options given here win.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(help=f"A folder or a name on the hub. [{DEFAULT_ENCODER}]"),
    ] = None,
    from_model: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="A discotag model to continue from instead: a folder, a name on the hub, or "
            "bundled for the one that comes with discotag. Encoder, scheme and linear layer are "
            "its.",
        ),
    ] = None,
    objective: Annotated[
        Objective | None, typer.Option(help="The loss. [nll]", rich_help_panel=LEARNING)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the data. [20]", rich_help_panel=LEARNING)
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Highest learning rate. [1e-5]", rich_help_panel=LEARNING)
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Sentences a step. [32]", rich_help_panel=LEARNING)
    ] = None,
    dropout: Annotated[
        float | None,
        typer.Option(help="Between encoder and linear layer. [0.5]", rich_help_panel=LEARNING),
    ] = None,
    warmup: Annotated[
        float | None,
        typer.Option(
            help="Share of steps in which the rate rises. [0.1]", rich_help_panel=LEARNING
        ),
    ] = None,
    weight_decay: Annotated[
        float | None, typer.Option(help="Of all weights. [0.01]", rich_help_panel=LEARNING)
    ] = None,
    gradient_norm: Annotated[
        float | None,
        typer.Option(help="Longer gradients are cut to it. [1]", rich_help_panel=LEARNING),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The first seed. [1]", rich_help_panel=LEARNING)
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(help="Train so many, keep the best. [1]", rich_help_panel=LEARNING),
    ] = None,
    precision: Annotated[
        Precision | None,
        typer.Option(help="auto: bf16 on a GPU that has it. [auto]", rich_help_panel=LEARNING),
    ] = None,
    checkpoint_every: Annotated[
        int | None, typer.Option(help="Epochs between checkpoints. [1]", rich_help_panel=LEARNING)
    ] = None,
    report_to: Annotated[
        list[str] | None,
        typer.Option(
            help="Log there too, such as wandb; again for more. TensorBoard is always logged to.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    slots: Annotated[
        int | None,
        typer.Option(help="Component types, 0 (BIO) to 4. [2]", rich_help_panel=SCHEME),
    ] = None,
    naming: Annotated[
        Naming | None,
        typer.Option(help="What slot names mean. [by the objective]", rich_help_panel=SCHEME),
    ] = None,
    gap_mentions: Annotated[
        bool | None,
        typer.Option(
            "--gap-mentions/--no-gap-mentions",
            help="Allow continuous mentions in gaps. [no]",
            rich_help_panel=SCHEME,
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            help="Learn this label; again for more. [all in the corpus]", rich_help_panel=SCHEME
        ),
    ] = None,
    arc_weights: Annotated[
        bool | None,
        typer.Option(
            "--arc-weights/--no-arc-weights",
            help="Learn weights on arcs of the grammar. [no]",
            rich_help_panel=SCHEME,
            show_default=False,
        ),
    ] = None,
    without_mentions: Annotated[
        float | None,
        typer.Option(
            help="Train on so many sentences without mentions for each one with. [all]",
            rich_help_panel=DATA,
        ),
    ] = None,
    augment: Annotated[
        int | None,
        typer.Option(
            help="New sentences for each one with a mention set, by swapping components. [0]",
            rich_help_panel=DATA,
        ),
    ] = None,
    lexicon: Annotated[
        str | None,
        typer.Option(
            help="Body parts, to augment and for the weakly supervised objectives. [WordNet's]",
            rich_help_panel=DATA,
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(help="Subwords the encoder takes at a time. [512]", rich_help_panel=DATA),
    ] = None,
    overlap: Annotated[
        int | None,
        typer.Option(help="Subwords that windows share. [128]", rich_help_panel=DATA),
    ] = None,
    distil: Annotated[
        list[str] | None,
        typer.Option(
            help="A model to learn from too, as for --from; again for more.",
            rich_help_panel=TEACHERS,
        ),
    ] = None,
    distil_weight: Annotated[
        float | None,
        typer.Option(help="Share of the models in the loss. [0.5]", rich_help_panel=TEACHERS),
    ] = None,
    unlabelled: Annotated[
        list[Path] | None,
        typer.Option(
            help="Text that only the models label; again for more.", rich_help_panel=TEACHERS
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Train a model on a corpus.

    The defaults are the recipe of the paper. Sentences that the scheme cannot hold are left out of
    training and listed in the run folder; development and test data keep all.

    [bold]Examples[/bold]

    discotag train train.jsonl --dev dev.jsonl --test test.jsonl --out run

    discotag train train.jsonl --dev dev.jsonl --out run --objective soft_em --seeds 6

    discotag train train.jsonl --dev dev.jsonl --out run --encoder ./MiniLM --rate 1e-4

    discotag train train.jsonl --dev dev.jsonl --out run --from bundled --rate 5e-5

    torchrun --nproc-per-node 4 -m discotag train train.jsonl --dev dev.jsonl --out run
    """
    flags: dict[str, Any] = {
        "encoder": encoder,
        "from_model": from_model,
        "objective": objective and str(objective),
        "epochs": epochs,
        "rate": rate,
        "batch_size": batch_size,
        "dropout": dropout,
        "warmup": warmup,
        "weight_decay": weight_decay,
        "gradient_norm": gradient_norm,
        "seed": seed,
        "seeds": seeds,
        "precision": precision and str(precision),
        "checkpoint_every": checkpoint_every,
        "report_to": tuple(report_to) if report_to else None,
        "slots": slots,
        "naming": naming and str(naming),
        "gap_mentions": gap_mentions,
        "labels": tuple(label) if label else None,
        "arc_weights": arc_weights,
        "without_mentions": without_mentions,
        "augment": augment,
        "lexicon": lexicon,
        "window": window,
        "overlap": overlap,
        "distil_weight": distil_weight,
    }
    try:
        settings = make_settings(config, flags)
        from discotag.training.progress import listener
        from discotag.training.runs import Sources, run
    except ModuleNotFoundError as error:
        raise DiscotagError(f"training needs {error.name}: pip install 'discotag[train]'") from None

    sources = Sources(train, dev, test, tuple(distil or ()), tuple(unlabelled or ()))
    try:
        figures = run(sources, settings, out, listener())
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped; the same command goes on from the last checkpoint in {out}"
        ) from None
    if not figures:  # another process than the first
        return
    if as_json:
        print(json.dumps(figures, ensure_ascii=False))
    else:
        _show(figures, out)


def _show(figures: dict[str, Any], out: Path) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    data = figures["data"]
    reasons = ", ".join(f"{name} {number}" for name, number in data["reasons"].items())
    console.print(
        f"Trained on {data['train']['sentences']} sentences with {data['train']['mentions']} "
        f"mentions; left out {data['left_out']}{f' ({reasons})' if reasons else ''}."
    )
    parts = [part for part in ("dev", "test") if figures[part] is not None]
    table = Table(
        "seed", "best epoch", title="F1: all / in discontinuous sentences / discontinuous"
    )
    table.title_justify = "left"
    for part in parts:
        table.add_column(part, justify="right")
    for result in figures["seeds"]:
        kept = " (kept)" if result["seed"] == figures["best_seed"] else ""
        table.add_row(
            f"{result['seed']}{kept}",
            str(result["best_epoch"]),
            *(_three(part["f1"] for part in result[name].values()) for name in parts),
        )
    if len(figures["seeds"]) > 1:
        table.add_section()
        for name in ("mean", "deviation"):
            over = figures["over_seeds"]
            table.add_row(
                name, "", *(_three(each[name] for each in over[part].values()) for part in parts)
            )
    console.print(table)
    console.print(f"The model is in {out / 'model'}")


def _three(values: Any) -> str:
    return " / ".join(f"{100 * value:.2f}" for value in values)
