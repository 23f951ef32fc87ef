"""Long sentences in stretches: parts that are decoded apart.

A long sentence is encoded one part after another, and cut before words that certainly have the tag
O, which no mention crosses. The stretches between cuts are decoded together, as if they were
sentences, and are then forgotten. So memory depends on the longest stretch, not on the sentence,
and each step of decoding is for many stretches at once, not for a single word. A sentence that can
be cut nowhere is one stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from discotag.inference.toolbox import Array
from discotag.model.tokenizer import ranges
from discotag.prediction.decoding import Decoder, buckets
from discotag.prediction.pipeline import Work
from discotag.prediction.runtimes import Encoded

Indices = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]
R = TypeVar("R")

STRETCH: Final = 256
"""The number of words in which one place for a cut is looked for. Shorter stretches are not faster,
and fewer of their places are certain enough."""

MARGIN: Final = 64
"""The number of words before and after those places that are looked at to find out how certain they
are. With the bundled model, probabilities do not change after 32 words."""

CERTAIN: Final = 1 - 1e-6
"""The lowest probability of O before which a sentence is cut. Scores have six decimal places."""

Decode = Callable[[Decoder, Encoded, Numbers], Work[list[R]]]
"""Returns a result for each sentence of a batch; takes the number of their words."""


def decode_in_stretches(
    decoder: Decoder, parts: Iterable[Encoded], words: int, decode: Decode[R]
) -> Work[list[tuple[int, R]]]:
    """Decode a long sentence.

    Args:
        decoder: The decoder.
        parts: What the runtime computes for the sentence, some words at a time.
        words: The number of words of the sentence.
        decode: Decodes a batch of stretches.

    Returns:
        For each stretch, in order, its result and the word from which its words are counted.
    """
    found: list[tuple[int, R]] = []
    held: list[Encoded] = []
    base = 0  # the first word that is held
    first = 0  # the first word that is not decoded yet: the word before it is held, too
    end = wanted = 0
    for part in parts:
        held.append(part)
        end += part.scores.shape[1]
        if end < words and end - first < wanted:
            continue
        here = _joined(decoder, held)
        cuts = yield from find_cuts(decoder, here.scores, first - base)
        bounds = np.append(first - base, cuts)
        if end == words:
            bounds = np.append(bounds, end - base)
        stretches = _Stretches(here, bounds)
        for numbers in buckets(stretches.lengths, here.scores.shape[2], 2 * STRETCH):
            given = stretches.batch(decoder, numbers)
            results = yield from decode(decoder, given, stretches.lengths[numbers])
            starts = (base + stretches.starts[numbers]).tolist()
            found += zip(starts, results, strict=True)
        # Without a cut, try again when there are twice as many words: the time stays linear.
        wanted = 2 * (end - first) if len(bounds) == 1 else 0
        first = base + int(bounds[-1])
        passed = max(0, first - 1) - base
        vectors = None if here.vectors is None else here.vectors[passed:]
        held, base = [Encoded(here.scores[:, passed:], vectors)], base + passed
    return sorted(found, key=lambda each: each[0])


def _joined(decoder: Decoder, parts: list[Encoded]) -> Encoded:
    """Return consecutive parts of a sentence as one."""
    if len(parts) == 1:
        return parts[0]
    join = decoder.backend.TOOLS.join
    scores = join([each.scores for each in parts], 1)
    vectors = [each.vectors for each in parts if each.vectors is not None]
    return Encoded(scores, join(vectors) if vectors else None)


class _Stretches:
    """Stretches as sentences.

    A stretch includes the word before it and the word after it. The mention scorer reads their
    vectors. They are given the tag O, which does not change the probabilities of other tags.

    Args:
        given: Words that include those of the stretches, as a batch of one sentence.
        bounds: The first word of each stretch, and one past the last word of the last stretch.

    Attributes:
        starts: (stretches,), the first word of each, that before it included.
        lengths: (stretches,), the number of its words, those before and after it included.
    """

    def __init__(self, given: Encoded, bounds: Indices) -> None:
        self._given = given
        self._words = given.scores.shape[1]
        self._led = bounds[:-1] > 0
        self._followed = bounds[1:] < self._words
        self.starts = bounds[:-1] - self._led
        self.lengths = bounds[1:] + self._followed - self.starts

    def batch(self, decoder: Decoder, numbers: Indices) -> Encoded:
        """Return some of the stretches as a batch of sentences."""
        place = decoder.backend.place
        starts, lengths = self.starts[numbers], self.lengths[numbers]
        words = starts[:, None] + np.arange(lengths.max())
        words = words.clip(max=self._words - 1)
        given = self._given.scores
        scores = given[0][place(words, given)]
        led, followed = np.flatnonzero(self._led[numbers]), np.flatnonzero(self._followed[numbers])
        rows = np.concatenate([led, followed])
        outer = np.concatenate([led * 0, lengths[followed] - 1])
        scores[place(rows, given), place(outer, given), 1:] = -float("inf")
        vectors = self._given.vectors
        if vectors is not None:
            vectors = vectors[place(ranges(starts, lengths), vectors)]
        return Encoded(scores, vectors)


def find_cuts(decoder: Decoder, scores: Array, first: int) -> Work[Indices]:
    """Find words before which a sentence can be cut, at most one in `STRETCH`, in order.

    Args:
        decoder: The decoder.
        scores: (1, words, tags), those of the sentence so far; the first words may be left out.
        first: The sentence is cut before this word, or it is the first one.
    """
    backend, length = decoder.backend, scores.shape[1]
    starts = np.arange(first + 1, length - MARGIN + 1, STRETCH)
    if not len(starts):
        return starts
    words = starts[:, None] + np.arange(-MARGIN, STRETCH + MARGIN)
    taken = scores[0][backend.place(words.clip(0, length - 1), scores)]
    table, _ = backend.marginals(
        decoder.scheme.grammar,
        backend.TOOLS.levelled(taken, double=True),
        backend.place((first <= words) & (words < length), scores),
        decoder.weights,
    )
    waiting = backend.fetch(table[:, MARGIN : MARGIN + STRETCH, 0])
    yield
    (outside,) = waiting.wait()
    places = words[:, MARGIN : MARGIN + STRETCH]
    outside = np.where(places <= length - MARGIN, outside, 0)
    best = outside.argmax(1)
    rows = np.arange(len(starts))
    found: Indices = places[rows, best][outside[rows, best] >= CERTAIN]
    return found
