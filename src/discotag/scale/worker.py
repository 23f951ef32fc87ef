"""A worker: loads the model once, and tags blocks, each into a part with a receipt."""

from __future__ import annotations

import json
import os
import platform
import time
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, Final

from discotag.counts import counted
from discotag.errors import DiscotagError, one_line
from discotag.mentions import Document
from discotag.prediction.wanted import MENTIONS_ONLY, Wanted
from discotag.scale.parts import (
    Format,
    LinesWriter,
    ParquetWriter,
    Receipt,
    digest_of,
    part_name,
    read_receipt,
    receipt_name,
    write_errors,
)
from discotag.scale.plan import Block
from discotag.scale.reading import BlockReading, Portion, Reader
from discotag.scale.schema import Columns
from discotag.scale.sources import Source
from discotag.scale.storage import StorageError, folder_at
from discotag.words import Splitter

if TYPE_CHECKING:
    from discotag.prediction.predictions import LeftOut
    from discotag.prediction.tagger import Tagger

RETRIES: Final = 3
"""How often a block that failed is tried again."""

PAUSE: Final = 1.0
"""The seconds before a block is tried again; twice as many each further time."""

MOST_WARNINGS: Final = 3
"""The number of warnings of a block that are kept."""


@dataclass(frozen=True, slots=True)
class Work:
    """What workers need to know to tag the blocks of a job.

    Attributes:
        out: The address of the folder of outputs.
        format: The format of parts.
        sources: The files to read.
        columns: The columns of Parquet files; None for JSON lines.
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
    model: str | None
    digest: str
    runtime: str
    device: str
    splitter: Splitter
    wanted: Wanted = MENTIONS_ONLY
    skip_bad: bool = False
    job: str = ""


class Worker:
    """Tags blocks. The model is loaded with the first one.

    On a CPU it computes with one thread, so that workers do not wait for each other and results do
    not depend on the number of cores.

    Args:
        work: What to do.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._folder = folder_at(work.out)
        self._tagger: Tagger | None = None
        self._reader = Reader(
            work.sources,
            work.columns,
            work.splitter,
            carry=work.format == "jsonl",
            strict=not work.skip_bad,
        )

    def tag(self, number: int, block: Block) -> Receipt:
        """Write the part of a block and its receipt, and return the receipt.

        If they exist, because a worker was lost after it had written them, nothing is done. What
        fails for a reason that may pass is tried again.

        Raises:
            DiscotagError: The block cannot be read, tagged or written.
        """
        for again in range(RETRIES + 1):
            try:
                return self._done(number) or self._tag(number, block)
            except StorageError as error:
                if error.lasting or again == RETRIES:
                    raise
            except DiscotagError:
                raise
            except Exception as error:
                if again == RETRIES:
                    where = describe(self._work, block)
                    what = f"{type(error).__name__}: {one_line(error)}"
                    raise DiscotagError(f"{where}: cannot be tagged: {what}") from error
            time.sleep(PAUSE * 2**again)
        raise AssertionError("a block is returned or raises")

    def _done(self, number: int) -> Receipt | None:
        """Return the receipt of a block that is complete, or None."""
        name = receipt_name(number)
        if self._folder.size(name) is None:
            return None
        receipt = read_receipt(self._folder.read(name))
        part = part_name(number, self._work.format)
        if receipt is None or receipt.job != self._work.job:
            return None
        if self._folder.size(part) != receipt.bytes:
            return None
        return receipt

    def _tag(self, number: int, block: Block) -> Receipt:
        tagger = self._loaded()
        reading = self._reader.read(block)
        documents = sentences = mentions = candidates = 0
        with (
            _warnings() as warned,
            self._folder.writing(part_name(number, self._work.format)) as stream,
        ):
            writer: LinesWriter | ParquetWriter | None = None
            left_out, portions = self._tagged(tagger, reading)
            for portion in portions:
                writer = writer or self._writer(stream, reading)
                writer.write(portion)
                for document in portion.documents:
                    documents += 1
                    sentences += len(document.sentences)
                    mentions += sum(len(each.mentions) for each in document.sentences)
                    candidates += sum(len(each.candidates) for each in document.sentences)
            (writer or self._writer(stream, reading)).close()
            size, digest = digest_of(stream)
            if reading.flaws:  # before the part, so that a part never lacks them
                write_errors(self._folder, number, reading.flaws)
        receipt = Receipt(
            self._work.job,
            number,
            documents,
            sentences,
            mentions,
            len(reading.flaws),
            tuple(reading.lines),
            size,
            digest,
            tuple(warned[:MOST_WARNINGS]),
            left_out.mentions,
            left_out.highest,
            candidates,
        )
        self._folder.write(receipt_name(number), json.dumps(receipt.to_dict()).encode())
        return receipt

    def _tagged(self, tagger: Tagger, reading: BlockReading) -> tuple[LeftOut, Iterator[Portion]]:
        """Return portions whose documents have the mentions found in them, and what is left out."""
        waiting: deque[Portion] = deque()

        def documents() -> Iterator[Document]:
            for portion in reading.portions():
                if portion.documents:
                    waiting.append(portion)
                    yield from portion.documents

        found = tagger.predict(documents(), self._work.wanted)

        def portions() -> Iterator[Portion]:
            for first in found:
                portion = waiting.popleft()
                rest = islice(found, len(portion.documents) - 1)
                yield Portion([first, *rest], portion.rows)

        return found.left_out, portions()

    def _writer(self, stream: IO[bytes], reading: BlockReading) -> LinesWriter | ParquetWriter:
        if self._work.format == "jsonl":
            return LinesWriter(stream)
        return ParquetWriter(stream, reading.schema, candidates=bool(self._work.wanted.candidates))

    def _loaded(self) -> Tagger:
        """Return the tagger, which is loaded once.

        Raises:
            DiscotagError: The model cannot be loaded, or it is not that of the job.
        """
        if self._tagger is None:
            work = self._work
            if work.device == "cpu":
                use_one_thread(work.runtime)
            from discotag.model.files import digest, find_model
            from discotag.prediction.loading import load

            folder = find_model(work.model)
            if digest(folder) != work.digest:
                raise DiscotagError(
                    f"{folder}: on {platform.node()} this is another model than where the job was "
                    "started; use the same version of discotag and the same files everywhere"
                )
            self._tagger = load(
                folder, runtime=work.runtime, device=work.device, splitter=work.splitter
            )
        return self._tagger


def use_one_thread(runtime: str) -> None:
    """Let this process compute with one thread."""
    os.environ["OMP_NUM_THREADS"] = "1"
    if runtime == "torch":
        import torch

        torch.set_num_threads(1)


def describe(work: Work, block: Block) -> str:
    """Return the files of a block, for messages.

    Example:
        >>> from discotag.scale.plan import Range
        >>> from discotag.scale.storage import Facts
        >>> source = Source("/a/b.jsonl", "b.jsonl", "b", "jsonl", False, Facts(9, None))
        >>> work = Work("out", "jsonl", (source,), None, None, "", "onnx", "cpu", Splitter())
        >>> describe(work, (Range(0, 3, 9),))
        'b.jsonl, bytes 3 to 9'
    """
    first = block[0]
    source = work.sources[first.file]
    unit = "bytes" if work.columns is None else "rows"
    more = f" and {counted(len(block) - 1, 'more file')}" if len(block) > 1 else ""
    return f"{source.shown}, {unit} {first.start:,} to {first.end:,}{more}"


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Collect what the tagger warns of."""
    from discotag.prediction.decoding import TooManyMentions

    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TooManyMentions)
        yield found
        found += dict.fromkeys(str(each.message) for each in caught)
