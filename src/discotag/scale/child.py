"""A worker process of this machine, which `discotag.scale.processes` starts.

It reads the work and then blocks from standard input, and writes a receipt or an error for each to
standard output, all of them pickled. It ends as soon as standard input does, so that it never
outlives the process that started it.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from typing import IO, NamedTuple

from discotag.errors import DiscotagError
from discotag.scale.plan import Block
from discotag.scale.worker import Worker


class Failure(NamedTuple):
    """Why a block cannot be tagged, in one line."""

    message: str


def main() -> None:
    """Tag blocks until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get among the answers
    orders = sys.stdin.buffer
    worker = Worker(pickle.load(orders))
    blocks: queue.SimpleQueue[tuple[int, Block]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders, blocks), daemon=True).start()
    while True:
        try:
            answer: object = worker.tag(*blocks.get())
        except DiscotagError as error:
            answer = Failure(str(error))
        pickle.dump(answer, answers)
        answers.flush()


def _listen(orders: IO[bytes], blocks: queue.SimpleQueue[tuple[int, Block]]) -> None:
    """Pass blocks on, and end the process when there will be no more."""
    while True:
        try:
            blocks.put(pickle.load(orders))
        except (EOFError, OSError, pickle.UnpicklingError):
            os._exit(0)
