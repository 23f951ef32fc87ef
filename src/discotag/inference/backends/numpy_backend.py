"""Inference on NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discotag.automata import Automaton
from discotag.inference import algorithms, probability
from discotag.inference.arrays import Arrays, compile_grammar
from discotag.inference.backends.numpy_tools import NumpyTools
from discotag.mentions import Mention
from discotag.scheme import Scheme

Numbers = npt.NDArray[Any]

TOOLS: Final = NumpyTools()


class Fetched:
    """Arrays that are copied to the host; NumPy's are already there."""

    def __init__(self, *arrays: Numbers) -> None:
        self._arrays = arrays

    def wait(self) -> tuple[Numbers, ...]:
        """Return the arrays."""
        return self._arrays


def quiet() -> np.errstate:
    """Return a context in which NumPy does not warn about masked-out scores, which may be NaN."""
    return np.errstate(invalid="ignore", over="ignore")


@quiet()
def best_tags(
    grammar: Automaton, scores: Numbers, mask: Numbers | None = None, weights: Numbers | None = None
) -> tuple[Numbers, Numbers]:
    """Return the best tag sequences and their scores; see `algorithms.best_tags`."""
    return algorithms.best_tags(*_arguments(grammar, scores, mask, weights))


@quiet()
def k_best(
    grammar: Automaton, scores: Numbers, mask: Numbers | None, weights: Numbers | None, k: int
) -> tuple[Numbers, Numbers]:
    """Return the k best tag sequences and their scores; see `algorithms.k_best`."""
    return algorithms.k_best(*_arguments(grammar, scores, mask, weights), k)


@quiet()
def log_partition(
    grammar: Automaton, scores: Numbers, mask: Numbers | None = None, weights: Numbers | None = None
) -> Numbers:
    """Return the log-partition; see `algorithms.log_partition`."""
    return np.asarray(algorithms.log_partition(*_arguments(grammar, scores, mask, weights)))


@quiet()
def marginals(
    grammar: Automaton, scores: Numbers, mask: Numbers | None = None, weights: Numbers | None = None
) -> tuple[Numbers, Numbers]:
    """Return the marginals and the log-partition; see `algorithms.marginals`."""
    by_tag, total, _ = algorithms.marginals(*_arguments(grammar, scores, mask, weights))
    return by_tag, total


@quiet()
def mention_probabilities(
    scheme: Scheme,
    scores: Numbers,
    lengths: Sequence[int],
    mentions: Sequence[Sequence[Mention]],
    weights: Numbers | None = None,
) -> Numbers:
    """Return the probability of each mention; see `probability.mention_probabilities`."""
    found = probability.mention_probabilities(TOOLS, scheme, scores, lengths, mentions, weights)
    return np.asarray(found)


def take(values: Numbers, rows: npt.NDArray[np.int64]) -> Numbers:
    """Return these rows of an array."""
    return values[rows]


def place(values: Numbers, like: Numbers) -> Numbers:
    """Return an array on the device of `like`, that is, unchanged."""
    return values


def fetch(*arrays: Numbers) -> Fetched:
    """Start copying arrays to the host."""
    return Fetched(*arrays)


def _arguments(
    grammar: Automaton, scores: Numbers, mask: Numbers | None, weights: Numbers | None
) -> tuple[NumpyTools, Arrays, Numbers, Numbers | None, Numbers | None]:
    arrays = compile_grammar(grammar, weighted=weights is not None)
    return TOOLS, arrays, scores, mask, weights
