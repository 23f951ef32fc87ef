"""The root of every error that discotag raises on purpose."""


class DiscotagError(Exception):
    """The base class of discotag's errors; the message says what is wrong, where and what to do.

    Raised as it is where the input is fine and something around it is not: a missing package or
    device, too little memory, a file that another process is writing.
    """


class InputError(DiscotagError, ValueError):
    """An argument, a setting or a file has a wrong value."""
