"""Messages of commands on standard error, cleaned and filtered by verbosity."""

from __future__ import annotations

import logging
import sys
from typing import Final

from discotag.render import printable

NOTICE: Final = 25
"""The level of what a command says by default: above INFO, which `-v` adds, below WARNING."""


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C was pressed; the message says what has been done and how to continue."""


_logger = logging.getLogger("discotag")


class _Handler(logging.Handler):
    """Writes each record as one line that cannot move the cursor or change colours."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record to standard error."""
        line = printable(record.getMessage())
        if record.levelno == logging.WARNING:
            line = f"warning: {line}"
        print(line, file=sys.stderr, flush=True)


def set_verbosity(*, verbose: bool = False, quiet: bool = False) -> None:
    """Choose what is shown: with `verbose` also what the library reports, with `quiet` only errors.

    `quiet` wins if both are given.
    """
    if not any(isinstance(each, _Handler) for each in _logger.handlers):
        _logger.addHandler(_Handler())
        _logger.propagate = False
    _logger.setLevel(logging.ERROR if quiet else logging.INFO if verbose else NOTICE)


def set_silent() -> None:
    """Show nothing, not even errors: another process of the same command speaks for all of them."""
    _logger.setLevel(logging.CRITICAL + 1)


def is_quiet() -> bool:
    """Return whether only errors are to be shown."""
    return not _logger.isEnabledFor(NOTICE)


def is_verbose() -> bool:
    """Return whether everything is to be shown."""
    return _logger.isEnabledFor(logging.INFO)


def say(message: str) -> None:
    """Write a line to standard error, unless the user asked for quiet."""
    _logger.log(NOTICE, "%s", message)


def warn(message: str) -> None:
    """Write a line that begins with `warning:`, unless the user asked for quiet."""
    _logger.warning("%s", message)


def fail(message: str) -> None:
    """Write the line that says why a command failed."""
    _logger.error("discotag: %s", message)
