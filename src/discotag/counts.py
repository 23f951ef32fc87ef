"""Counts as text, in messages and on pages."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number of things; without `many`, the plural of `one` ends with an s.

    Example:
        >>> counted(1, "document"), counted(2000, "document"), counted(2, "row has", "rows have")
        ('1 document', '2,000 documents', '2 rows have')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
