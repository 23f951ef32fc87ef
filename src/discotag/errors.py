"""The root of every error that discotag raises on purpose."""

from typing import Final

MAX_MESSAGE: Final = 300
"""The most characters of another library's error message; some list the nodes of a graph."""


class DiscotagError(Exception):
    """The base class of discotag's errors; the message says what is wrong, where and what to do.

    Raised as it is where the input is fine and something around it is not: a missing package or
    device, too little memory, a file that another process is writing.
    """


class InputError(DiscotagError, ValueError):
    """An argument, a setting or a file has a wrong value."""


def one_line(error: Exception) -> str:
    """Return the message of another library's error as one line of limited length."""
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= MAX_MESSAGE else f"{line[:MAX_MESSAGE]} …"
