"""What prediction costs: sentences a second, where the time goes, start-up, memory.

    python benchmarks/prediction.py [--model FOLDER] [--texts FILE]

Prints a table and writes benchmarks/results/prediction.json. Needs no PyTorch.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from discotag.mentions import Document
from discotag.prediction.loading import load
from discotag.prediction.tagger import Tagger

HERE = Path(__file__).parent
CRAFT = HERE.parent / "tests" / "data" / "craft_200.txt"
TEXT = "The pain I was experiencing around the hipjoints was incredible."
STARTS = 5


class Watch:
    """Seconds spent in functions, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def over(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, with its time taken."""

        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                spent = time.perf_counter() - start
                self.seconds[name] = self.seconds.get(name, 0.0) + spent

        return timed


class Watched:
    """A splitter, runtime or backend whose time is taken."""

    def __init__(self, inner: Any, **watched: Callable[..., Any]) -> None:
        self._inner = inner
        self._watched = watched

    def __getattr__(self, name: str) -> Any:
        return self._watched.get(name) or getattr(self._inner, name)


def read_texts(path: Path) -> list[str]:
    """A text a line; of the inline format, every third line is one."""
    lines = path.read_text("utf-8").splitlines()
    return [line for line in (lines[::3] if path == CRAFT else lines) if line.strip()]


def throughput(model: str | None, texts: list[str], repeat: int) -> dict[str, Any]:
    """Sentences a second over all texts, best of several runs, and the shares of that run."""
    best: dict[str, Any] | None = None
    tagger = load(model)
    list(tagger.predict(texts[:50]))  # first calls set things up
    watch = watched(tagger)
    for _ in range(repeat):
        watch.seconds.clear()
        start = time.perf_counter()
        documents: list[Document] = list(tagger.predict(texts))
        total = time.perf_counter() - start
        sentences = [sentence for document in documents for sentence in document.sentences]
        seconds = dict(watch.seconds)
        seconds["rest"] = total - sum(seconds.values())
        if best is None or total < best["seconds"]:
            best = {
                "sentences": len(sentences),
                "words": sum(len(sentence.words) for sentence in sentences),
                "mentions": sum(len(sentence.mentions) for sentence in sentences),
                "seconds": total,
                "sentences_a_second": len(sentences) / total,
                "shares": {name: spent / total for name, spent in seconds.items()},
            }
    assert best is not None
    return best


def watched(tagger: Tagger) -> Watch:
    """Take the time of the parts of a tagger."""
    watch = Watch()
    inner: Any = tagger
    splitter, runtime, backend = inner.splitter, inner.runtime, inner.runtime.backend
    inner.splitter = Watched(splitter, document=watch.over("words", splitter.document))
    inner.tokenizer.encode = watch.over("subwords", inner.tokenizer.encode)
    works = ("best_tags", "mention_probabilities")
    timed = {name: watch.over("inference", getattr(backend, name)) for name in works}
    inner.runtime = Watched(
        runtime, scores=watch.over("encoder", runtime.scores), backend=Watched(backend, **timed)
    )
    return watch


def start_up(model: str | None) -> dict[str, float]:
    """Seconds from the shell to the first answer, best of several, and the memory it took."""
    command = [sys.executable, "-m", "discotag", "predict", TEXT]
    command += [] if model is None else ["--model", model]
    seconds = []
    for _ in range(STARTS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": min(seconds), "megabytes": peak}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="a folder; by default the model of the package")
    parser.add_argument("--texts", type=Path, default=CRAFT, help="a text a line")
    parser.add_argument("--copies", type=int, default=5, help="how often to take the texts")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    texts = read_texts(given.texts) * given.copies
    start = start_up(given.model)  # first: a child's memory counts from that of its parent
    figures = throughput(given.model, texts, given.repeat)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    shares = figures["shares"]
    overhead = 1 - shares["encoder"]
    results = {
        "machine": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "model": "bundled" if given.model is None else Path(given.model).name,
        "texts": given.texts.name,
        **figures,
        "share_beside_encoder": overhead,
        "megabytes": peak,
        "start_up": start,
    }
    table = Table("", "", title="Prediction", show_header=False, title_justify="left")
    table.add_row("sentences", f"{figures['sentences']:,} of {figures['words']:,} words")
    table.add_row("mentions", f"{figures['mentions']:,}")
    table.add_row("sentences a second", f"{figures['sentences_a_second']:,.0f}")
    for name, share in sorted(shares.items(), key=lambda item: -item[1]):
        table.add_row(f"time in {name}", f"{share:.1%}")
    table.add_row("all but the encoder", f"{overhead:.1%}")
    table.add_row("memory", f"{peak:.0f} MB")
    table.add_row("start to first answer", f"{start['seconds']:.2f} s, {start['megabytes']:.0f} MB")
    Console().print(table)
    target = HERE / "results" / "prediction.json"
    target.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
