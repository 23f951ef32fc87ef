"""Compare the speed of `nlp.pipe` with the component `discotag` with that of the tagger itself.

    python benchmarks/spacy_pipeline.py [--model FOLDER] [--texts FILE] [--turns N]

Both go from the same texts to mentions in one process. They take turns, so that both see the same
load of the machine, and medians of seconds and of processor seconds are compared. `nlp.pipe` also
tokenizes the texts by spaCy's rules, which the tagger does not. A text is a line of the file; by
default, the texts are made-up posts (`discotag.prediction.benchmark.SAMPLE`).

Prints a table and writes benchmarks/results/spacy_pipeline.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import spacy
from rich.console import Console
from rich.table import Table

from discotag import load
from discotag.prediction.benchmark import SAMPLE

RESULTS = Path(__file__).parent / "results"
TAGGER = "tagger.predict(texts)"
PIPE = "nlp.pipe(texts)"
FEW = 64
SMALL = f"nlp.pipe(texts, batch_size={FEW})"
TOKENIZER = "spaCy's tokenizer alone"


def exhaust(results: Iterable[object]) -> None:
    """Read an iterable to its end."""
    for _ in results:
        pass


def clock(work: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds, and the seconds of all processors, that work takes."""
    start, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - processor


def main() -> None:
    """Measure, print a table, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--number", type=int, default=1000, help="the number of texts")
    parser.add_argument("--turns", type=int, default=7)
    arguments = parser.parse_args()
    given = SAMPLE if arguments.texts is None else arguments.texts.read_text("utf-8").splitlines()
    texts = list(islice(cycle(given), arguments.number))

    tagger = load(arguments.model)
    nlp = spacy.blank("en")
    nlp.add_pipe("discotag", config={"model": arguments.model})
    plain = spacy.blank("en")
    works: dict[str, Callable[[], None]] = {
        TAGGER: lambda: exhaust(tagger.predict(texts)),
        PIPE: lambda: exhaust(nlp.pipe(texts)),
        SMALL: lambda: exhaust(nlp.pipe(texts, batch_size=FEW)),
        TOKENIZER: lambda: exhaust(plain.pipe(texts)),
    }
    for work in works.values():
        work()  # what is loaded or cached once
    turns = [{name: clock(work) for name, work in works.items()} for _ in range(arguments.turns)]

    result: dict[str, object] = {
        "texts": len(texts),
        "turns": len(turns),
        "spacy": spacy.__version__,
    }
    table = Table("", "texts a second", "texts a processor second", title="From text to mentions")
    for name in works:
        seconds = [len(texts) / median(turn[name][kind] for turn in turns) for kind in (0, 1)]
        result[name] = {"texts_a_second": seconds[0], "texts_a_processor_second": seconds[1]}
        table.add_row(name, *(f"{each:,.0f}" for each in seconds))
    for name in (PIPE, SMALL):
        shares = [
            median(turn[TAGGER][kind] / turn[name][kind] for turn in turns) for kind in (0, 1)
        ]
        result[f"{name}, share of the tagger's speed"] = shares
        table.add_row(f"{name} / tagger", *(f"{share:.1%}" for share in shares))
    Console().print(table)
    (RESULTS / "spacy_pipeline.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
