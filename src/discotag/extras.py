"""What the extras of discotag install, for messages about packages that are missing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from discotag.errors import DiscotagError


class MissingPackageError(DiscotagError, ImportError):
    """A package that is needed is not installed."""


def check_installed(what: str, extra: str, *packages: str) -> None:
    """Raise if a package is not installed.

    Args:
        what: What needs the packages.
        extra: The extra of discotag that installs them.
        packages: The packages, by the names that they are imported by.

    Raises:
        MissingPackageError: A package is not installed.

    Example:
        >>> check_installed("reading a workbook", "tables", "openpyxl", "no_such_package")
        Traceback (most recent call last):
            ...
        discotag.extras.MissingPackageError: reading a workbook needs no_such_package: \
pip install openpyxl pyarrow
    """
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise MissingPackageError(f"{what} needs {', '.join(missing)}: {how_to_install(extra)}")


@contextmanager
def optional(package: str, extra: str) -> Iterator[None]:
    """Raise if the imports in this block fail because a package is missing.

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
        discotag.extras.MissingPackageError: no_such_package is not installed: pip install spacy
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        message = f"{package} is not installed: {how_to_install(extra)}"
        raise MissingPackageError(message) from None


def how_to_install(extra: str) -> str:
    """Return a command that installs the packages of an extra.

    It names the packages, not `discotag[extra]`, which only a package index that has discotag could
    install.

    Example:
        >>> how_to_install("tables")
        'pip install openpyxl pyarrow'
    """
    try:
        declared = [each.partition(";") for each in requires("discotag") or ()]
    except PackageNotFoundError:  # run from a clone that is not installed
        declared = []
    names = [
        re.split(r"[<>=!~ ]", requirement, maxsplit=1)[0]
        for requirement, _, condition in declared
        if condition.strip().replace('"', "'") == f"extra == '{extra}'"
    ]
    return shlex.join(["pip", "install", *(names or [f".[{extra}]"])])
