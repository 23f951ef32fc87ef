"""Options of a command that are generated from the described fields of a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from enum import StrEnum
from inspect import Parameter
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer

from discotag.described import UNBOUNDED, Description, described_fields, hints_of

Function = TypeVar("Function", bound=Callable[..., None])


def takes_options(
    kind: type, *, without: Collection[str] = (), bounded: bool = False
) -> Callable[[Function], Function]:
    """Return a decorator that gives a command an option for each described field of a dataclass.

    The command takes them as keyword arguments, `**options`, None where an option is not given. In
    its help they come before its keyword-only options.

    Args:
        kind: The dataclass.
        without: The names of fields without an option.
        bounded: Whether the command line itself checks the bounds of numbers, so that a number out
            of bounds is wrong usage.
    """

    def decorated(function: Function) -> Function:
        signature = inspect.signature(function, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind != Parameter.VAR_KEYWORD]
        before = [each for each in own if each.kind != Parameter.KEYWORD_ONLY]
        hints = hints_of(kind)
        options = [
            _option(
                each.name, hints[each.name], each.default, each.metadata["description"], bounded
            )
            for each in described_fields(kind)
            if each.name not in without
        ]
        parameters = [*before, *options, *own[len(before) :]]
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters]
        )
        return function

    return decorated


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value not in (None, [])}


def _option(
    name: str, kind: Any, default: object, description: Description, bounded: bool
) -> Parameter:
    flag, help, metavar = f"--{name.replace('_', '-')}", description.help, None
    if get_origin(kind) is UnionType and bool in get_args(kind):
        kind = bool
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
    limits = {"min": description.least, "max": description.most} if bounded else {}
    bounds: dict[str, Any] = {key: each for key, each in limits.items() if abs(each) != UNBOUNDED}
    option = typer.Option(
        flag,
        help=f"{help} [default: {shown}]",
        rich_help_panel=description.group or None,
        show_default=False,
        metavar=metavar,
        **bounds,
    )
    annotation = Annotated[kind | None, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _choice(name: str, choices: tuple[str, ...]) -> Any:
    return StrEnum(name, {each: each for each in choices})
