"""Check the types of JSON values."""

from __future__ import annotations

from typing import Any

from discotag.corpora.parsing.problems import MalformedError


def as_object(data: Any, what: str) -> dict[str, Any]:
    """Return data that must be an object.

    Raises:
        MalformedError: The data is not an object.
    """
    if not isinstance(data, dict):
        raise MalformedError(f"{what} must be an object in curly brackets")
    return data


def as_list(data: dict[str, Any], key: str) -> list[Any]:
    """Return the list under a key of an object; an empty list if there is none.

    Raises:
        MalformedError: The value is not a list.
    """
    found = data.get(key)
    if found is not None and not isinstance(found, list):
        raise MalformedError(f"{key!r} must be a list")
    return found or []


def as_objects(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the list of objects under a key of an object.

    Raises:
        MalformedError: The value is not a list of objects.
    """
    return [as_object(each, f"each of {key!r}") for each in as_list(data, key)]


def as_text(data: Any, what: str) -> str:
    """Return data that must be a string.

    Raises:
        MalformedError: The data is not a string.
    """
    if not isinstance(data, str):
        raise MalformedError(f"{what} must be a string")
    return data


def as_number(data: Any, what: str) -> int:
    """Return data that must be a whole number.

    Raises:
        MalformedError: The data is not a whole number.
    """
    if type(data) is not int:
        raise MalformedError(f"{what} must be a whole number")
    return data


def as_name(data: Any, what: str) -> str | None:
    """Return a name that is given as a string or a number; None if it is missing or empty.

    Raises:
        MalformedError: The data is neither a string nor a whole number.
    """
    if type(data) is int:
        return str(data)
    return None if data is None or data == "" else as_text(data, what)


def listed(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects in the list under a key of an object; ignore anything else."""
    found = data.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
