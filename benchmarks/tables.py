"""Measure what tables cost: from 50,000 messy rows to a spreadsheet of mentions.

Run `python benchmarks/tables.py`. It makes the same posts as an Excel export (a title above the
names of the columns, line breaks, emoji, empty rows, duplicate and missing ids), as
CSV in Windows-1252 with semicolons, and as TSV. Each is tagged, and written as an Excel workbook,
as CSV and as Parquet. It prints a table and writes `benchmarks/results/tables.json`.

The share of tables is the processor time to read rows and write rows, in percent of the whole. The
time of splitting texts into words belongs to tagging. With up to 5,000 rows (`--rows`), the bundled
model tags them; otherwise its speed is measured on 1,000 texts, and a stand-in tags all of them.

`--commands` times what an analyst types instead: `discotag predict` from each of the exports to a
workbook and to a page, with the bundled model. `--inputs` names some of the exports. It writes
`benchmarks/results/table_commands_ROWS.json`.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import openpyxl
from rich.console import Console
from rich.table import Table

from discotag import Document, Mention, load
from discotag.corpora import TableOptions, read, write
from discotag.prediction.benchmark import SAMPLE
from discotag.words import Splitter
from machine import machine

RESULTS = Path(__file__).parent / "results"
ROWS = 50_000
FEW = 5_000
"""Up to this many rows, the model itself tags them."""

TIMED = 1_000
"""The number of texts on which the speed of the model is measured."""

HEADER = ("Post ID", "Date", "Drug", "Patient comment", "Rating")
OPTIONS = TableOptions(text_column="Patient comment", id_column="Post ID")
DRUGS = ("Aspirin", "Café-Forte®", "Ibuprofen", "=Zoloft", "Lexapro")


def rows(number: int, *, emoji: bool = True) -> Iterator[list[Any]]:
    """Yield rows of a messy export, always the same."""
    draw = random.Random(0)
    for count in range(number):
        if draw.random() < 0.02:
            yield [None] * len(HEADER)
            continue
        parts = draw.sample(SAMPLE, draw.choice((1, 1, 2, 3)))
        text = draw.choice((" ", "\n", "\n\n")).join(parts)
        if draw.random() < 0.2:
            text = f'"{text}" – she said' + (" 😀" if emoji else " …")
        if draw.random() < 0.03:
            text = ""
        identifier: object = 100_000 + count
        if draw.random() < 0.05:
            identifier = draw.choice((None, 100_000, f"A-{count}"))
        day = date(2024, 1, 1) + timedelta(days=count % 365)
        yield [identifier, day, draw.choice(DRUGS), text, draw.randint(1, 5)]


def make(folder: Path, number: int) -> list[Path]:
    """Write the exports."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Posts")
    sheet.append(["Export of patient posts"])
    sheet.append([])
    sheet.append(HEADER)
    for row in rows(number):
        sheet.append(row)
    workbook = folder / "posts.xlsx"
    book.save(workbook)
    paths = [workbook]
    for name, separator, encoding in (
        ("posts.csv", ";", "cp1252"),
        ("posts.tsv", "\t", "utf-8"),
    ):
        paths.append(folder / name)
        with paths[-1].open("w", encoding=encoding, newline="") as stream:
            writer = csv.writer(stream, delimiter=separator)
            writer.writerow(HEADER)
            writer.writerows(rows(number, emoji=encoding != "cp1252"))
    return paths


def stand_in(documents: Iterator[Document]) -> Iterator[Document]:
    """Mark a discontinuous mention in each sentence that is long enough, as a model would."""
    for document in documents:
        yield document.with_mentions(
            [Mention("ADR", ((1, 2), (4, 5)), score=0.987654)] if len(each.words) > 5 else []
            for each in document.sentences
        )


