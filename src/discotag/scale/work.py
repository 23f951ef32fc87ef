"""The work of a job: what is tagged and how, divided into blocks.

The blocks depend on the input alone, not on the engine or the number of workers. So a block is
always the same documents, and its part always has the same content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

from discotag import __version__
from discotag.counts import counted
from discotag.errors import InputError
from discotag.prediction.wanted import MENTIONS_ONLY, Wanted
from discotag.scale.columns import Columns
from discotag.scale.sources import Source
from discotag.words import Splitter

Format = Literal["jsonl", "parquet"]
FORMATS: Final[tuple[Format, ...]] = ("jsonl", "parquet")

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


@dataclass(frozen=True, slots=True)
class Work:
    """What workers need to know to tag the blocks of a job.

    Attributes:
        out: The address of the folder of outputs.
        format: The format of parts.
        sources: The files to read.
        columns: The columns of Parquet files; None for JSON lines.
        size: The bytes of a block, about.
        blocks: The blocks.
        model: The folder or the name of the model; None for the bundled one.
        digest: The digest of the model, which must be the same for all workers.
        runtime: As in `discotag.load`.
        device: `cpu` or `cuda`.
        splitter: Splits texts into sentences and words.
        wanted: What is wanted of the model; `candidates` is True or False.
        skip_bad: Whether to leave out what cannot be read.
        job: The id of the job. Receipts of other jobs in the same folder do not count.
    """

    out: str
    format: Format
    sources: tuple[Source, ...]
    columns: Columns | None
    size: int
    blocks: tuple[Block, ...]
    model: str | None
    digest: str
    runtime: str
    device: str
    splitter: Splitter
    wanted: Wanted = MENTIONS_ONLY
    skip_bad: bool = False
    job: str = ""

    def settings(self) -> dict[str, Any]:
        """Return what a job that is resumed must have in common with the one before."""
        return {
            "discotag": __version__,
            "model": self.digest,
            "runtime": self.runtime,
            "device": self.device,
            "--format": self.format,
            **self.wanted.record(),
            "--sentences": self.splitter.sentences,
            "--words": self.splitter.words,
            "language": self.splitter.language,
            "--text-column": None if self.columns is None else self.columns.text,
            "--id-column": None if self.columns is None else self.columns.id,
            "bytes of a block": self.size,
        }

    def described(self, block: int) -> str:
        """Return the files of a block, for messages.

        Example:
            >>> source = Source("/a/b.jsonl", "b.jsonl", "b", "jsonl", False, 9, None)
            >>> blocks = ((Range(0, 3, 9),),)
            >>> work = Work(
            ...     "", "jsonl", (source,), None, 9, blocks, None, "", "onnx", "cpu", Splitter()
            ... )
            >>> work.described(0)
            'b.jsonl, bytes 3 to 9'
        """
        first, *others = self.blocks[block]
        unit = "bytes" if self.columns is None else "rows"
        more = f" and {counted(len(others), 'more file')}" if others else ""
        shown = self.sources[first.file].shown
        return f"{shown}, {unit} {first.start:,} to {first.end:,}{more}"


def choose_size(extents: Sequence[Extent]) -> int:
    """Return the bytes of a block for an input.

    Example:
        >>> choose_size([Extent(2 << 30, 1, True)]) >> 20
        4
    """
    total = sum(each.units * each.weight for each in extents)
    return int(min(max(total / BLOCKS, SMALLEST_BLOCK), LARGEST_BLOCK))


def make_blocks(extents: Sequence[Extent], size: int) -> list[Block]:
    """Return the blocks of an input, in order.

    Large files are divided into equal ranges, and small ones that follow each other are put
    together.

    Args:
        extents: How much there is in each file.
        size: The bytes of a block, about.

    Example:
        >>> make_blocks([Extent(10, 1, True), Extent(3, 1, True), Extent(4, 1, True)], 8)
        [(Range(file=0, start=0, end=5),), (Range(file=0, start=5, end=10),), \
(Range(file=1, start=0, end=3), Range(file=2, start=0, end=4))]
    """
    if size < 1:
        raise InputError(f"a block must have at least 1 byte, got {size}")
    blocks: list[Block] = []
    room = 0.0  # in the last block
    for number, (units, weight, divisible) in enumerate(extents):
        total = units * weight
        if total > size and divisible:
            pieces = min(units, -int(-total // size))
            borders = [units * each // pieces for each in range(pieces + 1)]
            blocks += [(Range(number, start, end),) for start, end in pairwise(borders)]
            room = 0.0
        elif units and total <= room:
            blocks[-1] += (Range(number, 0, units),)
            room -= total
        elif units:
            blocks.append((Range(number, 0, units),))
            room = size - total
    return blocks
