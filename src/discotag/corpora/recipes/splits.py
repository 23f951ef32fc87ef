"""Lists of document names that say which part each document is in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from discotag.corpora.files import lines
from discotag.corpora.problems import CorpusError, Problem, strict
from discotag.corpora.recipes.recipe import PARTS

PART_NAMES: Final = {
    "train": re.compile("train", re.IGNORECASE),
    "dev": re.compile("dev|valid", re.IGNORECASE),
    "test": re.compile("test", re.IGNORECASE),
}
"""How the name of a list says its part."""

ENDINGS: Final = (".txt", ".ann")
"""Of the files a name may be given with."""


def read_splits(paths: Iterable[Path]) -> dict[str, str]:
    """The part of each document, by name, from lists with a name a line.

    Args:
        paths: Files with train, dev or test in their names, or folders that hold such files.

    Returns:
        For each document `train`, `dev` or `test`.

    Raises:
        CorpusError: A list cannot be read, its part cannot be told, or a document is in two.
    """
    parts: dict[str, str] = {}
    for path in _files(paths):
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


def _files(paths: Iterable[Path]) -> Sequence[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(file for file in path.iterdir() if file.is_file() and _parts(file))
        if not inside:
            _fail(path, f"no file here has {', '.join(PARTS)} in its name")
        found.extend(inside)
    return found


def _part(path: Path) -> str:
    found = _parts(path)
    if len(found) != 1:
        _fail(path, f"its name must have one of {', '.join(PARTS)} in it, to say what it lists")
    return found[0]


def _parts(path: Path) -> list[str]:
    return [part for part, pattern in PART_NAMES.items() if pattern.search(path.name)]


def _fail(path: Path, message: str, line: int | None = None) -> NoReturn:
    raise CorpusError(Problem("syntax", message, str(path), line))
