"""Values of JSON, which may be anything, taken for what they should be."""

from __future__ import annotations

from typing import Any

from discotag.corpora.parsing.problems import Malformed


def as_object(data: Any, what: str) -> dict[str, Any]:
    """The data, which must be an object.

    Raises:
        Malformed: It is not.
    """
    if not isinstance(data, dict):
        raise Malformed(f"{what} must be an object in curly brackets")
    return data


def as_list(data: dict[str, Any], key: str) -> list[Any]:
    """What an object has under a key, which must be a list; nothing there is an empty one.

    Raises:
        Malformed: It is no list.
    """
    found = data.get(key)
    if found is not None and not isinstance(found, list):
        raise Malformed(f"{key!r} must be a list")
    return found or []


def as_objects(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """What an object has under a key, which must be a list of objects.

    Raises:
        Malformed: It is not.
    """
    return [as_object(each, f"each of {key!r}") for each in as_list(data, key)]


def as_text(data: Any, what: str) -> str:
    """The data, which must be a string.

    Raises:
        Malformed: It is not.
    """
    if not isinstance(data, str):
        raise Malformed(f"{what} must be a string")
    return data


def as_number(data: Any, what: str) -> int:
    """The data, which must be a whole number.

    Raises:
        Malformed: It is not.
    """
    if type(data) is not int:
        raise Malformed(f"{what} must be a whole number")
    return data


def as_name(data: Any, what: str) -> str | None:
    """The data, a string or number that names something; None if it is nothing or empty.

    Raises:
        Malformed: It is something else.
    """
    if type(data) is int:
        return str(data)
    return None if data is None or data == "" else as_text(data, what)


def listed(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects that an object has in a list under a key; nothing else is an error."""
    found = data.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
