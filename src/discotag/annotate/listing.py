"""Lists and counts of documents, each a query that an index answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Any, Final, Literal

from discotag.annotate.records import mine

Order = Literal["uncertainty", "corpus"]
Part = Literal["all", "open", "finished", "disagreement"]

ORDERS: Final[dict[Order, str]] = {
    "uncertainty": "priority DESC, number",
    "corpus": "number",
}

SHOWN: Final = "NOT (gone AND status = 'untouched')"
"""The condition for documents that lists and counts have: a document that is no longer in the
corpus is of interest only if somebody has worked on it."""


def list_documents(
    db: sqlite3.Connection,
    *,
    annotator: str | None,
    order: Order,
    part: Part,
    search: str,
    offset: int,
    limit: int,
) -> dict[str, Any]:
    """Return some documents, without who has them open, and the number of all.

    Args:
        db: The journal.
        annotator: Whose own status is given, or None.
        order: The most useful first, or as in the corpus.
        part: The documents of which part of the list.
        search: Characters that the name or the text must have, ignoring the case of ASCII letters.
        offset: The number of documents to leave out.
        limit: The most documents to return.
    """
    conditions = [SHOWN]
    values: list[str] = []
    if part != "all":
        conditions.append("part = ?")
        values.append(part)
    if search:
        like = "%" + search.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%"
        conditions.append(
            "(name LIKE ? ESCAPE '!' OR number IN "
            "(SELECT number FROM texts WHERE text LIKE ? ESCAPE '!'))"
        )
        values += [like, like]
    where = f"WHERE {' AND '.join(conditions)}"
    ((total,),) = db.execute(f"SELECT count(*) FROM documents {where}", values)
    rows = db.execute(
        "SELECT number, name, words, status, uncertainty, mentions, gone FROM documents "
        f"{where} ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?",
        (*values, limit, offset),
    ).fetchall()
    versions = _versions(db, [row[0] for row in rows])
    documents = []
    for number, name, words, status, uncertainty, mentions, gone in rows:
        own = versions.get(number, {})
        finished, count = own.get(annotator or "", (False, mentions))
        documents.append(
            {
                "number": number,
                "name": name,
                "words": words,
                "status": status,
                "mine": mine((annotator or "") in own, finished),
                "uncertainty": uncertainty,
                "mentions": count,
                "gone": bool(gone),
                "finished_by": [who for who, (done, _) in own.items() if done],
            }
        )
    return {"total": total, "documents": documents}


def next_document(
    db: sqlite3.Connection,
    *,
    annotator: str,
    order: Order,
    after: int | None,
    held: Collection[int],
) -> int | None:
    """Return the next document for an annotator, or None if there is nothing left.

    It is in the corpus, nobody has finished it, and nobody else holds it; after the last one in
    this order, the first is next.

    Args:
        db: The journal.
        annotator: Who asks.
        order: As in `list_documents`.
        after: The document that the annotator has now, or None.
        held: The documents that others hold.
    """
    marks = ", ".join("?" * len(held))
    free = f"part = 'open' AND NOT gone AND number NOT IN ({marks})"
    values: list[Any] = list(held)
    later, place = "", []
    row = db.execute("SELECT priority FROM documents WHERE number = ?", (after,)).fetchone()
    if row is not None and order == "uncertainty":
        later = "AND (priority < ? OR (priority = ? AND number > ?))"
        place = [row[0], row[0], after]
    elif row is not None:
        later, place = "AND number > ?", [after]
    for condition, more in ((later, place), ("AND number IS NOT ?", [after])):
        found = db.execute(
            f"SELECT number FROM documents WHERE {free} {condition} "
            f"ORDER BY {ORDERS[order]} LIMIT 1",
            (*values, *more),
        ).fetchone()
        if found is not None:
            return int(found[0])
    return None


def count_documents(db: sqlite3.Connection) -> dict[str, int]:
    """Return how many documents there are of each status."""
    rows = db.execute(f"SELECT status, count(*) FROM documents WHERE {SHOWN} GROUP BY status")
    found = dict(rows)
    return {
        "documents": sum(found.values()),
        "started": found.get("started", 0),
        "finished": found.get("finished", 0) + found.get("decided", 0),
        "disagreements": found.get("disagreement", 0),
        "decided": found.get("decided", 0),
    }


def count_by_annotator(db: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Return for each annotator how many documents are finished, and how many only started."""
    found = dict.fromkeys(
        (name for (name,) in db.execute("SELECT name FROM annotators ORDER BY name")), (0, 0)
    )
    rows = db.execute("SELECT annotator, sum(finished), count(*) FROM versions GROUP BY annotator")
    for name, finished, touched in rows:
        found[name] = (finished, touched - finished)
    return found


def _versions(
    db: sqlite3.Connection, numbers: Collection[int]
) -> dict[int, dict[str, tuple[bool, int]]]:
    """Return for each document and annotator whether it is finished, and the number of mentions."""
    marks = ", ".join("?" * len(numbers))
    found: dict[int, dict[str, tuple[bool, int]]] = {}
    rows = db.execute(
        "SELECT document, annotator, finished, mentions FROM versions "
        f"WHERE document IN ({marks}) ORDER BY document, annotator",
        list(numbers),
    )
    for number, name, finished, mentions in rows:
        found.setdefault(number, {})[name] = (bool(finished), mentions)
    return found
