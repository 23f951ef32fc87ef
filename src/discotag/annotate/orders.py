"""Actions that clients ask for, and what they get: a version as it is now, or an error."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from discotag.annotate.actions import Action
from discotag.annotate.records import DocumentStatus
from discotag.annotate.versions import RefusedError, Version
from discotag.web.errors import ServiceError


@dataclass(frozen=True, slots=True)
class Order:
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
class Seen:
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

    def __init__(self, refused: RefusedError, seen: Seen) -> None:
        status = 409 if refused.code == "conflict" else 422
        super().__init__(status, refused.code, str(refused))
        self.seen = seen


def check_annotator(db: sqlite3.Connection, annotator: str) -> None:
    """Raise `ServiceError` if nobody has entered with this name."""
    if db.execute("SELECT 1 FROM annotators WHERE name = ?", (annotator,)).fetchone() is None:
        raise ServiceError(
            404, "unknown_annotator", "nobody has entered with this name; enter a name first"
        )


def no_document() -> ServiceError:
    """Return the error for a number that no document has."""
    return ServiceError(404, "not_found", "there is no document with this number")
