"""Compare the speed of a discotag model with that of a grid model.

    python benchmarks/grid_speed.py --encoder FOLDER --train FILE --dev FILE --test FILE \
        --labels ADR --model MODEL

A grid model (`grid_model.py`) is trained for `--epochs` epochs, so that it finds mentions; it need
not be good, as most of its time does not depend on what it finds. Then both tag the test sentences,
from words to mentions, in turns; the best of two turns counts. As the grid model classifies each
pair of words, the same is measured on longer sentences, which are made by joining sentences of the
test data. `--encoder` should be the encoder that MODEL was trained from.

Prints a table, and writes benchmarks/results/grid_speed-DEVICE.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import torch

from discotag import Document, Sentence, Tagger, load
from discotag.training.data import find_labels, read_sentences
from grid_model import MOST_SENTENCES, GridModel, fit_grid, predict
from machine import machine

RESULTS: Final = Path(__file__).parent / "results"

LEAST_SECONDS: Final = 2.0
"""Prediction is repeated until it has been measured for this long."""

TURNS: Final = 2
LENGTHS: Final = (0, 50, 100, 200)
"""The minimum number of words of a sentence; with 0, sentences are as they are."""

Work = Callable[[Sequence[Sentence]], Sequence[Any]]


def joined(sentences: Sequence[Sentence], words: int) -> Iterator[Sentence]:
    """Yield sentences with a minimum number of words, each made of the next ones that are left.

    What is left at the end and has fewer words is left out. Mentions are left out.

    Example:
        >>> parts = [Sentence([letter] * 2) for letter in "abcde"]
        >>> [" ".join(each.words) for each in joined(parts, 3)]
        ['a a b b', 'c c d d']
    """
    collected: list[str] = []
    for each in sentences:
        collected += each.words
        if collected and len(collected) >= words:
            yield Sentence(collected)
            collected = []


def by_tagger(tagger: Tagger) -> Work:
    """Return a function that tags sentences by a discotag model."""

    def work(sentences: Sequence[Sentence]) -> Sequence[Any]:
        return tagger.tag_batch([Document((each,)) for each in sentences])

    return work


def by_grid(model: GridModel, tokenizer: Any, labels: Sequence[str]) -> Work:
    """Return a function that tags sentences by a grid model.

    As in a `Tagger`, the weights of the encoder are converted to bfloat16 on a GPU, and the
    subwords of words that occurred before are cached.
    """
    if next(model.parameters()).device.type == "cuda":
        model.encoder.bfloat16()
    return lambda sentences: predict(model, tokenizer, sentences, labels)


def speed_of(work: Work, sentences: Sequence[Sentence]) -> float:
    """Return the number of sentences per second, after a warm-up with the longest ones."""
    number = MOST_SENTENCES["cuda" if torch.cuda.is_available() else "cpu"]
    work(sorted(sentences, key=lambda each: -len(each.words))[:number])
    passes, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < LEAST_SECONDS:
        work(sentences)
        passes += 1
    return passes * len(sentences) / passed


def compare(
    contestants: dict[str, Work], sentences: Sequence[Sentence], lengths: Sequence[int]
) -> list[dict[str, Any]]:
    """Return a row for each length: the mean number of words, and the speed of each contestant."""
    rows = []
    for least in lengths:
        chosen = list(joined(sentences, least))
        if not chosen:
            raise ValueError(f"the test data has fewer than {least} words")
        speeds = dict.fromkeys(contestants, 0.0)
        for _ in range(TURNS):
            for name, work in contestants.items():
                speeds[name] = max(speeds[name], speed_of(work, chosen))
        words = sum(len(each.words) for each in chosen)
        rows.append(
            {
                "sentences": len(chosen),
                "words_per_sentence": words / len(chosen),
                "sentences_per_second": speeds,
                "words_per_second": {
                    name: value * words / len(chosen) for name, value in speeds.items()
                },
            }
        )
    return rows


def table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table; the first contestant is the grid model."""
    names = list(rows[0]["sentences_per_second"])
    yield f"| words per sentence | {' | '.join(names)} | times the grid model |"
    yield "|---" * (len(names) + 2) + "|"
    for row in rows:
        speeds = list(row["sentences_per_second"].values())
        cells = [f"{value:,.1f}" for value in speeds]
        ratios = ", ".join(f"{value / speeds[0]:.1f}" for value in speeds[1:])
        yield f"| {row['words_per_sentence']:.0f} | {' | '.join(cells)} | {ratios} |"


def main() -> None:
    """Train the grid model, measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", required=True, help="a folder, or a name on the hub")
    for name in ("train", "dev", "test"):
        parser.add_argument(f"--{name}", type=Path, required=True, help="a corpus")
    parser.add_argument("--labels", nargs="*", default=(), help="those to learn; default: all")
    parser.add_argument("--model", required=True, help="a discotag model, or 'bundled'")
    parser.add_argument("--epochs", type=int, default=3, help="of the grid model")
    parser.add_argument("--learning-rate", type=float, default=3e-5, help="of its encoder")
    parser.add_argument("--words", nargs="*", type=int, default=LENGTHS, help="of a sentence")
    parser.add_argument("--out", type=Path, help="the file of the results")
    given = parser.parse_args()
    train, dev, test = (
        read_sentences(path, given.labels) for path in (given.train, given.dev, given.test)
    )
    labels = given.labels or find_labels(train)
    trained = fit_grid(
        given.encoder,
        train,
        dev,
        labels,
        epochs=given.epochs,
        learning_rate=given.learning_rate,
    )
    taggers = [load(given.model, runtime="torch"), load(given.model)]
    contestants = {"grid model": by_grid(trained.model, trained.tokenizer, labels)}
    contestants |= {f"discotag, {each.runtime.name}": by_tagger(each) for each in taggers}
    rows = compare(contestants, test, given.words)
    on_gpu = torch.cuda.is_available()
    results = {
        "device": torch.cuda.get_device_name() if on_gpu else machine(),
        "model": given.model,
        "grid_model": {"epochs": given.epochs, "dev_f1": trained.dev["all"]["f1"]},
        "rows": rows,
    }
    out = given.out or RESULTS / f"grid_speed-{'cuda' if on_gpu else 'cpu'}.json"
    out.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
