"""Rows of the journal: actions, versions and decisions, the status that follows, single values."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, cast

from discotag.annotate.actions import DECIDE, Action, Kind, content_json, content_of
from discotag.annotate.versions import Version
from discotag.mentions import Mention

DocumentStatus = Literal["untouched", "started", "finished", "disagreement", "decided"]

PARTS: Final[dict[DocumentStatus, str]] = {
    "untouched": "open",
    "started": "open",
    "finished": "finished",
    "decided": "finished",
    "disagreement": "disagreement",
}
"""The part of the list of documents that those of a status are in."""

Content = tuple[tuple[Mention, ...], ...]
"""The mentions of each sentence."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An action as the journal has it.

    Attributes:
        document: The number of the document.
        annotator: Who did it.
        kind: Its kind.
        data: Its further data, as text.
        refused: Why it was refused, `code: message`; None if it was applied.
    """

    document: int
    annotator: str
    kind: str
    data: str
    refused: str | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A version as the journal keeps it for lists.

    Attributes:
        annotator: Whose version it is.
        revision: The number of its actions.
        finished: Whether it is finished.
        content: Its mentions, as text.
    """

    annotator: str
    revision: int
    finished: bool
    content: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision between versions of a document.

    Attributes:
        annotator: Who decided.
        at: When, in seconds since 1970.
        content: The mentions that were decided on, as text.
        compared: The content of each version that was finished then, by annotator.
    """

    annotator: str
    at: float
    content: str
    compared: dict[str, str]


def find_action(db: sqlite3.Connection, id: str) -> Recorded | None:
    """Return the action with an id, or None."""
    row = db.execute(
        "SELECT document, annotator, kind, data, refused FROM actions WHERE id = ?", (id,)
    ).fetchone()
    return None if row is None else Recorded(*row)


def add_action(db: sqlite3.Connection, id: str, recorded: Recorded, *, base: int, at: float) -> int:
    """Add an action, and return its number in the journal."""
    sequence = db.execute(
        "INSERT INTO actions (id, document, annotator, kind, data, base, at, refused) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            id,
            recorded.document,
            recorded.annotator,
            recorded.kind,
            recorded.data,
            base,
            at,
            recorded.refused,
        ),
    ).lastrowid
    assert sequence is not None
    return sequence


def actions_of(db: sqlite3.Connection, document: int, annotator: str) -> Iterable[Action]:
    """Yield the applied actions of a version, in order."""
    rows = db.execute(
        "SELECT kind, data FROM actions WHERE document = ? AND annotator = ? "
        "AND refused IS NULL AND kind <> ? ORDER BY sequence",
        (document, annotator, DECIDE),
    )
    for kind, data in rows:
        yield Action.from_json(cast(Kind, kind), data)


def revision_of(db: sqlite3.Connection, document: int) -> int:
    """Return the number of the last applied action on a document, 0 if there is none."""
    ((last,),) = db.execute(
        "SELECT coalesce(max(sequence), 0) FROM actions WHERE document = ? AND refused IS NULL",
        (document,),
    )
    return int(last)


def keep_version(
    db: sqlite3.Connection, document: int, annotator: str, version: Version, sequence: int
) -> None:
    """Write what lists need of a version after an action."""
    content, accepted = content_json(version.mentions), content_json(version.accepted)
    db.execute(
        "INSERT INTO versions "
        "(document, annotator, revision, sequence, finished, mentions, content, accepted) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (document, annotator) DO UPDATE SET "
        "revision = excluded.revision, sequence = excluded.sequence, finished = excluded.finished, "
        "mentions = excluded.mentions, content = excluded.content, accepted = excluded.accepted",
        (
            document,
            annotator,
            version.revision,
            sequence,
            version.finished,
            sum(map(len, version.mentions)),
            content,
            None if accepted == content else accepted,
        ),
    )


def versions_of(db: sqlite3.Connection, document: int) -> list[Kept]:
    """Return the versions of a document, in the order of their annotators' names."""
    rows = db.execute(
        "SELECT annotator, revision, finished, content FROM versions WHERE document = ? "
        "ORDER BY annotator",
        (document,),
    )
    return [Kept(name, revision, bool(done), content) for name, revision, done, content in rows]


