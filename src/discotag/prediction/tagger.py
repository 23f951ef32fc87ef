"""The tagger: from text to mentions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from math import isnan
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from discotag.errors import DiscotagError, InputError
from discotag.mentions import Document, Mention, Sentence
from discotag.model.config import MOST_BIAS, ModelConfig
from discotag.model.guarantee import Guarantee, usable
from discotag.model.tokenizer import EncodedSentences, Indices, WordTokenizer
from discotag.prediction.batching import plan_batches
from discotag.prediction.decoding import (
    Analysed,
    Decoder,
    Found,
    Tagging,
    best_readings,
    join_taggings,
)
from discotag.prediction.pipeline import Work, collection_paused, run_pipeline
from discotag.prediction.predictions import LeftOut, Predictions, Review
from discotag.prediction.regions import Judged
from discotag.prediction.runtimes import LOOK_AHEAD, Encoded, Runtime, TorchRuntime
from discotag.prediction.stretches import decode_in_stretches
from discotag.scheme import Scheme
from discotag.words import Splitter

if TYPE_CHECKING:
    from discotag.model.network import Network

Numbers = npt.NDArray[Any]
R = TypeVar("R")

LONG_SHARE: Final = 8
"""A sentence with more than this share of the subwords of a batch is decoded in stretches."""

Item = str | Sequence[str] | Sentence | Document
"""An input of the tagger: a text, a list of words, a sentence or a document."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A reading of a sentence, that is, one possible set of its mentions.

    Attributes:
        sentence: The sentence with the mentions of this reading.
        probability: The probability that its mentions are exactly these, by the tagger and the
            mention scorer together; see `Tagger.alternatives`.
    """

    sentence: Sentence
    probability: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """What `Tagger.analyse` finds in a sentence.

    Attributes:
        sentence: The sentence with the mentions that `Tagger.predict` finds.
        alternatives: Its readings, as from `Tagger.alternatives`; none if nobody asked.
        candidates: The probability that each mention is right that is in any of the readings that
            were compared, calibrated as `Mention.score` is; nothing if nobody asked.
    """

    sentence: Sentence
    alternatives: tuple[Alternative, ...]
    candidates: Mapping[Mention, float]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a tagger was loaded from, and how it runs.

    Attributes:
        folder: The folder of the model.
        runtime: The runtime that was chosen.
        device: The device that was asked for, or None.
        reason: Why the runtime was chosen.
    """

    folder: Path
    runtime: str
    device: str | None
    reason: str


