"""Counts and shares as text, in messages and on pages."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number of things; without `many`, the plural of `one` ends with an s.

    Example:
        >>> counted(1, "document"), counted(2000, "document"), counted(2, "row has", "rows have")
        ('1 document', '2,000 documents', '2 rows have')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(share: float, digits: int = 0) -> str:
    """Return a share in percent; only 1 is shown as 100%, and only 0 as 0%.

    Example:
        >>> percent(0.998), percent(1), percent(0.0001, 1)
        ('99%', '100%', '0.1%')
    """
    step = 10.0 ** -(digits + 2)
    if 0 < share < 1:
        share = min(max(share, step), 1 - step)
    return f"{share:.{digits}%}"


def in_percent(figure: float, digits: int = 2) -> str:
    """Return a figure such as F1 in percent, without the sign.

    Example:
        >>> in_percent(0.9176), in_percent(0.9176, 1)
        ('91.76', '91.8')
    """
    return f"{100 * figure:.{digits}f}"
