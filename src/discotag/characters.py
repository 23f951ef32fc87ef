"""Characters that a terminal would obey rather than show."""

from __future__ import annotations


def printable(text: str, *, keep: str = "") -> str:
    r"""Return the text with what would move the cursor or change colours made visible.

    Args:
        text: The text.
        keep: Characters to leave as they are.

    Example:
        >>> printable("sore\x1b[31m\ttoes\n", keep="\n")
        'sore·[31m·toes\n'
    """
    return "".join(char if char.isprintable() or char in keep else "·" for char in text)
