"""Compare two taggers of the same model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from discotag.mentions import Document, Sentence
from discotag.prediction.tagger import Tagger

NEAR: Final = 0.02
"""Probabilities of a mention are near each other if they differ by at most this."""

SAMPLE: Final = (
    "The pain I was experiencing around the hipjoints was incredible.",
    "I had pain in my arms and shoulders, and my feet and ankles were swollen.",
    "No side effects so far!",
    "Chronic fatigue together with swollen and stiff knees and left elbows.",
    "After two weeks: dizzy, nauseous, could not sleep; my hands (the left more) went numb…",
    "Blurred vision in both eyes, dry mouth, weight gain of 15 lbs in a month.",
    "Wouldn't recommend it 😕 to anyone.",
    "Headache " * 40,
)
"""The default texts to compare taggers on."""


@dataclass(frozen=True)
class Agreement:
    """How an export compares with PyTorch.

    Attributes:
        runtime: The runtime that uses the export.
        score_difference: The largest difference of scores, over all words and tags.
        mention_difference: The largest difference of probabilities of mentions that both find.
        near: The share of the mentions that both find whose probabilities differ by at most `NEAR`.
        same: The share of sentences with the same mentions.
        sentences: The number of sentences that were compared.
        size: The size of the file, in bytes.
    """

    runtime: str
    score_difference: float
    mention_difference: float
    near: float
    same: float
    sentences: int
    size: int


def measure_agreement(
    reference: Tagger, exported: Tagger, runtime: str, path: Path, texts: Sequence[str]
) -> Agreement:
    """Compare what an export finds in texts with what PyTorch does."""
    wanted, given = (list(each.predict(texts, candidates=False)) for each in (reference, exported))
    sentences = [sentence for document in wanted for sentence in document.sentences]
    difference = score_difference(reference, exported, sentences)
    same, chances = 0, list[float]()
    for one, other in zip(_sentences(wanted), _sentences(given), strict=True):
        same += one.mentions == other.mentions
        found = {mention: mention.score for mention in other.mentions}
        chances += [abs((m.score or 0) - (found[m] or 0)) for m in one.mentions if m in found]
    number = max(1, len(sentences))
    return Agreement(
        runtime,
        score_difference=difference,
        mention_difference=max(chances, default=0.0),
        near=float(np.mean([each <= NEAR for each in chances])) if chances else 1.0,
        same=same / number,
        sentences=len(sentences),
        size=path.stat().st_size,
    )


def score_difference(one: Tagger, other: Tagger, sentences: Sequence[Sentence]) -> float:
    """Return the largest difference of scores, over all words and tags."""
    scores = (tagger.scores(sentences) for tagger in (one, other))
    return max(
        (float(np.abs(a - b).max(initial=0)) for a, b in zip(*scores, strict=True)), default=0.0
    )


def _sentences(documents: Sequence[Document]) -> Iterator[Sentence]:
    return (sentence for document in documents for sentence in document.sentences)
