"""The plan of a job: how its input is divided into blocks.

The plan depends on the input alone, not on the engine or the number of workers. So a block is
always the same documents, and its part always has the same content.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from discotag.errors import InputError

BLOCKS: Final = 512
"""The number of blocks that an input is divided into, if they are neither too small nor too large
then. With many blocks, workers end at about the same time, and little work is lost with one."""

SMALLEST_BLOCK: Final = 1 << 19
"""The fewest bytes of a block: about 5,000 sentences. A worker of one core takes half a minute."""

LARGEST_BLOCK: Final = 1 << 24
"""The most bytes of a block, unless the user chooses another size: about 150,000 sentences."""

UNPACKED: Final = 4
"""The approximate ratio of the size of a text to its compressed size."""


class Extent(NamedTuple):
    """How much there is in a file.

    Attributes:
        units: The number of its bytes or rows.
        weight: The bytes of text in a unit, about.
        divisible: Whether it can be read from the middle.
    """

    units: int
    weight: float
    divisible: bool


class Range(NamedTuple):
    """A part of a file, half-open, in bytes of JSON lines or rows of Parquet.

    The lines of a range are those that begin in it.
    """

    file: int
    start: int
    end: int


Block = tuple[Range, ...]
"""What is tagged together and written as one part."""


def choose_size(extents: Sequence[Extent]) -> int:
    """Return the bytes of a block for an input.

    Example:
        >>> choose_size([Extent(2 << 30, 1, True)]) >> 20
        4
    """
    total = sum(each.units * each.weight for each in extents)
    return int(min(max(total / BLOCKS, SMALLEST_BLOCK), LARGEST_BLOCK))


def make_plan(extents: Sequence[Extent], size: int) -> list[Block]:
    """Return the blocks of an input, in order.

    Large files are divided into equal ranges, and small ones that follow each other are put
    together.

    Args:
        extents: How much there is in each file.
        size: The bytes of a block, about.

    Example:
        >>> make_plan([Extent(10, 1, True), Extent(3, 1, True), Extent(4, 1, True)], 8)
        [(Range(file=0, start=0, end=5),), (Range(file=0, start=5, end=10),), \
(Range(file=1, start=0, end=3), Range(file=2, start=0, end=4))]
    """
    if size < 1:
        raise InputError(f"a block must have at least 1 byte, got {size}")
    blocks: list[Block] = []
    small: list[Range] = []
    held = 0.0

    def close() -> None:
        nonlocal held
        if small:
            blocks.append(tuple(small))
        small.clear()
        held = 0.0

    for number, (units, weight, divisible) in enumerate(extents):
        bytes_ = units * weight
        if not units:
            continue
        if held + bytes_ > size:
            close()
        if bytes_ <= size or not divisible:
            small.append(Range(number, 0, units))
            held += bytes_
            continue
        pieces = min(units, -int(-bytes_ // size))
        borders = [units * each // pieces for each in range(pieces + 1)]
        blocks += [(Range(number, start, end),) for start, end in pairwise(borders)]
    close()
    return blocks
