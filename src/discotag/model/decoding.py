"""Scores to mentions with their probabilities, on NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from math import exp, prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discotag.errors import DiscotagError
from discotag.inference import algorithms
from discotag.inference.arrays import compile_grammar
from discotag.inference.gold import find_gold
from discotag.inference.backends.numpy_tools import NumpyTools
from discotag.inference.probability import mention_probabilities
from discotag.mentions import Mention
from discotag.scheme import Layers, Scheme

Numbers = npt.NDArray[Any]

CELLS: Final = 1 << 14
"""Words that are decoded together, padding included: more gain no speed, and take memory."""

MOST_MENTIONS: Final = 1000
"""That one mention set may stand for. k slots with n components each stand for n^k mentions, so
nonsense could fill the memory; no annotated set comes near."""


DIGITS: Final = 6
"""Of probabilities: single precision has no more."""


class TooManyMentions(UserWarning):
    """A mention set was left out, because it stands for more mentions than anyone could read."""


def read_mentions(scheme: Scheme, tags: Sequence[int]) -> list[Mention]:
    """The mentions that tags, given as indices into `scheme.tags`, stand for, sorted.

    A mention set that stands for too many is left out, with the warning `TooManyMentions`.

    Example:
        >>> read_mentions(Scheme(("ADR",)), [0, 1, 2])
        [Mention(label='ADR', fragments=((1, 3),), text=None, score=None)]
    """
    layers = scheme.read([scheme.tags[tag] for tag in tags])
    kept = []
    for group in layers.sets:
        number = prod(len(parts) for parts in group.slots if parts)
        if number <= MOST_MENTIONS:
            kept.append(group)
        else:
            warnings.warn(
                f"a mention set of {number} mentions was left out: a set may have {MOST_MENTIONS}",
                TooManyMentions,
                stacklevel=2,
            )
    return sorted(Layers(layers.length, tuple(kept), layers.continuous).mentions)


class Decoder:
    """The best mentions, and others, of sentences that have scores.

    Args:
        scheme: What the tags mean.
        weights: Of the arcs of its grammar, or None.
    """

    def __init__(self, scheme: Scheme, weights: Numbers | None = None) -> None:
        self.scheme = scheme
        self.weights = weights
        self._arrays = compile_grammar(scheme.grammar, weighted=weights is not None)

    def mentions(self, sentences: Sequence[Numbers]) -> list[list[Mention]]:
        """For each sentence, given as scores (words, tags), its mentions with their probabilities.

        Raises:
            DiscotagError: A score is no number.
        """
        found: list[list[Mention]] = [[] for _ in sentences]
        for numbers in _batches(sentences):
            lengths = [len(sentences[number]) for number in numbers]
            scores = _padded([sentences[number] for number in numbers])
            mask = np.arange(scores.shape[1]) < np.array(lengths)[:, None]
            tags, best = algorithms.best_tags(
                NumpyTools(), self._arrays, scores, mask, self.weights
            )
            _check(best)
            # Most sentences have no mention: their tags are all O, which is 0.
            busy = np.flatnonzero(((tags > 0) & mask).any(1)).tolist()
            if not busy:
                continue
            listed = [
                read_mentions(self.scheme, row[: lengths[place]])
                for place, row in zip(busy, tags[busy].tolist(), strict=True)
            ]
            chances = mention_probabilities(
                self.scheme, scores[busy], [lengths[place] for place in busy], listed, self.weights
            )
            for place, each, scored in zip(busy, listed, chances, strict=True):
                found[numbers[place]] = [
                    Mention(mention.label, mention.fragments, score=round(score, DIGITS))
                    for mention, score in zip(each, scored, strict=True)
                ]
        return found

    def alternatives(
        self, sentences: Sequence[Numbers], k: int
    ) -> list[list[tuple[float, list[Mention]]]]:
        """For each sentence the k best sets of mentions with their probabilities, best first.

        A probability is exact: that the mentions of the sentence are these and no others. With
        semantic naming it is a sum over all namings, and sets are found among the 2k best taggings.
        """
        # Under semantic naming, several taggings stand for the same mentions.
        more = 1 if self.scheme.structural else 2
        found: list[list[tuple[float, list[Mention]]]] = [[(1.0, [])] for _ in sentences]
        for numbers in _batches(sentences, k):
            lengths = [len(sentences[number]) for number in numbers]
            scores = _padded([sentences[number] for number in numbers])
            mask = np.arange(scores.shape[1]) < np.array(lengths)[:, None]
            arguments = (NumpyTools(), self._arrays, scores, mask, self.weights)
            total = algorithms.log_partition(*arguments)
            _check(total)
            tags, best = algorithms.k_best(*arguments, k * more)
            for place, number in enumerate(numbers):
                sets: dict[frozenset[Mention], float] = {}
                for row, value in zip(tags[place].tolist(), best[place].tolist(), strict=True):
                    if value == -np.inf:
                        break
                    mentions = frozenset(read_mentions(self.scheme, row[: lengths[place]]))
                    if mentions not in sets:
                        if not self.scheme.structural:
                            value = self._log_sum(sentences[number], mentions)
                        sets[mentions] = min(1.0, exp(value - total[place]))
                ranked = sorted(sets.items(), key=lambda item: -item[1])[:k]
                found[number] = [
                    (round(chance, DIGITS), sorted(mentions)) for mentions, chance in ranked
                ]
        return found

    def _log_sum(self, scores: Numbers, mentions: frozenset[Mention]) -> float:
        """The log-sum over the sequences that stand for exactly these mentions."""
        weighted = self.weights is not None
        gold = find_gold(self.scheme, len(scores), mentions, frozenset(), True, weighted)
        entries = scores[gold.word, gold.tag].astype(np.float64)
        if self.weights is not None:
            entries += self.weights[gold.arc]
        by_alternative = np.bincount(gold.alternative, entries, len(gold.group))
        by_group = np.full(gold.group[-1] + 1, -np.inf)
        np.logaddexp.at(by_group, gold.group, by_alternative)
        return float(by_group.sum())


def _batches(sentences: Sequence[Numbers], k: int = 1) -> Iterator[list[int]]:
    """Numbers of sentences that are decoded together, of like length; those without words not."""
    order = sorted(
        (number for number, scores in enumerate(sentences) if len(scores)),
        key=lambda number: len(sentences[number]),
    )
    batch: list[int] = []
    for number in order:
        length = len(sentences[number])
        # Short next to long would be padding: beyond twice the length a new batch begins.
        if batch and (
            (len(batch) + 1) * length * k > CELLS or length > 2 * len(sentences[batch[0]]) + 8
        ):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _padded(sentences: Sequence[Numbers]) -> Numbers:
    longest = max(map(len, sentences))
    scores = np.zeros((len(sentences), longest, sentences[0].shape[1]), dtype=np.float32)
    for row, each in enumerate(sentences):
        scores[row, : len(each)] = each
    return scores


def _check(values: Numbers) -> None:
    if not np.isfinite(values).all():
        raise DiscotagError(
            "the model gives scores that are no numbers; its weights are damaged, or too large"
        )
