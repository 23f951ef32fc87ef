"""The tagger: text in, mentions out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from discotag.errors import DiscotagError, InputError
from discotag.mentions import Document, Mention, Sentence
from discotag.model.config import ModelConfig
from discotag.model.tokenizer import EncodedSentences, Indices, WordTokenizer
from discotag.prediction.batching import plan_batches
from discotag.prediction.decoding import Decoder, Reading
from discotag.prediction.pipeline import Work, collection_paused, run_pipeline
from discotag.prediction.runtimes import LOOK_AHEAD, Runtime, TorchRuntime
from discotag.scheme import Scheme
from discotag.words import Splitter

if TYPE_CHECKING:
    from discotag.model.network import Network

Numbers = npt.NDArray[Any]
R = TypeVar("R")

Item = str | Sequence[str] | Sentence | Document
"""What can be tagged: a text, a list of words, or what was read from a corpus."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the readings of a sentence.

    Attributes:
        sentence: The sentence with the mentions of this reading.
        probability: The probability that its mentions are exactly these.
    """

    sentence: Sentence
    probability: float


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a tagger was loaded from, and how it runs.

    Attributes:
        folder: The folder of the model.
        runtime: The runtime that was chosen.
        device: The device that was asked for; None if none was.
        reason: Why the runtime was chosen.
    """

    folder: Path
    runtime: str
    device: str | None
    reason: str


