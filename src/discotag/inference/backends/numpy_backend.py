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


def best_tags(
    grammar: Automaton, scores: Numbers, mask: Numbers | None = None, weights: Numbers | None = None
) -> tuple[Numbers, Numbers]:
    """Return the best tag sequences and their scores; see `algorithms.best_tags`."""
    with quiet():
        found: tuple[Numbers, Numbers] = algorithms.best_tags(
            *_arguments(grammar, scores, mask, weights)
        )
    return found


def k_best(
    grammar: Automaton, scores: Numbers, mask: Numbers | None, weights: Numbers | None, k: int
) -> tuple[Numbers, Numbers]:
    """Return the k best tag sequences and their scores; see `algorithms.k_best`."""
    with quiet():
        given = _arguments(grammar, scores, mask, weights)
        found: tuple[Numbers, Numbers] = algorithms.k_best(*given, k)
    return found


def log_partition(
    grammar: Automaton, scores: Numbers, mask: Numbers | None = None, weights: Numbers | None = None
) -> Numbers:
    """Return the log-partition; see `algorithms.log_partition`."""
    with quiet():
        return np.asarray(algorithms.log_partition(*_arguments(grammar, scores, mask, weights)))


def marginals(
    grammar: Automaton, scores: Numbers, mask: Numbers | None = None, weights: Numbers | None = None
) -> tuple[Numbers, Numbers]:
    """Return the marginals and the log-partition; see `algorithms.marginals`."""
    by_tag, total, _ = all_marginals(grammar, scores, mask, weights)
    return by_tag, total


def all_marginals(
    grammar: Automaton, scores: Numbers, mask: Numbers | None, weights: Numbers | None
) -> tuple[Numbers, Numbers, Numbers | None]:
    """Return marginals, log-partition and expected counts of arcs; see `algorithms.marginals`."""
    with quiet():
        found: tuple[Numbers, Numbers, Numbers | None] = algorithms.marginals(
            *_arguments(grammar, scores, mask, weights)
        )
    return found


def mention_probabilities(
    scheme: Scheme,
    scores: Numbers,
    lengths: Sequence[int],
    mentions: Sequence[Sequence[Mention]],
    weights: Numbers | None = None,
) -> Numbers:
    """Return the probability of each mention; see `probability.mention_probabilities`."""
    with quiet():
        return np.asarray(
            probability.mention_probabilities(
                NumpyTools(), scheme, scores, lengths, mentions, weights
            )
        )


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
    return NumpyTools(), arrays, scores, mask, weights


def quiet() -> np.errstate:
    """Return a context in which NumPy does not warn about masked-out scores, which may be NaN."""
    return np.errstate(invalid="ignore", over="ignore")
