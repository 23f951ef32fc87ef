"""Which tests are slow: those that start processes, train, export, or need a browser or a GPU.

`make check` leaves them out, and the tests of benchmarks. A test is looked at together with its
fixtures, and with the functions and classes of `tests/` that they call. Modules and tests that only
compute for long are marked where they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from inspect import unwrap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest

TESTS = Path(__file__).parent
FOLDERS = {"benchmarks", "browser", "gpu"}
USED = (
    "discotag.export",
    "discotag.scale.job",
    "discotag.training.runs",
    "discotag.training.trainer",
    "moto",
    "multiprocessing",
    "ray",
    "subprocess",
)
"""What only slow tests use: modules, and those in them."""


def mark_slow(items: Iterable[pytest.Item], conftests: Iterable[ModuleType]) -> None:
    """Mark the slow tests."""
    places = [(Path(str(each.__file__)).parent, each) for each in conftests]
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        near = [vars(each) for folder, each in places if item.path.is_relative_to(folder)]
        given = [vars(item.module), *near]
        fixtures = [each[name] for name in item.fixturenames for each in given if name in each]
        folder = item.path.relative_to(TESTS).parts[0]
        if folder in FOLDERS or any(map(is_slow, [item.function, *fixtures])):
            item.add_marker("slow")


@cache
def is_slow(what: object) -> bool:
    """Return whether a test or fixture uses what only slow ones do."""
    return any(_is_in_list(each) for each in _reached(what, set()))


def _reached(what: object, seen: set[object]) -> Iterator[str]:
    """Yield the modules of what a function, class or fixture of the tests uses."""
    what = unwrap(what)  # type: ignore[arg-type]
    if not isinstance(what, FunctionType | type | ModuleType):
        return
    home = what if isinstance(what, ModuleType) else sys.modules.get(what.__module__)
    yield what.__name__ if isinstance(what, ModuleType) else what.__module__
    file = getattr(home, "__file__", None)
    if what in seen or file is None or not Path(file).is_relative_to(TESTS):
        return
    seen.add(what)
    if not isinstance(what, FunctionType):
        for each in vars(what).values():
            if getattr(each, "__module__", None) == home.__name__ or isinstance(each, property):
                yield from _reached(getattr(each, "fget", each), seen)
        return
    for name in _names(what.__code__):
        yield name
        if name in what.__globals__:
            yield from _reached(what.__globals__[name], seen)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a function uses, also in functions inside it."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _is_in_list(module: str) -> bool:
    return any(module == each or module.startswith(f"{each}.") for each in USED)
