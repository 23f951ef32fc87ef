"""Recipes: how to turn a downloaded corpus into documents in parts, with expected counts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from discotag.corpora.parsing.problems import Problem
from discotag.mentions import Document

PARTS: Final = ("train", "dev", "test")
"""The parts of a corpus with a split; a corpus without one is written as `ALL`."""

ALL: Final = "all"

SHARES: Final = {"train": 70, "dev": 10, "test": 20}
"""The percentages of documents in each part, if there is no published split."""

Progress = Callable[[int, int], None]
"""Called with the number of documents done, and of all documents."""


def no_progress(done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class Order:
    """The options of a recipe.

    Attributes:
        labels: The labels of the mentions to keep.
        splits: Lists of document names, or folders with such lists.
        progress: Called with the number of documents done, and of all documents.
    """

    labels: tuple[str, ...]
    splits: tuple[Path, ...] = ()
    progress: Progress = no_progress


@dataclass(frozen=True, slots=True)
class Prepared:
    """The result of a recipe.

    Attributes:
        parts: Documents by part: train, dev and test, or all.
        problems: What was left out or changed, each with its place.
        facts: Further counts, by the text that describes them.
        expected: Published counts by part, with the names of `Analysis.sizes`; `all` has sums over
            the parts, and may also have the names of `facts`.
        lists: Further lists to write, by file name without its ending; each row is plain data.
        passed_over: The names of other files of the source, which were not read.
    """

    parts: Mapping[str, Sequence[Document]]
    problems: Sequence[Problem] = ()
    facts: Mapping[str, int] = field(default_factory=dict)
    expected: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    lists: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    passed_over: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to prepare one corpus.

    Attributes:
        name: The name of the recipe on the command line.
        about: A description of the corpus in one line.
        source: What the user has to provide, in one line.
        labels: All labels of the corpus.
        default_labels: The labels that are kept by default.
        splits: What `--splits` has to list, in one line; None if the corpus has its own split.
        cook: Turns the source and the options into documents.
    """

    name: str
    about: str
    source: str
    labels: tuple[str, ...]
    default_labels: tuple[str, ...]
    cook: Callable[[Path, Order], Prepared]
    splits: str | None = None


def part_of(name: str, shares: Mapping[str, int] = SHARES) -> str:
    """Return the part of a document, which depends only on its name.

    The part follows from the SHA-256 of the name, as a number, modulo the sum of the shares.

    Example:
        >>> part_of("lexapro.1"), part_of("lexapro.2")
        ('train', 'test')
    """
    place = int.from_bytes(hashlib.sha256(name.encode()).digest()) % sum(shares.values())
    for part, share in shares.items():
        if place < share:
            return part
        place -= share
    raise AssertionError("the place is below the sum of the shares")
