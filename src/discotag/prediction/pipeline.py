"""Work on several batches at a time, so that the device does not wait for the host.

The work on a batch is a generator that yields wherever it would have to wait for the device. In the
meantime the work on other batches continues.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

R = TypeVar("R")
Work = Generator[None, None, R]


def run_pipeline(works: Iterable[Work[R]], depth: int) -> Iterator[R]:
    """Run generators alternately, and yield what each returns as soon as it is done.

    Args:
        works: A generator for each batch.
        depth: The most generators that run at a time. With 1, each ends before the next begins.

    Example:
        >>> def work(number):
        ...     print("start", number)
        ...     yield
        ...     return number
        >>> print(*run_pipeline(map(work, range(2)), depth=2))
        start 0
        start 1
        0 1
    """
    active: deque[Work[R]] = deque()
    for new in works:
        # The new batch keeps the device busy while the host continues with the others.
        yield from _advance(active, [new])
        yield from _advance(active, [active.popleft() for _ in range(len(active) - 1)])
        while len(active) >= depth:
            yield from _advance(active, [active.popleft()])
    while active:
        yield from _advance(active, [active.popleft()])


def _advance(active: deque[Work[R]], works: Iterable[Work[R]]) -> Iterator[R]:
    """Advance generators to their next wait; yield what those that are done return."""
    for work in works:
        try:
            with collection_paused():
                next(work)
        except StopIteration as stop:
            yield stop.value
        else:
            active.append(work)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the garbage collector while many objects are created that will be kept.

    It would search all objects of the process again and again, without finding garbage.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
