"""Measure in which order documents should be annotated: where are the model's mistakes?

    python benchmarks/annotation_order.py FOLDER

The folder holds `PsyTAR_dataset.xlsx`. The bundled model tags the development posts. Each formula
sorts them by what it expects to be wrong, divided by the words to read, and the table shows the
share of the model's mistakes (mentions that are wrong or missing) in the first 10, 20 and 40% of
the words; in random order that is 10, 20 and 40%. Intervals are 95% from 1,000 resamples of the
posts. It writes `benchmarks/results/annotation_order.json`. `discotag annotate` uses the last
formula, which was chosen here; test posts are not used.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from discotag import Document, Tagger, load
from discotag.annotate.proposals import EFFORT, propose
from discotag.corpora.recipes import psytar
from discotag.corpora.recipes.recipe import Order
from machine import machine

RESULTS = Path(__file__).parent / "results"
SHARES = (0.1, 0.2, 0.4)
RESAMPLES = 1000
READ_TOO = 1e-9
"""Smallest probability in an entropy."""


def found_only(tagger: Tagger, document: Document) -> float:
    """Return the expected number of wrong mentions among those found."""
    (tagged,) = tagger.tag_batch([document])
    return sum(1 - (each.score or 0) for each in tagged.mentions)


def recalled(bias: float) -> Callable[[Tagger, Document], float]:
    """Return the formula with the mentions that a higher bias finds in addition."""

    def formula(tagger: Tagger, document: Document) -> float:
        (tagged,) = tagger.tag_batch([document])
        (more,) = tagger.tag_batch([document], bias=bias)
        found = set(tagged.mentions)
        wrong = sum(1 - (each.score or 0) for each in found)
        return wrong + sum(each.score or 0 for each in more.mentions if each not in found)

    return formula


def best_reading(tagger: Tagger, document: Document) -> float:
    """Return the expected number of sentences whose best reading is wrong."""
    (readings,) = tagger.alternatives([document], k=1)
    return sum(1 - each[0].probability for each in readings)


def entropy(tagger: Tagger, document: Document) -> float:
    """Return the sum of the entropies of the tags of all words."""
    total = 0.0
    for table in tagger.marginals(document.sentences):
        total -= float((table * np.log(np.maximum(table, READ_TOO))).sum())
    return total


def outside(tagger: Tagger, document: Document) -> float:
    """Return the expected number of words that are wrongly inside or outside of mentions."""
    total = 0.0
    (tagged,) = tagger.tag_batch([document])
    for sentence, table in zip(tagged.sentences, tagger.marginals(document.sentences), strict=True):
        covered = {word for each in sentence.mentions for word in each.words}
        total += sum(
            table[word, 0] if word in covered else 1 - table[word, 0]
            for word in range(len(sentence.words))
        )
    return float(total)


def used(tagger: Tagger, document: Document) -> float:
    """Return what `discotag annotate` uses."""
    bare = document.with_mentions([] for _ in document.sentences)
    return propose(tagger, [bare])[0].mistakes


FORMULAS: Mapping[str, Callable[[Tagger, Document], float]] = {
    "expected, found": found_only,
    "expected, bias + 1": recalled(1),
    "expected, bias + 2": recalled(2),
    "1 - best reading": best_reading,
    "entropy of tags": entropy,
    "words in or out": outside,
    "number of mentions": lambda tagger, document: len(tagger.tag_batch([document])[0].mentions),
    "expected, found and missing": used,
}


def mistakes(gold: Document, found: Document) -> int:
    """Return the number of wrong and of missing mentions."""
    return sum(
        len(set(one.mentions) ^ set(other.mentions))
        for one, other in zip(gold.sentences, found.sentences, strict=True)
    )


def caught(order: Sequence[int], words: Sequence[int], wrong: Sequence[int], share: float) -> float:
    """Return the share of mistakes in the first words of an order; a post may count in part."""
    left, seen = share * sum(words[each] for each in order), 0.0
    for each in order:
        part = min(1.0, left / words[each]) if words[each] else 1.0
        seen += part * wrong[each]
        left -= part * words[each]
        if left <= 0:
            break
    return seen / max(1, sum(wrong[each] for each in order))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    prepared = psytar.RECIPE.cook(folder / "PsyTAR_dataset.xlsx", Order(("ADR",)))
    posts = list(prepared.parts["dev"])
    tagger = load()
    tagged = tagger.tag_batch(posts)
    words = [len(post.words) for post in posts]
    wrong = [mistakes(post, found) for post, found in zip(posts, tagged, strict=True)]
    figures = {}
    random = np.random.default_rng(1)
    samples = random.integers(0, len(posts), (RESAMPLES, len(posts)))
    for name, formula in FORMULAS.items():
        values = [formula(tagger, post) for post in posts]
        for effort in (0, EFFORT):
            worth = [value / (count + effort) for value, count in zip(values, words, strict=True)]
            row = {}
            for share in SHARES:
                orders = [sorted(range(len(posts)), key=lambda n: -worth[n])]
                orders += [sorted(each, key=lambda n: -worth[n]) for each in samples.tolist()]
                shares = [caught(each, words, wrong, share) for each in orders]
                low, high = np.quantile(shares[1:], (0.025, 0.975))
                row[str(share)] = [round(float(each), 4) for each in (shares[0], low, high)]
            figures[f"{name}; effort {effort}"] = row
    table = Table("formula", *(f"first {share:.0%}" for share in SHARES))
    for name, row in figures.items():
        cells = [f"{100 * a:.1f} ({100 * b:.0f}-{100 * c:.0f})" for a, b, c in row.values()]
        table.add_row(name, *cells)
    Console().print(table)
    result = {
        "machine": machine(),
        "posts": len(posts),
        "words": sum(words),
        "mistakes": sum(wrong),
        "shares": figures,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "annotation_order.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
