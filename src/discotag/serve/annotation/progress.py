"""What each annotator has done, and how far annotators agree."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict
from itertools import combinations
from threading import Lock
from typing import Any, Final

from discotag.serve.annotation import listing
from discotag.serve.annotation.actions import content_of
from discotag.serve.annotation.agreement import Agreement, Text, agree
from discotag.serve.annotation.journal import Journal

BREAK: Final = 300
"""Seconds without an action after which somebody is taken to have paused."""

MOST_COMPARED: Final = 1000
"""Documents of two annotators that are compared, the last ones that both have finished."""

MOST_PEOPLE: Final = 12
"""Annotators whose agreement is computed, those with the most finished documents: the number of
pairs grows with their square."""


class Progress:
    """Reports progress, and remembers agreements until something is finished or changed.

    Args:
        journal: The journal.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = Lock()
        self._known: dict[tuple[str, str], tuple[tuple[int, int], Agreement]] = {}

    def report(self) -> dict[str, Any]:
        """Return the progress as plain data."""
        with self._journal.reading() as db:
            people = listing.count_by_annotator(db)
            work = dict(_work(db))
            busy = sorted(people, key=lambda name: (-people[name][0], name))[:MOST_PEOPLE]
            pairs = list(combinations(sorted(name for name in busy if people[name][0]), 2))
            agreements = [(pair, self._agreement(db, *pair)) for pair in pairs]
            return {
                "documents": listing.count_documents(db),
                "annotators": [
                    {
                        "name": name,
                        "finished": finished,
                        "started": started,
                        "actions": work.get(name, (0, 0))[0],
                        "minutes": work.get(name, (0, 0))[1],
                    }
                    for name, (finished, started) in people.items()
                ],
                "agreement": [
                    {"annotators": list(pair), **asdict(found)}
                    for pair, found in agreements
                    if found.documents
                ],
            }

    def _agreement(self, db: sqlite3.Connection, one: str, other: str) -> Agreement:
        """Return the agreement of two annotators, from memory if nothing has changed."""
        ((*state,),) = db.execute(
            "SELECT count(*), coalesce(sum(document * (a.revision + b.revision)), 0) "
            "FROM versions AS a "
            "JOIN versions AS b USING (document) "
            "WHERE a.annotator = ? AND b.annotator = ? AND a.finished AND b.finished",
            (one, other),
        )
        now = (int(state[0]), int(state[1]))
        with self._lock:
            before = self._known.get((one, other))
            if before is not None and before[0] == now:
                return before[1]
            found = agree(list(_texts(db, one, other)))
            self._known[one, other] = (now, found)
            return found


def _work(db: sqlite3.Connection) -> Iterable[tuple[str, tuple[int, float]]]:
    """Yield for each annotator the number of actions, and the minutes of work."""
    rows = db.execute(
        "SELECT annotator, count(*), sum(CASE WHEN gap < ? THEN gap ELSE 0 END) FROM ("
        "SELECT annotator, at - lag(at) OVER (PARTITION BY annotator ORDER BY sequence) AS gap "
        "FROM actions) GROUP BY annotator",
        (BREAK,),
    )
    for name, actions, seconds in rows:
        yield name, (actions, round((seconds or 0) / 60, 1))


def _texts(db: sqlite3.Connection, one: str, other: str) -> Iterable[Text]:
    """Yield the documents that both have finished."""
    rows = db.execute(
        "SELECT a.content, b.content, data FROM versions AS a "
        "JOIN versions AS b USING (document) JOIN texts ON texts.number = document "
        "WHERE a.annotator = ? AND b.annotator = ? AND a.finished AND b.finished "
        "ORDER BY document DESC LIMIT ?",
        (one, other, MOST_COMPARED),
    )
    for mine, theirs, data in rows:
        lengths = [len(sentence["words"]) for sentence in json.loads(data)["sentences"]]
        yield Text(lengths, content_of(mine), content_of(theirs))
