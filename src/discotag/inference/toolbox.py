"""What the algorithms need of an array library. NumPy and PyTorch spell these differently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from discotag.inference.arrays import Arrays

# A NumPy array or a PyTorch tensor; the two share no type.
Array = Any

T = TypeVar("T")


class Toolbox(Protocol):
    """Operations on arrays. "Down" is along the first axis."""

    def where(self, condition: Array, values: Array, others: Array | float) -> Array: ...
    def join(self, parts: list[Array], axis: int = 0) -> Array: ...
    def move_axis(self, values: Array, source: int, target: int) -> Array: ...
    def exp(self, values: Array) -> Array: ...
    def max_down(self, values: Array) -> Array: ...
    def argmax_down(self, values: Array) -> Array: ...
    def take_down(self, values: Array, order: Array) -> Array: ...

    def order_down(self, values: Array) -> Array:
        """Where the highest, the second highest, ... stands; of equal ones the first first."""

    def log_sum(self, values: Array, axis: int) -> Array:
        """Log of the sum of exp; -inf where all are."""

    def softmax_down(self, values: Array) -> tuple[Array, Array]:
        """The softmax, and its logarithm; -inf must not occur."""

    def shares(self, values: Array, axis: int) -> Array:
        """exp(values) over their sum; 0 where all are -inf."""

    def adder(self, groups: Array, number: int) -> Callable[[Array], Array]:
        """A function that sums rows by group: (..., rows, batch) to (..., number, batch)."""

    def placed(self, values: Array, rows: Array, number: int) -> Array:
        """Zeros of so many rows, with the values in these."""

    def grouped_sum(self, values: Array, group: Array, number: int) -> Array:
        """Return the sum of the values of each of `number` groups."""

    def grouped_log_sum(self, values: Array, group: Array, number: int) -> Array:
        """Return the log of the sum of exp of the values of each group; -inf where all are."""

    def grouped_highest(self, values: Array, group: Array, number: int) -> Array:
        """Return the highest value of each group; of equal ones the first gets the gradient."""

    def counting(self, number: int, like: Array) -> Array:
        """0, 1, 2, ... as indices."""

    def repeated(self, values: Array, times: int) -> Array:
        """Each value so many times, one after the other."""

    def noise(self, like: Array) -> Array:
        """Gumbel noise in the shape of `like`."""

    def indices(self, values: Array, like: Array) -> Array:
        """Return indices, given as a NumPy array, where `like` is."""

    def local(self, compiled: T, like: Array) -> T:
        """Return a compiled grammar with its arrays where `like` is."""

    def filled(self, shape: tuple[int, ...], value: float, like: Array) -> Array:
        """Return an array of one value, of the type of `like`."""

    def levelled(self, scores: Array, *, double: bool = False) -> Array:
        """Return scores less the highest of each word, in single or double precision at least.

        That changes no difference between two log-sums, and leaves more digits for it.
        """

    def prepared(self, scores: Array, weights: Array | None) -> tuple[Array, Array | None]:
        """Scores and weights as `sweep` wants them, in at least single precision."""

    def ends(self, arrays: Arrays, ready: Array) -> Array:
        """The values after the last word, (states, batch): 0 in final states, else -inf."""

    def beginnings(self, arrays: Arrays, ready: Array) -> Array:
        """The values before the first word: 0 in the start state, else -inf."""

    def padded_ranks(self, values: Array, k: int) -> Array:
        """Values as the first of k ranks, the others -inf."""

    def stacked(self, rows: list[Array], like: Array) -> Array:
        """Tags of words, (walkers,) each, as (walkers, words)."""

    def stacked_words(self, values: list[Array]) -> Array:
        """Values of words, (states, batch) each, as (words, states, batch)."""
