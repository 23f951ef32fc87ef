"""Values of cells as text, and text that is safe in a spreadsheet."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any, Final

RISKY: Final = frozenset("=+-@\t\r")
"""A cell of CSV that begins with one of these may be computed by a spreadsheet."""

PLAIN_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|[.,]\d+)(?:[eE][+-]?\d+)?%?")
"""Matches numbers, which are written as they are even if they begin with a sign."""


def as_text(value: Any) -> str:
    """Return the value of a cell as text.

    Whole numbers have no fraction, dates are in ISO format and without a time at midnight, lists
    are separated by semicolons, and nested values are JSON.

    Example:
        >>> as_text(1001.0), as_text(datetime(2024, 5, 1)), as_text(["sore toes", "nausea"])
        ('1001', '2024-05-01', 'sore toes; nausea')
        >>> as_text([[4, 8], [39, 48]])
        '[[4, 8], [39, 48]]'
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        midnight = value.tzinfo is None and value.time() == time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, Sequence):
        if all(each is None or isinstance(each, str | int | float) for each in value):
            return "; ".join(map(as_text, value))
        return json.dumps(value, ensure_ascii=False, default=as_text)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=as_text)
    return str(value)


def is_empty(value: Any) -> bool:
    """Return whether a cell has nothing but white space in it."""
    if isinstance(value, str):
        return not value or value.isspace()
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_risky(text: str) -> bool:
    """Return whether a spreadsheet may compute a text instead of showing it.

    Example:
        >>> is_risky("=1+1"), is_risky("- nausea"), is_risky("-3.5"), is_risky("1+1")
        (True, True, False, False)
    """
    return text[:1] in RISKY and bool(text) and PLAIN_NUMBER.fullmatch(text) is None


def safe(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet may compute it.

    Example:
        >>> safe("=1+1"), safe("sore toes")
        ("'=1+1", 'sore toes')
    """
    return f"'{text}" if is_risky(text) else text