def decision_of(db: sqlite3.Connection, document: int) -> Decision | None:
    """Return the last decision on a document, also if it no longer holds; None without one."""
    row = db.execute(
        "SELECT annotator, at, content, compared FROM decisions WHERE document = ?", (document,)
    ).fetchone()
    if row is None:
        return None
    annotator, at, content, compared = row
    return Decision(annotator, at, content, json.loads(compared))


def keep_decision(db: sqlite3.Connection, document: int, sequence: int, decision: Decision) -> None:
    """Write the last decision on a document; earlier ones stay among the actions."""
    db.execute(
        "INSERT INTO decisions (document, sequence, annotator, at, content, compared) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (document) DO UPDATE SET "
        "sequence = excluded.sequence, annotator = excluded.annotator, at = excluded.at, "
        "content = excluded.content, compared = excluded.compared",
        (
            document,
            sequence,
            decision.annotator,
            decision.at,
            decision.content,
            json.dumps(decision.compared, ensure_ascii=False),
        ),
    )


def status_of(versions: Iterable[Kept], decision: Decision | None) -> DocumentStatus:
    """Return the status of a document.

    Finished versions that differ are a disagreement, until somebody decides. A decision holds as
    long as no version that was finished, then or now, has become something else than what was
    compared and what was decided. If one has, but all finished versions are now the same, there is
    nothing left to decide: what they have in common counts.
    """
    versions = list(versions)
    if not versions:
        return "untouched"
    finished = {each.content for each in versions if each.finished}
    if decision is not None:
        contesting = [
            each
            for each in versions
            if (each.finished or each.annotator in decision.compared)
            and each.content not in (decision.content, decision.compared.get(each.annotator))
        ]
        if not contesting:
            return "decided"
        agreed = any(each.finished for each in contesting) or all(
            each.content in finished for each in contesting
        )
        return "finished" if len(finished) == 1 and agreed else "disagreement"
    if not finished:
        return "started"
    return "finished" if len(finished) == 1 else "disagreement"


def mine(touched: bool, finished: bool) -> str:
    """Return what an annotator has done to a document, in one word."""
    return "finished" if finished else "started" if touched else "untouched"


def keep_status(db: sqlite3.Connection, document: int, sequence: int) -> DocumentStatus:
    """Write the status of a document after an action, and return it."""
    status = status_of(versions_of(db, document), decision_of(db, document))
    db.execute(
        "UPDATE documents SET status = ?, part = ?, settled = ? WHERE number = ? AND status <> ?",
        (status, PARTS[status], sequence, document, status),
    )
    return status


def settled_content(versions: Iterable[Kept], decision: Decision | None) -> Content | None:
    """Return the mentions that annotators have settled on; None while they have not."""
    versions = list(versions)
    status = status_of(versions, decision)
    if status == "decided" and decision is not None:
        return content_of(decision.content)
    if status == "finished":
        return content_of(next(each.content for each in versions if each.finished))
    return None


def accepted_content(db: sqlite3.Connection, document: int, annotator: str) -> Content:
    """Return the mentions of a version that its annotator has accepted."""
    ((text,),) = db.execute(
        "SELECT coalesce(accepted, content) FROM versions WHERE document = ? AND annotator = ?",
        (document, annotator),
    )
    return content_of(text)


def read_fact(db: sqlite3.Connection, name: str) -> str | None:
    """Return a single value that the journal keeps by name, None if it does not have it."""
    found = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if found is None else str(found[0])


def keep_fact(db: sqlite3.Connection, name: str, value: str) -> None:
    """Write a single value by name."""
    db.execute(
        "INSERT INTO facts (name, value) VALUES (?, ?) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )
