"""Weights as whole numbers of eight bits, with a scale for each block of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

BLOCK: Final = 32
"""Weights that share a scale, at most. A scale for a whole column moved probabilities three times
as far; smaller blocks hardly less than these."""

LEAST_BLOCK: Final = 8
"""Where no block of this size or more divides a column, all of it is one."""

STEPS: Final = 127
"""Above and below zero."""

TINY: Final = 6e-8
"""A scale is never below, the least half-precision number: a block of zeros has none of its own."""

WHOLE: Final = "_whole"
SCALES: Final = "_scales"
MATRIX: Final = "_matrix"
"""End the names of whole numbers, of their scales, and of the matrix that both become again."""


def quantised(weights: Numbers, axis: int) -> tuple[Numbers, Numbers]:
    """Whole numbers, and scales by which they become the weights again, in blocks along an axis.

    The axis becomes two, blocks and what is in a block: (rows, columns) is (rows, blocks, block)
    for axis 1 and (blocks, block, columns) for axis 0. Of the scales a block has one.

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
    """Return the weights, in floats, of whole numbers and scales that `quantised` gave.

    Example:
        >>> weights = np.eye(8, dtype=np.float32)
        >>> np.abs(unquantised(*quantised(weights, 0), 0) - weights).max() < 1e-3
        np.True_
    """
    blocks = whole.astype(np.float32) * scales.astype(np.float32)
    shape = list(blocks.shape)
    shape[axis : axis + 2] = [-1]
    return blocks.reshape(shape)