class Tagger:
    """A loaded model that finds mentions. Use `Tagger.from_pretrained` or `load` to load one.

    A tagger is thread-safe. If it was loaded from a folder it can be pickled and sent to other
    processes, which load the folder again, with the same runtime, device and splitter.

    Args:
        config: The configuration of the model.
        tokenizer: Its tokenizer.
        runtime: The runtime that computes scores.
        splitter: The splitter of texts into sentences and words.
        origin: Where the model was loaded from, or None.

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
        """Return a tagger for a PyTorch network, whose training may continue.

        Args:
            network: The network; it is moved to the device.
            device: The name of the device; by default, a GPU if there is one, else the CPU.
        """
        return cls(network.config, network.tokenizer, TorchRuntime(network, device))

    @property
    def scheme(self) -> Scheme:
        """The scheme of the model."""
        return self.config.scheme

    @property
    def folder(self) -> Path | None:
        """The folder that the model was loaded from, or None."""
        return None if self.origin is None else self.origin.folder

    def __repr__(self) -> str:
        where = "a network in memory"
        if self.origin is not None:
            where = f"{self.origin.folder}, runtime {self.origin.runtime} ({self.origin.reason})"
        labels = ", ".join(self.scheme.labels)
        return f"<Tagger of {labels} from {where}, device {self.runtime.device}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is pickled: where the tagger was loaded from, not its weights."""
        from discotag.model.files import BUNDLED

        if self.origin is None:
            raise DiscotagError(
                "a tagger of a network in memory cannot be pickled: save it with "
                "save_pretrained, and pickle the tagger that load returns for that folder"
            )
        folder = self.origin.folder
        name = None if folder == BUNDLED else str(folder)
        given = name, self.origin.runtime, self.origin.device, self.splitter, self.config.guarantee
        return _unpickled, given

    def with_guarantee(self, guarantee: Guarantee | None) -> Tagger:
        """Return the same tagger with another guarantee, or with none.

        Args:
            guarantee: What `discotag.find_guarantee` has found.
        """
        config = replace(self.config, guarantee=guarantee)
        return Tagger(
            config, self.tokenizer, self.runtime, splitter=self.splitter, origin=self.origin
        )

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a text is not a list of items
        self, given: str
    ) -> Document: ...
    @overload
    def __call__(self, given: Iterable[Item]) -> list[Document]: ...
    def __call__(self, given: str | Iterable[Item]) -> Document | list[Document]:
        """Return the document of a text, or the documents of several items, with mentions."""
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
        bias: float = 0.0,
        candidates: bool | float | None = False,
    ) -> list[Document]:
        """Return documents with the mentions found in them, which replace existing ones.

        `predict` does the same, lazily.

        Args:
            documents: The documents.
            min_score: Leave out mentions with a lower probability.
            batch_size: The most sentences of a batch; by default, batches are limited by their
                number of subwords only.
            probabilities: Whether to compute the probability of each mention as its `score`.
            bias: As in `predict`.
            candidates: As in `predict`, but by default there are none.
        """
        check_options(batch_size=batch_size, min_score=min_score, bias=bias)
        review = self._review(candidates, bias)
        portions = [_Portion[Found](list(documents))]
        found = self._tagged(
            portions, min_score, batch_size, probabilities, self._total(bias), review, LeftOut()
        )
        return [document for portion in found for document in portion.documents]

    def predict(
        self,
        items: Iterable[Item],
        *,
        batch_size: int | None = None,
        progress: bool = False,
        min_score: float = 0.0,
        bias: float = 0.0,
        skip: int = 0,
        candidates: bool | float | None = None,
    ) -> Predictions:
        """Find mentions lazily: items are read as their documents are asked for.

        Args:
            items: Texts, lists of words, sentences or documents, or a column of a data frame. Texts
                are split into sentences and words; the others keep their words, and their mentions
                are replaced. Missing values (None, NaN, NA) are empty texts. Only some items are
                read ahead, so there may be any number.
            batch_size: The most sentences of a batch; by default, batches are limited by their
                number of subwords only.
            progress: Show a progress bar on standard error, if it is a terminal.
            min_score: Leave out mentions with a lower probability.
            bias: What is added to the log-odds of each mention when readings are compared, besides
                the model's own `config.bias`. 0 is the model's own setting; above 0, more mentions
                are found and more of them are wrong; below 0, fewer are found. With 1, a mention is
                preferred as if its odds were e = 2.7 times as high.
            skip: Leave out the documents of this many items at the beginning, to resume a job. The
                other documents are exactly the same as without `skip`.
            candidates: Whether sentences get `candidates`, besides their mentions: what a person
                should look at so that few mentions are missed, as the guarantee of the model says.
                By default, they do if the model has one; see `discotag.find_guarantee`. A number is
                the lowest score of candidates, which needs no guarantee. Mentions that `min_score`
                leaves out are candidates, too.

        Returns:
            An iterator with a document for each item, in order. Notebooks draw its next documents,
            which does not use them up. The `score` of a mention is the probability that it
            is right, calibrated on the development data of the model. For models without a
            calibration, it is the sum of the probabilities of all tag sequences of its sentence
            that encode the mention.

        Raises:
            InputError: If an argument is out of range, or an item cannot be tagged.
        """
        _check_items(items)
        check_options(batch_size=batch_size, min_score=min_score, bias=bias)
        _check_whole("skip", skip, least=0)
        review = self._review(candidates, bias)
        portions = self._portions(items, skip)
        left_out = LeftOut()
        tagged = self._tagged(
            portions, float(min_score), batch_size, True, self._total(bias), review, left_out
        )
        found = (document for portion in tagged for document in portion.wanted)
        return Predictions(_shown(found, items, skip) if progress else found, left_out)

    def alternatives(
        self,
        items: Iterable[Item],
        *,
        k: int = 5,
        batch_size: int | None = None,
        bias: float = 0.0,
    ) -> Iterator[tuple[tuple[Alternative, ...], ...]]:
        """Find the k most probable readings of each sentence, lazily.

        With a mention scorer or a bias, the readings that `predict` compares in a region, a part of
        a sentence outside of which there are almost certainly no mentions, share their probability
        in proportion to the tagger's, times `exp(log-odds + bias)` for each of their mentions, with
        the mention scorer's log-odds. The others keep the tagger's probability. A reading of the
        sentence has the product over its regions. The first one has the mentions that `predict`
        finds. Without scorer and bias, the probabilities are exactly those of the tagger.

        Args:
            items: As in `predict`.
            k: The most readings of a sentence. With a mention scorer or a bias, up to eight of each
                region are listed. With semantic naming, they are those of twice as many tag
                sequences, so a reading with many namings may be missed.
            batch_size: As in `predict`.
            bias: As in `predict`.

        Returns:
            For each item and each of its sentences, the alternatives, the most probable first. The
            probabilities of all readings of a sentence add up to 1. Mentions have no `score`.

        Raises:
            InputError: As in `predict`.
        """
        _check_items(items)
        _check_whole("k", k, least=1)
        check_options(batch_size=batch_size, min_score=0, bias=bias)
        found = self._analysed(self._portions(items, 0), batch_size, bias, k, candidates=False)
        return (
            tuple(next(waiting).alternatives for _ in document.sentences)
            for documents, analyses in found
            for waiting in [iter(analyses)]
            for document in documents
        )

    def analyse(
        self,
        sentences: Sequence[Sentence],
        *,
        bias: float = 0.0,
        alternatives: int = 0,
        candidates: bool = False,
        batch_size: int | None = None,
    ) -> list[Analysis]:
        """Return the mentions of sentences and more about them; each sentence is encoded once.

        Args:
            sentences: The sentences; their own mentions are replaced.
            bias: As in `predict`.
            alternatives: The most readings of a sentence, as in `alternatives`; 0: none.
            candidates: Whether to return the probabilities of candidates.
            batch_size: As in `predict`.

        Raises:
            InputError: If an argument is out of range.
        """
        _check_whole("alternatives", alternatives, least=0)
        check_options(batch_size=batch_size, min_score=0, bias=bias)
        portion = _Portion[Analysed]([Document((each,)) for each in sentences])
        found = self._analysed([portion], batch_size, bias, alternatives, candidates=candidates)
        return [each for (_, analyses) in found for each in analyses]

    def _analysed(
        self,
        portions: Iterable[_Portion[Analysed]],
        batch_size: int | None,
        bias: float,
        k: int,
        *,
        candidates: bool,
    ) -> Iterator[tuple[list[Document], list[Analysis]]]:
        """Yield the documents of portions, and what is found in each of their sentences."""
        total = self._total(bias)
        decoder = self.decoder()
        chooses = decoder.chooses(total)
        most = k if chooses else decoder.sequences(k)

        def work(decoder: Decoder, encoded: Encoded, lengths: Numbers) -> Work[list[Analysed]]:
            return (
                yield from decoder.analyse(*encoded, lengths, total, k=k, candidates=candidates)
            )

        def join(stretches: list[tuple[int, Analysed]]) -> Analysed:
            return Analysed(
                _join_mentions([(start, each.mentions) for start, each in stretches]),
                join_taggings([(start, each.taggings) for start, each in stretches], most)
                if k
                else [],
                {
                    mention.shifted(start): chance
                    for start, each in stretches
                    for mention, chance in each.candidates.items()
                },
            )

        joining = _Joining(0 if chooses else max(1, most), join)
        # Smaller batches, because k values of each state and word are kept.
        batch = self.runtime.batch if chooses or not k else max(1, self.runtime.batch // k)
        for portion in self._over(portions, work, batch_size, batch=batch, joining=joining):
            sentences = (each for document in portion.documents for each in document.sentences)
            empty = Analysed([], [Tagging(0.0, 0.0, frozenset())] if k else [], {})
            yield (
                portion.documents,
                [
                    Analysis(
                        sentence.with_mentions(found.mentions),
                        tuple(
                            Alternative(sentence.with_mentions(mentions), probability)
                            for probability, mentions in best_readings(found.taggings, k)
                        ),
                        found.candidates,
                    )
                    for sentence, found in zip(
                        sentences, (each or empty for each in portion.found), strict=True
                    )
                ],
            )

    def scores(self, sentences: Sequence[Sentence], batch_size: int | None = None) -> list[Numbers]:
        """Return the scores of each sentence, (words, tags), in the order of `scheme.tags`.

        They are for callers that decode scores themselves.
        """

        def work(decoder: Decoder, encoded: Encoded, lengths: Numbers) -> Work[list[Numbers]]:
            waiting = self.runtime.backend.fetch(encoded.scores)
            yield
            (table,) = waiting.wait()
            return [row[:length] for row, length in zip(table, lengths.tolist(), strict=True)]

        return self._tables(sentences, work, batch_size)

    def marginals(
        self,
        sentences: Sequence[Sentence],
        batch_size: int | None = None,
        *,
        bias: float = 0.0,
        plain: bool = False,
    ) -> list[Numbers]:
        """Return the probabilities of the tags of each word, (words, tags) for each sentence.

        Args:
            sentences: The sentences.
            batch_size: As in `predict`.
            bias: As in `predict`.
            plain: Whether to return the probabilities of the tagger alone. By default, those of
                readings are as in `alternatives`.
        """
        check_options(batch_size=batch_size, min_score=0, bias=bias)
        total = self._total(bias)

        def work(decoder: Decoder, encoded: Encoded, lengths: Numbers) -> Work[list[Numbers]]:
            if plain:
                return (yield from decoder.marginals(encoded.scores, lengths))
            return (yield from decoder.weighed_marginals(*encoded, lengths, total))

        return self._tables(sentences, work, batch_size)

    def options(self, sentences: Sequence[Sentence], batch_size: int | None = None) -> list[Judged]:
        """Return the regions of each sentence that may have mentions, and their readings.

        Each region comes with the log-odds of its mentions by the mention scorer, 0 without one.
        They are for callers that choose mentions themselves.
        """

        def work(decoder: Decoder, encoded: Encoded, lengths: Numbers) -> Work[list[Judged]]:
            found: list[Judged] = [[] for _ in lengths]
            readings = yield from decoder.readings(encoded.scores, lengths)
            if readings is not None:
                odds = yield from decoder.judge(readings, encoded.vectors, lengths)
                for options, candidates in readings.options():
                    found[options.row].append((options, odds[candidates].tolist()))
            return found

        portion = _Portion[Judged]([Document((each,)) for each in sentences])
        (done,) = self._over([portion], work, batch_size)
        return [each or [] for each in done.found]

    def decoder(self) -> Decoder:
        """Return a decoder for the outputs of the runtime."""
        runtime = self.runtime
        return Decoder(
            self.scheme,
            runtime.backend,
            runtime.arc_weights,
            runtime.score_mentions if self.config.mention_scorer else None,
            self.config.calibration,
            self.config.least_discontinuous,
            self.config.bias,
        )

    def has_candidates(self, wanted: bool | float | None = None) -> bool:
        """Return whether `predict` gives candidates to sentences if it is called with this.

        Raises:
            InputError: As in `predict`.
        """
        return self._review(wanted, 0.0) is not None

    def _review(self, wanted: bool | float | None, bias: float) -> Review | None:
        """Return which candidates there are; None if there are none.

        Args:
            wanted: What the caller asks for.
            bias: What the caller adds to the log-odds of mentions.

        Raises:
            InputError: The number is not a score; or the candidates of the guarantee are wanted,
                and the model has none, or it was measured in another way.
        """
        guarantee = self.config.guarantee
        if wanted is False or (guarantee is None and wanted is None):
            return None
        if wanted is not None and not isinstance(wanted, bool):
            if not isinstance(wanted, Real) or not 0 < wanted <= 1:
                raise InputError(f"candidates must be a score above 0, up to 1, got {wanted!r}")
            return Review(float(wanted), distinct=False)
        found = usable(guarantee, self.runtime.name, bias)
        return Review(found.threshold, found.distinct)

    def _total(self, bias: float) -> float:
        """Return a bias with that of the model added."""
        return self.config.bias + float(bias)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model to a folder, from which `load` can load it, with this configuration.

        Raises:
            DiscotagError: If the tagger has no PyTorch network and was not loaded from a folder.
        """
        from discotag.model.files import copy_model

        if isinstance(self.runtime, TorchRuntime):
            network = self.runtime.network
            network.save_pretrained(folder, self.config)
        elif self.folder is not None:
            copy_model(self.folder, Path(folder), self.config)
        else:
            raise DiscotagError(
                "this tagger was not loaded from a folder: there is nothing to save"
            )

    def push_to_hub(self, name: str, *, private: bool = False) -> str:
        """Upload the model to the Hugging Face hub, and return its URL.

        Args:
            name: The name on the hub, `owner/name`.
            private: Whether a new repository is private.

        Raises:
            ModelError: If the model cannot be uploaded.
        """
        from discotag.model.files import push

        return push(self.save_pretrained, name, private=private)

    def _tagged(
        self,
        portions: Iterable[_Portion[Any]],
        min_score: float,
        batch_size: int | None,
        probabilities: bool,
        bias: float,
        review: Review | None,
        left_out: LeftOut,
    ) -> Iterator[_Portion[Found]]:
        """Yield portions whose documents have the mentions found in them.

        Args:
            portions: The portions.
            min_score: The lowest score of mentions.
            batch_size: The most sentences of a batch.
            probabilities: Whether mentions have scores.
            bias: The total bias.
            review: Which candidates there are; None: there are none.
            left_out: Counts the mentions that are left out, if there are no candidates.
        """

        def work(decoder: Decoder, encoded: Encoded, lengths: Numbers) -> Work[list[Found]]:
            found = yield from decoder.find(
                *encoded, lengths, bias=bias, probabilities=probabilities
            )
            more: dict[int, list[Mention]] = {}
            if review is not None:
                more = yield from decoder.candidates(*encoded, lengths, review.least)
            return [Found(found.get(row, []), more.get(row, [])) for row in range(len(lengths))]

        def join(stretches: list[tuple[int, Found]]) -> Found:
            return Found(
                _join_mentions([(start, each.mentions) for start, each in stretches]),
                _join_mentions([(start, each.candidates) for start, each in stretches]),
            )

        # Only `Decoder.best` needs the best tag sequence.
        joining = _Joining(0 if self.decoder().chooses(bias) else 1, join)
        nothing = Found([], [])

        def keep(found: Found) -> tuple[Sequence[Mention], Sequence[Mention]]:
            if review is None:
                return left_out.keep(found.mentions, min_score), ()
            return review.split(*found, min_score)

        for portion in self._over(portions, work, batch_size, joining=joining):
            found = (each or nothing for each in portion.found)
            with collection_paused():
                portion.documents = [
                    _rebuilt(
                        document,
                        [keep(next(found)) for _ in document.sentences],
                    )
                    for document in portion.documents
                ]
            yield portion

    def _tables(
        self,
        sentences: Sequence[Sentence],
        work: Callable[[Decoder, Encoded, Numbers], Work[list[Numbers]]],
        batch_size: int | None,
    ) -> list[Numbers]:
        empty = np.empty((0, len(self.scheme.tags)), dtype=np.float32)
        portion = _Portion[Numbers]([Document((each,)) for each in sentences])
        (done,) = self._over([portion], work, batch_size)
        return [empty if each is None else each for each in done.found]

    def _over(
        self,
        portions: Iterable[_Portion[R]],
        work: Callable[[Decoder, Encoded, Numbers], Work[list[R]]],
        batch_size: int | None,
        *,
        batch: int | None = None,
        joining: _Joining[R] | None = None,
    ) -> Iterator[_Portion[R]]:
        """Yield portions in order, with the results of `work` on the scores of their sentences.

        Args:
            portions: The portions.
            work: Decodes a batch of sentences.
            batch_size: The most sentences of a batch.
            batch: The most subwords of a batch; by default, those of the runtime.
            joining: How to decode long sentences in stretches; None: they are decoded whole.
        """
        runtime = self.runtime
        decoder = self.decoder()
        batch = batch or runtime.batch
        long = runtime.batch // LONG_SHARE if joining is not None else None
        waiting: deque[_Portion[R]] = deque()

        def on_long(encoded: EncodedSentences, number: int, joining: _Joining[R]) -> Work[list[R]]:
            parts = map(runtime.encode, encoded.parts(number, batch))
            words = int(encoded.lengths[number])
            found = yield from decode_in_stretches(decoder, parts, words, joining.k, work)
            return [joining.join(found)]

        def on_batch(
            portion: _Portion[R], first: int, encoded: EncodedSentences, numbers: Indices
        ) -> Work[None]:
            if joining is not None and long is not None and encoded.totals[numbers[0]] > long:
                found = yield from on_long(encoded, int(numbers[0]), joining)
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
                    encoded = self.tokenizer.encode([each.words for each in sentences[run]])
                    batches = list(plan_batches(encoded, batch, batch_size, long))
                    portion.waiting += len(batches) - 1
                    for numbers in batches:
                        yield on_batch(portion, run.start, encoded, numbers)

        for _ in run_pipeline(on_batches(), runtime.depth):
            while waiting and not waiting[0].waiting:
                yield waiting.popleft()
        yield from waiting

    def _portions(self, items: Iterable[Item], skip: int) -> Iterator[_Portion[Any]]:
        """Yield documents that are tagged together.

        The bounds of portions do not depend on `skip`, so that batches, and with them the last bit
        of scores, are always the same.
        """
        most = self.runtime.budget  # small at first, for a quick first result
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
        if _is_missing(item):
            return Document((), text="")
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
        left_out: The number of documents at the beginning that are skipped.
        found: The result for each of their sentences; None for those without words.
        waiting: The number of batches that are not done yet, and of runs without batches.
    """

    documents: list[Document]
    left_out: int = 0
    found: list[R | None] = field(default_factory=list)
    waiting: int = 0

    @property
    def wanted(self) -> list[Document]:
        """The documents that are not skipped."""
        return self.documents[self.left_out :]


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


@dataclass(frozen=True, slots=True)
class _Joining(Generic[R]):
    """How long sentences are decoded in stretches.

    Attributes:
        k: As in `decode_in_stretches`.
        join: Returns the result for a sentence; takes the result for each of its stretches, after
            the word from which its words are counted.
    """

    k: int
    join: Callable[[list[tuple[int, R]]], R]


def _join_mentions(stretches: list[tuple[int, list[Mention]]]) -> list[Mention]:
    return [mention.shifted(start) for start, mentions in stretches for mention in mentions]


def _rebuilt(document: Document, found: Sequence[tuple[Sequence[Mention], ...]]) -> Document:
    """Return a document with these mentions and candidates of each sentence for its own."""
    if not any(map(any, found)) and not any(
        each.mentions or each.candidates for each in document.sentences
    ):
        return document
    mentions, candidates = zip(*found, strict=True)
    return document.with_mentions(mentions, candidates)


def check_options(*, batch_size: int | None, min_score: float, bias: float) -> None:
    """Raise `InputError` if an option of `Tagger.predict` is out of range."""
    _check_whole("batch_size", batch_size, least=1)
    if not isinstance(min_score, Real) or not 0 <= min_score <= 1:
        raise InputError(f"min_score must be between 0 and 1, got {min_score!r}")
    number = isinstance(bias, Real) and not isinstance(bias, bool)
    if not number or not -MOST_BIAS <= bias <= MOST_BIAS:
        raise InputError(f"bias must be between {-MOST_BIAS} and {MOST_BIAS}, got {bias!r}")


def _check_items(items: object) -> None:
    """Raise `InputError` if this is not an iterable of items."""
    if isinstance(items, str | Sentence | Document):
        raise InputError("give a list of items, even for a single one")
    if type(items).__name__ == "DataFrame":
        raise InputError(
            'cannot tag a data frame: give the column with the texts, frame["comment"]'
        )
    if not isinstance(items, Iterable) or isinstance(items, bytes | Mapping):
        raise InputError(f"cannot tag {type(items).__name__}: give a text, or a list of items")


def _is_missing(item: object) -> bool:
    """Return whether a value of a data frame is missing: None, NaN, or the NA of pandas."""
    return (
        item is None or type(item).__name__ == "NAType" or (isinstance(item, float) and isnan(item))
    )


def _check_whole(name: str, value: object, *, least: int) -> None:
    """Raise `InputError` if a value is neither None nor an integer of at least `least`."""
    if value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be at least {least}, a whole number; got {value!r}")


def _unpickled(
    name: str | None,
    runtime: str,
    device: str | None,
    splitter: Splitter,
    guarantee: Guarantee | None,
) -> Tagger:
    """Load a tagger that was pickled."""
    tagger = Tagger.from_pretrained(name, runtime=runtime, device=device, splitter=splitter)
    return tagger.with_guarantee(guarantee)


def _shown(documents: Iterator[Document], items: Iterable[Item], skip: int) -> Iterator[Document]:
    """Yield documents, and show a progress bar."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = ("Tagging", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    total = len(items) if isinstance(items, Sized) else None
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total, completed=skip)
        for document in documents:
            yield document
            bar.advance(task)
