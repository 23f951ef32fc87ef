"""The tagger: from text to mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

import numpy as np
import numpy.typing as npt

from discotag.errors import DiscotagError, InputError
from discotag.mentions import Document, Mention, Sentence
from discotag.model.config import ModelConfig
from discotag.model.guarantee import Guarantee, usable
from discotag.model.tokenizer import WordTokenizer
from discotag.prediction.decoding import (
    DIGITS,
    NOTHING,
    Ask,
    Decoder,
    Found,
    Tagging,
    best_readings,
)
from discotag.prediction.engine import Portion, join_found, results
from discotag.prediction.items import Item, check_items, read_portions
from discotag.prediction.pipeline import Work, collection_paused
from discotag.prediction.predictions import LeftOut, Predictions, Review
from discotag.prediction.regions import Judged
from discotag.prediction.runtimes import Encoded, Runtime, TorchRuntime
from discotag.prediction.wanted import Wanted
from discotag.scheme import Scheme
from discotag.words import Splitter

if TYPE_CHECKING:
    from discotag.model.network import Network

Numbers = npt.NDArray[Any]
R = TypeVar("R")

MOST_ALTERNATIVES: Final = 5
"""The most readings of a sentence that `Tagger.alternatives` returns if nothing is said."""


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
        sentence: The sentence with the mentions and candidates that `Tagger.predict` finds.
        alternatives: Its readings, as from `Tagger.alternatives`; none if nobody asked.
        compared: The probability that each mention is right that is in any of the readings that
            were compared, calibrated as `Mention.score` is; nothing if nobody asked.
        marginals: The probabilities of the tags of each word, as from `Tagger.marginals`; None if
            nobody asked.
    """

    sentence: Sentence
    alternatives: tuple[Alternative, ...] = ()
    compared: Mapping[Mention, float] = field(default_factory=dict)
    marginals: Numbers | None = None


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
        splitter: The splitter of texts into sentences and words; by default, the model's.
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
        self.splitter = splitter or config.splitter()
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
        wanted: Wanted | None = None,
        *,
        probabilities: bool = True,
        **options: Any,
    ) -> list[Document]:
        """Return documents with the mentions found in them, which replace existing ones.

        `predict` does the same, lazily.

        Args:
            documents: The documents.
            wanted: What is wanted.
            probabilities: Whether to compute the probability of each mention as its `score`.
            options: Fields of `Wanted`, as in `predict`.
        """
        ask = self._asked(wanted, options, probabilities=probabilities)
        _check_kind(documents, Document)
        (done,) = self._tagged([Portion[Found](list(documents))], ask, LeftOut())
        return done.documents

    def predict(
        self,
        items: Iterable[Item],
        wanted: Wanted | None = None,
        *,
        progress: bool = False,
        skip: int = 0,
        **options: Any,
    ) -> Predictions:
        """Find mentions lazily: items are read as their documents are asked for.

        Args:
            items: Texts, lists of words, sentences or documents, or a column of a data frame. Texts
                are split into sentences and words; the others keep their words, and their mentions
                are replaced. Missing values (None, NaN, NA) are empty texts. Only some items are
                read ahead, so there may be any number.
            wanted: What is wanted; by default, all mentions.
            progress: Show a progress bar on standard error, if it is a terminal.
            skip: Leave out the documents of this many items at the beginning, to resume a job. The
                other documents are exactly the same as without `skip`.
            options: Fields of `Wanted`, instead of those of `wanted`: `predict(texts,
                min_score=0.5)` is short for `predict(texts, Wanted(min_score=0.5))`.

        Returns:
            An iterator with a document for each item, in order. Notebooks draw its next documents,
            which does not use them up. The `score` of a mention is the probability that it
            is right, calibrated on the development data of the model. For models without a
            calibration, it is the sum of the probabilities of all tag sequences of its sentence
            that encode the mention.

        Raises:
            InputError: If an option is out of range, or an item cannot be tagged.
        """
        _check_whole("skip", skip, least=0)
        portions = self._portions(items, skip)
        left_out = LeftOut()
        tagged = self._tagged(portions, self._asked(wanted, options), left_out)
        found = (document for portion in tagged for document in portion.asked)
        return Predictions(_shown(found, items, skip) if progress else found, left_out)

    def alternatives(
        self,
        items: Iterable[Item],
        wanted: Wanted | None = None,
        *,
        k: int | None = None,
        **options: Any,
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
            wanted: As in `predict`.
            k: The most readings of a sentence; by default `wanted.alternatives`, or 5.
            options: As in `predict`.

        Returns:
            For each item and each of its sentences, the alternatives, the most probable first. The
            probabilities of all readings of a sentence add up to 1. Mentions have no `score`.

        Raises:
            InputError: As in `predict`.
        """
        portions = self._portions(items)
        _check_whole("k", k, least=1)
        most = k or (wanted.alternatives if wanted else 0) or MOST_ALTERNATIVES
        ask = self._asked(wanted, {**options, "alternatives": most, "candidates": False})
        return (
            tuple(next(waiting).alternatives for _ in document.sentences)
            for portion, analyses in self._analysed(portions, ask)
            for waiting in [iter(analyses)]
            for document in portion.documents
        )

    def analyse(
        self, sentences: Sequence[Sentence], wanted: Wanted | None = None, **options: Any
    ) -> list[Analysis]:
        """Return the mentions of sentences and more about them; each sentence is encoded once.

        Args:
            sentences: The sentences; their own mentions are replaced.
            wanted: What is wanted, such as `Wanted(alternatives=3, marginals=True)`.
            options: As in `predict`.

        Raises:
            InputError: If an option is out of range.
        """
        portion = Portion[Found](_documents(sentences))
        ((_, found),) = self._analysed([portion], self._asked(wanted, options))
        return found

    def _analysed(
        self, portions: Iterable[Portion[Found]], ask: Ask
    ) -> Iterator[tuple[Portion[Found], list[Analysis]]]:
        """Yield portions, and what is found in each of their sentences."""
        wanted = ask.wanted
        left_out = LeftOut()
        for portion in self._found(portions, ask):
            sentences = (each for document in portion.documents for each in document.sentences)
            analyses = []
            for sentence, each in zip(sentences, portion.found, strict=True):
                found = each or _nothing(wanted, len(self.scheme.tags))
                analyses.append(
                    Analysis(
                        sentence.with_mentions(*ask.kept(found, left_out)),
                        tuple(
                            Alternative(sentence.with_mentions(mentions), probability)
                            for mentions, probability in _alternatives(found.taggings, wanted)
                        ),
                        {each: found.compared[each] for each in wanted.kept(found.compared)},
                        found.marginals,
                    )
                )
            yield portion, analyses

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
        wanted: Wanted | None = None,
        *,
        plain: bool = False,
        **options: Any,
    ) -> list[Numbers]:
        """Return the probabilities of the tags of each word, (words, tags) for each sentence.

        Args:
            sentences: The sentences.
            wanted: As in `predict`; `bias` and `batch_size` count.
            plain: Whether to return the probabilities of the tagger alone. By default, those of
                readings are as in `alternatives`.
            options: As in `predict`.
        """
        given = {**options, "candidates": False, "marginals": True}
        asked = self._asked(wanted, given).wanted

        def work(decoder: Decoder, encoded: Encoded, lengths: Numbers) -> Work[list[Numbers]]:
            return decoder.marginals(encoded.scores, lengths)

        if plain:
            return self._tables(sentences, work, asked.batch_size)
        return [each.marginals for each in self.analyse(sentences, asked)]  # type: ignore[misc]

    def options(self, sentences: Sequence[Sentence], batch_size: int | None = None) -> list[Judged]:
        """Return the regions of each sentence that may have mentions, and their readings.

        Each region comes with the log-odds of its mentions by the mention scorer, 0 without one.
        They are for callers that choose mentions themselves.
        """

        def work(decoder: Decoder, encoded: Encoded, lengths: Numbers) -> Work[list[Judged]]:
            found: list[Judged] = [[] for _ in lengths]
            judged = yield from decoder.judged(*encoded, lengths)
            if judged is not None:
                readings, odds = judged
                for options, candidates in readings.options():
                    found[options.row].append((options, odds[candidates].tolist()))
            return found

        portion = Portion[Judged](_documents(sentences))
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

    def has_candidates(self, wanted: Wanted | None = None, **options: Any) -> bool:
        """Return whether `predict` gives candidates to sentences if this is wanted.

        Raises:
            InputError: As in `predict`.
        """
        return self._asked(wanted, options).review is not None

    def _asked(
        self, wanted: Wanted | None, options: Mapping[str, Any], *, probabilities: bool = True
    ) -> Ask:
        """Return what is wanted, and what it means for this model.

        Raises:
            InputError: The model does not have a label, or the candidates of its guarantee are
                wanted, and it has none, or it was measured in another way.
        """
        made = Wanted.made(wanted, options)
        made.check_labels(self.scheme.labels)
        guarantee, given = self.config.guarantee, made.candidates
        review = None
        if given is not None and not isinstance(given, bool):
            review = Review(given, distinct=False)
        elif given or (given is None and guarantee is not None):
            found = usable(guarantee, self.runtime.name, made.bias)
            review = Review(found.threshold, found.distinct)
        return Ask(made, self.config.bias + made.bias, review, probabilities)

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
        self, portions: Iterable[Portion[Found]], ask: Ask, left_out: LeftOut
    ) -> Iterator[Portion[Found]]:
        """Yield portions whose documents have the mentions found in them."""
        ask = ask._replace(wanted=replace(ask.wanted, alternatives=0, marginals=False))
        for portion in self._found(portions, ask):
            found = (each or NOTHING for each in portion.found)
            with collection_paused():
                portion.documents = [
                    _rebuilt(
                        document,
                        [ask.kept(next(found), left_out) for _ in document.sentences],
                    )
                    for document in portion.documents
                ]
            yield portion

    def _found(self, portions: Iterable[Portion[Found]], ask: Ask) -> Iterator[Portion[Found]]:
        """Yield portions with all that is asked about their sentences."""
        wanted, k = ask.wanted, ask.wanted.alternatives
        decoder = self.decoder()
        chooses = decoder.chooses(ask.bias)
        most = k if chooses else max(1, decoder.sequences(k))

        def work(decoder: Decoder, encoded: Encoded, lengths: Numbers) -> Work[list[Found]]:
            return decoder.answer(*encoded, lengths, ask)

        return self._over(
            portions,
            work,
            wanted.batch_size,
            decoder,
            # Smaller batches, because k values of each state and word are kept.
            batch=self.runtime.batch if chooses or not k else max(1, self.runtime.batch // k),
            # Tables of tags are of whole sentences.
            join=None if wanted.marginals else partial(join_found, most=most),
        )

    def _over(
        self,
        portions: Iterable[Portion[R]],
        work: Callable[[Decoder, Encoded, Numbers], Work[list[R]]],
        batch_size: int | None,
        decoder: Decoder | None = None,
        **more: Any,
    ) -> Iterator[Portion[R]]:
        decoder = decoder or self.decoder()
        return results(self.tokenizer, self.runtime, decoder, portions, work, batch_size, **more)

    def _tables(
        self,
        sentences: Sequence[Sentence],
        work: Callable[[Decoder, Encoded, Numbers], Work[list[Numbers]]],
        batch_size: int | None,
    ) -> list[Numbers]:
        empty = np.empty((0, len(self.scheme.tags)), dtype=np.float32)
        portion = Portion[Numbers](_documents(sentences))
        (done,) = self._over([portion], work, batch_size)
        return [empty if each is None else each for each in done.found]

    def _portions(self, items: Iterable[Item], skip: int = 0) -> Iterator[Portion[Any]]:
        """Return documents that are tagged together; see `read_portions`."""
        check_items(items)
        return read_portions(items, self.splitter, self.runtime, skip)


def _nothing(wanted: Wanted, tags: int) -> Found:
    """Return what is found in a sentence without words."""
    table = np.empty((0, tags), dtype=np.float32) if wanted.marginals else None
    taggings = [Tagging(0.0, 0.0, frozenset())] if wanted.alternatives else []
    return Found(taggings=taggings, marginals=table)


def _alternatives(
    taggings: Sequence[Tagging], wanted: Wanted
) -> list[tuple[tuple[Mention, ...], float]]:
    """Return the mentions and the probabilities of readings, that of the prediction first.

    Those that are the same in the labels that are wanted are one.
    """
    k = wanted.alternatives
    found: dict[tuple[Mention, ...], float] = {}
    for probability, mentions in best_readings(taggings, len(taggings) if wanted.labels else k):
        kept = tuple(wanted.kept(mentions))
        found[kept] = round(min(1.0, found.get(kept, 0.0) + probability), DIGITS)
    first, others = [*found.items()][:1], [*found.items()][1:]
    return (first + sorted(others, key=lambda item: -item[1]))[:k]


def _rebuilt(document: Document, found: Sequence[tuple[Sequence[Mention], ...]]) -> Document:
    """Return a document with these mentions and candidates of each sentence for its own."""
    if not any(map(any, found)) and not any(
        each.mentions or each.candidates for each in document.sentences
    ):
        return document
    mentions, candidates = zip(*found, strict=True)
    return document.with_mentions(mentions, candidates)


def _check_kind(given: Iterable[object], kind: type[Sentence | Document]) -> None:
    """Raise `InputError` if something given is not of a kind."""
    for number, each in enumerate(given, 1):
        if not isinstance(each, kind):
            raise InputError(
                f"item {number}: a {kind.__name__} is expected, not {type(each).__name__}: "
                "tagger.splitter.document(text) makes a Document with Sentences of a text"
            )


def _documents(sentences: Sequence[Sentence]) -> list[Document]:
    """Return each sentence as a document.

    Raises:
        InputError: Something else is among them.
    """
    _check_kind(sentences, Sentence)
    return [Document((each,)) for each in sentences]


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
