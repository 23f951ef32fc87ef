"""Measure the speed and the memory of reading and writing corpora, on one core.

Run `python benchmarks/corpora.py`. It prints a table and writes `benchmarks/results/corpora.json`
and `corpora.png`. The sentences are made up: 20 words each, half with a mention, one in twenty with
a discontinuous one. The floor is the time to parse the same lines as JSON only.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from discotag import Document, Mention, Sentence
from discotag.corpora import FORMATS, read, write
from discotag.words import Splitter
from machine import machine

RESULTS = Path(__file__).parent / "results"
WORDS = 20
IN_TEXT = "jsonl with text"
FLAT_ONLY = {"conll"}


def documents(number: int, *, flat: bool = False) -> Iterator[Document]:
    """Yield documents of one sentence, always the same."""
    draw = random.Random(0)
    vocabulary = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(5000)]
    for _ in range(number):
        mentions = []
        if draw.random() < 0.5:
            start = draw.randrange(WORDS - 6)
            mentions.append(Mention("ADR", ((start, start + 2),)))
            if not flat and draw.random() < 0.1:
                mentions.append(Mention("ADR", ((start, start + 1), (start + 4, start + 5))))
        yield Document((Sentence(tuple(draw.choices(vocabulary, k=WORDS)), tuple(mentions)),))


def measure(name: str, number: int, folder: Path) -> dict[str, float | str]:
    """Return the speed of writing and reading a format, in sentences per second."""
    format = "jsonl" if name == IN_TEXT else name
    made = list(documents(number, flat=format in FLAT_ONLY))
    if name == IN_TEXT:
        made = [Splitter().document(" ".join(each.words)) for each in made]
    path = folder / name.replace(" ", "_")
    start = time.process_time()
    write(made, path, format)
    written = time.process_time() - start
    del made
    start = time.process_time()
    found = sum(len(each.sentences) for each in read(path, format, splitter=Splitter("lines")))
    taken = time.process_time() - start
    assert found == number, (name, found)
    row: dict[str, float | str] = {
        "format": name, "write": number / written, "read": number / taken
    }  # fmt: skip
    if format == "jsonl":
        start = time.process_time()
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                json.loads(line)
        row["floor"] = number / (time.process_time() - start)
    return row


def memory(number: int, folder: Path) -> float:
    """Return the peak memory, in MiB, that reading a JSON-lines corpus adds to a process."""
    path = folder / "large.jsonl"
    write(documents(number), path)
    # The system's own figure for this process; that of `resource` can include its parent.
    code = (
        "import sys; from pathlib import Path; from discotag.corpora import read; "
        "peak = lambda: int(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0]); "
        "before = peak(); count = sum(1 for _ in read(sys.argv[1])); print(peak() - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    return int(done.stdout) / 1024


def plot(rows: list[dict[str, float | str]], path: Path) -> None:
    """Plot the speed of reading, with a bar for each format."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    names = [str(row["format"]) for row in rows]
    axes.barh(names, [float(row["read"]) for row in rows], color="#3b6ea5")
    axes.axvline(50_000, color="#888888", linestyle=":")
    axes.invert_yaxis()
    axes.set_xlabel("sentences of 20 words read per second, one core")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure all formats, print a table, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=50_000)
    arguments = parser.parse_args()
    written = [name for name, each in FORMATS.items() if each.write and each.table is None]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for format in [*written, IN_TEXT]:
            number = arguments.sentences // (
                20 if FORMATS.get(format, FORMATS["jsonl"]).folder else 1
            )
            rows.append(measure(format, number, Path(name)))
        small, large = (memory(number, Path(name)) for number in (20_000, 400_000))
    table = Table(title="Corpora, sentences of 20 words per second")
    for heading in ("format", "read", "write", "JSON floor"):
        table.add_column(heading, justify="left" if heading == "format" else "right")
    for row in rows:
        floor = f"{row['floor']:,.0f}" if "floor" in row else ""
        table.add_row(str(row["format"]), f"{row['read']:,.0f}", f"{row['write']:,.0f}", floor)
    console = Console()
    console.print(table)
    console.print(f"memory to read 20,000 sentences: {small:.1f} MiB, 400,000: {large:.1f} MiB")
    RESULTS.mkdir(exist_ok=True)
    result = {
        "machine": machine(),
        "python": platform.python_version(),
        "sentences": arguments.sentences,
        "rows": rows,
        "memory_mib": {"20000": small, "400000": large},
    }
    (RESULTS / "corpora.json").write_text(json.dumps(result, indent=1) + "\n")
    plot(rows, RESULTS / "corpora.png")


if __name__ == "__main__":
    main()
