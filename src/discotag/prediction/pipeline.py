"""Work on several batches at a time, so that a device never waits for the host.

Work on a batch is a generator that yields wherever it would have to wait for the device. Others go
on in the meantime.
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
    """Yield what each work returns, as soon as it is done.

    Args:
        works: One for each batch.
        depth: How many may be under way at a time. With 1 each is done before the next begins.

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
        # What is queued for the new batch keeps the device busy while the host turns to the others.
        yield from _advance(active, [new])
        yield from _advance(active, [active.popleft() for _ in range(len(active) - 1)])
        while len(active) >= depth:
            yield from _advance(active, [active.popleft()])
    while active:
        yield from _advance(active, [active.popleft()])


def _advance(active: deque[Work[R]], works: Iterable[Work[R]]) -> Iterator[R]:
    """Let works go on to where they next wait; yield what those that are done return."""
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
    """Keep Python from looking for garbage while many objects are made that stay.

    It would look through all objects of the process again and again, and find none.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
