"""Recipes: training files from corpora as they are downloaded, a module per corpus."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from discotag.corpora import write
from discotag.corpora.checks.analysis import Analysis
from discotag.corpora.parsing.files import created, failed
from discotag.corpora.parsing.problems import CorpusError, Problem
from discotag.corpora.recipes import cadec, craft, psytar, share
from discotag.corpora.recipes.recipe import (
    ALL,
    PARTS,
    Order,
    Prepared,
    Progress,
    Recipe,
    no_progress,
)
from discotag.corpora.recipes.source import named
from discotag.errors import InputError
from discotag.mentions import Document

__all__ = ["RECIPES", "Difference", "Summary", "prepare"]

RECIPES: Final[dict[str, Recipe]] = {
    recipe.name: recipe for recipe in (cadec.RECIPE, *share.RECIPES, craft.RECIPE, psytar.RECIPE)
}
"""The recipes by name."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A count that differs from the published one."""

    part: str
    count: str
    expected: int
    found: int | None

    def __str__(self) -> str:
        found = "nothing" if self.found is None else f"{self.found:,}"
        return f"{self.part}: {self.count} should be {self.expected:,}, found {found}"


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of `prepare`: the content of `report.json`.

    Attributes:
        recipe: The name of the recipe.
        source: The path of the source.
        labels: The labels that were kept.
        parts: The counts of each part that was written.
        problems: The number of problems by kind: what was left out or changed.
        facts: Further counts.
        passed_over: Other files of the source, which were not read; many in one folder as a count.
        checked: The number of published counts that were compared.
        differences: The published counts that were not met.
        files: The names of the files written.
    """

    recipe: str
    source: str
    labels: tuple[str, ...]
    parts: dict[str, dict[str, int]]
    problems: dict[str, int]
    facts: dict[str, int]
    passed_over: tuple[str, ...]
    checked: int
    differences: tuple[Difference, ...]
    files: tuple[str, ...]


def prepare(
    name: str,
    source: str | Path,
    out: str | Path,
    *,
    labels: Sequence[str] | None = None,
    splits: Iterable[str | Path] = (),
    force: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Make training files from a corpus as it was downloaded.

    Writes to the folder `out` a file of JSON lines for each part, `problems.json` with everything
    that was left out or changed, and `report.json`, the summary.

    Args:
        name: One of `RECIPES`.
        source: The file, archive or folder that was downloaded.
        out: The folder to write to; it is created if necessary.
        labels: The labels of the mentions to keep; `["all"]` for all labels.
        splits: Lists of document names, for a corpus without a split of its own.
        force: Whether to write to a folder that is not empty, and replace files.
        progress: Called with the number of documents done, and of all documents.

    Raises:
        CorpusError: The source is not what the recipe needs, or `out` cannot be written.
        InputError: The recipe or a label is unknown.
    """
    recipe = _recipe(name)
    source, out = Path(source), Path(out)
    order = Order(_labels(recipe, labels), tuple(Path(path) for path in splits), progress)
    if order.splits and recipe.splits is None:
        raise InputError(f"{recipe.name} has its own split; remove --splits")
    _check_free(out, force)
    prepared = recipe.cook(source, order)
    if not any(prepared.parts.values()):
        why = f" (problems: {len(found)}; {found[0]})" if (found := prepared.problems) else ""
        message = f"no documents were found; {recipe.name} needs {recipe.source}{why}"
        raise CorpusError(Problem("missing", message, str(source)))
    return _write(recipe, source, out, order, prepared)


def _recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise InputError(f"unknown recipe {name!r}; recipes are {', '.join(RECIPES)}")
    return RECIPES[name]


def _labels(recipe: Recipe, labels: Sequence[str] | None) -> tuple[str, ...]:
    if not labels:
        return recipe.default_labels
    if tuple(labels) == (ALL,):
        return recipe.labels
    for label in labels:
        if label not in recipe.labels:
            known = ", ".join(recipe.labels)
            raise InputError(f"{recipe.name} has no label {label!r}; use {known}, or all")
    return tuple(label for label in recipe.labels if label in labels)


def _check_free(out: Path, force: bool) -> None:
    """Raise `CorpusError` early if the folder cannot be written to."""
    if out.exists() and not out.is_dir():
        raise CorpusError(Problem("syntax", "this is a file, not a folder", str(out)))
    if not force and out.is_dir() and any(out.iterdir()):
        message = "the folder is not empty; choose another, or use --force"
        raise CorpusError(Problem("syntax", message, str(out)))


def _write(recipe: Recipe, source: Path, out: Path, order: Order, prepared: Prepared) -> Summary:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for part in (*PARTS, ALL):  # from earlier runs: do not mix the parts of two runs
            (out / f"{part}.jsonl").unlink(missing_ok=True)
    except OSError as error:
        raise failed(error, out) from None
    for part, documents in prepared.parts.items():
        write(documents, out / f"{part}.jsonl")
    lists = {"problems": [asdict(problem) for problem in prepared.problems]}
    for name, rows in {**lists, **prepared.lists}.items():
        _write_list(rows, out / f"{name}.json")
    counts = {part: _sizes(documents) for part, documents in prepared.parts.items()}
    differences = tuple(_differences(counts, prepared))
    summary = Summary(
        recipe=recipe.name,
        source=str(source),
        labels=order.labels,
        parts=counts,
        problems=dict(sorted(Counter(problem.kind for problem in prepared.problems).items())),
        facts=dict(prepared.facts),
        passed_over=named(prepared.passed_over),
        checked=sum(len(wanted) for wanted in prepared.expected.values()),
        differences=differences,
        files=(
            *(f"{part}.jsonl" for part in prepared.parts),
            *(f"{name}.json" for name in (*lists, *prepared.lists, "report")),
        ),
    )
    with created(out / "report.json") as stream:
        stream.write(json.dumps(asdict(summary), ensure_ascii=False, indent=2) + "\n")
    return summary


def _write_list(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write a JSON list, a row per line; JSON lines are for documents in this folder."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    with created(path) as stream:
        stream.write(f"[\n{lines}\n]\n")


def _sizes(documents: Iterable[Document]) -> dict[str, int]:
    analysis = Analysis()
    for document in documents:
        analysis.add(document)
    return analysis.sizes


def _differences(
    counts: Mapping[str, Mapping[str, int]], prepared: Prepared
) -> Iterable[Difference]:
    total: Counter[str] = Counter()
    for count in counts.values():
        total.update(count)
    found = {**counts, ALL: {**total, **prepared.facts}}
    for part, wanted in prepared.expected.items():
        for name, number in wanted.items():
            here = found.get(part, {}).get(name)
            if here != number:
                yield Difference(part, name, number, here)
