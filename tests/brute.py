"""The exact results of inference, by enumerating all well-formed tag sequences."""

from functools import cached_property, lru_cache

import numpy as np

from discotag import Scheme


@lru_cache(maxsize=256)
def all_sequences(scheme: Scheme, length: int) -> np.ndarray:
    """Return all well-formed sequences as indices of tags, (sequences, length), in order."""
    index = {tag: number for number, tag in enumerate(scheme.tags)}
    rows = [[index[tag] for tag in tags] for tags in scheme.grammar.words(length)]
    return np.array(rows, dtype=np.int64).reshape(len(rows), length)


@lru_cache(maxsize=256)
def all_mentions(scheme: Scheme, length: int) -> list:
    """Return the mentions that each well-formed sequence encodes."""
    return [scheme.decode(tags) for tags in scheme.grammar.words(length)]


class Truth:
    """The exact results for the scores of one sentence, (words, tags)."""

    def __init__(self, scheme: Scheme, scores: np.ndarray, weights: np.ndarray | None = None):
        self.scheme, self.length = scheme, len(scores)
        self.sequences = all_sequences(scheme, self.length)
        places = np.arange(self.length)
        self.totals = scores[places, self.sequences].sum(1).astype(np.float64)
        if weights is not None:
            self.totals = self.totals + self._along_arcs(weights)

    def _along_arcs(self, weights: np.ndarray) -> np.ndarray:
        grammar = self.scheme.grammar
        names = self.scheme.tags
        arcs = sorted((arc.source, names.index(arc.symbol), arc.target) for arc in grammar.arcs)
        number = {(source, tag): (n, target) for n, (source, tag, target) in enumerate(arcs)}
        sums = []
        for sequence in self.sequences:
            state, total = grammar.start, 0.0
            for tag in sequence:
                arc, state = number[state, int(tag)]
                total += weights[arc]
            sums.append(total)
        return np.array(sums)

    @cached_property
    def partition(self) -> float:
        return float(np.logaddexp.reduce(self.totals))

    @cached_property
    def probabilities(self) -> np.ndarray:
        return np.exp(self.totals - self.partition)

    @cached_property
    def ranked(self) -> list[tuple[float, list[int]]]:
        """The possible sequences with their scores, best first, ties in the order of tags."""
        order = np.argsort(-self.totals, kind="stable")
        return [
            (float(self.totals[n]), self.sequences[n].tolist())
            for n in order
            if self.totals[n] > -np.inf
        ]

    @cached_property
    def marginals(self) -> np.ndarray:
        found = np.zeros((self.length, len(self.scheme.tags)))
        for share, sequence in zip(self.probabilities, self.sequences, strict=True):
            found[np.arange(self.length), sequence] += share
        return found

    @cached_property
    def entropy(self) -> float:
        shares = self.probabilities[self.probabilities > 0]
        return float(-(shares * np.log(shares)).sum())

    def of_mention(self, mention) -> float:
        """Return the probability of a mention."""
        has = [mention in mentions for mentions in all_mentions(self.scheme, self.length)]
        return float(self.probabilities[has].sum())

    def of_mentions(self, mentions) -> np.ndarray:
        """Return the log-probabilities of the sequences that encode exactly these mentions."""
        same = [each == mentions for each in all_mentions(self.scheme, self.length)]
        return self.totals[same] - self.partition


def random_scores(random: np.random.Generator, *shape: int, forbid: float = 0.15) -> np.ndarray:
    """Return small integers, so that there are ties, and some -inf, but never for `O`."""
    scores = random.integers(-2, 3, shape).astype(np.float64)
    scores[..., 1:][random.random((*shape[:-1], shape[-1] - 1)) < forbid] = -np.inf
    return scores
