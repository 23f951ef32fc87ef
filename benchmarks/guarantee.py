"""Measure whether the guarantee of `discotag calibrate` holds, and what it costs.

    discotag corpus prepare psytar PsyTAR_dataset.xlsx DATA
    python benchmarks/guarantee.py DATA/test.jsonl --name psytar
    python benchmarks/guarantee.py CRAFT/test.jsonl --model run/model --unit sentences --name craft

The documents are taken for all text that there is, so that the true recall of a threshold is known.
In each of 1,000 splits, half of them are drawn as the labelled sample, `find_bound` chooses a
threshold from it, and the recall of that threshold is computed on all documents, and on the other
half, for which the guarantee is not meant: it is a small sample itself. It should hold on all
documents in at least 90% of the splits, at a confidence of 0.9. Samples are also drawn with
replacement, as from a source without end. A split in which the target cannot be guaranteed
promises nothing, and so counts as one in which it holds.

`results/guarantee.json` has, for each name and each target,

    reached            the share of splits in which there is a threshold
    holds, holds_rest, holds_with_replacement
                       the shares in which the recall is at least the target
    holds_mentions     the share in which the recall without weights is at least the target, on all
                       documents: the guarantee says nothing about it
    recall             the mean recall on all documents, each unit weighed as the guarantee does
    recall_mentions    the same, each mention with the same weight
    read, read_alone   what is read for each gold mention that is found: mentions and candidates, or
                       mentions alone
    recall_alone       the recall of mentions alone
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from discotag import Document, load
from discotag.corpora import read
from discotag.evaluation.guarantee import find_bound
from discotag.model.guarantee import MOST, Count, Match, Unit
from discotag.prediction.guarantee import PREDICTED, find_as_in_text, scores_of_gold
from discotag.prediction.predictions import distinct
from machine import machine

RESULTS = Path(__file__).parent / "results" / "guarantee.json"
SPLITS = 1000
CONFIDENCE = 0.9
TARGETS: dict[tuple[Count, Match], tuple[float, ...]] = {
    ("mentions", "exact"): (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95),
    ("mentions", "overlap"): (0.8, 0.85, 0.9, 0.95),
    ("documents", "overlap"): (0.9, 0.95, 0.97),
}


@dataclass(frozen=True)
class Collection:
    """All text that there is.

    Attributes:
        scores: For each unit with gold mentions, the scores of what finds them.
        candidates: The scores of all candidates.
        mentions: The number of predicted mentions.
        most: As in `find_bound`.
    """

    scores: list[list[float]]
    candidates: np.ndarray
    mentions: int
    most: int | None

    def recall(self, threshold: float, units: Sequence[int] | None = None) -> float:
        """Return the recall of a threshold, units weighed as in the guarantee."""
        chosen = self.scores if units is None else [self.scores[each] for each in units]
        found = total = 0.0
        for scores in chosen:
            size = len(scores) if self.most is None else min(len(scores), self.most)
            found += size * sum(each >= threshold for each in scores) / len(scores)
            total += size
        return found / total

    def cost(self, threshold: float) -> tuple[float, float]:
        """Return the plain recall, and what is read for each gold mention that is found."""
        every = np.concatenate(self.scores)
        found = (every >= threshold).sum()
        reads = self.mentions + (self.candidates >= threshold).sum()
        return float(found / len(every)), float(reads / found)


def collect(
    pairs: Sequence[tuple[Document, Document]], count: Count, match: Match, unit: Unit
) -> Collection:
    """Return what the candidates of documents find."""
    if count == "documents" or match == "overlap":
        pairs = [(gold, _distinct(found)) for gold, found in pairs]
    scores = [scores_of_gold(*pair, count, match) for pair in pairs]
    return Collection(
        scores=[each for each in scores if each],
        candidates=np.array([each.score for _, found in pairs for each in found.candidates]),
        mentions=sum(len(found.mentions) for _, found in pairs),
        most=None if count == "documents" else MOST[unit],
    )


def simulate(collection: Collection, target: float, splits: int, seed: int) -> dict[str, float]:
    """Return the figures of a target; see the beginning of this file."""
    random = np.random.default_rng(seed)
    number = len(collection.scores)
    true: dict[float, tuple[float, float, float]] = {}

    def threshold_of(sample: Sequence[int]) -> float | None:
        scores = [collection.scores[each] for each in sample]
        found = find_bound(scores, target, CONFIDENCE, collection.most).threshold
        if found is not None and found not in true:
            true[found] = collection.recall(found), *collection.cost(found)
        return found

    kept, holds, plainly, rest, again = list[float](), 0, 0, 0, 0
    for _ in range(splits):
        order = random.permutation(number)
        half = number // 2
        threshold = threshold_of(order[:half])
        if threshold is not None:
            kept.append(threshold)
        holds += threshold is None or true[threshold][0] >= target
        plainly += threshold is None or true[threshold][1] >= target
        rest += threshold is None or collection.recall(threshold, order[half:]) >= target
        threshold = threshold_of(random.integers(number, size=half))
        again += threshold is None or true[threshold][0] >= target
    means = np.mean([true[each] for each in kept], axis=0).tolist() if kept else [None] * 3
    return {
        "target": target,
        "reached": len(kept) / splits,
        "holds": holds / splits,
        "holds_mentions": plainly / splits,
        "holds_rest": rest / splits,
        "holds_with_replacement": again / splits,
        **dict(zip(("recall", "recall_mentions", "read"), means, strict=True)),
    }


def measure(path: Path, model: str | None, unit: Unit, splits: int) -> dict[str, Any]:
    """Return the figures of all targets on the documents of a file."""
    tagger = load(model) if model else load()
    gold = list(read(path))
    found = find_as_in_text(tagger, gold, progress=True)
    if unit == "sentences":
        gold, found = (
            [Document((each,)) for document in some for each in document.sentences]
            for some in (gold, found)
        )
    pairs = list(zip(gold, found, strict=True))
    rows = []
    for (count, match), targets in TARGETS.items():
        collection = collect(pairs, count, match, unit)
        alone = collection.cost(PREDICTED)
        for seed, target in enumerate(targets):
            row = {"count": count, "match": match, "units": len(collection.scores)}
            row |= simulate(collection, target, splits, seed)
            row |= {"recall_alone": alone[0], "read_alone": alone[1]}
            rows.append(row)
            print(json.dumps(row), flush=True)
    return {
        "data": path.name,
        "documents": len(gold),
        "unit": unit,
        "model": "bundled" if model is None else "trained on the corpus",
        "runtime": tagger.runtime.name,
        "splits": splits,
        "confidence": CONFIDENCE,
        "machine": machine(),
        "targets": rows,
    }


def show(name: str, found: dict[str, Any]) -> None:
    """Print the figures as a table."""
    table = Table(
        "found", "target", "reached", "holds", "with replacement", "on the rest", "recall",
        "read for each found", "alone: recall", "read", title=name,
    )  # fmt: skip
    for row in found["targets"]:
        shares = [
            "–" if row[key] is None else f"{100 * row[key]:.1f}"
            for key in ("reached", "holds", "holds_with_replacement", "holds_rest", "recall")
        ]
        read = "–" if row["read"] is None else f"{row['read']:.1f}"
        table.add_row(
            f"{row['count']}, {row['match']}", f"{row['target']:g}", *shares, read,
            f"{100 * row['recall_alone']:.1f}", f"{row['read_alone']:.1f}",
        )  # fmt: skip
    Console(width=140).print(table)


def _distinct(document: Document) -> Document:
    sentences = document.sentences
    return document.with_mentions(
        [each.mentions for each in sentences],
        [distinct(each.mentions, each.candidates) for each in sentences],
    )


def main() -> None:
    """Measure, print a table, and add it to the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="labelled documents that are new to the model")
    parser.add_argument("--model", help="a model folder; by default, the bundled model")
    parser.add_argument("--name", required=True, help="the name of the data in the results")
    parser.add_argument("--unit", choices=("documents", "sentences"), default="documents")
    parser.add_argument("--splits", type=int, default=SPLITS)
    options = parser.parse_args()
    found = measure(options.data, options.model, options.unit, options.splits)
    show(options.name, found)
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    results[options.name] = found
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
