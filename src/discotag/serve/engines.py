"""Engines as the service sees them: processes that are started, asked, and replaced if they die.

Engines are processes and not threads, because much of the work on a sentence is done by Python, and
because the process that answers clients must stay quick.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import discotag
from discotag.errors import DiscotagError
from discotag.model.onnx_session import count_cores
from discotag.serve.engine import LENGTH, Found, Source, Task, packed

COMMAND: Final = "from discotag.serve.engine import main; main()"

START_SECONDS: Final = 300.0
"""The seconds that an engine has to load its models; large ones on slow disks take minutes."""

BATCH_SECONDS: Final = 120.0
"""The seconds after which an engine that does not answer is replaced; a batch takes a second, or
some if a sentence has thousands of words."""

PATIENCE: Final = 5.0
"""The seconds that an engine has to end by itself."""

MOST_ENGINES: Final = 8
"""The most engines by default. One process answers all clients, and is busy with that many."""


class EngineDied(Exception):  # noqa: N818
    """An engine has ended, or did not answer in time and was ended."""


class BatchFailed(Exception):  # noqa: N818
    """An engine could not tag a batch."""


class Engine:
    """A process that tags batches.

    Args:
        sources: The models.
        threads: The threads of onnxruntime in this process.
    """

    def __init__(self, sources: Sequence[Source], threads: int) -> None:
        self._sources = sources
        self._threads = threads
        self._process: asyncio.subprocess.Process | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def runs(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.returncode is None

    async def start(self, on_exit: Callable[[], None] = lambda: None) -> None:
        """Start the process and load the models.

        Args:
            on_exit: Called when the process has ended, for whatever reason.

        Raises:
            DiscotagError: A model cannot be loaded, or the process ended meanwhile.
        """
        package = str(Path(discotag.__file__).parents[1])
        path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-P", "-c", COMMAND),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,  # what libraries print may have texts
                env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(self._threads)},
                start_new_session=True,  # Ctrl-C in a terminal is not for engines
            )
        except OSError as error:  # no processes or files are left
            reason = (error.strerror or str(error)).lower()
            raise DiscotagError(f"an engine cannot be started: {reason}") from None
        try:
            await self._ask(self._sources, START_SECONDS)
        except BatchFailed as error:
            raise DiscotagError(str(error)) from None
        except EngineDied:
            raise DiscotagError(
                "an engine ended while it loaded its models; is there enough memory?"
            ) from None
        self._watching = asyncio.create_task(_watch(self._process, on_exit))

    async def tag(self, task: Task, sentences: Sequence[Sequence[str]]) -> list[Found]:
        """Return what is found in each sentence.

        Raises:
            EngineDied: The process ended, or did not answer in time.
            BatchFailed: The sentences cannot be tagged.
        """
        return await self._ask((task, sentences), BATCH_SECONDS)

    async def stop(self) -> None:
        """End the process, if it has not ended yet."""
        process, self._process = self._process, None
        if self._watching is not None:
            self._watching.cancel()
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()  # the engine ends when its input does
        try:
            await asyncio.wait_for(process.wait(), PATIENCE)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _ask(self, message: object, seconds: float) -> list[Found]:
        process = self._process
        if process is None:
            raise EngineDied
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdin.is_closing():
            raise EngineDied
        try:
            async with asyncio.timeout(seconds):
                process.stdin.write(packed(message))
                size = await process.stdout.readexactly(LENGTH)
                content = await process.stdout.readexactly(int.from_bytes(size, "big"))
        except (EOFError, OSError, TimeoutError):
            with suppress(ProcessLookupError):
                process.kill()  # it may hang
            raise EngineDied from None
        answer: list[Found] | str = pickle.loads(content)
        if isinstance(answer, str):
            raise BatchFailed(answer)
        return answer


async def _watch(process: asyncio.subprocess.Process, on_exit: Callable[[], None]) -> None:
    await process.wait()
    on_exit()


def choose_engines(wanted: int | None, device: str | None) -> tuple[int, int]:
    """Return the number of engines, and of threads of each, so that cores are used once.

    Args:
        wanted: The number of engines; by default one for each core, or one for a GPU.
        device: The device of the models.
    """
    cores = count_cores()
    default = min(cores, MOST_ENGINES) if device in (None, "cpu") else 1
    engines = wanted or default
    return engines, max(1, cores // engines)
