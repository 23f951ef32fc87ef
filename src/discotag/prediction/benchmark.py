"""Measure the speed of a tagger and of each of its steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from typing import Final

from discotag.errors import InputError
from discotag.mentions import Document, Sentence
from discotag.prediction.batching import plan_batches
from discotag.prediction.decoding import Ask
from discotag.prediction.pipeline import run_pipeline
from discotag.prediction.runtimes import Encoded
from discotag.prediction.tagger import Tagger

SAMPLE: Final = (
    "I have been on this for three months. It works, but the dry mouth is terrible!",
    "Pain in my arms and shoulders, and I could not sleep for more than two hours a night.",
    "No side effects so far.",
    "First week: nausea, dizziness, a metallic taste. Second week: nothing at all, thank God.",
    "My doctor raised the dose from 20 mg to 40 mg in March, because the lower one did nothing.",
    "It saved my life.",
    "The pain I was experiencing around the hipjoints was incredible, worst at night.",
    "Weight gain of 25 pounds in six months, no sex drive, and brain zaps whenever I miss a dose.",
    "Before this drug I had tried two others, neither of which helped with the anxiety. I would "
    "recommend it to anybody who suffers as I did, but be patient: it took me five weeks.",
    "blurred vision, sweating, vivid dreams",
    "Stopped after ten days. Heart was racing, hands were shaking and numb, could not eat.",
    "Has anyone else had swelling of the ankles and feet?",
)
"""Made-up posts, with sentences as long as those of real patient posts."""

TEXT_IN: Final = "text in, mentions out"
WORDS_IN: Final = "words in, mentions out"
STEPS: Final = ("split text into words", "find subwords", "score words", "find mentions")

PASS_SECONDS: Final = 3.0
"""The time that one pass should take if the number of sentences is not given."""

MOST_SENTENCES: Final = 50_000
FEWEST_SENTENCES: Final = 64


@dataclass(frozen=True, slots=True)
class Speed:
    """The results of `measure`.

    Attributes:
        documents: The number of documents.
        sentences: The number of sentences.
        words: The number of words.
        mentions: The number of mentions found.
        seconds: The seconds of the fastest pass: from text to mentions, from words to mentions, and
            of each step alone. On a GPU, steps overlap, so they add up to more than a whole pass.
    """

    documents: int
    sentences: int
    words: int
    mentions: int
    seconds: dict[str, float]

    @property
    def sentences_per_second(self) -> dict[str, float]:
        """The number of sentences per second, with the keys of `seconds`."""
        return {name: self.sentences / each for name, each in self.seconds.items()}


def measure(
    tagger: Tagger,
    documents: Sequence[Document] | None = None,
    *,
    sentences: int | None = None,
    repeat: int = 3,
) -> Speed:
    """Measure the speed of a tagger.

    Args:
        tagger: The tagger.
        documents: The documents to tag; by default, `SAMPLE`. They are repeated if there are too
            few.
        sentences: The number of sentences to tag; by default, as many as take about 3 seconds.
        repeat: The number of passes per measurement, of which the fastest counts.

    Raises:
        InputError: If the documents have no words.

    Example:
        >>> from discotag import load
        >>> measure(load(), sentences=20, repeat=1).sentences  # doctest: +SKIP
        20
    """
    if documents is None:
        documents = [tagger.splitter.document(text) for text in SAMPLE]
    if not any(document.words for document in documents):
        raise InputError("the documents have no words; give documents with text")
    if sentences is None:
        sentences = _enough(tagger, documents)
    chosen = _take(documents, sentences)
    found = tagger.tag_batch(chosen)  # also a warm-up, for what is compiled or allocated once
    parts = [each for document in chosen for each in document.sentences]
    texts = [_text(document) for document in chosen]
    encoded = tagger.tokenizer.encode([each.words for each in parts])
    batches = list(map(encoded.batch, plan_batches(encoded, tagger.runtime.batch)))
    runtime = tagger.runtime
    decoder = tagger.decoder()
    scored: list[Encoded] = []

    def score() -> None:
        scored[:] = [runtime.encode(batch) for batch in batches]
        for each in scored[-1:]:
            runtime.backend.fetch(each.scores).wait()

    def decode() -> None:
        works = (
            decoder.answer(*encoded, batch.lengths, Ask(bias=tagger.config.bias))
            for encoded, batch in zip(scored, batches, strict=True)
        )
        for _ in run_pipeline(works, runtime.depth):
            pass

    works: dict[str, Callable[[], object]] = {
        TEXT_IN: lambda: _exhaust(tagger.predict(texts)),
        WORDS_IN: lambda: _exhaust(tagger.predict(chosen)),
        STEPS[0]: lambda: [tagger.splitter.document(text) for text in texts],
        STEPS[1]: lambda: tagger.tokenizer.encode([each.words for each in parts]),
        STEPS[2]: score,
        STEPS[3]: decode,
    }
    return Speed(
        documents=len(chosen),
        sentences=len(parts),
        words=sum(len(each.words) for each in parts),
        mentions=sum(len(each.mentions) for each in found),
        seconds={name: _fastest(work, repeat) for name, work in works.items()},
    )


def _enough(tagger: Tagger, documents: Sequence[Document]) -> int:
    """Return the number of sentences that take about `PASS_SECONDS`."""
    number, seconds = FEWEST_SENTENCES, 0.0
    tagger.tag_batch(_take(documents, number))
    while seconds < PASS_SECONDS / 10 and number < MOST_SENTENCES:
        number *= 4
        seconds = _fastest(partial(tagger.tag_batch, _take(documents, number)), 1)
    return min(MOST_SENTENCES, max(FEWEST_SENTENCES, round(number * PASS_SECONDS / seconds)))


def _take(documents: Sequence[Document], sentences: int) -> list[Document]:
    """Return documents with this many sentences in all; documents are repeated if necessary."""
    chosen: list[Document] = []
    number = 0
    for document in islice(cycle(documents), sentences * len(documents)):
        if number >= sentences:
            break
        if document.sentences:
            chosen.append(document)
            number += len(document.sentences)
    if number > sentences:
        last = chosen[-1]
        kept = last.sentences[: len(last.sentences) - (number - sentences)]
        chosen[-1] = Document.unchecked(kept, last.text, last.id)
    return chosen


def _text(document: Document) -> str:
    """Return the text of a document, or its words joined by spaces if the text is not known."""
    parts = document.sentences
    if document.text is not None:
        return document.text[: _end(parts[-1])]
    return "\n".join(" ".join(each.words) for each in parts)


def _end(sentence: Sentence) -> int:
    return sentence.start + len(sentence.text or "")


def _fastest(work: Callable[[], object], repeat: int) -> float:
    """Return the seconds of the fastest of several runs."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _exhaust(documents: Iterator[Document]) -> None:
    for _ in documents:
        pass
