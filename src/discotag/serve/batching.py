"""Batches that requests share: sentences of different clients are tagged together.

Requests wait in a queue, first come, first served. A batch is what waits when an engine becomes
free, so a request that is alone does not wait for others. Large requests are cut into slices: after
each slice a request goes to the end of the queue, so that small ones do not wait for long.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, NamedTuple

from discotag.serve.engine import Found, Task
from discotag.serve.engines import BatchFailed, Engine, EngineDied
from discotag.web.errors import ServiceError, overloaded

logger = logging.getLogger("discotag.serve")

SLICE: Final = 256
"""The words of a request after which others have their turn; a core tags them in 30 ms."""

BATCH: Final = 512
"""The most words of a batch, except for a sentence that is longer. A larger one is hardly faster,
and all of its requests wait for the last sentence."""

LEAST: Final = 64
"""The fewest words of a request that are worth an engine of their own, if several are idle."""

SHARE: Final = 0.75
"""The part of an equal share of all words that an engine takes at a time. If one of them took more,
its requests would take longer than others."""

QUIET: Final = 3
"""The turns of the event loop without a new request after which a batch begins. A request that has
arrived takes two turns to join the queue; a turn without work takes some microseconds."""

SHORTEST_LIFE: Final = 10.0
"""The seconds that an engine must run to be replaced without a delay if it ends."""

MOST_WAIT: Final = 30.0
"""The most seconds before an engine that dies again and again is started again."""


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


class Scheduler:
    """Gives batches to engines.

    Args:
        engines: The engines.
        most: The most words that wait.
        on_batch: Called with the number of sentences of each batch.
        on_restart: Called when an engine has been replaced.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        most: int,
        on_batch: Callable[[int], None] = lambda sentences: None,
        on_restart: Callable[[], None] = lambda: None,
    ) -> None:
        self._engines = engines
        self._most = most
        self._on_batch = on_batch
        self._on_restart = on_restart
        self._queue: deque[Job] = deque()
        self._idle: dict[Engine, asyncio.Future[None]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._arrived = 0
        self.waiting = 0
        self.alive = 0

    async def start(self) -> None:
        """Start all engines.

        Raises:
            DiscotagError: A model cannot be loaded.
        """
        try:
            await asyncio.gather(*(self._start(each) for each in self._engines))
        except BaseException:
            await self.stop()
            raise
        self.alive = len(self._engines)
        self._tasks = [asyncio.create_task(self._serve(each)) for each in self._engines]

    async def stop(self) -> None:
        """End all engines."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(each.stop() for each in self._engines))
        self.alive = 0

    async def tag(self, task: Task, sentences: Sequence[Sequence[str]]) -> list[Found]:
        """Return what is found in each sentence.

        If the caller is cancelled, what waits of its sentences is dropped.

        Raises:
            ServiceError: Too much waits already, or the sentences cannot be tagged.
        """
        if not sentences:
            return []
        words = sum(map(len, sentences))
        if self.waiting and self.waiting + words > self._most:
            raise overloaded("too many texts wait to be tagged")
        job = Job(task, sentences, asyncio.get_running_loop().create_future())
        self.waiting += words
        self._arrived += 1
        self._queue.append(job)
        self._wake()
        try:
            await job.done
        except BaseException:
            with suppress(ValueError):
                self._queue.remove(job)
            raise
        finally:
            self.waiting -= words
        return job.found

    async def _start(self, engine: Engine) -> None:
        await engine.start(lambda: self._wake(engine))

    def _wake(self, engine: Engine | None = None) -> None:
        """Wake an idle engine because there is work, or the given one because it has ended."""
        if engine is None and self._idle:
            engine = next(iter(self._idle))
        idle = None if engine is None else self._idle.pop(engine, None)
        if idle is not None and not idle.done():
            idle.set_result(None)

    async def _serve(self, engine: Engine) -> None:
        """Give batches to an engine until the service ends; replace it if it dies."""
        begun, wait = monotonic(), 0.0
        while True:
            batch: list[Slice] = []
            try:
                batch = await self._next_batch(engine)
                await self._tag(engine, batch)
            except EngineDied:
                logger.warning("an engine has ended; it is replaced")
                self._try_again(batch)
                quick = monotonic() - begun < SHORTEST_LIFE
                wait = min(MOST_WAIT, max(1.0, 2 * wait)) if quick else 0.0
                await self._replace(engine, wait)
                begun = monotonic()
            except BatchFailed as error:
                logger.warning("a batch cannot be tagged: %s", error)
                self._try_again(batch if len(batch) > 1 else [batch[0]._replace(tried=True)])

    async def _replace(self, engine: Engine, wait: float) -> None:
        """Start an engine that has ended; wait longer each time that this fails."""
        self.alive -= 1
        await engine.stop()
        while True:
            await asyncio.sleep(wait)
            try:
                await self._start(engine)
            except Exception as error:  # whatever it is, the next attempt may succeed
                logger.warning("an engine cannot be started: %s", type(error).__name__)
                await engine.stop()
                wait = min(MOST_WAIT, max(1.0, 2 * wait))
                continue
            self.alive += 1
            self._on_restart()
            return

    async def _next_batch(self, engine: Engine) -> list[Slice]:
        """Wait until there is work for an engine, and take a batch of it.

        Raises:
            EngineDied: The engine ended meanwhile.
        """
        while not self._queue:
            idle = self._idle[engine] = asyncio.get_running_loop().create_future()
            await idle
            if not engine.runs:
                self._wake()  # another engine has to do what this one was woken for
                raise EngineDied
            await self._settle()
        batch = self._take()
        if self._queue:
            self._wake()
        return batch

    async def _settle(self) -> None:
        """Let requests that have already arrived join the queue; do not wait for others."""
        arrived, quiet = self._arrived, 0
        while quiet < QUIET and self.waiting < len(self._engines) * BATCH:
            await asyncio.sleep(0)
            quiet = quiet + 1 if arrived == self._arrived else 0
            arrived = self._arrived

    def _take(self) -> list[Slice]:
        """Take the next batch from the queue; all its jobs have the task of the first one."""
        first = self._queue.popleft()
        if first.again:
            alone = first.again.popleft()
            if first.waits:
                self._queue.appendleft(first)
            return [alone]
        batch: list[Slice] = []
        left: list[Job] = []
        passed: list[Job] = []
        most = min(BATCH, SHARE * self.waiting / len(self._engines))
        size = SLICE if self._queue else self._part(first)
        words, job = 0, first
        while True:
            if job.task != first.task or job.again:
                passed.append(job)
            else:
                batch.append(job.cut(size))
                words += sum(map(len, batch[-1].words))
                if job.waits:
                    left.append(job)
            if words >= most or not self._queue:
                break
            job = self._queue.popleft()
        self._queue.extendleft(reversed(passed))
        self._queue.extend(left)
        return batch

    def _part(self, job: Job) -> int:
        """Return how many words of the only job in the queue one engine takes: an equal share."""
        words = sum(map(len, job.sentences[job.next :]))
        return min(SLICE, max(LEAST, math.ceil(words / (len(self._idle) + 1))))

    async def _tag(self, engine: Engine, batch: Sequence[Slice]) -> None:
        wanted = [each for each in batch if not each.job.done.done()]
        if not wanted:
            return
        sentences = [words for each in wanted for words in each.words]
        self._on_batch(len(sentences))
        found = await engine.tag(wanted[0].job.task, sentences)
        passed = 0
        for job, start, end, _ in wanted:
            size = end - start
            job.found[start:end] = found[passed : passed + size]
            passed += size
            job.missing -= size
            if not job.missing and not job.done.done():
                job.done.set_result(None)

    def _try_again(self, batch: Sequence[Slice]) -> None:
        """Queue the slices of a failed batch again, each alone; give up if one fails twice."""
        for each in batch:
            job = each.job
            if job.done.done():
                continue
            if each.tried:
                job.fail(ServiceError(500, "not_tagged", "this text cannot be tagged"))
                continue
            if not job.waits:
                self._queue.appendleft(job)
            job.again.append(each._replace(tried=True))
        if self._queue:
            self._wake()
