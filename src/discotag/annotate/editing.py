"""Changing versions: each action is recorded, applied or refused, and then answered."""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from threading import RLock
from time import time
from typing import Final

from discotag.annotate import records
from discotag.annotate.actions import DECIDE, Action, content_json
from discotag.annotate.corpus import document_of
from discotag.annotate.journal import Journal
from discotag.annotate.proposals import read_proposals
from discotag.annotate.records import Decision, DocumentStatus, Recorded
from discotag.annotate.versions import RefusedError, Version, apply, begin, fold
from discotag.counts import counted
from discotag.mentions import Document, Mention
from discotag.web.errors import ServiceError

MOST_OPEN: Final = 200
"""Versions that are kept in memory: more than people who work at the same time."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An action that a client asks for.

    Attributes:
        id: Made by the client; the same id again is the same action again.
        document: The number of the document.
        annotator: Who asks.
        base: The revision that the client has seen.
        action: The action.
        model: The version of the model whose proposals the client shows; None: it shows none.
    """

    id: str
    document: int
    annotator: str
    base: int
    action: Action
    model: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A version of a document as it is now.

    Attributes:
        version: The version.
        annotator: Whose it is.
        number: The number of the document.
        name: The name of the document.
        status: The status of the document.
        model: The version of the model that made the proposals, or None.
        versions: The annotators who have a version.
        finished_by: Those of them who have finished it.
    """

    version: Version
    annotator: str
    number: int
    name: str
    status: DocumentStatus
    model: int | None
    versions: tuple[str, ...]
    finished_by: tuple[str, ...]

    @property
    def touched(self) -> bool:
        """Whether this annotator has a version."""
        return self.annotator in self.versions


class ConflictError(ServiceError):
    """An action that was refused, with the version as it is now."""

    def __init__(self, refused: RefusedError, seen: Snapshot) -> None:
        status = 409 if refused.code == "conflict" else 422
        super().__init__(status, refused.code, str(refused))
        self.seen = seen


class Editor:
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

    def see(self, number: int, annotator: str) -> Snapshot:
        """Return a version as it is now.

        Raises:
            ServiceError: There is no such document or annotator.
        """
        with self._lock, self.journal.reading() as db:
            check_annotator(db, annotator)
            return self._snapshot(db, number, annotator, self._version(db, number, annotator))

    def act(self, edit: Edit) -> tuple[Snapshot, bool, bool]:
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
            edit.document, edit.annotator, edit.action.kind, edit.action.to_json(), None
        )
        refused: RefusedError | None = None
        repeated = moved = False
        with self._lock:
            with self.journal.writing() as db:
                check_annotator(db, edit.annotator)
                version = self._version(db, edit.document, edit.annotator)
                # If the transaction fails, the version is read from the journal again.
                self._open.pop((edit.document, edit.annotator), None)
                known = records.find_action(db, edit.id)
                try:
                    if known is not None:
                        _check_same(known, recorded)
                        repeated = True
                    else:
                        self._check(db, edit, version)
                        moved = edit.base < version.revision
                        version = apply(version, edit.action)
                        sequence = records.add_action(
                            db, edit.id, recorded, base=edit.base, at=time()
                        )
                        records.keep_version(db, edit.document, edit.annotator, version, sequence)
                        records.keep_status(db, edit.document, sequence)
                except RefusedError as error:
                    refused = error
                    if known is None:
                        refusal = replace(recorded, refused=f"{error.code}: {error}")
                        records.add_action(db, edit.id, refusal, base=edit.base, at=time())
                seen = self._snapshot(db, edit.document, edit.annotator, version)
            self._remember(edit.document, edit.annotator, version)
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
            self.check_mentions(self.document(db, number), sentences)
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
            if self.status(db, number)[1] not in ("disagreement", "decided"):
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

    def _check(self, db: sqlite3.Connection, edit: Edit, version: Version) -> None:
        """Raise `RefusedError` if an action is invalid or was made for something else."""
        if edit.base > version.revision:
            raise RefusedError(
                "conflict", "this window has a later revision than the journal; load it again"
            )
        for mention in (edit.action.mention, edit.action.to):
            if mention is not None and mention.label not in self.labels:
                raise RefusedError("invalid", "the label is not one of this project")
        _, _, model = self.status(db, edit.document)
        if not version.revision and model != edit.model:  # accepting what the page does not show
            raise RefusedError("conflict", "the model has made other proposals in the meantime")
        if edit.action.kind in ("undo", "redo") and edit.base != version.revision:
            raise RefusedError(
                "conflict",
                f"another window changed this document; look at it, then {edit.action.kind} again",
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

    def status(self, db: sqlite3.Connection, number: int) -> tuple[str, DocumentStatus, int | None]:
        """Return a document's name, its status, and the version of the model that proposed."""
        row = db.execute("SELECT name, status, model FROM documents WHERE number = ?", (number,))
        found: tuple[str, DocumentStatus, int | None] | None = row.fetchone()
        if found is None:
            raise no_document()
        return found

    def document(self, db: sqlite3.Connection, number: int) -> Document:
        """Return a document with the mentions of the corpus."""
        row = db.execute("SELECT text, data FROM texts WHERE number = ?", (number,)).fetchone()
        if row is None:
            raise no_document()
        text, data = row
        return document_of(text, data, number)

    def _version(self, db: sqlite3.Connection, number: int, annotator: str) -> Version:
        known = self._open.get((number, annotator))
        if known is not None:
            self._open.move_to_end((number, annotator))
            return known
        start = begin(self.document(db, number), read_proposals(db, number))
        return fold(start, records.actions_of(db, number, annotator))

    def _remember(self, number: int, annotator: str, version: Version) -> None:
        """Keep a version in memory; one without actions may still get other proposals."""
        if version.revision:
            self._open[number, annotator] = version
            self._open.move_to_end((number, annotator))
            if len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)

    def _snapshot(
        self, db: sqlite3.Connection, number: int, annotator: str, version: Version
    ) -> Snapshot:
        name, status, model = self.status(db, number)
        kept = records.versions_of(db, number)
        names = tuple(each.annotator for each in kept)
        finished = tuple(each.annotator for each in kept if each.finished)
        return Snapshot(version, annotator, number, name, status, model, names, finished)


def _check_same(known: Recorded, now: Recorded) -> None:
    """Raise if an id was that of another action, or of one that was refused."""
    same = (known.document, known.annotator, known.kind) == (now.document, now.annotator, now.kind)
    if not same or json.loads(known.data) != json.loads(now.data):
        raise ServiceError(409, "id_used", "this id was used for another action; make a new one")
    if known.refused is not None:
        code, _, message = known.refused.partition(": ")
        raise RefusedError("invalid" if code == "invalid" else "conflict", message)


def check_annotator(db: sqlite3.Connection, annotator: str) -> None:
    """Raise `ServiceError` if nobody has entered with this name."""
    if db.execute("SELECT 1 FROM annotators WHERE name = ?", (annotator,)).fetchone() is None:
        raise ServiceError(
            404, "unknown_annotator", "nobody has entered with this name; enter a name first"
        )


def no_document() -> ServiceError:
    """Return the error for a number that no document has."""
    return ServiceError(404, "not_found", "there is no document with this number")
