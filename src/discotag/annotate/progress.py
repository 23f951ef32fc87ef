"""What each annotator has done, and how far annotators agree."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict
from itertools import combinations
from threading import Lock, Thread
from typing import Any, Final

from discotag.annotate import listing
from discotag.annotate.actions import content_of
from discotag.annotate.agreement import Agreement, Text, agree
from discotag.annotate.journal import Journal

BREAK: Final = 300
"""Seconds without an action after which somebody is taken to have paused."""

MOST_COMPARED: Final = 1000
"""Documents of two annotators that are compared, the last ones that both have finished."""

MOST_PEOPLE: Final = 12
"""Annotators whose agreement is computed, those with the most finished documents: the number of
pairs grows with their square."""

FINISHING: Final = ("finish", "reopen", "undo", "redo")
"""The kinds of actions that change which versions are finished, or what a finished one has."""

Pair = tuple[str, str]

_logger = logging.getLogger(__name__)


class Progress:
    """Reports progress; agreements are computed in the background, one pair at a time.

    Args:
        journal: The journal.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = Lock()
        self._reading = Lock()
        self._known: dict[Pair, tuple[int, Agreement]] = {}
        self._waiting: dict[Pair, int] = {}
        self._thread: Thread | None = None
        self._closed = False

    def report(self) -> dict[str, Any]:
        """Return the progress as plain data, with the last agreements that were computed.

        `computing` says whether some of them are still being computed.
        """
        with self._journal.reading() as db:
            people = listing.count_by_annotator(db)
            work = dict(_work(db))
            counts = listing.count_documents(db)
            busy = sorted(people, key=lambda name: (-people[name][0], name))[:MOST_PEOPLE]
            pairs = list(combinations(sorted(name for name in busy if people[name][0]), 2))
            states = {pair: _state(db, pair) for pair in pairs}
        with self._lock:
            for pair, state in states.items():
                known = self._known.get(pair)
                if known is None or known[0] != state:
                    self._waiting[pair] = state
            computing = bool(self._waiting)
            found = [(pair, self._known[pair][1]) for pair in pairs if pair in self._known]
            if computing and self._thread is None:
                self._thread = Thread(target=self._compute, name="agreement", daemon=True)
                self._thread.start()
        return {
            "documents": counts,
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
                {"annotators": list(pair), **asdict(each)} for pair, each in found if each.documents
            ],
            "computing": computing,
        }

    def stop(self) -> None:
        """Stop reading the journal; an agreement that is being computed no longer needs it."""
        with self._reading:
            self._closed = True

    def _compute(self) -> None:
        """Compute the agreements that are asked for, until there is none left."""
        while True:
            with self._lock:
                if self._closed or not self._waiting:
                    self._thread = None
                    return
                pair, state = next(iter(self._waiting.items()))
            found = Agreement(0, None, None, None, None)
            try:
                found = self._agreement(pair)
            except Exception:  # in a thread, it would not be seen
                _logger.exception("the agreement of two annotators cannot be computed")
            with self._lock:
                self._known[pair] = (state, found)
                if self._waiting[pair] == state:  # otherwise something was finished meanwhile
                    del self._waiting[pair]

    def _agreement(self, pair: Pair) -> Agreement:
        """Return the agreement of two annotators; the journal is only needed to read the rows."""
        with self._reading:
            if self._closed:
                return Agreement(0, None, None, None, None)
            with self._journal.reading() as db:
                rows = _rows(db, pair)
        return agree([_text(*row) for row in rows])


def _state(db: sqlite3.Connection, pair: Pair) -> int:
    """Return a number that changes when what two annotators have finished does.

    It is that of the last action of either of them that finishes or reopens something.
    """
    last = 0
    for name in pair:
        found = db.execute(
            "SELECT sequence FROM actions WHERE annotator = ? AND refused IS NULL "
            f"AND kind IN ({', '.join('?' * len(FINISHING))}) ORDER BY sequence DESC LIMIT 1",
            (name, *FINISHING),
        ).fetchone()
        last = max(last, 0 if found is None else found[0])
    return last


def _work(db: sqlite3.Connection) -> Iterable[tuple[str, tuple[int, float]]]:
    """Yield for each annotator the number of applied actions, and the minutes of work."""
    rows = db.execute(
        "SELECT annotator, count(*), sum(CASE WHEN gap < ? THEN gap ELSE 0 END) FROM ("
        "SELECT annotator, at - lag(at) OVER (PARTITION BY annotator ORDER BY sequence) AS gap "
        "FROM actions WHERE refused IS NULL) GROUP BY annotator",
        (BREAK,),
    )
    for name, actions, seconds in rows:
        yield name, (actions, round((seconds or 0) / 60, 1))


def _rows(db: sqlite3.Connection, pair: Pair) -> list[tuple[str, str, str]]:
    """Return what two annotators have made of the last documents that both have finished."""
    return db.execute(
        "SELECT a.content, b.content, data FROM versions AS a "
        "JOIN versions AS b USING (document) JOIN texts ON texts.number = document "
        "WHERE a.annotator = ? AND b.annotator = ? AND a.finished AND b.finished "
        "ORDER BY max(a.sequence, b.sequence) DESC LIMIT ?",
        (*pair, MOST_COMPARED),
    ).fetchall()


def _text(first: str, second: str, data: str) -> Text:
    lengths = [len(sentence["words"]) for sentence in json.loads(data)["sentences"]]
    return Text(lengths, content_of(first), content_of(second))
