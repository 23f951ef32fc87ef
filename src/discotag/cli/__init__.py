"""The command line: a module per command."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from discotag import __version__
from discotag.cli import (
    corpus_check,
    corpus_convert,
    corpus_prepare,
    corpus_split,
    evaluate,
    export,
    lexicon,
    predict,
    scheme,
    train,
)
from discotag.errors import DiscotagError

app = typer.Typer(
    help="Find mentions in text, also those whose words do not stand side by side.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
corpus = typer.Typer(
    help="Read, check, convert, split and prepare corpora.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"discotag {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """What stands before a command."""


app.command("predict")(predict.predict)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.add_typer(corpus, name="corpus")
corpus.command("check")(corpus_check.check)
corpus.command("convert")(corpus_convert.convert)
corpus.command("split")(corpus_split.split)
corpus.command("prepare")(corpus_prepare.prepare)
app.command("export")(export.export)
app.add_typer(lexicon.app, name="lexicon")
app.command("scheme")(scheme.scheme)


def main() -> None:
    """Run the command line; bad input ends in one line on stderr and status 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what a terminal cannot show becomes a question mark
            stream.reconfigure(errors="replace")
    try:
        app()
    except DiscotagError as error:
        print(f"discotag: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:  # such as a full disk below standard output
        print(f"discotag: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        sys.exit(1)
