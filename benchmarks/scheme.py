"""Measure how fast schemes encode, decode and compile, on one core.

Run `make bench`, or `python benchmarks/scheme.py --help`. It prints tables and writes
`benchmarks/results/scheme.json` and `scheme.png`. The floor is the same for plain BIO.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from discotag import Mention, Scheme
from discotag.scheme.rules import build_grammar, build_rules
from machine import machine

RESULTS = Path(__file__).parent / "results"
WORDS = 20
SCHEMES = {
    "2 slots, semantic": Scheme(("ADR",), 2, "semantic"),
    "2 slots": Scheme(("ADR",), 2),
    "2 slots, gap mentions": Scheme(("ADR",), 2, gap_mentions=True),
    "3 slots": Scheme(("ADR",), 3),
    "3 slots, gap mentions": Scheme(("ADR",), 3, gap_mentions=True),
    "3 slots, semantic": Scheme(("ADR",), 3, "semantic"),
}
LARGE = {
    "3 slots, gap mentions, 10 labels": Scheme(tuple("ABCDEFGHIJ"), 3, gap_mentions=True),
    "4 slots, semantic, 6 labels": Scheme(tuple("ABCDEF"), 4, "semantic"),
    "4 slots, semantic, gap mentions, 6 labels": Scheme(
        tuple("ABCDEF"), 4, "semantic", gap_mentions=True
    ),
}
BIO = "BIO, the floor"


def sentence(draw: random.Random, *, with_sets: bool) -> list[Mention]:
    """Return random mentions in 20 words: none in a third, a mention set in one of twenty."""
    mentions = []
    word = draw.randrange(12)
    if with_sets and draw.random() < 0.05:
        end = word + 3
        shared = draw.random() < 0.5
        mentions.append(Mention("ADR", ((word, word + 1), (end, end + 1))))
        if shared:
            mentions.append(Mention("ADR", ((word, word + 1), (end + 2, end + 3))))
        word = end + 4
    for _ in range(draw.choice((0, 1, 2))):
        end = word + draw.choice((1, 1, 2, 3))
        if end > WORDS:
            break
        mentions.append(Mention("ADR", ((word, end),)))
        word = end + draw.randrange(1, 4)
    return mentions


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest time of several runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def coding_speed(scheme: Scheme, sentences: list[list[Mention]]) -> dict[str, float]:
    """Return the speed of encoding and decoding, in sentences per second."""
    scheme.grammar.steps  # noqa: B018  compile the grammar before measuring
    tagged = [scheme.encode(WORDS, mentions) for mentions in sentences]
    number = len(sentences)
    return {
        "encode": number / seconds(lambda: [scheme.encode(WORDS, m) for m in sentences]),
        "decode": number / seconds(lambda: [scheme.decode(tags) for tags in tagged]),
        "both": number
        / seconds(lambda: [scheme.decode(scheme.encode(WORDS, m)) for m in sentences]),
    }


def compile_time(scheme: Scheme) -> dict[str, float]:
    """Return the size of a scheme's grammar, and the seconds it takes to compile."""

    def compile_again() -> None:
        build_grammar(build_rules(scheme.tagset, scheme.slots, scheme.structural))

    grammar = scheme.grammar
    return {
        "tags": len(scheme.tags),
        "states": len(grammar.states),
        "arcs": len(grammar.arcs),
        "seconds": seconds(compile_again),
    }


def import_time() -> float:
    """Return the seconds that `import discotag` adds to starting Python."""

    def start(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), 9)

    return start("import discotag") - start("pass")


def plot(coding: dict[str, dict[str, float]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    names = list(coding)[::-1]
    axes.barh(names, [coding[name]["both"] for name in names])
    axes.axvline(50_000, color="black", linestyle=":", label="goal")
    axes.set_xlabel(f"sentences of {WORDS} words encoded and decoded per second, one core")
    axes.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    draw = random.Random(0)
    flat = [sentence(draw, with_sets=False) for _ in range(options.sentences)]
    full = [sentence(draw, with_sets=True) for _ in range(options.sentences)]
    coding = {BIO: coding_speed(Scheme(("ADR",), 0), flat)}
    coding |= {name: coding_speed(scheme, full) for name, scheme in SCHEMES.items()}
    compiling = {name: compile_time(scheme) for name, scheme in (SCHEMES | LARGE).items()}
    results = {
        "machine": f"{machine()}, Python {platform.python_version()}",
        "sentences": options.sentences,
        "words": WORDS,
        "sentences_a_second": coding,
        "compile": compiling,
        "import_seconds": import_time(),
    }
    console = Console()
    table = Table("scheme", "encode /s", "decode /s", "both /s", "share of BIO", title="Coding")
    floor = coding[BIO]["both"]
    for name, speed in coding.items():
        figures = [f"{speed[step]:,.0f}" for step in ("encode", "decode", "both")]
        table.add_row(name, *figures, f"{speed['both'] / floor:.2f}")
    console.print(table)
    table = Table("scheme", "tags", "states", "arcs", "seconds", title="Compiling")
    for name, size in compiling.items():
        counts = [str(size[key]) for key in ("tags", "states", "arcs")]
        table.add_row(name, *counts, f"{size['seconds']:.3f}")
    console.print(table)
    console.print(f"import discotag adds {results['import_seconds']:.3f} s to starting Python")
    console.print(results["machine"])
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "scheme.json").write_text(json.dumps(results, indent=2) + "\n")
    plot(coding, options.out / "scheme.png")


if __name__ == "__main__":
    main()
