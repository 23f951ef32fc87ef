"""`discotag train`: train a model on a corpus."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from discotag.cli.messages import Interrupted, set_silent, set_verbosity
from discotag.cli.options import Reporter, SkipBad, plain_console, plain_table
from discotag.cli.setting_options import takes_options
from discotag.cli.training_progress import shown_progress
from discotag.corpora.parsing.files import created
from discotag.counts import counted
from discotag.errors import DiscotagError
from discotag.evaluation import Report
from discotag.extras import how_to_install
from discotag.render.evaluation_page import evaluation_page
from discotag.training.settings import PRESETS, TEACHERS, Settings, make_settings
from discotag.training.sources import Sources

REPORT: Final = "report.html"

Preset = StrEnum("Preset", {each: each for each in PRESETS})  # type: ignore[misc]


@takes_options(Settings)
def train(
    train: Annotated[Path, typer.Argument(help="The corpus to train on, in any format.")],
    dev: Annotated[
        Path, typer.Option(help="The corpus that the epoch and the seed to keep are chosen on.")
    ],
    out: Annotated[
        Path, typer.Option(help="The run folder; an interrupted run in it is continued.")
    ],
    test: Annotated[Path | None, typer.Option(help="A corpus to evaluate on at the end.")] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="A YAML file of settings; options take precedence over it."),
    ] = None,
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="The settings to begin with: best, which was tuned for discontinuous mentions, or "
            "paper, those of Corro (2024). [default: best]",
            show_default=False,
            metavar="<name>",
        ),
    ] = None,
    *,
    teachers: Annotated[
        list[str] | None,
        typer.Option(
            help="A model to learn from, given as for --from-model; may be repeated.",
            rich_help_panel=TEACHERS,
        ),
    ] = None,
    unlabelled: Annotated[
        list[Path] | None,
        typer.Option(
            help="Unlabelled text to learn from the teachers only; may be repeated.",
            rich_help_panel=TEACHERS,
        ),
    ] = None,
    skip_bad: SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    **options: Any,
) -> None:
    """Train a model on a corpus.

    The defaults are a recipe that finds discontinuous mentions; `--preset paper` is the recipe of
    the paper. Sentences that the scheme cannot represent are left out of training and listed in the
    run folder; development and test data keep all sentences.

    [bold]Examples[/bold]

    discotag train train.jsonl --dev dev.jsonl --test test.jsonl --out run

    discotag train train.jsonl --dev dev.jsonl --out run --objective soft_em --num-seeds 6

    discotag train train.jsonl --dev dev.jsonl --out run --encoder ./MiniLM --learning-rate 1e-4

    discotag train train.jsonl --dev dev.jsonl --out run --from-model bundled --learning-rate 5e-5

    torchrun --nproc-per-node 4 -m discotag train train.jsonl --dev dev.jsonl --out run
    """
    try:
        settings = make_settings(config, options, preset)
        from discotag.training.processes import EndedElsewhereError, is_first
        from discotag.training.runs import run
    except ModuleNotFoundError as error:
        raise DiscotagError(f"training needs {error.name}: {how_to_install('train')}") from None

    sources = Sources(train, dev, test, tuple(teachers or ()), tuple(unlabelled or ()))
    reporter = Reporter(skip_bad)

    def write_report(report: Report) -> None:
        with created(out / REPORT) as stream:
            stream.write(evaluation_page(report))

    if not is_first():
        set_silent()
    try:
        with shown_progress() as listener:
            figures = run(
                sources,
                settings,
                out,
                listener,
                report_problem=reporter.report if skip_bad else None,
                write_report=write_report,
            )
    except EndedElsewhereError:
        set_silent()
        raise
    except DiscotagError:
        set_verbosity()
        raise
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped; the same command continues from the last checkpoint in {out}"
        ) from None
    reporter.close()
    if not figures:  # under torchrun, only the first process has them
        return
    if as_json:
        print(json.dumps(figures, ensure_ascii=False))
    else:
        _show(figures, out, dev)
        if reporter.errors:
            invalid = counted(reporter.errors, "invalid part", "invalid parts")
            plain_console().print(f"Left out {invalid} of the corpora.")


def _show(figures: dict[str, Any], out: Path, dev: Path) -> None:
    """Print the figures of all seeds as a table."""
    console = plain_console()
    data = figures["data"]
    train = data["train"]
    reasons = ", ".join(f"{name} {number}" for name, number in data["reasons"].items())
    added = f" ({data['augmented']} made by augmentation)" if data["augmented"] else ""
    console.print(
        f"Trained on {train['sentences']} sentences{added} with {train['mentions']} mentions; "
        f"left out {data['left_out']}{f' ({reasons})' if reasons else ''}."
    )
    parts = [part for part in ("dev", "test") if figures[part] is not None]
    table = plain_table(
        "seed", "epoch", title="F1: all / in discontinuous sentences / discontinuous"
    )
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
    for part in parts[-1:]:
        rare = figures[part]["discontinuous"]
        if rare["gold"] and not rare["predicted"]:
            console.print(
                f"Note: the model finds none of the {rare['gold']:.0f} discontinuous mentions of "
                f"the {part} data. --preset best, a higher --learning-rate, more epochs, --augment "
                "or --fold may help."
            )
    console.print(f"The model is in {out / 'model'}; {out / REPORT} shows its mistakes on {dev}")


def _three(values: Any) -> str:
    return " / ".join(f"{100 * value:.2f}" for value in values)
