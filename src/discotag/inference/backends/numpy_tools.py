"""The operations of `Toolbox` on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from discotag.inference.arrays import Arrays

Numbers = npt.NDArray[Any]
T = TypeVar("T")

MATRIX_LIMIT: Final = 1 << 14
"""Up to this many rows x groups, rows are summed by a matrix product, which is faster."""


class NumpyTools:
    """The operations of `Toolbox` on NumPy arrays; see there."""

    def __init__(self, seed: int | None = None) -> None:
        self.random = np.random.default_rng(seed)

    def where(self, condition: Numbers, values: Any, others: Any) -> Numbers:
        return np.asarray(np.where(condition, values, others))

    def join(self, parts: list[Numbers], axis: int = 0) -> Numbers:
        return np.concatenate(parts, axis)

    def move_axis(self, values: Numbers, source: int, target: int) -> Numbers:
        return np.moveaxis(values, source, target)

    def exp(self, values: Numbers) -> Numbers:
        return np.asarray(np.exp(values))

    def max_down(self, values: Numbers) -> Numbers:
        return np.asarray(values.max(axis=0))

    def argmax_down(self, values: Numbers) -> Numbers:
        return np.asarray(values.argmax(axis=0))

    def take_down(self, values: Numbers, order: Numbers) -> Numbers:
        return np.take_along_axis(values, order, axis=0)

    def order_down(self, values: Numbers) -> Numbers:
        return np.argsort(-values, axis=0, kind="stable")

    def log_sum(self, values: Numbers, axis: int) -> Numbers:
        powers, highest = _powers(values, axis)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(powers.sum(axis)) + highest)

    def softmax_down(self, values: Numbers) -> tuple[Numbers, Numbers]:
        logs = values - self.log_sum(values, 0)
        return np.asarray(np.exp(logs)), logs

    def shares(self, values: Numbers, axis: int) -> Numbers:
        powers, _ = _powers(values, axis)
        sums = powers.sum(axis, keepdims=True)
        powers /= np.maximum(sums, np.finfo(powers.dtype).tiny, out=sums)
        return powers

    def adder(self, groups: Numbers, number: int) -> Callable[[Numbers], Numbers]:
        groups = groups.reshape(-1)
        if len(groups) * number <= MATRIX_LIMIT:
            member = groups == np.arange(number)[:, None]
            return lambda values: np.asarray(member.astype(values.dtype) @ values)
        order = np.argsort(groups, kind="stable")
        present, firsts = np.unique(groups[order], return_index=True)

        def add(values: Numbers) -> Numbers:
            sums = np.zeros((*values.shape[:-2], number, values.shape[-1]), dtype=values.dtype)
            sums[..., present, :] = np.add.reduceat(values[..., order, :], firsts, axis=-2)
            return sums

        return add

    def placed(self, values: Numbers, rows: Numbers, number: int) -> Numbers:
        zeros = np.zeros((number, *values.shape[1:]), dtype=values.dtype)
        zeros[rows] = values
        return zeros

    def picked(self, scores: Numbers, rows: Numbers, words: Numbers, tags: Numbers) -> Numbers:
        return scores[rows, words, tags]

    def grouped_sum(self, values: Numbers, group: Numbers, number: int) -> Numbers:
        return np.bincount(group, values, number).astype(values.dtype)

    def grouped_log_sum(self, values: Numbers, group: Numbers, number: int) -> Numbers:
        found = np.full(number, -np.inf, dtype=values.dtype)
        np.logaddexp.at(found, group, values)
        return found

    def grouped_highest(self, values: Numbers, group: Numbers, number: int) -> Numbers:
        found = np.full(number, -np.inf, dtype=values.dtype)
        np.maximum.at(found, group, values)
        return found

    def counting(self, number: int, like: Numbers) -> Numbers:
        return np.arange(number)

    def repeated(self, values: Numbers, times: int) -> Numbers:
        return np.repeat(values, times, axis=0)

    def noise(self, like: Numbers) -> Numbers:
        return self.random.gumbel(size=like.shape)

    def indices(self, values: Numbers, like: Numbers) -> Numbers:
        return values

    def local(self, compiled: T, like: Numbers) -> T:
        return compiled

    def filled(self, shape: tuple[int, ...], value: float, like: Numbers) -> Numbers:
        return np.full(shape, value, like.dtype)

    def levelled(self, scores: Numbers, *, double: bool = False) -> Numbers:
        kind = np.promote_types(scores.dtype, np.float64 if double else np.float32)
        highest = scores.max(2, keepdims=True, initial=-np.inf)
        found: Numbers = scores.astype(kind)
        found -= np.where(np.isfinite(highest), highest, 0)
        return found

    def prepared(self, scores: Numbers, weights: Numbers | None) -> tuple[Numbers, Numbers | None]:
        kind = np.float64 if scores.dtype == np.float64 else np.float32
        batch, words, tags = scores.shape
        ready = np.empty((words, tags + 2, batch), dtype=kind)
        ready[:, :tags] = scores.transpose(1, 2, 0)
        ready[:, tags] = -np.inf
        ready[:, tags + 1] = 0
        return ready, None if weights is None else np.append(weights, 0).astype(kind)

    def ends(self, arrays: Arrays, ready: Numbers) -> Numbers:
        return self._columns(arrays.final, ready)

    def beginnings(self, arrays: Arrays, ready: Numbers) -> Numbers:
        return self._columns(np.arange(arrays.states) == arrays.start, ready)

    def _columns(self, allowed: Numbers, ready: Numbers) -> Numbers:
        column = np.where(allowed, 0, -np.inf).astype(ready.dtype)
        return np.repeat(column[:, None], ready.shape[2], axis=1)

    def padded_ranks(self, values: Numbers, k: int) -> Numbers:
        padded = np.full((*values.shape, k), -np.inf, dtype=values.dtype)
        padded[..., 0] = values
        return padded

    def stacked(self, rows: list[Numbers], like: Numbers) -> Numbers:
        return np.stack(rows, axis=1) if rows else np.empty((len(like), 0), dtype=np.int64)

    def stacked_words(self, values: list[Numbers]) -> Numbers:
        return np.stack(values)


def _powers(values: Numbers, axis: int) -> tuple[Numbers, Numbers]:
    """Return `exp(values - highest)` and `highest`, the maximum along an axis, 0 if it is -inf."""
    highest = values.max(axis, keepdims=True)
    highest[np.isneginf(highest)] = 0
    powers = values - highest
    np.exp(powers, out=powers)
    return powers, highest.squeeze(axis)
