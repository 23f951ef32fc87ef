"""The command line: a module per command."""

from __future__ import annotations

import sys
from io import TextIOWrapper

import typer

from discotag.cli import scheme
from discotag.errors import DiscotagError

app = typer.Typer(
    help="Find mentions in text, also those whose words do not stand side by side.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("scheme")(scheme.scheme)


@app.callback()
def _group() -> None:
    """Without a callback, typer would make the only command the program itself."""


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
