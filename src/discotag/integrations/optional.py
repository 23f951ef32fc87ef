"""Imports of packages that only an extra installs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discotag.errors import DiscotagError


class MissingPackageError(DiscotagError, ImportError):
    """Raised if a package is not installed; the message names the extra that installs it."""


@contextmanager
def optional(package: str, extra: str) -> Iterator[None]:
    """Raise `MissingPackageError` if the imports in this block fail because a package is missing.

    Args:
        package: The package.
        extra: The extra of discotag that installs it.

    Raises:
        MissingPackageError: The package is not installed.

    Example:
        >>> with optional("no_such_package", "spacy"):
        ...     import no_such_package
        Traceback (most recent call last):
            ...
        discotag.integrations.optional.MissingPackageError: no_such_package is not installed: \
pip install 'discotag[spacy]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        message = f"{package} is not installed: pip install 'discotag[{extra}]'"
        raise MissingPackageError(message) from None
