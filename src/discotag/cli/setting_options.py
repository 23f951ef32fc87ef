"""Options of a command that are generated from the fields of `Settings`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from inspect import Parameter
from typing import Annotated, Any, TypeVar, get_origin, get_type_hints

import typer

from discotag.training.settings import Description, Settings, describe

Function = TypeVar("Function", bound=Callable[..., None])


def takes_settings(kind: type[Settings] = Settings) -> Callable[[Function], Function]:
    """Return a decorator that gives a command an option for each setting.

    The command takes settings as keyword arguments, `**settings`, None where an option is not
    given. In its help they come before its keyword-only options.
    """

    def decorated(function: Function) -> Function:
        signature = inspect.signature(function, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind != Parameter.VAR_KEYWORD]
        before = [each for each in own if each.kind != Parameter.KEYWORD_ONLY]
        parameters = [*before, *setting_options(kind), *own[len(before) :]]
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters]
        )
        return function

    return decorated


def setting_options(kind: type[Settings] = Settings) -> list[Parameter]:
    """Return an option for each setting, named like it: `learning_rate` is `--learning-rate`."""
    hints = get_type_hints(kind)
    defaults = {each.name: each.default for each in fields(kind)}
    return [
        _option(name, hints[name], defaults[name], description)
        for name, description in describe(kind).items()
    ]


def _option(name: str, kind: Any, default: object, description: Description) -> Parameter:
    flag, help, metavar = f"--{name.replace('_', '-')}", description.help, None
    if kind is bool:
        flag = f"{flag}/--no-{flag[2:]}"
        default = "yes" if default else "no"
    elif get_origin(kind) is tuple:
        kind, metavar = list[str], "<str>"
    elif description.choices:
        kind = _choice(name, description.choices)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        metavar = "<name>"  # the choices are in the help: a column for them would be too wide
        help = f"{help} One of {', '.join(kind)}."
    shown = description.default_text or str(default).replace("e-0", "e-")
    option = typer.Option(
        flag,
        help=f"{help} [default: {shown}]",
        rich_help_panel=description.group or None,
        show_default=False,
        metavar=metavar,
    )
    annotation = Annotated[kind | None, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _choice(name: str, choices: tuple[str, ...]) -> Any:
    return StrEnum(name, {each: each for each in choices})
