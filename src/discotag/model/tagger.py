"""The tagger: text in, mentions out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
import numpy.typing as npt

from discotag.errors import DiscotagError
from discotag.mentions import Document, Mention, Sentence
from discotag.model.config import ModelConfig
from discotag.model.decoding import Decoder
from discotag.model.pieces import Pieces
from discotag.model.scorers import Scorer, TorchScorer
from discotag.scheme import Scheme
from discotag.words import Splitter

if TYPE_CHECKING:
    from discotag.model.network import Network

Numbers = npt.NDArray[Any]

Item = str | Sequence[str] | Sentence | Document
"""What can be tagged: a text, a list of words, or what was read from a corpus."""

LOOK_AHEAD: Final = 16
"""So many batches' worth of words are read at a time in the end, so that batches hold sentences of
like length: with more there is hardly less padding."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the readings of a sentence.

    Attributes:
        sentence: The sentence with the mentions of this reading.
        probability: That its mentions are exactly these.
    """

    sentence: Sentence
    probability: float


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a tagger was loaded from.

    Attributes:
        folder: Of the model.
        runtime: How it is run, as `load` names it.
        device: The device that was asked for.
        reason: Why this runtime was chosen.
    """

    folder: Path
    runtime: str
    device: str | None
    reason: str


class Tagger:
    """A loaded model that finds mentions. `load` makes one.

    A tagger that was loaded can be pickled, and so be sent to other processes: they load the same
    folder again, with the same runtime, device and splitter.

    Args:
        config: Of the model.
        pieces: Its tokenizer.
        scorer: What gives scores: a session of onnxruntime, or a network of PyTorch.
        splitter: How text becomes sentences and words.
        origin: Where the model was loaded from, if it was.

    Example:
        >>> from discotag.model.files import load
        >>> tagger = load()  # doctest: +SKIP
        >>> sentence, = tagger("The pain I felt around the hipjoints was bad.")  # doctest: +SKIP
        >>> [mention.text for mention in sentence.mentions]  # doctest: +SKIP
        ['pain hipjoints']
    """

    def __init__(
        self,
        config: ModelConfig,
        pieces: Pieces,
        scorer: Scorer,
        *,
        splitter: Splitter | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.config = config
        self.splitter = splitter or Splitter()
        self.origin = origin
        self.scorer = scorer
        self._pieces = pieces
        self._decoder = Decoder(config.scheme, scorer.arc_weights)

    @classmethod
    def from_network(
        cls, network: Network, device: str | None = None, *, origin: Origin | None = None
    ) -> Tagger:
        """Make a tagger of a network of PyTorch, which may go on being trained.

        Args:
            network: The network; it is moved to the device.
            device: As PyTorch names it; None for a GPU if there is one.
            origin: Where its weights come from, if they come from a folder.
        """
        return cls(network.config, network.pieces, TorchScorer(network, device), origin=origin)

    @property
    def folder(self) -> Path | None:
        """The folder that the model was loaded from."""
        return None if self.origin is None else self.origin.folder

    def __repr__(self) -> str:
        where = "a network in memory"
        if self.origin is not None:
            where = f"{self.origin.folder}, runtime {self.origin.runtime} ({self.origin.reason})"
        labels = ", ".join(self.scheme.labels)
        return f"<Tagger of {labels} from {where}, device {self.scorer.device}>"

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
        return _loaded, (name, self.origin.runtime, self.origin.device, self.splitter)

    @property
    def scheme(self) -> Scheme:
        """What the tags mean."""
        return self.config.scheme

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a text is no list of items
        self, given: str
    ) -> tuple[Sentence, ...]: ...
    @overload
    def __call__(self, given: Iterable[Item]) -> list[Document]: ...
    def __call__(self, given: str | Iterable[Item]) -> tuple[Sentence, ...] | list[Document]:
        """Return the sentences of a text with their mentions, or the documents of several items."""
        if isinstance(given, str):
            return next(self.predict([given])).sentences
        return list(self.predict(given))

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
                as make up its budget of subwords.
            progress: Show a progress bar on standard error, if it is a terminal.
            min_score: Leave out mentions of a lower probability.
            skip: Leave out the documents of so many items. The others come out as if nothing were
                left out, to the last bit: this is for jobs that were interrupted.

        Returns:
            A document for each item, in order. Each mention has its probability, `score`: the sum
            of the probabilities of all taggings of its sentence that contain the mention.

        Raises:
            DiscotagError: An argument is out of range, or an item is nothing that can be tagged.
        """
        _check_items(items)
        _check_whole("batch_size", batch_size, least=1)
        _check_whole("skip", skip, least=0)
        if not isinstance(min_score, Real) or not 0 <= min_score <= 1:
            raise DiscotagError(f"min_score must be between 0 and 1, got {min_score!r}")

        found = self._predict(items, batch_size, min_score, skip)
        return _shown(found, items, skip) if progress else found

    def _predict(
        self, items: Iterable[Item], batch_size: int | None, min_score: float, skip: int
    ) -> Iterator[Document]:
        for documents, left_out in self._portions(items, skip):
            sentences = [sentence for document in documents for sentence in document.sentences]
            mentions = iter(self._decoder.mentions(self.scores(sentences, batch_size)))
            for number, document in enumerate(documents):
                found = [
                    [mention for mention in next(mentions) if (mention.score or 0) >= min_score]
                    for _ in document.sentences
                ]
                if number >= left_out:
                    yield _rebuilt(document, found)

    def alternatives(
        self, items: Iterable[Item], *, k: int = 5, batch_size: int | None = None
    ) -> Iterator[tuple[tuple[Alternative, ...], ...]]:
        """The k most probable readings of each sentence, lazily.

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
        for documents, _ in self._portions(items, 0):
            sentences = [sentence for document in documents for sentence in document.sentences]
            found = iter(self._decoder.alternatives(self.scores(sentences, batch_size), k))
            for document in documents:
                yield tuple(
                    tuple(
                        Alternative(_with(sentence, mentions), probability)
                        for probability, mentions in next(found)
                    )
                    for sentence in document.sentences
                )

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model to a folder, from which `load` reads it.

        Raises:
            DiscotagError: The tagger neither has a network nor was loaded from a folder.
        """
        from discotag.model.files import copy_model

        if isinstance(self.scorer, TorchScorer):
            self.scorer.network.save_pretrained(folder)
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
            DiscotagError: The hub cannot be reached, or refuses.
        """
        from discotag.model.files import push

        return push(self.save_pretrained, name, private=private)

    def _portions(self, items: Iterable[Item], skip: int) -> Iterator[tuple[list[Document], int]]:
        """Documents that are tagged together, and how many of them are not wanted.

        Where a portion ends depends on the items alone, not on which are wanted: so batches, and
        with them the last bit of scores, are always the same.
        """
        most = self.scorer.budget  # the first answers come soon
        portion: list[Document] = []
        words = passed = 0
        for item in items:
            document = self._document(item, passed + len(portion))
            portion.append(document)
            words += sum(len(sentence.words) for sentence in document.sentences)
            if words >= most or len(portion) >= most:
                if passed + len(portion) > skip:
                    yield portion, max(0, skip - passed)
                passed += len(portion)
                portion, words = [], 0
                most = min(2 * most, LOOK_AHEAD * self.scorer.budget)
        if passed + len(portion) > skip:
            yield portion, max(0, skip - passed)

    def _document(self, item: Item, number: int) -> Document:
        if isinstance(item, str):
            return self.splitter.document(item)
        if isinstance(item, Document):
            return item
        if isinstance(item, Sentence):
            return Document((item,))
        if isinstance(item, Sequence) and all(isinstance(word, str) for word in item):
            return Document((Sentence(tuple(item)),))
        raise DiscotagError(
            f"item {number}: cannot tag {type(item).__name__}: give a text, a list of words, "
            "a Sentence or a Document"
        )

    def scores(self, sentences: Sequence[Sentence], batch_size: int | None = None) -> list[Numbers]:
        """For each sentence the scores of its words, (words, tags), in the order of `scheme.tags`.

        The mentions are decoded from them; they are for callers that decode scores themselves.
        """
        encoded = self._pieces.encode([sentence.words for sentence in sentences])
        windows = [window for each in encoded for window in each.windows]
        sizes = [len(each.places) for each in encoded]
        scores = np.empty((sum(sizes), len(self.scheme.tags)), dtype=np.float32)
        # The longest first: what does not fit into memory fails at once.
        order = sorted(range(len(windows)), key=lambda number: -len(windows[number]))
        rank = np.empty(len(windows), dtype=np.int64)
        rank[order] = np.arange(len(windows))
        begin = np.cumsum([0, *(len(each.windows) for each in encoded)])[:-1]
        places = np.concatenate([np.empty((0, 2), np.int64), *(each.places for each in encoded)])
        ranks = rank[places[:, 0] + np.repeat(begin, sizes)]  # of each word's window
        words = np.argsort(ranks, kind="stable")
        for first, last in self._batches([len(windows[number]) for number in order], batch_size):
            start, end = np.searchsorted(ranks, (first, last), sorter=words)
            if start == end:  # only sentences without words
                continue
            ids, mask = _padded([windows[n] for n in order[first:last]], self._pieces.pad_id)
            here = words[start:end]
            scores[here] = self.scorer(ids, mask)[ranks[here] - first, places[here, 1]]
        ends = np.cumsum(sizes).tolist()
        return [scores[end - size : end] for size, end in zip(sizes, ends, strict=True)]

    def _batches(self, sizes: Sequence[int], batch_size: int | None) -> Iterator[tuple[int, int]]:
        """Ranges of windows, sorted by falling size, that are scored together."""
        first = 0
        while first < len(sizes):
            number = max(1, self.scorer.budget // sizes[first])
            if batch_size is not None:
                number = min(number, batch_size)
            last = min(first + number, len(sizes))
            yield first, last
            first = last


def _padded(windows: Sequence[Sequence[int]], pad_id: int) -> tuple[Numbers, Numbers]:
    """Windows sorted by falling size as arrays: subwords, and which they are."""
    ids = np.full((len(windows), len(windows[0])), pad_id, dtype=np.int64)
    for row, window in zip(ids, windows, strict=True):
        row[: len(window)] = window
    lengths = np.array([[len(window)] for window in windows])
    return ids, (np.arange(ids.shape[1]) < lengths).astype(np.int64)


def _with(sentence: Sentence, mentions: Sequence[Mention]) -> Sentence:
    if not mentions and not sentence.mentions:
        return sentence
    return replace(sentence, mentions=tuple(mentions))


def _rebuilt(document: Document, mentions: Sequence[Sequence[Mention]]) -> Document:
    sentences = tuple(map(_with, document.sentences, mentions))
    if all(new is old for new, old in zip(sentences, document.sentences, strict=True)):
        return document
    return replace(document, sentences=sentences)


def _check_items(items: object) -> None:
    """Raise `DiscotagError` if these are not several items."""
    if isinstance(items, str | Sentence | Document):
        raise DiscotagError("predict takes several items: give a list, even of one")
    if not isinstance(items, Iterable) or isinstance(items, bytes | Mapping):
        raise DiscotagError(f"cannot tag {type(items).__name__}: give a text, or a list of items")


def _check_whole(name: str, value: object, *, least: int) -> None:
    """Raise `DiscotagError` if a value is neither None nor a whole number of at least this."""
    if value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise DiscotagError(f"{name} must be at least {least}, a whole number; got {value!r}")


def _loaded(name: str | None, runtime: str, device: str | None, splitter: Splitter) -> Tagger:
    """Load the tagger that was pickled."""
    from discotag.model.files import load

    tagger = load(name, runtime=runtime, device=device)
    tagger.splitter = splitter
    return tagger


def _shown(documents: Iterator[Document], items: Iterable[Item], skip: int) -> Iterator[Document]:
    """The same documents, with a progress bar while they are asked for."""
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
