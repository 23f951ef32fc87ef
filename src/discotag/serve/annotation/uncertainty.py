"""Which documents are the most useful to correct: those where the model expects mistakes.

`benchmarks/annotation_order.py` compares formulas. On the development posts of PsyTAR, the first
fifth of the words in this order has 37% of the bundled model's mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from discotag.mentions import Document, Mention, Sentence

if TYPE_CHECKING:
    from discotag.prediction.regions import Judged
    from discotag.prediction.tagger import Tagger

EFFORT: Final = 20
"""Words that opening a document costs, besides reading its own."""


class Proposed(NamedTuple):
    """What a model says about a document.

    Attributes:
        mentions: The mentions that it finds in each sentence.
        mistakes: The number of mistakes that it expects in what an annotator sees.
    """

    mentions: tuple[tuple[Mention, ...], ...]
    mistakes: float


def propose(tagger: Tagger, documents: Sequence[Document]) -> list[Proposed]:
    """Find the mentions of documents, and the number of mistakes to expect in each.

    An annotator sees the mentions of the corpus, or in sentences without any those of the model.
    A mention that is shown is wrong, and a candidate that is not shown is missing, with the
    probability that the model gives to that.
    """
    tagged = tagger.tag_batch(documents)
    judged = iter(tagger.options([each for document in documents for each in document.sentences]))
    found = []
    for document, result in zip(documents, tagged, strict=True):
        mistakes = 0.0
        for sentence, own in zip(document.sentences, result.sentences, strict=True):
            chances = _chances(tagger, own, next(judged))
            shown = set(sentence.mentions or own.mentions)
            mistakes += sum(1 - chances.get(mention, 0.0) for mention in shown)
            mistakes += sum(chance for mention, chance in chances.items() if mention not in shown)
        mentions = tuple(sentence.mentions for sentence in result.sentences)
        found.append(Proposed(mentions, mistakes))
    return found


def usefulness(mistakes: float, words: int) -> float:
    """Return the expected number of mistakes per word of reading effort."""
    return mistakes / (words + EFFORT)


def _chances(tagger: Tagger, sentence: Sentence, judged: Judged) -> dict[Mention, float]:
    """Return the probability of each candidate of a sentence."""
    chances: dict[Mention, float] = {}
    for options, odds in judged:
        values = np.array(options.probabilities())
        if tagger.config.calibration is not None and len(values):
            discontinuous = np.array([each.discontinuous for each in options.mentions], dtype=bool)
            values = tagger.config.calibration.probability(values, np.array(odds), discontinuous)
        chances |= zip(options.mentions, map(float, values), strict=True)
    # The scores that the annotator sees come last, so that they count.
    return chances | {mention: mention.score or 0.0 for mention in sentence.mentions}
