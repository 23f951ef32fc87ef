"""Where versions are changed: each action is recorded, applied or refused, and then answered."""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Sequence
from threading import RLock
from time import time
from typing import Final

from discotag.annotate import records
from discotag.annotate.actions import DECIDE, content_json
from discotag.annotate.corpus import document_of
from discotag.annotate.journal import Journal
from discotag.annotate.orders import (
    ConflictError,
    Order,
    Seen,
    check_annotator,
    no_document,
)
from discotag.annotate.proposals import read_proposals
from discotag.annotate.records import Decision, DocumentStatus, Recorded
from discotag.annotate.states import apply, fold
from discotag.annotate.versions import RefusedError, Version, begin
from discotag.counts import counted
from discotag.mentions import Document, Mention
from discotag.web.errors import ServiceError

MOST_OPEN: Final = 200
"""Versions that are kept in memory: more than people who work at the same time."""


class Desk:
    """Changes versions, one action at a time.

    Args:
        journal: The journal.
        labels: The labels that mentions may have.
    """

    def __init__(self, journal: Journal, labels: Collection[str]) -> None:
        self.journal = journal
        self.labels = frozenset(labels)
        self._lock = RLock()
        self._open: OrderedDict[tuple[int, str], Version] = OrderedDict()

    def see(self, number: int, annotator: str) -> Seen:
        """Return a version as it is now.

        Raises:
            ServiceError: There is no such document or annotator.
        """
        with self._lock, self.journal.reading() as db:
            check_annotator(db, annotator)
            return self._seen(db, number, annotator, self._version(db, number, annotator))

    def act(self, order: Order) -> tuple[Seen, bool, bool]:
        """Record and apply an action.

        Returns:
            The version, whether the action had been applied before, and whether the version had
            changed since the client saw it.

        Raises:
            ConflictError: The action was refused, which is recorded too.
            ServiceError: There is no such document or annotator, or the id is that of another
                action.
        """
        recorded = Recorded(
            order.document, order.annotator, order.action.kind, order.action.to_json(), None
        )
        refused: RefusedError | None = None
        repeated = moved = False
        with self._lock:
            with self.journal.writing() as db:
                check_annotator(db, order.annotator)
                version = self._version(db, order.document, order.annotator)
                # If the transaction fails, the version is read from the journal again.
                self._open.pop((order.document, order.annotator), None)
                known = records.find_action(db, order.id)
                try:
                    if known is not None:
                        _check_same(known, recorded)
                        repeated = True
                    else:
                        self._check(db, order, version)
                        moved = order.base < version.revision
                        version = apply(version, order.action)
                        sequence = records.add_action(
                            db, order.id, recorded, base=order.base, at=time()
                        )
                        records.keep_version(db, order.document, order.annotator, version, sequence)
                        records.keep_status(db, order.document, sequence)
                except RefusedError as error:
                    refused = error
                    if known is None:
                        _record_refusal(db, order, recorded, error)
                seen = self._seen(db, order.document, order.annotator, version)
            self._remember(order.document, order.annotator, version)
        if refused is not None:
            raise ConflictError(refused, seen)
        return seen, repeated, moved

    def decide(
        self,
        id: str,
        number: int,
        annotator: str,
        base: int,
        sentences: Sequence[Sequence[Mention]],
    ) -> None:
        """Record which mentions a document has, where versions disagree.

        Args:
            id: Made by the client; the same id again is the same decision again.
            number: The number of the document.
            annotator: Who decides.
            base: The revision of the versions that the client has seen.
            sentences: The mentions of each sentence.

        Raises:
            ServiceError: A version has changed since, there is nothing to decide, or a mention is
                invalid.
        """
        with self._lock, self.journal.writing() as db:
            check_annotator(db, annotator)
            document, _, status, _ = self.document(db, number)
            self.check_mentions(document, sentences)
            content = content_json(sentences)
            recorded = Recorded(number, annotator, DECIDE, content, None)
            known = records.find_action(db, id)
            if known is not None:
                _check_same(known, recorded)
                return
            if base != records.revision_of(db, number):
                raise ServiceError(
                    409, "conflict", "a version has changed since; look at it and decide again"
                )
            if status not in ("disagreement", "decided"):
                raise ServiceError(409, "conflict", "the versions of this document do not differ")
            at = time()
            sequence = records.add_action(db, id, recorded, base=base, at=at)
            compared = {
                each.annotator: each.content
                for each in records.versions_of(db, number)
                if each.finished
            }
            decision = Decision(annotator, at, content, compared)
            records.keep_decision(db, number, sequence, decision)
            records.keep_status(db, number, sequence)

    def _check(self, db: sqlite3.Connection, order: Order, version: Version) -> None:
        """Raise `RefusedError` if an action is invalid or was made for something else."""
        if order.base > version.revision:
            raise RefusedError(
                "conflict", "this window has a later revision than the journal; load it again"
            )
        for mention in (order.action.mention, order.action.to):
            if mention is not None and mention.label not in self.labels:
                raise RefusedError("invalid", "the label is not one of this project")
        if not version.revision:
            _, model = self.status(db, order.document)
            if model != order.model:  # nobody is to accept what the page does not show
                raise RefusedError("conflict", "the model has made other proposals in the meantime")
        if order.action.kind in ("undo", "redo") and order.base != version.revision:
            raise RefusedError(
                "conflict",
                f"another window changed this document; look at it, then {order.action.kind} again",
            )

    def check_mentions(self, document: Document, sentences: Sequence[Sequence[Mention]]) -> None:
        """Raise `ServiceError` if mentions are not those of a document's sentences."""
        if len(sentences) != len(document.sentences):
            raise ServiceError(
                422,
                "invalid",
                f"the document has {counted(len(document.sentences), 'sentence')}, "
                f"not {len(sentences)}",
            )
        for number, (sentence, mentions) in enumerate(
            zip(document.sentences, sentences, strict=True)
        ):
            if len(set(mentions)) < len(mentions):
                raise ServiceError(422, "invalid", f"sentence {number} has a mention twice")
            for mention in mentions:
                if mention.end > len(sentence.words):
                    message = f"a mention reaches past the end of sentence {number}"
                    raise ServiceError(422, "invalid", message)
                if mention.label not in self.labels:
                    message = f"sentence {number}: the label is not one of this project"
                    raise ServiceError(422, "invalid", message)

    def status(self, db: sqlite3.Connection, number: int) -> tuple[DocumentStatus, int | None]:
        """Return the status of a document, and the version of the model that proposed for it."""
        row = db.execute("SELECT status, model FROM documents WHERE number = ?", (number,))
        found: tuple[DocumentStatus, int | None] | None = row.fetchone()
        if found is None:
            raise no_document()
        return found

    def document(
        self, db: sqlite3.Connection, number: int
    ) -> tuple[Document, str, DocumentStatus, int | None]:
        """Return a document, its name, its status and the version of the model that proposed."""
        row = db.execute(
            "SELECT text, data, name, status, model FROM documents JOIN texts USING (number) "
            "WHERE number = ?",
            (number,),
        ).fetchone()
        if row is None:
            raise no_document()
        text, data, name, status, model = row
        return document_of(text, data, number), name, status, model

    def _version(self, db: sqlite3.Connection, number: int, annotator: str) -> Version:
        known = self._open.get((number, annotator))
        if known is not None:
            self._open.move_to_end((number, annotator))
            return known
        document, _, _, _ = self.document(db, number)
        start = begin(document, read_proposals(db, number))
        return fold(start, records.actions_of(db, number, annotator))

    def _remember(self, number: int, annotator: str, version: Version) -> None:
        """Keep a version in memory; one without actions may still get other proposals."""
        if version.revision:
            self._open[number, annotator] = version
            self._open.move_to_end((number, annotator))
            if len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)

    def _seen(self, db: sqlite3.Connection, number: int, annotator: str, version: Version) -> Seen:
        row = db.execute(
            "SELECT name, status, model FROM documents WHERE number = ?", (number,)
        ).fetchone()
        if row is None:
            raise no_document()
        name, status, model = row
        kept = records.versions_of(db, number)
        names = tuple(each.annotator for each in kept)
        finished = tuple(each.annotator for each in kept if each.finished)
        return Seen(version, annotator, number, name, status, model, names, finished)


def _check_same(known: Recorded, now: Recorded) -> None:
    """Raise if an id was that of another action, or of one that was refused."""
    same = (known.document, known.annotator, known.kind) == (now.document, now.annotator, now.kind)
    if not same or json.loads(known.data) != json.loads(now.data):
        raise ServiceError(409, "id_used", "this id was used for another action; make a new one")
    if known.refused is not None:
        code, _, message = known.refused.partition(": ")
        raise RefusedError("invalid" if code == "invalid" else "conflict", message)


def _record_refusal(
    db: sqlite3.Connection, order: Order, recorded: Recorded, error: RefusedError
) -> None:
    refusal = Recorded(
        recorded.document,
        recorded.annotator,
        recorded.kind,
        recorded.data,
        f"{error.code}: {error}",
    )
    records.add_action(db, order.id, refusal, base=order.base, at=time())
