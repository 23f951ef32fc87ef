"""Proposals of the model, computed in the background, and at once for a document that is opened."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from discotag.annotate.actions import plain
from discotag.annotate.corpus import document_of
from discotag.annotate.journal import Journal
from discotag.errors import DiscotagError
from discotag.mentions import Document, Mention

if TYPE_CHECKING:
    from discotag.prediction.tagger import Tagger

BATCH_WORDS: Final = 3000
"""Words that are tagged at a time, about half a second on two cores: somebody who opens a document
waits no longer for the batch before it."""

BATCH_DOCUMENTS: Final = 100
"""Documents that are tagged at a time."""

PAUSE: Final = 5.0
"""Seconds until documents that somebody held are looked at again."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded model.

    Attributes:
        tagger: The tagger.
        version: Its number in this project, from 1.
        name: The name that people see.
    """

    tagger: Tagger
    version: int
    name: str


class Proposer:
    """Tags documents that nobody has touched, in the background.

    Args:
        journal: The journal.
        model: The model, or None.
        held: Returns the numbers of the documents that somebody has open: their proposals must not
            change.
    """

    def __init__(
        self, journal: Journal, model: Model | None, held: Callable[[], Collection[int]]
    ) -> None:
        self.journal = journal
        self.model = model
        self._held = held
        self._wake, self._stop = Event(), Event()
        self._thread: Thread | None = None
        self.failure: str | None = None

    def start(self) -> None:
        """Begin to work in the background."""
        if self.model is not None and self._thread is None:
            self._thread = Thread(target=self._work, name="proposals", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the work in the background, after its current batch."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def use(self, model: Model) -> None:
        """Use another model from now on; documents that nobody has touched are tagged again."""
        self.model = model
        self.start()
        self._wake.set()

    def need(self, number: int) -> None:
        """Compute the proposals of a document now, if it has none and nobody has touched it.

        If the model fails, the document is shown without proposals.
        """
        if self.model is None:
            return
        with self.journal.reading() as db:
            row = db.execute(
                "SELECT text, data FROM documents JOIN texts USING (number) "
                "WHERE number = ? AND status = 'untouched' AND model IS NULL",
                (number,),
            ).fetchone()
        if row is not None:
            text, data = row
            try:
                self._propose([(number, document_of(text, data, number))])
            except Exception as error:  # runtimes raise errors of their own
                self._note(error)

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                batch = self._next()
                if batch:
                    self._propose(batch)
                    continue
            except Exception as error:  # runtimes raise errors of their own
                self._note(error)
            self._wake.wait(PAUSE)
            self._wake.clear()

    def _note(self, error: Exception) -> None:
        """Keep the reason of a failure for the page, and log it once."""
        # Messages of other libraries may have parts of a text.
        reason = str(error) if isinstance(error, DiscotagError) else type(error).__name__
        said = f"The model cannot propose: {reason}"
        if said != self.failure:
            _logger.warning("proposals: %s", reason)
        self.failure = said

    def _next(self) -> list[tuple[int, Document]]:
        """Return the documents to tag next: those without proposals, then the most useful."""
        if self.model is None:
            return []
        held = sorted(self._held())
        marks = ", ".join("?" * len(held))
        batch: list[tuple[int, Document]] = []
        with self.journal.reading() as db:
            for condition, values in (
                ("model IS NULL", []),
                ("model < ?", [self.model.version]),
            ):
                rows = db.execute(
                    "SELECT number, words FROM documents "
                    f"WHERE status = 'untouched' AND {condition} AND NOT gone "
                    f"AND number NOT IN ({marks}) "
                    "ORDER BY priority DESC, number LIMIT ?",
                    (*values, *held, BATCH_DOCUMENTS),
                ).fetchall()
                words = 0
                for number, length in rows:
                    ((text, data),) = db.execute(
                        "SELECT text, data FROM texts WHERE number = ?", (number,)
                    )
                    batch.append((number, document_of(text, data, number)))
                    words += length
                    if words >= BATCH_WORDS:
                        break
                if batch:
                    break
        return batch

    def _propose(self, batch: Sequence[tuple[int, Document]]) -> None:
        """Tag documents, and write what was found."""
        model = self.model
        assert model is not None
        proposed = propose(model.tagger, [document for _, document in batch])
        with self.journal.writing() as db:
            for (number, document), found in zip(batch, proposed, strict=True):
                _write(db, number, document, found, model.version)
        self.failure = None


def read_proposals(db: sqlite3.Connection, number: int) -> list[list[Mention]] | None:
    """Return the proposals for each sentence of a document, or None if there are none yet."""
    row = db.execute("SELECT data FROM proposals WHERE number = ?", (number,)).fetchone()
    if row is None:
        return None
    return [
        [
            Mention(label, tuple((start, end) for start, end in fragments), score=score)
            for label, fragments, score in mentions
        ]
        for mentions in json.loads(row[0])
    ]


def _write(
    db: sqlite3.Connection,
    number: int,
    document: Document,
    found: Proposed,
    version: int,
) -> None:
    """Write the proposals for a document, unless somebody has touched it in the meantime."""
    words = sum(len(sentence.words) for sentence in document.sentences)
    shown = sum(
        len(set(sentence.mentions)) or len(mentions)
        for sentence, mentions in zip(document.sentences, found.mentions, strict=True)
    )
    changed = db.execute(
        "UPDATE documents SET mentions = ?, uncertainty = ?, priority = ?, model = ? "
        "WHERE number = ? AND status = 'untouched' AND (model IS NULL OR model <= ?)",
        (shown, found.mistakes, usefulness(found.mistakes, words), version, number, version),
    ).rowcount
    if changed:
        data = [
            [[each.label, plain(each)["fragments"], each.score] for each in mentions]
            for mentions in found.mentions
        ]
        db.execute(
            "INSERT OR REPLACE INTO proposals (number, model, data) VALUES (?, ?, ?)",
            (number, version, json.dumps(data, ensure_ascii=False)),
        )


EFFORT: Final = 20
"""Words that opening a document costs, besides reading its own."""


class Proposed(NamedTuple):
    """What a model says about a document.

    Attributes:
        mentions: The mentions that it finds in each sentence.
        mistakes: The number of mistakes that it expects in what an annotator sees.
    """

    mentions: tuple[tuple[Mention, ...], ...]
    mistakes: float


def propose(tagger: Tagger, documents: Sequence[Document]) -> list[Proposed]:
    """Find the mentions of documents, and the number of mistakes to expect in each.

    An annotator sees the mentions of the corpus, or in sentences without any those of the model.
    A mention that is shown is wrong, and a candidate that is not shown is missing, with the
    probability that the model gives to that.
    """
    sentences = [each for document in documents for each in document.sentences]
    analysed = iter(tagger.analyse(sentences, compared=True, candidates=False))
    found = []
    for document in documents:
        mistakes = 0.0
        listed = []
        for sentence in document.sentences:
            analysis = next(analysed)
            own = analysis.sentence.mentions
            # The scores that the annotator sees come last, so that they count.
            chances = {**analysis.compared, **{each: each.score or 0.0 for each in own}}
            shown = set(sentence.mentions or own)
            mistakes += sum(1 - chances.get(mention, 0.0) for mention in shown)
            mistakes += sum(chance for mention, chance in chances.items() if mention not in shown)
            listed.append(own)
        found.append(Proposed(tuple(listed), mistakes))
    return found


def usefulness(mistakes: float, words: int) -> float:
    """Return the expected number of mistakes per word of reading effort."""
    return mistakes / (words + EFFORT)
