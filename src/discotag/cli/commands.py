"""What all commands have in common: how they are registered, and the options each of them takes."""

from __future__ import annotations

import inspect
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Annotated, Any, Final

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from discotag.cli.messages import set_verbosity, warn

HELP_NAMES: Final = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command whose help shows options as they are written here.

    Flags have no type, and square brackets are not markup.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for each in self.params:
            help = getattr(each, "help", None)
            if help is not None:
                each.help = escape(help)  # type: ignore[attr-defined]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, flags without a type."""
        return _without_flag_types(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say which options are given twice and take one value: the last one counts."""
        given: Counter[Any] = Counter(
            each
            for each in self.make_parser(ctx).parse_args(list(args))[2]
            if each.nargs == 1 and not each.multiple and not getattr(each, "is_flag", True)
        )
        for option, times in given.items():
            if times > 1:
                warn(f"{option.opts[0]} is given {times} times; the last one counts")
        return super().parse_args(ctx, args)


class Group(TyperGroup):
    """A group of commands, with the same help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, flags without a type."""
        return _without_flag_types(super().get_params(ctx))


def register(app: typer.Typer, name: str, function: Callable[..., None]) -> None:
    """Make a function a command of an application; it also takes `--verbose` and `--quiet`."""
    signature = inspect.signature(function, eval_str=True)
    common = inspect.signature(_common_options, eval_str=True).parameters.values()

    @wraps(function)
    def run(verbose: bool, quiet: bool, **given: Any) -> None:
        set_verbosity(verbose=verbose, quiet=quiet)
        try:
            function(**given)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever reads the output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    parameters = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in (*signature.parameters.values(), *common)
    ]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    app.command(name, cls=Command)(run)


def _common_options(
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Explain choices, such as that of the runtime.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only errors.")] = False,
) -> None:
    """Declare the options that every command takes."""


def _without_flag_types(parameters: Iterable[Any]) -> list[Any]:
    found = list(parameters)
    for each in found:
        if getattr(each, "is_flag", False) and each.metavar is None:
            each.metavar = ""
    return found
