"""`discotag annotate`: correct what a model finds in a corpus, in the browser."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.exceptions import TyperException

from discotag.cli.annotate_export import export_annotations
from discotag.cli.commands import register
from discotag.cli.messages import say
from discotag.cli.options import (
    EncodingOption,
    IdColumnOption,
    ModelWordsOption,
    Reporter,
    Sentences,
    SentencesOption,
    SheetOption,
    SkipBad,
    TextColumnOption,
    Words,
    chosen_splitter,
    counting,
    splitter_of,
)
from discotag.cli.serve import (
    NEEDED,
    PORT,
    AllowHostOption,
    HostOption,
    PortOption,
    TokenFileOption,
    read_token,
)
from discotag.cli.setting_options import given as settings_given
from discotag.cli.train import train as train_command
from discotag.corpora.formats.registry import READABLE, WRITABLE
from discotag.corpora.tables import TableOptions
from discotag.counts import counted
from discotag.described import described_fields
from discotag.errors import InputError
from discotag.extras import check_installed
from discotag.training.settings import Settings

if TYPE_CHECKING:
    from discotag.annotate.training_process import Recipe

Which = StrEnum("Which", ["finished", "all"])

TRAIN_AFTER: Final = 30


def annotate(
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="CORPUS",
            help="What to annotate: a folder of texts, a table, or a corpus in any format. It is "
            "only read.",
        ),
    ],
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="<path>",
            help="The file that keeps the texts and all work on them. [default: beside CORPUS, "
            "with the ending .journal]",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="The model that proposes mentions: a folder, or a name on the Hugging Face hub. "
            "[default: the model that comes with discotag]",
            show_default=False,
        ),
    ] = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Begin without a model: people draw all mentions.")
    ] = False,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Labels of mentions, besides those of the model and the corpus.",
            show_default=False,
        ),
    ] = None,
    train: Annotated[
        bool,
        typer.Option(
            "--train", help="Train the next model when enough documents are finished, and use it."
        ),
    ] = False,
    train_after: Annotated[
        int, typer.Option(help="Documents to finish before the next training.", min=2)
    ] = TRAIN_AFTER,
    train_options: Annotated[
        str,
        typer.Option(
            metavar="OPTIONS",
            help="Further options of discotag train, such as '--num-train-epochs 5'.",
            show_default=False,
        ),
    ] = "",
    export: Annotated[
        str | None,
        typer.Option(
            metavar="<path>",
            help="Write the annotations to a file, or a folder ending in / for brat, and end.",
            show_default=False,
        ),
    ] = None,
    export_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"The format of --export; by default from its ending: {WRITABLE}.",
            show_default=False,
        ),
    ] = None,
    which: Annotated[
        Which,
        typer.Option(
            help="What --export writes: documents that are finished, or all, as far as they are.",
            metavar="<name>",
        ),
    ] = Which.finished,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help=f"The format of CORPUS: {READABLE}. [default: found from the content]",
            show_default=False,
        ),
    ] = None,
    text_column: TextColumnOption = None,
    id_column: IdColumnOption = None,
    sheet: SheetOption = None,
    by_line: Annotated[
        bool, typer.Option("--lines", help="Treat each line of plain text as a document.")
    ] = False,
    sentences: SentencesOption = Sentences.auto,
    words: ModelWordsOption = None,
    encoding: EncodingOption = None,
    skip_bad: SkipBad = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = PORT,
    token_file: TokenFileOption = None,
    allow_host: AllowHostOption = None,
) -> None:
    """Annotate a corpus in the browser, with the help of a model.

    The model proposes mentions, and people accept, change or draw them; a mention may have any
    number of fragments. Every action is at once in the journal, a file that also has the texts, so
    nothing is lost when the program or the machine stops. The same command continues. Several
    people can work on one corpus; where their versions differ, both are kept until somebody
    decides. The documents that are the most useful to correct come first.

    [bold]Examples[/bold]

    discotag annotate posts/

    discotag annotate notes.csv --text-column note --labels Symptom,Drug --no-model

    discotag annotate posts/ --train --train-after 30

    discotag annotate posts/ --export posts.jsonl
    """
    if no_model and model is not None:
        raise typer.BadParameter("--no-model and --model exclude each other")
    from discotag.annotate.corpus import default_journal

    journal = journal or default_journal(corpus)
    if export is not None:
        export_annotations(corpus, journal, export, export_format, str(which))
        return
    if export_format is not None or which != Which.finished:
        raise typer.BadParameter("--format and --which are for --export")
    if train_options and not train:
        raise typer.BadParameter("--train-options is for --train")
    check_installed("annotate", "serve", *NEEDED)
    if not corpus.exists():
        raise InputError(f"{corpus}: no such file or folder")
    from discotag.annotate.app import make_app
    from discotag.annotate.corpus import Source
    from discotag.annotate.project import Plan, open_project
    from discotag.annotate.training import TrainingPlan
    from discotag.model.files import find_model, read_config
    from discotag.web.protection import Policy
    from discotag.web.running import allowed_hosts, run

    token = read_token(token_file)
    reporter = Reporter(skip_bad)
    source = Source(
        corpus,
        format=input_format,
        table=TableOptions(text_column, id_column, sheet),
        by_line=by_line,
        splitter=chosen_splitter(sentences, words or Words.pattern)
        if no_model
        else splitter_of(read_config(find_model(model))[1], sentences, words),
        encoding=encoding,
        report=reporter.report,
    )
    training = TrainingPlan(train_after, _recipe(train_options)) if train else None
    plan = Plan(
        source,
        journal=journal,
        model=model,
        use_model=not no_model,
        labels=_labels(labels),
        training=training,
    )
    with ExitStack() as stack:
        with counting("Reading") as progress:
            project = stack.enter_context(open_project(plan, progress))
        reporter.close(advice="")
        for line in (_about(project, journal), *_changes(project)):
            say(line)
        policy = Policy(token, allowed_hosts(host, allow_host or []))
        run(
            lambda: make_app(project, policy),
            host=host,
            port=port,
            token=token,
            on_ready=lambda url: say(f"annotating at {url}; stop with Ctrl-C"),
        )
    say(f"stopped; everything is in {journal}")


def _about(project: Any, journal: Path) -> str:
    """Return a line on what was read into the journal."""
    found = project.imported
    parts = [f"{journal}: {counted(found.new + found.known + found.gone, 'document')}"]
    if found.new and (found.known or found.gone):
        parts.append(f"{found.new:,} of them new")
    if found.renamed:
        parts.append(f"{found.renamed:,} with another name than before")
    if found.gone:
        parts.append(f"{found.gone:,} no longer in the corpus, so nobody is asked to annotate them")
    return f"{', '.join(parts)}; the journal has the texts, too"


def _changes(project: Any) -> list[str]:
    """Return how annotations that have changed in the corpus were treated, as lines."""
    found = project.imported
    said = []
    if found.updated:
        said.append(
            f"the annotations of {counted(found.updated, 'document')} have changed in the corpus; "
            "nobody had worked on them, so the new ones are taken over"
        )
    if found.outdated:
        said.append(
            f"the annotations of {counted(found.outdated, 'document')} have changed in the corpus; "
            "somebody has worked on them, so the journal keeps the former ones"
        )
    return said


def _labels(given: str | None) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(each.strip() for each in (given or "").split(",") if each.strip()))
    if given is not None and not found:
        raise typer.BadParameter("--labels needs a label, or several with commas")
    return found


def _recipe(given: str) -> Recipe:
    """Return how to train, from further options of `discotag train`."""
    from discotag.annotate.training_process import Recipe

    try:
        options = shlex.split(given)
    except ValueError as error:
        raise typer.BadParameter(f"--train-options: {str(error).lower()}") from None
    own = ("--dev", "--out", "--from-model", "--labels", "--test")
    taken = [name for name in (each.split("=")[0] for each in options) if name in own]
    if taken:
        raise typer.BadParameter(f"--train-options: {taken[0]} is set by discotag annotate")
    training = typer.Typer(add_completion=False)
    register(training, "train", train_command)
    command = typer.main.get_command(training)
    try:
        context = command.make_context("train", ["-", "--dev", "-", "--out", "-", *options])
    except TyperException as error:
        raise typer.BadParameter(f"--train-options: {error.format_message()}") from None
    preset, config = context.params["preset"], context.params["config"]
    settings = {each.name: context.params[each.name] for each in described_fields(Settings)}
    return Recipe(
        settings_given(settings),
        None if preset is None else str(preset),
        None if config is None else str(config.absolute()),
        tuple(context.params["teachers"] or ()),
        tuple(str(each.absolute()) for each in context.params["unlabelled"] or ()),
    )
