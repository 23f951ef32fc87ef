"""Control characters, which a terminal would interpret instead of showing."""

from __future__ import annotations


def printable(text: str, *, keep: str = "") -> str:
    r"""Replace characters that would move the cursor or change colours by a visible dot.

    Args:
        text: The text.
        keep: Characters to leave as they are.

    Example:
        >>> printable("sore\x1b[31m\ttoes\n", keep="\n")
        'sore·[31m·toes\n'
    """
    return "".join(char if char.isprintable() or char in keep else "·" for char in text)
