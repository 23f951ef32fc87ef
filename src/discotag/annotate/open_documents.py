"""Who has which document open at the moment; kept in memory, because it is soon outdated."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

EXPIRES: Final = 15.0
"""Seconds without a sign from a page after which it counts as closed; pages send one every five."""


class OpenDocuments:
    """Remembers who has which document open.

    Args:
        clock: Returns the time in seconds.

    Example:
        >>> opened = OpenDocuments()
        >>> opened.enter(7, "Ann")
        >>> opened.holders(7), opened.holders(7, besides="Ann")
        (['Ann'], [])
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._until: dict[tuple[int, str], float] = {}

    def enter(self, number: int, annotator: str) -> None:
        """Note that somebody has a document open."""
        with self._lock:
            self._forget()
            self._until[number, annotator] = self._clock() + EXPIRES

    def leave(self, number: int, annotator: str) -> None:
        """Note that somebody has closed a document."""
        with self._lock:
            self._until.pop((number, annotator), None)

    def holders(self, number: int, besides: str | None = None) -> list[str]:
        """Return who has a document open, sorted, except one person."""
        return self.by_document(besides).get(number, [])

    def by_document(self, besides: str | None = None) -> dict[int, list[str]]:
        """Return who has which document open, except one person."""
        found: dict[int, list[str]] = {}
        with self._lock:
            self._forget()
            for number, name in sorted(self._until):
                if name != besides:
                    found.setdefault(number, []).append(name)
        return found

    def _forget(self) -> None:
        now = self._clock()
        for key in [key for key, until in self._until.items() if until <= now]:
            del self._until[key]
