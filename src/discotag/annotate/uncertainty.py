"""Which documents are the most useful to correct: those where the model expects mistakes.

`benchmarks/annotation_order.py` compares formulas. On the development posts of PsyTAR, the first
fifth of the words in this order has 37% of the bundled model's mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from discotag.mentions import Document, Mention

if TYPE_CHECKING:
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
    sentences = [each for document in documents for each in document.sentences]
    analysed = iter(tagger.analyse(sentences, compared=True, candidates=False))
    found = []
    for document in documents:
        mistakes = 0.0
        listed = []
        for sentence in document.sentences:
            analysis = next(analysed)
            own = analysis.sentence.mentions
            # The scores that the annotator sees come last, so that they count.
            chances = {**analysis.compared, **{each: each.score or 0.0 for each in own}}
            shown = set(sentence.mentions or own)
            mistakes += sum(1 - chances.get(mention, 0.0) for mention in shown)
            mistakes += sum(chance for mention, chance in chances.items() if mention not in shown)
            listed.append(own)
        found.append(Proposed(tuple(listed), mistakes))
    return found


def usefulness(mistakes: float, words: int) -> float:
    """Return the expected number of mistakes per word of reading effort."""
    return mistakes / (words + EFFORT)
