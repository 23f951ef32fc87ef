"""A recipe: from what people download of a corpus to documents in parts, and what to count."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from discotag.corpora.parsing.problems import Problem
from discotag.mentions import Document

PARTS: Final = ("train", "dev", "test")
"""The parts of a corpus that has a split; one that has none is written as `ALL`."""

ALL: Final = "all"

SHARES: Final = {"train": 70, "dev": 10, "test": 20}
"""Per cent of the documents, where nobody has published a split."""

Progress = Callable[[int, int], None]
"""Is told how many documents are done, and of how many."""


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Order:
    """What the user asked of a recipe.

    Attributes:
        labels: Keep the mentions of these.
        splits: Lists of document names, or the folder they are in; none if not given.
        progress: Is told how far the work is.
    """

    labels: tuple[str, ...]
    splits: tuple[Path, ...] = ()
    progress: Progress = no_progress


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a recipe made of its source.

    Attributes:
        parts: Documents by part: train, dev and test, or all.
        problems: Whatever was left out or changed, each with its place.
        facts: Further counts, said in the words they are shown with.
        expected: Published counts by part, with names of `Analysis.sizes`; under `all` also sums
            over the parts, and names of `facts`.
        lists: Further lists to write, by file name without its ending; each row is plain data.
        passed_over: Names of files beside the data that were not read.
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
        name: What the command line calls it.
        about: What the corpus is, in a line.
        source: What the user has to give, in a line.
        labels: All labels it has.
        default_labels: Those that are kept unless others are asked for.
        splits: What `--splits` has to list, in a line; None if the recipe has its own split.
        cook: From the source and the order to documents.
    """

    name: str
    about: str
    source: str
    labels: tuple[str, ...]
    default_labels: tuple[str, ...]
    cook: Callable[[Path, Order], Prepared]
    splits: str | None = None


def part_of(name: str, shares: Mapping[str, int] = SHARES) -> str:
    """The part a document falls into by its name alone, whatever else is in the corpus.

    The SHA-256 of the name, as a number, modulo the sum of the shares.

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
