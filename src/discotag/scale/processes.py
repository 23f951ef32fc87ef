"""The engine of one machine: worker processes, one for each core or GPU.

Processes and not threads, because much of the work on a sentence is done by Python. Each of them
loads the model itself: a worker with the bundled model takes about 130 MB of memory, of which the
weights are 26 MB. A worker is given blocks by its standard input and writes a receipt or an error
for each to its standard output, all of them pickled. It ends as soon as its input does, so that it
never outlives the process that started it.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import discotag
from discotag.errors import DiscotagError
from discotag.model.onnx_session import count_cores
from discotag.scale.parts import Receipt
from discotag.scale.work import Work
from discotag.scale.worker import RETRIES, Worker

PATIENCE: Final = 5.0
"""The seconds that a worker has to end by itself."""

COMMAND: Final = "from discotag.scale.processes import serve; serve()"


class ProcessEngine:
    """Runs blocks by worker processes of this machine."""

    def has_gpus(self) -> bool:
        """Return whether PyTorch finds a GPU."""
        import torch

        return torch.cuda.is_available()

    def run(
        self, work: Work, blocks: Sequence[int], workers: int | None = None
    ) -> Generator[Receipt, None, None]:
        """Return the receipts of blocks as they are done.

        A worker that dies is replaced, and its block is tried again, up to `RETRIES` times.

        Args:
            work: What to do.
            blocks: The numbers of the blocks.
            workers: The number of processes; by default, that of the cores or GPUs.

        Raises:
            DiscotagError: There is no such device. While receipts are asked for: a block cannot be
                tagged.
        """
        places = _places(work.device)
        count = min(workers or len(places), len(blocks))
        return _run([_Process(work, places[n % len(places)]) for n in range(count)], blocks)

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


def _run(processes: Sequence[_Process], blocks: Sequence[int]) -> Generator[Receipt, None, None]:
    idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
    for process in processes:
        idle.put(process)

    def tag(block: int) -> Receipt:
        process = idle.get()
        try:
            return process.tag(block)
        finally:
            idle.put(process)

    with ThreadPoolExecutor(len(processes)) as threads:  # a thread waits for each process
        try:
            for receipt in as_completed([threads.submit(tag, block) for block in blocks]):
                yield receipt.result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.end()


class _Process:
    """A worker process, which is started when it is needed and again when it has died.

    Args:
        work: What to do.
        environment: What its environment has besides that of this process.
    """

    def __init__(self, work: Work, environment: Mapping[str, str]) -> None:
        self._work = work
        self._environment = environment
        self._child: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes]
        self._lock = threading.Lock()
        self._ended = False

    def tag(self, block: int) -> Receipt:
        """Return the receipt of a block.

        Raises:
            DiscotagError: The block cannot be tagged, or `end` was called meanwhile.
        """
        reason = ""
        for _ in range(RETRIES + 1):
            child = self._started()
            try:
                answer = _asked(child, block)
            except (EOFError, OSError, pickle.UnpicklingError):
                reason = self._last_words(child)
                self._stop()
                continue
            if isinstance(answer, DiscotagError):
                raise answer
            assert isinstance(answer, Receipt)
            return answer
        raise DiscotagError(
            f"{self._work.described(block)}: the worker ended {RETRIES + 1} times: {reason}"
        )

    def end(self) -> None:
        """End the process, also if it is at work, and never start it again."""
        with self._lock:
            self._ended = True
        self._stop()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._ended:
                raise DiscotagError("the worker was stopped")
            if self._child is None:
                self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed in `_stop`
                package = str(Path(discotag.__file__).parents[1])
                path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
                self._child = subprocess.Popen(
                    [sys.executable, "-P", "-c", COMMAND],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    env={**os.environ, "PYTHONPATH": path, **self._environment},
                    start_new_session=True,  # Ctrl-C in a terminal is not for workers
                )
                with suppress(OSError):  # then it is found to have died
                    _send(self._child, self._work)
            return self._child

    def _last_words(self, child: subprocess.Popen[bytes]) -> str:
        """Return why the process ended, as far as is known."""
        status = child.wait()
        if status < 0:
            hint = ", perhaps for lack of memory" if status == -9 else ""
            return f"it was killed by signal {-status}{hint}"
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return said[-1][:300] if said else f"it ended with status {status}"

    def _stop(self) -> None:
        with self._lock:
            child, self._child = self._child, None
        if child is None:
            return
        assert child.stdin is not None
        assert child.stdout is not None
        with suppress(OSError):
            child.stdin.close()  # the worker ends when its input does
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()
        self._log.close()


def _send(child: subprocess.Popen[bytes], something: object) -> None:
    assert child.stdin is not None
    pickle.dump(something, child.stdin)
    child.stdin.flush()


def _asked(child: subprocess.Popen[bytes], block: int) -> Any:
    """Return the answer for a block; raises `EOFError` or `OSError` if the process has ended."""
    assert child.stdout is not None
    _send(child, block)
    return pickle.load(child.stdout)


def serve() -> None:
    """Tag blocks, as a worker process, until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get among the answers
    orders = sys.stdin.buffer
    worker = Worker(pickle.load(orders))
    blocks: queue.SimpleQueue[int] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders, blocks), daemon=True).start()
    while True:
        try:
            answer: object = worker.tag(blocks.get())
        except DiscotagError as error:
            answer = DiscotagError(str(error))  # those of other classes cannot all be pickled
        pickle.dump(answer, answers)
        answers.flush()


def _listen(orders: IO[bytes], blocks: queue.SimpleQueue[int]) -> None:
    """Pass blocks on, and end the process when there will be no more."""
    while True:
        try:
            blocks.put(pickle.load(orders))
        except (EOFError, OSError, pickle.UnpicklingError):
            os._exit(0)
