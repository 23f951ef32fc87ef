"""A worker: loads the model once, and tags blocks, each into a part with a receipt."""

from __future__ import annotations

import hashlib
import os
import platform
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import IO, TYPE_CHECKING, Final

from discotag.errors import DiscotagError, one_line
from discotag.scale.parts import (
    Part,
    Receipt,
    Write,
    part_name,
    receipt_name,
    writing_lines,
    writing_rows,
)
from discotag.scale.reading import BlockReading
from discotag.scale.storage import Folder, StorageError
from discotag.scale.work import Work

if TYPE_CHECKING:
    from discotag.prediction.predictions import Predictions
    from discotag.prediction.tagger import Tagger

RETRIES: Final = 3
"""How often a block that failed is tried again."""

PAUSE: Final = 1.0
"""The seconds before a block is tried again; twice as many each further time."""

MOST_WARNINGS: Final = 3
"""The number of warnings of a block that are kept."""


class Worker:
    """Tags blocks. The model is loaded with the first one.

    On a CPU it computes with one thread, so that workers do not wait for each other and results do
    not depend on the number of cores.

    Args:
        work: What to do.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._folder = Folder(work.out)
        self._tagger: Tagger | None = None

    def tag(self, block: int) -> Receipt:
        """Write the part of a block and its receipt, and return the receipt.

        If they exist, because a worker was lost after it had written them, nothing is done. What
        fails for a reason that may pass is tried again.

        Raises:
            DiscotagError: The block cannot be read, tagged or written.
        """
        for again in range(RETRIES + 1):
            try:
                return self._done(block) or self._tag(block)
            except StorageError as error:
                if error.lasting or again == RETRIES:
                    raise
            except DiscotagError:
                raise
            except Exception as error:
                if again == RETRIES:
                    what = f"{type(error).__name__}: {one_line(error)}"
                    where = self._work.described(block)
                    raise DiscotagError(f"{where}: cannot be tagged: {what}") from error
            time.sleep(PAUSE * 2**again)
        raise AssertionError("a block is returned or raises")

    def _done(self, block: int) -> Receipt | None:
        """Return the receipt of a block that is done, which only a lost worker has left."""
        if self._folder.size(receipt_name(block)) is None:
            return None
        receipt = Receipt.from_json(self._folder.read(receipt_name(block)))
        if receipt is None or receipt.job != self._work.job:
            return None
        return receipt if self._folder.size(receipt.part.name) == receipt.part.bytes else None

    def _tag(self, block: int) -> Receipt:
        work, name = self._work, part_name(block, self._work.format)
        counts: Counter[str] = Counter()
        reading = BlockReading(work, block)
        found = self._found(reading)
        with _warnings() as warned, self._folder.writing(name) as stream:
            with self._writing(stream, reading) as write:
                for document in found:
                    write(document)
                    counts["documents"] += 1
                    counts["sentences"] += len(document.sentences)
                    for sentence in document.sentences:
                        counts["mentions"] += len(sentence.mentions)
                        counts["candidates"] += len(sentence.candidates)
            size = stream.tell()
            stream.seek(0)
            digest = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        sizes = (counts["documents"], counts["sentences"], counts["mentions"], size)
        receipt = Receipt(
            work.job,
            block,
            Part(name, *sizes, digest),
            len(reading.flaws),
            tuple(reading.lines),
            tuple(warned[:MOST_WARNINGS]),
            found.left_out.mentions,
            found.left_out.highest,
            counts["candidates"],
        )
        self._folder.write(receipt_name(block), receipt.to_json(reading.flaws).encode())
        return receipt

    def _found(self, reading: BlockReading) -> Predictions:
        """Return the documents of a block with their mentions, found as they are asked for."""
        return self._loaded().predict(reading.documents(), self._work.wanted)

    def _writing(self, stream: IO[bytes], reading: BlockReading) -> AbstractContextManager[Write]:
        work = self._work
        if work.format == "jsonl":
            return writing_lines(stream)
        candidates = bool(work.wanted.candidates)
        return writing_rows(stream, work.columns, reading.rows, candidates=candidates)

    def _loaded(self) -> Tagger:
        """Return the tagger, which is loaded once.

        Raises:
            DiscotagError: The model cannot be loaded, or it is not that of the job.
        """
        if self._tagger is None:
            work = self._work
            if work.device == "cpu":
                os.environ["OMP_NUM_THREADS"] = "1"
                if work.runtime == "torch":
                    import torch

                    torch.set_num_threads(1)
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
