"""The root of every error that discotag raises on purpose."""


class DiscotagError(ValueError):
    """Something about the input is wrong; the message says what, where and what to do."""
