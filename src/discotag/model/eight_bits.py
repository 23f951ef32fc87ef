"""Weights as integers of eight bits, with scales that make them floats again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

BLOCK: Final = 32
"""Weights that share a scale, at most, where they are kept in blocks. A scale for a whole column
moved probabilities three times as far; smaller blocks hardly less than these."""

LEAST_BLOCK: Final = 8
"""Where no block of this size or more divides a column, all of it is one."""

STEPS: Final = 127
"""The number of steps above zero, and below."""

PAIR: Final = 127.5
"""The largest sum of two weights of one sign in rows 2k and 2k + 1 of a column, in steps.
Processors with AVX2 but without VNNI add the products of two neighbours in 16 bits: 255 * 128 fits,
more may not."""

TINY: Final = 6e-8
"""The least scale, which is the least half-precision number; a block of zeros has this scale."""

WHOLE: Final = "_whole"
SCALES: Final = "_scales"
"""End the names of integers, and of their scales."""

ONE: Final = "eight_bits.one"
"""A constant that files with products in eight bits have."""


def quantised(weights: Numbers, axis: int) -> tuple[Numbers, Numbers]:
    """Return integers, and the scales that make them the weights again, in blocks along an axis.

    The axis becomes two, blocks and what is in a block: (rows, columns) is (rows, blocks, block)
    for axis 1 and (blocks, block, columns) for axis 0. Each block has one scale.

    Example:
        >>> weights = np.array([[0.5, -1.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0]])
        >>> whole, scales = quantised(weights, 1)
        >>> whole.shape, scales.shape, round(float(np.abs(whole * scales - weights).max()), 2)
        ((1, 1, 8), (1, 1, 1), 0.0)
    """
    length = weights.shape[axis]
    sizes = [size for size in range(LEAST_BLOCK, BLOCK + 1) if length % size == 0]
    split = (-1, max(sizes, default=length))
    blocks = weights.reshape(*weights.shape[:axis], *split, *weights.shape[axis + 1 :])
    largest = np.abs(blocks).max(axis + 1, keepdims=True)
    scales = np.maximum(largest / STEPS, TINY).astype(np.float16)
    whole = np.rint(blocks / scales.astype(np.float32)).clip(-STEPS, STEPS)
    return whole.astype(np.int8), scales


def unquantised(whole: Numbers, scales: Numbers, axis: int) -> Numbers:
    """Return the weights, in floats, of integers and scales that `quantised` gave.

    Example:
        >>> weights = np.eye(8, dtype=np.float32)
        >>> np.abs(unquantised(*quantised(weights, 0), 0) - weights).max() < 1e-3
        np.True_
    """
    blocks = whole.astype(np.float32) * scales.astype(np.float32)
    shape = list(blocks.shape)
    shape[axis : axis + 2] = [-1]
    return blocks.reshape(shape)


def quantised_columns(weights: Numbers) -> tuple[Numbers, Numbers]:
    """Return a matrix as integers, and the scale of each column: their product is the matrix.

    In no column do two weights of one sign in rows 2k and 2k + 1 have a sum above 128: see `PAIR`.

    Example:
        >>> whole, scales = quantised_columns(np.array([[0.5, -2.0], [-1.0, -2.0]]))
        >>> whole.tolist(), (whole * scales).round(1).tolist()
        ([[64, -64], [-127, -64]], [[0.5, -2.0], [-1.0, -2.0]])
    """
    even = np.concatenate([weights, np.zeros((len(weights) % 2, weights.shape[1]))])
    pairs = even.reshape(-1, 2, weights.shape[1])
    sums = np.maximum(pairs.clip(min=0).sum(1), (-pairs).clip(min=0).sum(1)).max(0)
    scales = np.maximum(np.abs(weights).max(0) / STEPS, sums / PAIR)
    scales = np.maximum(scales, TINY).astype(np.float32)
    return np.rint(weights / scales).clip(-STEPS, STEPS).astype(np.int8), scales


class Constant(NamedTuple):
    """Where an exported file keeps a weight of the network.

    Attributes:
        name: The name of a constant, or the beginning of the names of integers and scales.
        transposed: Whether it is kept transposed.
        axis: That of `quantised`; None for floats and for `quantised_columns`.
        factors: The name of factors that the rows were divided by, if they were.
    """

    name: str
    transposed: bool
    axis: int | None = None
    factors: str | None = None

    def weight(self, arrays: Mapping[str, Numbers]) -> Numbers:
        """Return the weight, in floats, from the constants of a file by name."""
        if self.name in arrays:
            weight = arrays[self.name]
        else:
            whole, scales = arrays[self.name + WHOLE], arrays[self.name + SCALES]
            axis = self.axis
            weight = whole * scales if axis is None else unquantised(whole, scales, axis)
        if self.factors is not None:
            weight = weight * arrays[self.factors][:, None]
        return weight.T if self.transposed else weight


def read_constants(record: str) -> dict[str, Constant | None]:
    """Return the constants that an export recorded, by the names of weights; see
    `discotag.model.onnx_session.WEIGHTS`.

    Raises:
        ValueError, TypeError or AttributeError: The record is damaged.
    """
    return {name: each and Constant(*each) for name, each in json.loads(record).items()}
