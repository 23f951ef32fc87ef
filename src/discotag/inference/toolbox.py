"""The array operations that the algorithms need, which NumPy and PyTorch spell differently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from discotag.inference.arrays import Arrays

# A NumPy array or a PyTorch tensor; they have no common type.
Array = Any

T = TypeVar("T")


class Toolbox(Protocol):
    """Operations on arrays. Those that end in `_down` work along the first axis."""

    def where(self, condition: Array, values: Array, others: Array | float) -> Array: ...
    def join(self, parts: list[Array], axis: int = 0) -> Array: ...
    def move_axis(self, values: Array, source: int, target: int) -> Array: ...
    def exp(self, values: Array) -> Array: ...
    def max_down(self, values: Array) -> Array: ...
    def argmax_down(self, values: Array) -> Array: ...
    def take_down(self, values: Array, order: Array) -> Array: ...

    def order_down(self, values: Array) -> Array:
        """Return the indices that sort values in descending order; the sort is stable."""

    def log_sum(self, values: Array, axis: int) -> Array:
        """Return the log-sum-exp along an axis; -inf if all values are."""

    def softmax_down(self, values: Array) -> tuple[Array, Array]:
        """Return the softmax and its logarithm; values must be finite."""

    def shares(self, values: Array, axis: int) -> Array:
        """Return the softmax along an axis; 0 if all values are -inf."""

    def adder(self, groups: Array, number: int) -> Callable[[Array], Array]:
        """Return a function that sums rows by group: (..., rows, batch) to (..., number, batch)."""

    def placed(self, values: Array, rows: Array, number: int) -> Array:
        """Return an array of `number` rows that holds the values in `rows`, and 0 in the others."""

    def picked(self, scores: Array, rows: Array, words: Array, tags: Array) -> Array:
        """Return `scores[rows, words, tags]`."""

    def grouped_sum(self, values: Array, group: Array, number: int) -> Array:
        """Return the sum of the values of each of `number` groups."""

    def grouped_log_sum(self, values: Array, group: Array, number: int) -> Array:
        """Return the log-sum-exp of the values of each group; -inf if all values are."""

    def grouped_highest(self, values: Array, group: Array, number: int) -> Array:
        """Return the highest value of each group; of equal values, the first gets the gradient."""

    def counting(self, number: int, like: Array) -> Array:
        """Return the indices 0, 1, ..., `number - 1` on the device of `like`."""

    def repeated(self, values: Array, times: int) -> Array:
        """Repeat each row `times` times."""

    def noise(self, like: Array) -> Array:
        """Return Gumbel noise in the shape of `like`."""

    def indices(self, values: Array, like: Array) -> Array:
        """Return indices, given as a NumPy array, on the device of `like`."""

    def local(self, compiled: T, like: Array) -> T:
        """Return a compiled grammar with its arrays on the device of `like`."""

    def filled(self, shape: tuple[int, ...], value: float, like: Array) -> Array:
        """Return an array filled with a value, of the type of `like`."""

    def levelled(self, scores: Array, *, double: bool = False) -> Array:
        """Return scores minus the highest score of each word, in at least single precision.

        Differences of log-partitions stay the same and become more precise. With `double`, the
        result is in at least double precision.
        """

    def prepared(self, scores: Array, weights: Array | None) -> tuple[Array, Array | None]:
        """Return scores and weights in the layout of `sweep`, in at least single precision."""

    def ends(self, arrays: Arrays, ready: Array) -> Array:
        """Return the values after the last word, (states, batch): 0 in final states, else -inf."""

    def beginnings(self, arrays: Arrays, ready: Array) -> Array:
        """Return the values before the first word: 0 in the start state, else -inf."""

    def padded_ranks(self, values: Array, k: int) -> Array:
        """Return values with a last axis of k ranks: the values, then -inf."""

    def stacked(self, rows: list[Array], like: Array) -> Array:
        """Stack the tags of words, (walkers,) each, to (walkers, words)."""

    def stacked_words(self, values: list[Array]) -> Array:
        """Stack the values of words, (states, batch) each, to (words, states, batch)."""