class Clock:
    """Measures the processor time of an iterator, apart from what its consumer does."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def through(self, documents: Iterator[Document]) -> Iterator[Document]:
        """Yield the same documents."""
        while True:
            start = time.thread_time()
            document = next(documents, None)
            self.seconds += time.thread_time() - start
            if document is None:
                return
            yield document


def measure(path: Path, out: Path, tagger: Any, real: bool, rate: float) -> dict[str, Any]:
    """Read, tag and write a table, and return where the time went."""
    reading, tagging = Clock(), Clock()
    start, start_here = time.perf_counter(), time.thread_time()
    source = reading.through(read(path, table=OPTIONS, report=lambda problem: None))
    found = tagging.through(tagger.predict(source) if real else stand_in(source))
    documents: list[int] = []
    texts: list[str] = []

    def counted() -> Iterator[Document]:
        for document in found:
            documents.append(len(document.sentences))
            if len(texts) < TIMED:
                texts.append(document.text or "")
            yield document

    write(counted(), out)
    whole = time.perf_counter() - start
    writing = time.thread_time() - start_here - tagging.seconds
    # Splitting is part of reading a row, and would be part of tagging its text.
    start = time.thread_time()
    for text in texts:
        Splitter().document(text)
    splitting = (time.thread_time() - start) * len(documents) / max(1, len(texts))
    tables = max(0.0, reading.seconds - splitting) + writing
    tag = whole - tables if real else sum(documents) / rate + splitting
    return {
        "input": path.name,
        "output": out.name,
        "rows": len(documents),
        "read": reading.seconds - splitting,
        "write": writing,
        "tag": tag,
        "share": tables / (tables + tag),
    }


def speed(tagger: Any) -> float:
    """Return the number of sentences that the model tags per second, given words."""
    texts = [row[3] for row in rows(TIMED) if row[3]]
    documents = [Splitter().document(text) for text in texts]
    tagger.tag_batch(documents[:50])
    start = time.perf_counter()
    tagger.tag_batch(documents)
    return sum(len(each.sentences) for each in documents) / (time.perf_counter() - start)


def commands(number: int, inputs: list[str]) -> None:
    """Time the commands from exports to a workbook and a page, print and save."""
    found = []
    table = Table("command", "seconds", "size (MB)", "last line", title=f"{number:,} messy rows")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in make(folder, number):
            for out in ("reactions.xlsx", "found.html") if path.name in inputs else ():
                command = ["discotag", "predict", path.name, "--text-column", HEADER[3]]
                command += ["--id-column", HEADER[0], "--out", out]
                start = time.perf_counter()
                done = subprocess.run(
                    [sys.executable, "-m", *command],
                    cwd=folder, check=True, capture_output=True, text=True,
                )  # fmt: skip
                seconds = time.perf_counter() - start
                size = (folder / out).stat().st_size / 1e6
                last = (done.stderr or done.stdout).splitlines()[-1]
                (folder / out).unlink()
                found.append(
                    {"command": shlex.join(command), "seconds": seconds, "mb": size, "said": last}
                )
                table.add_row(shlex.join(command), f"{seconds:.0f}", f"{size:.1f}", last)
    Console().print(table)
    text = json.dumps({"machine": machine(), "rows": number, "commands": found}, indent=2)
    (RESULTS / f"table_commands_{number}.json").write_text(text + "\n", "utf-8")


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--commands", action="store_true", help="time the commands instead")
    inputs = ["posts.xlsx", "posts.csv", "posts.tsv"]
    parser.add_argument("--inputs", nargs="*", choices=inputs, default=inputs)
    options = parser.parse_args()
    number = options.rows
    if options.commands:
        commands(number, options.inputs)
        return
    tagger = load()
    real = number <= FEW
    rate = speed(tagger)
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in make(folder, number):
            for ending in ("xlsx", "csv", "parquet"):
                found.append(measure(path, folder / f"found.{ending}", tagger, real, rate))
    how = "the bundled model" if real else f"a stand-in; the model tags {rate:,.0f} sentences/s"
    table = Table(
        "input", "output", "rows", "read (s)", "write (s)", "tag (s)", "share of tables",
        title=f"{number:,} messy rows, {how}",
    )  # fmt: skip
    for each in found:
        table.add_row(
            each["input"], each["output"], f"{each['rows']:,}", f"{each['read']:.1f}",
            f"{each['write']:.1f}", f"{each['tag']:.1f}", f"{each['share']:.1%}",
        )  # fmt: skip
    Console().print(table)
    RESULTS.mkdir(exist_ok=True)
    saved = {
        "machine": machine(),
        "rows": number,
        "real": real,
        "sentences_per_second": rate,
    }
    text = json.dumps({**saved, "tables": found}, indent=2)
    (RESULTS / "tables.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
