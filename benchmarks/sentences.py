"""Measure how the rules for headings and list items change the sentences of PsyTAR and CRAFT.

    python benchmarks/sentences.py FOLDER

The folder holds `PsyTAR_dataset.xlsx` and `craft-5.0.2-raw.tar.gz`. It prints a table and writes
`benchmarks/results/sentences.json`. *Before* are sentences split at punctuation and blank lines
only. Each corpus is measured as it is (PsyTAR has one sentence per line) and wrapped at 72 columns,
where a line begins a heading or an item only by accident. A mention is cut if it is in more than
one sentence.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from pathlib import Path

import sentencex
from rich.console import Console
from rich.table import Table

from discotag import Document
from discotag.corpora.recipes import craft, psytar
from discotag.corpora.recipes.offsets import crosses
from discotag.corpora.recipes.recipe import Order, Recipe
from discotag.marks import spelled
from discotag.mentions import Fragment
from discotag.words import LANGUAGE, WIDE_SPACE, Splitter

RESULTS = Path(__file__).parent / "results"
SOURCES = {"PsyTAR": (psytar.RECIPE, "PsyTAR_dataset.xlsx"),
           "CRAFT": (craft.RECIPE, "craft-5.0.2-raw.tar.gz")}  # fmt: skip
COLUMNS = 72
PARAGRAPH = re.compile(r"(?:(?!\n[^\S\n]*\n).)+", re.DOTALL)


def documents(recipe: Recipe, path: Path) -> list[Document]:
    """Return the documents of a corpus with the mentions of all labels."""
    prepared = recipe.cook(path, Order(recipe.labels))
    return [document for part in prepared.parts.values() for document in part]


def wrapped(text: str) -> str:
    """Return a text of the same length with the lines of each paragraph wrapped."""
    joined = re.sub(r"(?<!\n)\n(?!\n)", " ", text)
    lines = re.compile(rf"(.{{1,{COLUMNS}}})(?:( )|$)", re.MULTILINE)
    return lines.sub(lambda line: f"{line[1]}\n" if line[2] else line[1], joined)


def before(text: str) -> list[Fragment]:
    """Return the sentences of a text that is split at punctuation and blank lines only."""
    found: list[Fragment] = []
    for paragraph in PARAGRAPH.finditer(text):
        start = paragraph.start()
        for sentence in sentencex.segment(LANGUAGE, WIDE_SPACE.sub(" ", paragraph[0])):
            end = start + len(sentence)
            if bare := text[start:end].strip():
                first = text.index(bare, start)
                found.append((first, first + len(bare)))
            start = end
    return found


def measure(texts: Iterable[str], marked: Iterable[Document]) -> dict[str, int]:
    """Count sentences and the mentions that they cut, before and after."""
    row = dict.fromkeys(("before", "after", "new", "gone", "mentions", "cut before", "cut"), 0)
    for text, document in zip(texts, marked, strict=True):
        old, new = before(text), Splitter().sentence_ranges(text)
        old_starts, new_starts = ({start for start, _ in ranges} for ranges in (old, new))
        marks = spelled(document)[1]
        row["before"] += len(old)
        row["after"] += len(new)
        row["new"] += len(new_starts - old_starts)
        row["gone"] += len(old_starts - new_starts)
        row["mentions"] += len(marks)
        row["cut before"] += sum(crosses(mark, old) for mark in marks)
        row["cut"] += sum(crosses(mark, new) for mark in marks)
    return row


def main() -> None:
    """Measure both corpora, print a table, and write the results."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    folder = arguments.parse_args().folder
    rows = {}
    for name, (recipe, file) in SOURCES.items():
        found = documents(recipe, folder / file)
        texts = [document.text or "" for document in found]
        rows[name] = measure(texts, found)
        rows[f"{name}, wrapped"] = measure(map(wrapped, texts), found)
    table = Table("", *next(iter(rows.values())), title="Sentences before and after the rules")
    for name, row in rows.items():
        table.add_row(name, *(f"{count:,}" for count in row.values()))
    Console().print(table)
    (RESULTS / "sentences.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
