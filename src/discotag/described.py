"""Fields of dataclasses with a help text and bounds, so that each option is declared once.

`discotag.training.settings.Settings` and `discotag.prediction.wanted.Wanted` consist of such
fields. Options of commands, fields of requests and keys of files are made from them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Final, TypeGuard, Union, get_args, get_origin, get_type_hints

from discotag.errors import InputError

UNBOUNDED: Final = float("inf")

TYPE_NAMES: Final = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


@dataclass(frozen=True)
class Description:
    """What is known about a field besides its name, type and default.

    Attributes:
        help: What the field does, as a sentence.
        group: The heading that it is listed under; empty: the general one.
        least, most: The bounds of a number.
        choices: The values of a text; empty: any.
        default_text: What the default means, in words; empty: the default itself.
    """

    help: str
    group: str = ""
    least: float = -UNBOUNDED
    most: float = UNBOUNDED
    choices: tuple[str, ...] = ()
    default_text: str = ""


def described(default: Any, help: str, **more: Any) -> Any:
    """Declare a field; the arguments after the default are those of `Description`.

    Example:
        >>> @dataclass(frozen=True)
        ... class Wish:
        ...     number: int = described(3, "How many.", least=1)
        ...     def __post_init__(self) -> None:
        ...         check_fields(self)
        >>> Wish(number=0)
        Traceback (most recent call last):
        ...
        discotag.errors.InputError: number must be at least 1; got 0
    """
    return field(default=default, metadata={"description": Description(help, **more)})


def describe(kind: type) -> dict[str, Description]:
    """Return what is known about each described field of a dataclass, by name."""
    return {each.name: each.metadata["description"] for each in described_fields(kind)}


def described_fields(kind: type) -> list[Field[Any]]:
    """Return the described fields of a dataclass."""
    return [each for each in fields(kind) if "description" in each.metadata]


def hints_of(kind: type) -> dict[str, Any]:
    """Return the types of the fields of a dataclass, without None where that is allowed."""
    return {name: _needed(hint) for name, hint in get_type_hints(kind).items()}


def check_fields(instance: Any, error: type[InputError] = InputError) -> None:
    """Check the described fields of a frozen dataclass, and make their values of their types.

    Raises:
        InputError: A value has the wrong type, is not one of the choices, or is out of bounds; it
            is raised as an `error`.
    """
    kind = type(instance)
    hints = get_type_hints(kind)
    every = describe(kind)
    try:
        for name in every:
            value = _coerced(name, getattr(instance, name), hints[name])
            object.__setattr__(instance, name, value)
        for name, description in every.items():
            _check(name, getattr(instance, name), description)
    except InputError as wrong:
        raise error(str(wrong)) from None


def plain(value: object) -> object:
    """Return a value as YAML and JSON have it."""
    if isinstance(value, StrEnum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number, and neither true nor false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _needed(hint: Any) -> Any:
    """Return a type without None."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    kinds = [each for each in get_args(hint) if each is not NoneType]
    return kinds[0] if len(kinds) == 1 else hint


def _coerced(name: str, value: object, hint: Any) -> object:
    """Return a value as its type wants it; YAML reads 1e-5 as text and 1 as an int.

    Raises:
        InputError: The value has another type.
    """
    kind = _needed(hint)
    if value is None and kind is not hint:
        return None
    if get_origin(kind) is UnionType:  # such as bool | float | None
        if value is None and NoneType in get_args(kind):
            return None
        if isinstance(value, bool) and bool in get_args(kind):
            return value
        kind = next(each for each in get_args(kind) if each not in (bool, NoneType))
    if get_origin(kind) is tuple:
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise InputError(f"{name} must be a list of {get_args(kind)[0].__name__}; got {value!r}")
    if issubclass(kind, StrEnum):
        if value in list(kind):
            return kind(value)
        raise InputError(f"{name} must be one of {', '.join(kind)}; got {value!r}")
    number = {int: Integral, float: Real}.get(kind)
    if kind is float and isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    if number is not None and isinstance(value, number) and not isinstance(value, bool):
        value = kind(value)
    if kind is str and isinstance(value, StrEnum):
        value = value.value
    if type(value) is not kind or value != value:
        raise InputError(f"{name} must be {TYPE_NAMES[kind]}; got {value!r}")
    return value


def _check(name: str, value: Any, description: Description) -> None:
    """Raise `InputError` if a value is not one of the choices, or out of bounds."""
    least, most, choices = description.least, description.most, description.choices
    if choices and value and value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}; got {value!r}")
    if is_number(value) and not least <= value <= most:
        bounds = f"at least {least}" if most == UNBOUNDED else f"from {least} to {most}"
        raise InputError(f"{name} must be {bounds}; got {value}")
