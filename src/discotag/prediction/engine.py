"""The engine: portions of documents in batches through tokenizer, runtime and decoder."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import numpy.typing as npt

from discotag.mentions import Document, Sentence
from discotag.model.tokenizer import EncodedSentences, Indices, WordTokenizer
from discotag.prediction.batching import plan_batches
from discotag.prediction.decoding import Decoder, Found, join_taggings
from discotag.prediction.pipeline import Work, run_pipeline
from discotag.prediction.runtimes import LOOK_AHEAD, Encoded, Runtime
from discotag.prediction.stretches import decode_in_stretches

Numbers = npt.NDArray[Any]
R = TypeVar("R")

Join = Callable[[list[tuple[int, R]]], R]
"""Returns the result for a sentence; takes the result for each of its stretches, after the word
from which its words are counted."""

LONG_PART: Final = 8
"""A sentence with more subwords than a batch may have, divided by this, is decoded in stretches."""


@dataclass(slots=True)
class Portion(Generic[R]):
    """Documents that are tagged together.

    Attributes:
        documents: The documents.
        skipped: The number of documents at the beginning that are skipped.
        found: The result for each of their sentences; None for those without words.
        waiting: The number of batches that are not done yet, and of runs without batches.
    """

    documents: list[Document]
    skipped: int = 0
    found: list[R | None] = field(default_factory=list)
    waiting: int = 0

    @property
    def asked(self) -> list[Document]:
        """The documents that are not skipped."""
        return self.documents[self.skipped :]


def results(
    tokenizer: WordTokenizer,
    runtime: Runtime,
    decoder: Decoder,
    portions: Iterable[Portion[R]],
    work: Callable[[Decoder, Encoded, Numbers], Work[list[R]]],
    batch_size: int | None,
    *,
    batch: int | None = None,
    join: Join[R] | None = None,
) -> Iterator[Portion[R]]:
    """Yield portions in order, with the results of `work` on the scores of their sentences.

    Args:
        tokenizer: Splits words into subwords.
        runtime: Encodes them.
        decoder: Decodes what it computes.
        portions: The portions.
        work: Decodes a batch of sentences.
        batch_size: The most sentences of a batch.
        batch: The most subwords of a batch; by default, those of the runtime.
        join: Joins the results of the stretches of a long sentence; None: it is decoded whole.
    """
    batch = batch or runtime.batch
    long = runtime.batch // LONG_PART if join is not None else None
    waiting: deque[Portion[R]] = deque()

    def on_long(encoded: EncodedSentences, number: int, join: Join[R]) -> Work[list[R]]:
        parts = map(runtime.encode, encoded.parts(number, batch))
        words = int(encoded.lengths[number])
        found = yield from decode_in_stretches(decoder, parts, words, work)
        return [join(found)]

    def on_batch(
        portion: Portion[R], first: int, encoded: EncodedSentences, numbers: Indices
    ) -> Work[None]:
        if join is not None and long is not None and encoded.totals[numbers[0]] > long:
            found = yield from on_long(encoded, int(numbers[0]), join)
        else:
            given = encoded.batch(numbers)
            found = yield from work(decoder, runtime.encode(given), given.lengths)
        for number, each in zip(numbers.tolist(), found, strict=True):
            portion.found[first + number] = each
        portion.waiting -= 1

    def on_batches() -> Iterator[Work[None]]:
        for portion in portions:
            sentences = [each for document in portion.documents for each in document.sentences]
            runs = list(_runs(sentences, 2 * LOOK_AHEAD * runtime.batch))
            portion.found = [None] * len(sentences)
            portion.waiting = len(runs)
            waiting.append(portion)
            for run in runs:
                encoded = tokenizer.encode([each.words for each in sentences[run]])
                batches = list(plan_batches(encoded, batch, batch_size, long))
                portion.waiting += len(batches) - 1
                for numbers in batches:
                    yield on_batch(portion, run.start, encoded, numbers)

    for _ in run_pipeline(on_batches(), runtime.depth):
        while waiting and not waiting[0].waiting:
            yield waiting.popleft()
    yield from waiting


def join_found(stretches: Sequence[tuple[int, Found]], most: int) -> Found:
    """Return what is found in a sentence from what is found in its stretches.

    Args:
        stretches: For each, the word from which its words are counted, and what is found.
        most: The most tag sequences to return.
    """
    has_taggings = any(each.taggings for _, each in stretches)
    return Found(
        [each.shifted(start) for start, found in stretches for each in found.mentions],
        [each.shifted(start) for start, found in stretches for each in found.candidates],
        join_taggings([(start, found.taggings) for start, found in stretches], most)
        if has_taggings
        else (),
        {
            each.shifted(start): score
            for start, found in stretches
            for each, score in found.compared.items()
        },
    )


def _runs(sentences: Sequence[Sentence], most: int) -> Iterator[slice]:
    """Yield runs of sentences to tokenize together, of about `most` words at the most."""
    first = words = 0
    for number, sentence in enumerate(sentences):
        words += len(sentence.words)
        if words >= most:
            yield slice(first, number + 1)
            first, words = number + 1, 0
    if first < len(sentences):
        yield slice(first, len(sentences))
