"""Jobs: the sentences of a request, and the slices of them that are tagged together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from discotag.prediction.wanted import MENTIONS_ONLY, Wanted


class Task(NamedTuple):
    """What to do with sentences; those with the same task share batches.

    Attributes:
        model: The name of the model.
        wanted: What is wanted of it.
    """

    model: str
    wanted: Wanted = MENTIONS_ONLY


class Slice(NamedTuple):
    """Sentences of a request in a batch; `tried` is true if they were in a batch that failed."""

    job: Job
    start: int
    end: int
    tried: bool = False

    @property
    def words(self) -> Sequence[Sequence[str]]:
        """The words of the sentences."""
        return self.job.sentences[self.start : self.end]


@dataclass(slots=True, eq=False)
class Job:
    """The sentences of a request.

    Attributes:
        task: What to do with them.
        sentences: Their words.
        found: What was found in each of them.
        done: Set when all are done, or one of them failed.
        next: The first sentence that is not in a batch yet.
        missing: The number of sentences that are not done.
        again: Slices of batches that failed, which are tried a second time, each alone.
    """

    task: Task
    sentences: Sequence[Sequence[str]]
    done: asyncio.Future[None]
    found: list[Any] = field(default_factory=list)
    next: int = 0
    missing: int = 0
    again: deque[Slice] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.found = [None] * len(self.sentences)
        self.missing = len(self.sentences)

    @property
    def waits(self) -> bool:
        """Whether there are sentences that are not in a batch."""
        return not self.done.done() and (self.next < len(self.sentences) or bool(self.again))

    def cut(self, most: int) -> Slice:
        """Return the next sentences, with about `most` words, but at least one sentence."""
        start = end = self.next
        words = 0
        while end < len(self.sentences) and (end == start or words < most):
            words += len(self.sentences[end])
            end += 1
        self.next = end
        return Slice(self, start, end)

    def fail(self, error: Exception) -> None:
        """Set an error as the result, unless the job is done."""
        if not self.done.done():
            self.done.set_exception(error)