class Tagger:
    """A loaded model that finds mentions. `Tagger.from_pretrained`, or `load` for short, makes one.

    Threads can share a tagger. One that was loaded can be pickled, and so be sent to other
    processes: they load the same folder again, with the same runtime, device and splitter.

    Args:
        config: The configuration of the model.
        tokenizer: Its tokenizer.
        runtime: What gives scores: onnxruntime, or a network of PyTorch.
        splitter: How text becomes sentences and words.
        origin: Where the model was loaded from, if it was.

    Example:
        >>> from discotag import load
        >>> tagger = load()  # doctest: +SKIP
        >>> document = tagger("The pain I felt around the hipjoints was bad.")  # doctest: +SKIP
        >>> [mention.text for mention in document.mentions]  # doctest: +SKIP
        ['pain hipjoints']
    """

    def __init__(
        self,
        config: ModelConfig,
        tokenizer: WordTokenizer,
        runtime: Runtime,
        *,
        splitter: Splitter | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.config = config
        self.tokenizer = tokenizer
        self.runtime = runtime
        self.splitter = splitter or Splitter()
        self.origin = origin

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path | None = None,
        *,
        runtime: str | None = None,
        device: str | None = None,
        splitter: Splitter | None = None,
    ) -> Tagger:
        """Load a model; see `discotag.load`."""
        from discotag.prediction.loading import load

        return load(name, runtime=runtime, device=device, splitter=splitter)

    @classmethod
    def from_network(cls, network: Network, device: str | None = None) -> Tagger:
        """Make a tagger of a network of PyTorch, which may go on being trained.

        Args:
            network: The network; it is moved to the device.
            device: As PyTorch names it; None for a GPU if there is one.
        """
        return cls(network.config, network.tokenizer, TorchRuntime(network, device))

    @property
    def scheme(self) -> Scheme:
        """The scheme of the model: labels, slots, and what tags mean."""
        return self.config.scheme

    @property
    def folder(self) -> Path | None:
        """The folder that the model was loaded from."""
        return None if self.origin is None else self.origin.folder

    def __repr__(self) -> str:
        where = "a network in memory"
        if self.origin is not None:
            where = f"{self.origin.folder}, runtime {self.origin.runtime} ({self.origin.reason})"
        labels = ", ".join(self.scheme.labels)
        return f"<Tagger of {labels} from {where}, device {self.runtime.device}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle where the tagger was loaded from, not its weights."""
        from discotag.model.files import BUNDLED

        if self.origin is None:
            raise DiscotagError(
                "a tagger of a network in memory cannot be pickled: write it to a folder with "
                "save_pretrained, and pickle what load gives for that folder"
            )
        folder = self.origin.folder
        name = None if folder == BUNDLED else str(folder)
        return _unpickled, (name, self.origin.runtime, self.origin.device, self.splitter)

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a text is not a list of items
        self, given: str
    ) -> Document: ...
    @overload
    def __call__(self, given: Iterable[Item]) -> list[Document]: ...
    def __call__(self, given: str | Iterable[Item]) -> Document | list[Document]:
        """Return the document of a text with its mentions, or the documents of several items."""
        if isinstance(given, str):
            return next(self.predict([given]))
        return list(self.predict(given))

    def tag_batch(
        self,
        documents: Sequence[Document],
        *,
        min_score: float = 0.0,
        batch_size: int | None = None,
        probabilities: bool = True,
    ) -> list[Document]:
        """Return documents with the mentions found in them, in place of those they have.

        This is the one way from words to mentions: all else in discotag that predicts calls it.

        Args:
            documents: The documents.
            min_score: Leave out mentions of a lower probability.
            batch_size: How many sentences the encoder takes at a time at most; by default as many
                as fit its budget of subwords.
            probabilities: Whether mentions get their probability as `score`.
        """
        found = self._tagged([_Portion(list(documents))], min_score, batch_size, probabilities)
        return [document for portion in found for document in portion.documents]

    def predict(
        self,
        items: Iterable[Item],
        *,
        batch_size: int | None = None,
        progress: bool = False,
        min_score: float = 0.0,
        skip: int = 0,
    ) -> Iterator[Document]:
        """Find mentions, lazily: items are read as their documents are asked for.

        Args:
            items: Texts, lists of words, sentences or documents. Texts are cut into sentences and
                words; in all others words stay as they are, and mentions are replaced. Only some
                are read ahead, so there may be any number.
            batch_size: How many sentences the encoder takes at a time at most; by default as many
                as fit its budget of subwords.
            progress: Show a progress bar on standard error, if it is a terminal.
            min_score: Leave out mentions of a lower probability.
            skip: Leave out the documents of this many items at the beginning. The others come out
                as if nothing were left out, to the last bit: this is for interrupted jobs.

        Returns:
            A document for each item, in order. Each mention has its probability, `score`: the sum
            of the probabilities of all taggings of its sentence that contain the mention.

        Raises:
            InputError: An argument is out of range, or an item is nothing that can be tagged.
        """
        _check_items(items)
        _check_whole("batch_size", batch_size, least=1)
        _check_whole("skip", skip, least=0)
        if not isinstance(min_score, Real) or not 0 <= min_score <= 1:
            raise InputError(f"min_score must be between 0 and 1, got {min_score!r}")
        portions = self._portions(items, skip)
        tagged = self._tagged(portions, float(min_score), batch_size, True)
        found = (document for portion in tagged for document in portion.wanted)
        return _shown(found, items, skip) if progress else found

    def alternatives(
        self, items: Iterable[Item], *, k: int = 5, batch_size: int | None = None
    ) -> Iterator[tuple[tuple[Alternative, ...], ...]]:
        """Find the k most probable readings of each sentence, lazily.

        Args:
            items: As for `predict`.
            k: How many; there may be fewer. With semantic naming they are found among the 2k best
                taggings, so one whose probability is spread over many namings may be missed.
            batch_size: As for `predict`.

        Returns:
            For each item, for each of its sentences, the alternatives, the most probable first.
            Their probabilities add up to 1 over all readings there are. The mentions have no
            `score`.

        Raises:
            As `predict`.
        """
        _check_items(items)
        _check_whole("k", k, least=1)
        _check_whole("batch_size", batch_size, least=1)
        return self._alternatives(items, k, batch_size)

    def _alternatives(
        self, items: Iterable[Item], k: int, batch_size: int | None
    ) -> Iterator[tuple[tuple[Alternative, ...], ...]]:
        def work(decoder: Decoder, scores: Any, lengths: Numbers) -> Work[list[list[Reading]]]:
            # The k best of all states and words of a batch are held at a time.
            return (yield from decoder.alternatives(scores, lengths, k))

        smaller = max(1, self.runtime.batch // k)
        for portion in self._over(self._portions(items, 0), work, batch_size, batch=smaller):
            readings = iter(portion.found)
            for document in portion.documents:
                yield tuple(
                    tuple(
                        Alternative(sentence.with_mentions(mentions), probability)
                        for probability, mentions in next(readings) or [(1.0, [])]
                    )
                    for sentence in document.sentences
                )

    def scores(self, sentences: Sequence[Sentence], batch_size: int | None = None) -> list[Numbers]:
        """Return the scores of the words of each sentence, (words, tags), as in `scheme.tags`.

        The mentions are decoded from them; they are for callers that decode scores themselves.
        """

        def work(decoder: Decoder, scores: Any, lengths: Numbers) -> Work[list[Numbers]]:
            waiting = self.runtime.backend.fetch(scores)
            yield
            (table,) = waiting.wait()
            return [row[:length] for row, length in zip(table, lengths.tolist(), strict=True)]

        return self._tables(sentences, work, batch_size)

    def marginals(
        self, sentences: Sequence[Sentence], batch_size: int | None = None
    ) -> list[Numbers]:
        """Return the probability of each tag of each word, (words, tags) for each sentence."""

        def work(decoder: Decoder, scores: Any, lengths: Numbers) -> Work[list[Numbers]]:
            return (yield from decoder.marginals(scores, lengths))

        return self._tables(sentences, work, batch_size)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model to a folder, from which `load` reads it.

        Raises:
            InputError: The tagger neither has a network nor was loaded from a folder.
        """
        from discotag.model.files import copy_model

        if isinstance(self.runtime, TorchRuntime):
            self.runtime.network.save_pretrained(folder)
        elif self.folder is not None:
            copy_model(self.folder, Path(folder))
        else:
            raise DiscotagError(
                "this tagger was not loaded from a folder: there is nothing to save"
            )

    def push_to_hub(self, name: str, *, private: bool = False) -> str:
        """Put the model on the Hugging Face hub, and return its address.

        Args:
            name: `owner/name`.
            private: Whether only the owner sees it, if it is new.

        Raises:
            InputError: The hub cannot be reached, or refuses.
        """
        from discotag.model.files import push

        return push(self.save_pretrained, name, private=private)

    def _tagged(
        self,
        portions: Iterable[_Portion[Any]],
        min_score: float,
        batch_size: int | None,
        probabilities: bool,
    ) -> Iterator[_Portion[list[Mention]]]:
        """Yield portions whose documents have the mentions that were found."""

        def work(decoder: Decoder, scores: Any, lengths: Numbers) -> Work[list[list[Mention]]]:
            found = yield from decoder.best(scores, lengths, probabilities=probabilities)
            return [found.get(row, []) for row in range(len(lengths))]

        for portion in self._over(portions, work, batch_size):
            mentions = iter(portion.found)
            with collection_paused():
                portion.documents = [
                    _rebuilt(
                        document, [_kept(next(mentions), min_score) for _ in document.sentences]
                    )
                    for document in portion.documents
                ]
            yield portion

    def _tables(
        self,
        sentences: Sequence[Sentence],
        work: Callable[[Decoder, Any, Numbers], Work[list[Numbers]]],
        batch_size: int | None,
    ) -> list[Numbers]:
        empty = np.empty((0, len(self.scheme.tags)), dtype=np.float32)
        portion = _Portion[Numbers]([Document((each,)) for each in sentences])
        (done,) = self._over([portion], work, batch_size)
        return [empty if each is None else each for each in done.found]

    def _over(
        self,
        portions: Iterable[_Portion[R]],
        work: Callable[[Decoder, Any, Numbers], Work[list[R]]],
        batch_size: int | None,
        batch: int | None = None,
    ) -> Iterator[_Portion[R]]:
        """Yield portions, in order, with what a work on scores finds for their sentences."""
        runtime = self.runtime
        decoder = Decoder(self.scheme, runtime.backend, runtime.arc_weights)
        waiting: deque[_Portion[R]] = deque()

        def on_batch(
            portion: _Portion[R], encoded: EncodedSentences, numbers: Indices
        ) -> Work[None]:
            given = encoded.batch(numbers)
            found = yield from work(decoder, runtime.scores(given), given.lengths)
            for number, each in zip(numbers.tolist(), found, strict=True):
                portion.found[number] = each
            portion.waiting -= 1

        def on_batches() -> Iterator[Work[None]]:
            for portion in portions:
                sentences = [each for document in portion.documents for each in document.sentences]
                encoded = self.tokenizer.encode([each.words for each in sentences])
                batches = list(plan_batches(encoded, batch or runtime.batch, batch_size))
                portion.found = [None] * len(sentences)
                portion.waiting = len(batches)
                waiting.append(portion)
                for numbers in batches:
                    yield on_batch(portion, encoded, numbers)

        for _ in run_pipeline(on_batches(), runtime.depth):
            while waiting and not waiting[0].waiting:
                yield waiting.popleft()
        yield from waiting

    def _portions(self, items: Iterable[Item], skip: int) -> Iterator[_Portion[Any]]:
        """Yield documents that are tagged together.

        Where a portion ends depends on the items alone, not on which are wanted: so batches, and
        with them the last bit of scores, are always the same.
        """
        most = self.runtime.budget  # the first answers come soon
        waiting = iter(items)
        passed = 0
        while documents := self._next_documents(waiting, most, passed):
            if passed + len(documents) > skip:
                yield _Portion(documents, max(0, skip - passed))
            passed += len(documents)
            most = min(2 * most, LOOK_AHEAD * self.runtime.batch)

    def _next_documents(self, items: Iterator[Item], most: int, passed: int) -> list[Document]:
        """Return the documents of the next items, with about `most` words in all."""
        documents: list[Document] = []
        words = 0
        with collection_paused():
            for item in items:
                document = self._document(item, passed + len(documents))
                documents.append(document)
                for sentence in document.sentences:
                    words += len(sentence.words)
                if words >= most or len(documents) >= most:
                    break
        return documents

    def _document(self, item: Item, number: int) -> Document:
        if isinstance(item, str):
            return self.splitter.document(item)
        if isinstance(item, Document):
            return item
        if isinstance(item, Sentence):
            return Document((item,))
        if isinstance(item, Sequence) and all(isinstance(word, str) for word in item):
            return Document((Sentence(tuple(item)),))
        raise InputError(
            f"item {number}: cannot tag {type(item).__name__}: give a text, a list of words, "
            "a Sentence or a Document"
        )


@dataclass(slots=True)
class _Portion(Generic[R]):
    """Documents that are tagged together.

    Attributes:
        documents: The documents.
        left_out: How many of them, at the beginning, are not wanted.
        found: What was found for each of their sentences; None for those without words.
        waiting: How many batches are not done yet.
    """

    documents: list[Document]
    left_out: int = 0
    found: list[R | None] = field(default_factory=list)
    waiting: int = 0

    @property
    def wanted(self) -> list[Document]:
        """Return the documents that are wanted."""
        return self.documents[self.left_out :]


def _kept(mentions: list[Mention] | None, min_score: float) -> list[Mention]:
    if not mentions or min_score <= 0:
        return mentions or []
    return [mention for mention in mentions if (mention.score or 0) >= min_score]


def _rebuilt(document: Document, mentions: Sequence[Sequence[Mention]]) -> Document:
    """Return a document with these mentions, for each sentence, in place of its own."""
    if not any(mentions) and not any(each.mentions for each in document.sentences):
        return document
    return document.with_mentions(mentions)


def _check_items(items: object) -> None:
    """Raise `DiscotagError` if these are not several items."""
    if isinstance(items, str | Sentence | Document):
        raise InputError("predict takes several items: give a list, even of one")
    if not isinstance(items, Iterable) or isinstance(items, bytes | Mapping):
        raise InputError(f"cannot tag {type(items).__name__}: give a text, or a list of items")


def _check_whole(name: str, value: object, *, least: int) -> None:
    """Raise `DiscotagError` if a value is neither None nor a whole number of at least this."""
    if value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be at least {least}, a whole number; got {value!r}")


def _unpickled(name: str | None, runtime: str, device: str | None, splitter: Splitter) -> Tagger:
    """Load the tagger that was pickled."""
    return Tagger.from_pretrained(name, runtime=runtime, device=device, splitter=splitter)


def _shown(documents: Iterator[Document], items: Iterable[Item], skip: int) -> Iterator[Document]:
    """Yield the same documents, with a progress bar while they are asked for."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = ("Tagging", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    total = len(items) if isinstance(items, Sequence) else None
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total, completed=skip)
        for document in documents:
            yield document
            bar.advance(task)
