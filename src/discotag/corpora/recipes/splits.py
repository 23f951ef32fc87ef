"""Lists of document names that say which part each document is in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Final, NoReturn

from discotag.corpora.parsing.files import lines
from discotag.corpora.parsing.problems import CorpusError, Problem, strict
from discotag.corpora.recipes.recipe import PARTS
from discotag.corpora.recipes.source import Pass, ignore, is_hidden

PART_NAMES: Final = {
    "train": re.compile("train", re.IGNORECASE),
    "dev": re.compile("dev|valid", re.IGNORECASE),
    "test": re.compile("test", re.IGNORECASE),
}
"""How the name of a list says its part."""

ENDINGS: Final = (".txt", ".ann")
"""Of the files a name may be given with."""


def read_splits(paths: Iterable[Path], pass_over: Pass = ignore) -> dict[str, str]:
    """Return the part of each document, by name, from lists with a name a line.

    Args:
        paths: Lists, which have train, dev or test in their names, or folders with lists in them.
        pass_over: Is given the name of whatever in a folder is not a list.

    Returns:
        For each document `train`, `dev` or `test`.

    Raises:
        CorpusError: A list cannot be read, its part cannot be told, or a document is in two.
    """
    parts: dict[str, str] = {}
    for path in _files(paths, pass_over):
        part = _part(path)
        for number, line in lines(path, strict):
            name = Path((line or "").strip().replace("\\", "/")).name
            for ending in ENDINGS:
                name = name.removesuffix(ending)
            if not name:
                continue
            if parts.setdefault(name, part) != part:
                _fail(path, f"{name!r} is also in the list for {parts[name]}", number)
    return parts


def _files(paths: Iterable[Path], pass_over: Pass) -> Sequence[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(path.iterdir())
        listed = [file for file in inside if _is_list(file)]
        if not listed:
            names = ", ".join(PARTS)
            _fail(path, f"no lists here; a list has one of {names} in its name, and a name a line")
        for file in inside:
            if file not in listed:
                pass_over(f"{path.name}/{file.name}")
        found.extend(listed)
    return found


def _is_list(path: Path) -> bool:
    """Return whether a file can be a list: its name says which part, and a line is one word."""
    if not path.is_file() or is_hidden(PurePath(path.name)) or len(_parts(path)) != 1:
        return False
    try:
        return all(len((line or "").split()) <= 1 for _, line in lines(path, strict))
    except CorpusError as error:
        if error.problem.kind == "missing":  # it cannot be read, so nobody knows what it is
            raise
        return False


def _part(path: Path) -> str:
    found = _parts(path)
    if len(found) != 1:
        _fail(path, f"its name must have one of {', '.join(PARTS)} in it, to say what it lists")
    return found[0]


def _parts(path: Path) -> list[str]:
    return [part for part, pattern in PART_NAMES.items() if pattern.search(path.name)]


def _fail(path: Path, message: str, line: int | None = None) -> NoReturn:
    raise CorpusError(Problem("syntax", message, str(path), line))
