"""Measure whether the scores of a model are probabilities, on data that it was not calibrated on.

    python benchmarks/calibration.py test.jsonl --model run/model --fit dev.jsonl

The written posts of `benchmarks/held_out` are measured, too. The expected calibration error is the
mean difference between the scores of a bin and the share of its mentions that is right, over 10
bins of equal width (`discotag.evaluation.calibration_error`). With `--fit`, a new calibration of
the same weights is measured beside that of the model; `--write` writes it as JSON.

The results are written to `results/calibration.json`. For each data set and calibration:

    mentions, discontinuous    the numbers of mentions found
    error, error_discontinuous, error_continuous
                               expected calibration errors
    highest                    the highest score
    above                      for thresholds, the mentions of at least this score, and the share
                               of them that is right
    bins                       mentions, their mean score, and the share that is right
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from discotag import Document, Sentence, Tagger, load
from discotag.corpora import read
from discotag.evaluation import calibration, calibration_error
from discotag.training.development import calibration_of_candidates, calibration_of_found
from held_out import held_out

RESULTS = Path(__file__).parent / "results"
THRESHOLDS = (0.9, 0.95)


def sentences_of(documents: Sequence[Document]) -> list[Sentence]:
    """Return the sentences of documents."""
    return list(chain.from_iterable(each.sentences for each in documents))


def fitted(tagger: Tagger, dev: Sequence[Sentence]) -> Tagger:
    """Return a tagger with a new calibration."""
    if tagger.config.mention_scorer:
        found = calibration_of_candidates(dev, tagger.options(dev))
    else:
        plain = changed(tagger, calibration=None)
        documents = plain.tag_batch([Document((each,)) for each in dev])
        found = calibration_of_found(dev, [each.sentences[0].mentions for each in documents])
    return changed(tagger, calibration=found)


def changed(tagger: Tagger, **changes: Any) -> Tagger:
    """Return a tagger with another configuration."""
    return Tagger(replace(tagger.config, **changes), tagger.tokenizer, tagger.runtime)


def measure(tagger: Tagger, gold: Sequence[Document]) -> dict[str, Any]:
    """Return the figures of a tagger on documents; see above."""
    pairs = zip(sentences_of(gold), sentences_of(tagger.tag_batch(gold)), strict=True)
    found = [(each, each in truth.mentions) for truth, guess in pairs for each in guess.mentions]
    scored = [(mention.score or 0.0, right) for mention, right in found]
    kinds = {
        kind: [
            pair
            for pair, (each, _) in zip(scored, found, strict=True)
            if each.discontinuous == kind
        ]
        for kind in (False, True)
    }
    above = {}
    for threshold in THRESHOLDS:
        kept = [right for value, right in scored if value >= threshold]
        above[str(threshold)] = [len(kept), round(sum(kept) / max(1, len(kept)), 3)]
    bins = calibration(scored)
    return {
        "mentions": len(scored),
        "discontinuous": len(kinds[True]),
        "error": round(calibration_error(bins), 4),
        "error_continuous": round(calibration_error(calibration(kinds[False])), 4),
        "error_discontinuous": round(calibration_error(calibration(kinds[True])), 4),
        "highest": round(max((value for value, _ in scored), default=0.0), 4),
        "above": above,
        "bins": [
            [
                each.mentions,
                round(each.scores / each.mentions, 3),
                round(each.right / each.mentions, 3),
            ]
            for each in bins
            if each.mentions
        ],
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="+", help="files with gold mentions")
    parser.add_argument("--model", help="a model folder; by default, the bundled model")
    parser.add_argument("--fit", type=Path, nargs="+", help="development data of a new calibration")
    parser.add_argument("--write", type=Path, help="the file to write the new calibration to")
    options = parser.parse_args()
    taggers = {"of the model": load(options.model)}
    if options.fit:
        dev = sentences_of(list(chain.from_iterable(map(read, options.fit))))
        taggers["fitted again"] = fitted(taggers["of the model"], dev)
        made = taggers["fitted again"].config.calibration
        if options.write and made is not None:
            options.write.write_text(json.dumps(asdict(made), indent=2) + "\n", encoding="utf-8")
    data = {path.stem: list(read(path)) for path in options.data} | {"posts": held_out("posts")}
    figures = {
        name: {kind: measure(tagger, gold) for kind, tagger in taggers.items()}
        for name, gold in data.items()
    }
    columns = ["data", "calibration", "mentions", "error", "continuous", "discontinuous", "highest"]
    columns += [f"at least {threshold}, right" for threshold in THRESHOLDS]
    table = Table(*columns)
    for name, kinds in figures.items():
        for kind, each in kinds.items():
            shown = [each[key] for key in ("mentions", "error", "error_continuous")]
            shown += [each[key] for key in ("error_discontinuous", "highest")]
            kept = [f"{number}, {share:.1%}" for number, share in each["above"].values()]
            table.add_row(name, kind, *map(str, shown), *kept)
    Console().print(table)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "calibration.json"
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
