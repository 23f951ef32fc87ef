"""The engine of one machine: worker processes, one for each core or GPU.

Processes and not threads, because much of the work on a sentence is done by Python. Each of them
loads the model itself: a worker with the bundled model takes about 130 MB of memory, of which the
weights are 26 MB.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import discotag
from discotag.errors import DiscotagError
from discotag.model.onnx_session import count_cores
from discotag.scale.child import Failure
from discotag.scale.parts import Receipt
from discotag.scale.plan import Block
from discotag.scale.worker import RETRIES, Work, describe

PATIENCE: Final = 5.0
"""The seconds that a worker has to end by itself."""

COMMAND: Final = "from discotag.scale.child import main; main()"

Task = tuple[int, Block]


class ProcessEngine:
    """Runs blocks by worker processes of this machine."""

    def open(self, work: Work, workers: int | None) -> None:
        """Raise `DiscotagError` if there is no such device; workers are started with each run."""
        _places(work.device)

    def has_gpus(self) -> bool:
        """Return whether PyTorch finds a GPU."""
        import torch

        return torch.cuda.is_available()

    def run(
        self, work: Work, tasks: Sequence[Task], workers: int | None = None
    ) -> Iterator[Receipt]:
        """Tag blocks, and yield their receipts as they are done.

        A worker that dies is replaced, and its block is tried again, up to `RETRIES` times.

        Args:
            work: What to do.
            tasks: The blocks, with their numbers.
            workers: The number of processes; by default, that of the cores or GPUs.

        Raises:
            DiscotagError: A block cannot be tagged.
        """
        places = _places(work.device)
        pool = _Pool(work, tasks)
        try:
            for slot in range(min(workers or len(places), len(tasks))):
                pool.add(places[slot % len(places)])
            for _ in tasks:
                yield pool.next()
        finally:
            pool.stop()

    def close(self) -> None:
        """Do nothing: workers end with each run."""


def _places(device: str) -> list[dict[str, str]]:
    """Return what the environment of workers must have, for each core or GPU."""
    if device != "cuda":
        return [{"OMP_NUM_THREADS": "1"}] * count_cores()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else [str(number) for number in range(_count_gpus())]
    found = [{"CUDA_VISIBLE_DEVICES": name} for name in names]
    if not found:
        raise DiscotagError("PyTorch finds no GPU; leave out the device to predict on the CPU")
    return found


def _count_gpus() -> int:
    """Return the number of GPUs; 1 if only onnxruntime is installed, which does not tell."""
    try:
        import torch
    except ImportError:
        return 1
    return torch.cuda.device_count()


class _Pool:
    """Worker processes, each served by a thread that gives it one block at a time.

    Args:
        work: What to do.
        tasks: The blocks.
    """

    def __init__(self, work: Work, tasks: Sequence[Task]) -> None:
        self._work = work
        self._tasks = deque(tasks)
        self._answers: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._processes: set[_Process] = set()
        self._threads: list[threading.Thread] = []
        self._stopping = False

    def add(self, environment: Mapping[str, str]) -> None:
        """Start a worker."""
        thread = threading.Thread(target=self._serve, args=(environment,), daemon=True)
        thread.start()
        self._threads.append(thread)  # afterwards: Ctrl-C may come in between

    def next(self) -> Receipt:
        """Return the next receipt.

        Raises:
            DiscotagError: A block cannot be tagged.
        """
        answer = self._answers.get()
        if isinstance(answer, Failure):
            raise DiscotagError(answer.message)
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, Receipt)
        return answer

    def stop(self) -> None:
        """End all workers, also those that are at work."""
        with self._lock:
            self._stopping = True
            processes = list(self._processes)
        for process in processes:
            process.end()
        for thread in self._threads:
            thread.join()

    def _serve(self, environment: Mapping[str, str]) -> None:
        process: _Process | None = None
        try:
            while not self._stopping:
                try:
                    number, block = self._tasks.popleft()
                except IndexError:
                    break
                for again in range(RETRIES + 1):
                    process = process or self._start(environment)
                    if process is None:
                        return
                    try:
                        answer = process.ask((number, block))
                        break
                    except (EOFError, OSError, pickle.UnpicklingError):
                        reason = process.last_words()
                        self._forget(process)
                        process = None
                        if self._stopping:
                            return
                        answer = Failure(
                            f"{describe(self._work, block)}: the worker ended {again + 1} times: "
                            f"{reason}"
                        )
                self._answers.put(answer)
        except BaseException as error:  # for the thread that waits for answers
            self._answers.put(error)
        finally:
            if process is not None:
                self._forget(process)

    def _start(self, environment: Mapping[str, str]) -> _Process | None:
        """Return a new worker, or None if all workers are being ended."""
        with self._lock:
            if self._stopping:
                return None
            process = _Process(environment, self._work)
            self._processes.add(process)
            return process

    def _forget(self, process: _Process) -> None:
        process.end()
        with self._lock:
            self._processes.discard(process)


class _Process:
    """A worker process.

    Args:
        environment: What its environment has besides that of this process.
        work: What to do.
    """

    def __init__(self, environment: Mapping[str, str], work: Work) -> None:
        package = str(Path(discotag.__file__).parents[1])
        path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed in `end`
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "PYTHONPATH": path, **environment},
            start_new_session=True,  # Ctrl-C in a terminal is not for workers
        )
        self._first: object | None = work

    def ask(self, task: Task) -> Any:
        """Return the answer to a task.

        Raises:
            EOFError: The process has ended.
            OSError: The same.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._first is not None:
            pickle.dump(self._first, self._process.stdin)
            self._first = None
        pickle.dump(task, self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)

    def last_words(self) -> str:
        """Return why the process ended, as far as is known."""
        status = self._process.wait()
        if status < 0:
            hint = ", perhaps for lack of memory" if status == -9 else ""
            return f"it was killed by signal {-status}{hint}"
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return said[-1][:300] if said else f"it ended with status {status}"

    def end(self) -> None:
        """End the process, if it has not ended yet."""
        process = self._process
        with suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()  # the worker ends when its input does
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._log.close()
        assert process.stdout is not None
        process.stdout.close()
