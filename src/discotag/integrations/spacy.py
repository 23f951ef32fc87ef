"""The component `discotag` of spaCy pipelines.

Each fragment of a mention is a span of the group `doc.spans["discotag"]`. Fragments of one mention
have the same id. `doc._.mentions` has the mentions, whose words are the tokens of the doc.
"""

# Annotations are not postponed here: spaCy 3.7 needs those of the factory as types, not as text.

import inspect
import logging
import os
import shutil
import sys
import tempfile
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args, get_origin, get_type_hints

from discotag.described import plain
from discotag.errors import InputError
from discotag.extras import optional
from discotag.marks import word_runs
from discotag.mentions import Document, Fragment, Mention
from discotag.model.files import BUNDLED_NAME, CONFIG, FILES, ModelError, copy_model, find_model
from discotag.prediction.loading import load
from discotag.prediction.tagger import Tagger
from discotag.prediction.wanted import MENTIONS_ONLY, Wanted
from discotag.words import Splitter

with optional("spacy", "spacy"):
    import srsly
    from spacy.language import Language
    from spacy.tokens import Doc, Span, SpanGroup
    from spacy.util import filter_spans, minibatch, raise_error

logger = logging.getLogger(__name__)

NAME: Final = "discotag"
"""The name of the factory, of the default span group, and of the attribute of span groups that has
the scores of mentions by id."""

EXTENSION: Final = "mentions"

OPTIONS: Final = ("labels", "min_score", "bias", "batch_size")
"""The options of `Wanted` that a configuration has."""

