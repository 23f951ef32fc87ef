"""Print random discontinuous mentions of PsyTAR, as its recipe locates them, for manual review.

    python benchmarks/psytar_audit.py PsyTAR_dataset.xlsx --seed 1

Mentions are drawn from the whole corpus and all labels. Each line shows a mention, its words in
brackets, and some words around it.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from discotag.corpora.recipes import psytar
from discotag.corpora.recipes.recipe import Order
from discotag.mentions import Mention, Sentence

AROUND = 6
"""The number of words shown before and after a mention."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("workbook", type=Path)
    arguments.add_argument("--sample", type=int, default=50)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    prepared = psytar.cook(given.workbook, Order(psytar.LABELS))
    found = [
        (document.id, sentence, mention)
        for documents in prepared.parts.values()
        for document in documents
        for sentence in document.sentences
        for mention in sentence.mentions
        if mention.discontinuous
    ]
    print(f"{len(found)} discontinuous mentions")
    drawn = random.Random(given.seed).sample(found, given.sample)
    for number, (name, sentence, mention) in enumerate(drawn, start=1):
        print(f"{number:3} {name:14} {mention.label:4} {shown(sentence, mention)}")


def shown(sentence: Sentence, mention: Mention) -> str:
    """Return a mention with the words around it, its own words in brackets."""
    own = set(mention.words)
    start, end = max(0, mention.start - AROUND), mention.end + AROUND
    return " ".join(
        f"[{word}]" if at in own else word
        for at, word in enumerate(sentence.words[start:end], start=start)
    )


if __name__ == "__main__":
    main()
