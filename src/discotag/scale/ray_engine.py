"""The engine of a Ray cluster: blocks are items of a Ray dataset, and workers are its actors.

Only numbers of blocks go to the workers, and only receipts come back: workers read the input and
write the parts themselves. Ray is imported when a job runs on it.
"""

from __future__ import annotations

import logging
import os
import socket
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any, Final

from discotag.errors import DiscotagError, one_line
from discotag.extras import how_to_install
from discotag.model.onnx_session import count_cores
from discotag.scale.parts import Receipt
from discotag.scale.work import Work
from discotag.scale.worker import RETRIES, Worker

BASE_MEMORY: Final = 300 << 20
"""The bytes that a worker needs besides the weights of its model."""

WEIGHTS: Final = 2
"""How many times the size of its files a model takes in memory, at most, while it is loaded."""

PATIENCE: Final = 10.0
"""The seconds in which a cluster has to answer."""

LOCAL: Final = "local"
"""The address for which Ray starts a cluster on this machine."""

QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",  # Ray reports how it is used otherwise
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""Variables that are set before Ray is imported, unless the user has set them."""


class RayEngine:
    """Runs blocks by the actors of a Ray cluster, to which it connects when it is first needed.

    Args:
        address: The address of the cluster, or `auto`; by default, that of `RAY_ADDRESS`, else a
            cluster is started on this machine.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address or os.environ.get("RAY_ADDRESS") or LOCAL
        self._connected = False

    def has_gpus(self) -> bool:
        """Return whether the cluster has GPUs."""
        return bool(self._connect().cluster_resources().get("GPU"))

    def run(
        self, work: Work, blocks: Sequence[int], workers: int | None = None
    ) -> Generator[Receipt, None, None]:
        """Return the receipts of blocks as they are done.

        Ray replaces actors that are lost with their process or node, and their blocks are tried
        again, up to `RETRIES` times.

        Args:
            work: What to do.
            blocks: The numbers of the blocks.
            workers: The number of actors; by default, as many as the cluster has room for.

        Raises:
            DiscotagError: There is no such cluster. While receipts are asked for: a block cannot be
                tagged.
        """
        return _run(self._connect(workers), work, blocks, workers)

    def close(self) -> None:
        """Disconnect, unless the program was connected before."""
        if self._connected:
            import_ray().shutdown()

    def _connect(self, workers: int | None = None) -> Any:
        """Return the module ray, connected to the cluster."""
        ray = import_ray()
        if ray.is_initialized():
            return ray
        own: dict[str, Any] = {}
        if self._address == LOCAL:
            own = {"num_cpus": max(workers or 1, count_cores()), "include_dashboard": False}
        _check_answer(self._address)
        try:
            ray.init(self._address, log_to_driver=False, logging_level=logging.ERROR, **own)
        except Exception as error:  # of many kinds
            raise DiscotagError(
                f"{self._address}: there is no Ray cluster that answers: {one_line(error)}"
            ) from None
        self._connected = True
        return ray


def _check_answer(address: str) -> None:
    """Raise `DiscotagError` if nothing listens at an address: Ray itself would wait for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise DiscotagError(f"{address}: there is no Ray cluster: {one_line(error)}") from None


def import_ray() -> Any:
    """Return the module ray, with `ray.data`.

    Raises:
        DiscotagError: Ray is not installed.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise DiscotagError(
            f"the engine ray needs Ray: {how_to_install('ray')} ({one_line(error)})"
        ) from None
    return ray


class _Attempts:
    """Counts how often blocks were begun, because Ray itself would try again without end."""

    def __init__(self) -> None:
        self._begun: Counter[int] = Counter()

    def begin(self, block: int) -> int:
        """Return how often a block was begun before."""
        self._begun[block] += 1
        return self._begun[block] - 1


class _Actor:
    """A worker, as an actor of Ray.

    Args:
        work: What to do.
        attempts: The actor of `_Attempts`.
    """

    def __init__(self, work: Work, attempts: Any) -> None:
        self._work = work
        self._worker = Worker(work)
        self._attempts = attempts

    def __call__(self, row: dict[str, Any]) -> dict[str, str]:
        """Tag one block, and return its receipt or why it cannot be tagged."""
        import ray

        block = int(row["block"])
        before = ray.get(self._attempts.begin.remote(block))
        try:
            if before > RETRIES:
                raise DiscotagError(
                    f"{self._work.described(block)}: the worker was lost {before} times, perhaps "
                    "for lack of memory"
                )
            return {"receipt": self._worker.tag(block).to_json(), "error": ""}
        except DiscotagError as error:
            return {"receipt": "", "error": str(error)}


def _run(
    ray: Any, work: Work, blocks: Sequence[int], workers: int | None
) -> Generator[Receipt, None, None]:
    for name in ("ray.data", "ray"):
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        for row in _dataset(ray, work, blocks, workers).iter_rows():
            if row["error"]:
                raise DiscotagError(row["error"])
            receipt = Receipt.from_json(row["receipt"])
            assert receipt is not None
            yield receipt
    except DiscotagError:
        raise
    except Exception as error:  # of Ray, or of its connection to a cluster that is lost
        raise DiscotagError(f"Ray could not continue: {one_line(error)}") from error


def _dataset(ray: Any, work: Work, blocks: Sequence[int], workers: int | None) -> Any:
    """Return the dataset whose rows are receipts."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    items = [{"block": block} for block in blocks]
    on_gpu = work.device == "cuda"
    room = int(ray.cluster_resources().get("GPU" if on_gpu else "CPU", 1))
    # On the node of this process, because the job ends with it anyway.
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    attempts = ray.remote(num_cpus=0, scheduling_strategy=here)(_Attempts).remote()
    found = ray.data.from_items(items, override_num_blocks=len(items)).map(
        _Actor,
        fn_constructor_args=(work, attempts),
        compute=ray.data.ActorPoolStrategy(size=min(workers or max(room, 1), len(blocks))),
        num_cpus=1,
        num_gpus=1 if on_gpu else 0,
        memory=_memory(work),
    )
    found.context.enable_progress_bars = False
    found.context.print_on_execution_start = False
    return found


def _memory(work: Work) -> int:
    """Return approximately how many bytes of memory a worker needs."""
    from discotag.model.files import FILES, find_model

    folder = find_model(work.model)
    size = sum((folder / name).stat().st_size for name in FILES if (folder / name).is_file())
    return BASE_MEMORY + WEIGHTS * size