Ents = Literal["none", "hulls"]
ErrorHandler = Callable[[str, Any, list[Doc], Exception], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a component, which are in the `config.cfg` of its pipeline.

    Attributes:
        model: A folder, a name on the Hugging Face hub, or `bundled`.
        runtime: As in `discotag.load`.
        device: As in `discotag.load`.
        wanted: What is wanted of the model.
        spans_key: The key of the span group in `doc.spans`.
        ents: `hulls` to add the hull of each mention, from its first to its last token, to
            `doc.ents`, as far as they do not overlap; `none` to leave `doc.ents` alone.
    """

    model: str = BUNDLED_NAME
    runtime: str | None = None
    device: str | None = None
    wanted: Wanted = MENTIONS_ONLY
    spans_key: str = NAME
    ents: Ents = "none"

    def __post_init__(self) -> None:
        if self.ents not in get_args(Ents):
            known = ", ".join(get_args(Ents))
            raise InputError(f"ents must be one of {known}; got {self.ents!r}")
        if not self.spans_key:
            raise InputError("spans_key must not be empty")


class SpacyTagger:
    """Finds mentions in spaCy's docs; made by `nlp.add_pipe("discotag")`.

    The model is loaded when it is first used, because a pipeline that is loaded from disk brings
    its own model, which takes the place of the one in its configuration.

    Args:
        name: The name of the component in its pipeline.
        settings: The settings.

    Example:
        >>> import spacy
        >>> nlp = spacy.blank("en")
        >>> component = nlp.add_pipe("discotag", config={"min_score": 0.5})
        >>> doc = nlp("I had pain in arms and shoulders.")
        >>> [mention.text for mention in doc._.mentions]
        ['pain in shoulders', 'pain in arms']
        >>> [(span.id_, span.text) for span in doc.spans["discotag"]]
        [('discotag-0', 'pain in'), ('discotag-0', 'shoulders'), ('discotag-1', 'pain in arms')]
    """

    def __init__(self, name: str = NAME, settings: Settings | None = None) -> None:
        self.name = name
        self.settings = settings or Settings()
        self._folder: Path | None = None
        self._tagger: Tagger | None = None
        self._process = os.getpid()
        self._error_handler: ErrorHandler = raise_error

    @property
    def tagger(self) -> Tagger:
        """The tagger, which is loaded when it is first used.

        Raises:
            ModelError: If there is no such model, or it cannot be used.
        """
        if self._tagger is None:
            settings = self.settings
            self._tagger = load(self._files(), runtime=settings.runtime, device=settings.device)
        return self._tagger

    def __call__(self, doc: Doc) -> Doc:
        """Find the mentions of a doc."""
        self._tag([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1000) -> Iterator[Doc]:
        """Find the mentions of a stream of docs.

        Args:
            stream: The docs.
            batch_size: The number of docs that are read and tagged together.
        """
        for docs in minibatch(stream, batch_size):  # type: ignore[no-untyped-call]
            try:
                self._tag(docs)
            except Exception as error:
                self._error_handler(self.name, self, docs, error)
            else:
                yield from docs

    def set_error_handler(self, error_handler: ErrorHandler) -> None:
        """Set the function that is called with docs that cannot be tagged; it may raise."""
        self._error_handler = error_handler

    def get_error_handler(self) -> ErrorHandler:
        """Return the function that is called with docs that cannot be tagged."""
        return self._error_handler

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the files of the model to a folder; settings are in the pipeline's configuration.

        Raises:
            ModelError: If the model does not exist, or no longer.
        """
        copy_model(self._files(), Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Load the model from a folder that `to_disk` has written.

        Raises:
            ModelError: If the folder does not have a model that can be used.
        """
        self._folder, self._tagger = Path(path), None
        _ = self.tagger  # now, because the folder may be gone later
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the files of the model."""
        folder = self._files()
        files = [folder / name for name in FILES]
        content = {each.name: each.read_bytes() for each in files if each.is_file()}
        data: bytes = srsly.msgpack_dumps(content)
        return data

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load the model from what `to_bytes` has returned.

        Its files are written to a temporary folder, which exists as long as this component does.
        """
        content = srsly.msgpack_loads(data)
        folder = Path(tempfile.mkdtemp(prefix=f"{NAME}-"))
        weakref.finalize(self, _remove, folder, os.getpid())
        for name in FILES:
            if name in content:
                (folder / name).write_bytes(content[name])
        return self.from_disk(folder)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is pickled: the settings, and the files of the model."""
        return _unpickled, (self.name, self.settings, self.to_bytes(), self._error_handler)

    def _files(self) -> Path:
        """Return the folder of the model."""
        if self._folder is None:
            self._folder = find_model(self.settings.model)
        if not (self._folder / CONFIG).is_file():
            raise ModelError(f"{self._folder}: not a model, or no longer: it has no {CONFIG}")
        return self._folder

    def _tag(self, docs: list[Doc]) -> None:
        if self._process != os.getpid():
            _after_fork()
            self._process = os.getpid()
        settings, tagger = self.settings, self.tagger
        documents = tagger.tag_batch(
            [to_document(doc, tagger.splitter) for doc in docs], settings.wanted
        )
        for doc, document in zip(docs, documents, strict=True):
            found = _on_tokens(doc, document)
            ids = [f"{settings.spans_key}-{number}" for number in range(len(found))]
            spans = [
                Span(doc, start, end, label=mention.label, span_id=id)
                for id, mention in zip(ids, found, strict=True)
                for start, end in mention.fragments
            ]
            scores = {id: mention.score for id, mention in zip(ids, found, strict=True)}
            doc.spans[settings.spans_key] = SpanGroup(
                doc, name=settings.spans_key, spans=spans, attrs={NAME: scores}
            )
            if settings.ents == "hulls":
                _add_hulls(doc, zip(ids, found, strict=True))


def to_document(doc: Doc, splitter: Splitter) -> Document:
    """Return the text of a doc as a document, in discotag's words and without mentions.

    Its sentences are those of the doc if it has any, otherwise those of the splitter.
    """
    text = doc.text
    if doc.has_annotation("SENT_START"):
        ranges = [(sentence.start_char, sentence.end_char) for sentence in doc.sents]
    else:
        ranges = splitter.sentence_ranges(text)
    return Document.unchecked(
        tuple([splitter.sentence(text, start, end) for start, end in ranges]), text
    )


def mentions(doc: Doc) -> tuple[Mention, ...]:
    """Return the mentions of a doc, whose words are its tokens; what `doc._.mentions` returns.

    They are read from all span groups that a component of discotag has made.
    """
    found: list[Mention] = []
    for group in doc.spans.values():
        if NAME not in group.attrs:
            continue
        fragments = defaultdict[tuple[str, str], list[Span]](list)
        for span in group:
            fragments[span.id_, span.label_].append(span)
        found += [
            Mention(
                label,
                tuple((span.start, span.end) for span in spans),
                text=" ".join(span.text for span in spans),
                spans=tuple((span.start_char, span.end_char) for span in spans),
                score=group.attrs[NAME].get(id),
            )
            for (id, label), spans in fragments.items()
        ]
    return tuple(sorted(found))


def _on_tokens(doc: Doc, document: Document) -> list[Mention]:
    """Return the mentions of a document, widened to whole tokens of the doc.

    Of mentions that then are the same, the one with the highest score is kept.
    """
    found = document.mentions
    if not found:
        return []
    starts = [token.idx for token in doc]
    ends = [token.idx + len(token) for token in doc]
    best: dict[tuple[str, tuple[Fragment, ...]], Mention] = {}
    for mention in found:
        runs = word_runs(mention.spans or (), starts, ends)
        key = mention.label, runs
        if key not in best or (best[key].score or 0) < (mention.score or 0):
            best[key] = Mention(mention.label, runs, score=mention.score)
    return sorted(best.values())


def _add_hulls(doc: Doc, found: Iterable[tuple[str, Mention]]) -> None:
    """Add the hulls of mentions to the entities of a doc, which must not overlap.

    Entities that are there already are kept; of hulls that overlap, the longest is kept, and the
    first of those of the same length.
    """
    taken = {token for entity in doc.ents for token in range(entity.start, entity.end)}
    hulls = [
        Span(doc, mention.start, mention.end, label=mention.label, span_id=id)
        for id, mention in found
        if taken.isdisjoint(range(mention.start, mention.end))
    ]
    doc.set_ents(filter_spans(hulls), default="unmodified")


def _remove(folder: Path, process: int) -> None:
    """Remove a temporary folder, unless this is a fork of the process that has made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _after_fork() -> None:
    """Make PyTorch compute in one thread in a process that `nlp.pipe(n_process=…)` has forked.

    The threads of its parent do not exist there, and PyTorch would wait for them forever.
    """
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(1)


def _unpickled(
    name: str, settings: Settings, data: bytes, error_handler: ErrorHandler
) -> SpacyTagger:
    component = SpacyTagger(name, settings).from_bytes(data)
    component.set_error_handler(error_handler)
    return component


def _register() -> None:
    """Register `doc._.mentions`, unless another library uses this name."""
    if Doc.has_extension(EXTENSION):
        getter = Doc.get_extension(EXTENSION)[2]
        if getattr(getter, "__module__", None) != __name__:
            logger.warning(
                "another library uses doc._.%s: call discotag.integrations.spacy.mentions(doc)",
                EXTENSION,
            )
            return
    Doc.set_extension(EXTENSION, getter=mentions, force=True)


def make_component(
    nlp: Language,
    name: str,
    model: str,
    runtime: str | None,
    device: str | None,
    spans_key: str,
    ents: str,
    **options: Any,
) -> SpacyTagger:
    """Make the component of a pipeline.

    Args:
        nlp: The pipeline.
        name: The name of the component.
        model: As in `Settings`.
        runtime: As in `Settings`.
        device: As in `Settings`.
        spans_key: As in `Settings`.
        ents: As in `Settings`.
        options: The fields of `Wanted` in `OPTIONS`.
    """
    wanted = Wanted(**options, candidates=False)
    return SpacyTagger(name, Settings(model, runtime, device, wanted, spans_key, ents))  # type: ignore[arg-type]


def _with_options(function: Callable[..., SpacyTagger]) -> Callable[..., SpacyTagger]:
    """Name the options in the signature of a factory, which spaCy reads."""
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind != Parameter.VAR_KEYWORD]
    hints = get_type_hints(Wanted)
    # A configuration has lists, no tuples.
    kinds = {
        each: list[str] if get_origin(hints[each]) is tuple else hints[each] for each in OPTIONS
    }
    own += [Parameter(each, Parameter.KEYWORD_ONLY, annotation=kinds[each]) for each in OPTIONS]
    function.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
    return function


Language.factory(
    NAME,
    assigns=["doc.spans", f"doc._.{EXTENSION}"],
    default_config={
        "model": BUNDLED_NAME,
        "runtime": None,
        "device": None,
        "spans_key": NAME,
        "ents": "none",
        **{name: plain(getattr(Wanted(), name)) for name in OPTIONS},
    },
    func=_with_options(make_component),
)


_register()
