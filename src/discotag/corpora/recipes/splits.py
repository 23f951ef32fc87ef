"""Lists of the documents in each part of a split."""

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
"""The part of a list, by its file name."""

ENDINGS: Final = (".txt", ".ann")
"""The file endings that a name may have."""


def read_splits(paths: Iterable[Path], pass_over: Pass = ignore) -> dict[str, str]:
    """Return the part of each document, by name, from lists with one name per line.

    Args:
        paths: Lists, with train, dev or test in their file names, or folders with such lists.
        pass_over: Called with the name of each file in a folder that is not a list.

    Returns:
        For each document `train`, `dev` or `test`.

    Raises:
        CorpusError: A list cannot be read, its file name does not show its part, or a document is
            in two lists.
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
            _fail(
                path,
                f"no lists found; a list has one of {names} in its name, and one name per line",
            )
        for file in inside:
            if file not in listed:
                pass_over(f"{path.name}/{file.name}")
        found.extend(listed)
    return found


def _is_list(path: Path) -> bool:
    """Return whether a file can be a list: its name shows the part, and each line is one word."""
    if not path.is_file() or is_hidden(PurePath(path.name)) or len(_parts(path)) != 1:
        return False
    try:
        return all(len((line or "").split()) <= 1 for _, line in lines(path, strict))
    except CorpusError as error:
        if error.problem.kind == "missing":  # the file cannot be read, so it may be a list
            raise
        return False


def _part(path: Path) -> str:
    found = _parts(path)
    if len(found) != 1:
        _fail(path, f"the name of the file must contain one of {', '.join(PARTS)}")
    return found[0]


def _parts(path: Path) -> list[str]:
    return [part for part, pattern in PART_NAMES.items() if pattern.search(path.name)]


def _fail(path: Path, message: str, line: int | None = None) -> NoReturn:
    raise CorpusError(Problem("syntax", message, str(path), line))
