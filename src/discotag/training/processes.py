"""The processes of a training that `torchrun` or `accelerate launch` has started.

Without such a launcher there is one process: the first, which has all of the work to do.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic, sleep
from typing import Any, Final, TypeVar
from uuid import uuid4

import torch
from torch import distributed
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from discotag.errors import DiscotagError, InputError, one_line

T = TypeVar("T")
U = TypeVar("U")

TIMEOUT: Final = timedelta(minutes=30)
"""How long a process waits for the others before it takes them for lost. A process that ends is
noticed at once; this is for a machine or a network that stops without a word."""

FIRST_SAY: Final = 1.0
"""Seconds that the other processes give the first one to report an error that all of them have."""

BETWEEN_LOOKS: Final = 0.05
"""Seconds between two looks of the first process for the others, when they form a group."""

ENDED: Final = "discotag/ended_by"


class ProcessError(DiscotagError):
    """A training that ends because of another process."""


class LostProcessError(ProcessError):
    """Another process of the training was lost, or does not answer."""


class EndedElsewhereError(ProcessError):
    """Another process of the training has ended with an error, and reports it."""


def is_launched() -> bool:
    """Return whether a launcher has started this process."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_first() -> bool:
    """Return whether this is the first process, which writes files and reports progress."""
    return os.environ.get("RANK", "0") == "0"


def is_first_here() -> bool:
    """Return whether this is the first process on its machine."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def was_restarted() -> bool:
    """Return whether `torchrun` has restarted any process, because one was lost."""
    return any(gather(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"))


@contextmanager
def joined() -> Iterator[None]:
    """Form a group with the other processes, if a launcher has started them.

    An error in one process ends all of them: the process that has it raises it, and the others
    raise `EndedElsewhereError`.

    Raises:
        InputError: There are fewer GPUs than processes on this machine.
        LostProcessError: A process was lost, or does not answer.
        EndedElsewhereError: Another process has ended with an error.
    """
    if not is_launched():
        yield
        return
    on_gpu = torch.cuda.is_available()
    # The processes exchange plain data through the host, whatever else they do on GPUs.
    backend = "cpu:gloo,cuda:nccl" if on_gpu else "gloo"
    if on_gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    try:
        shared, number, size = next(rendezvous("env://", timeout=TIMEOUT))
        store = PrefixStore(_agree_on_name(shared, number, size), shared)
        distributed.init_process_group(
            backend, timeout=TIMEOUT, store=store, rank=number, world_size=size
        )
    except RuntimeError as error:
        raise LostProcessError(
            f"the processes of the training do not find each other: {one_line(error)}"
        ) from None
    try:
        _check_gpus()
        yield
    except Exception as error:
        if not _is_first_to_end(store):
            raise EndedElsewhereError("another process of the training has failed") from None
        if _is_of_connection(error):
            raise LostProcessError(
                "another process of the training was lost; the same command continues from the "
                "last checkpoint"
            ) from None
        raise
    distributed.destroy_process_group()


def rank() -> int:
    """Return the number of this process."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def world() -> int:
    """Return the number of processes."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def gather(value: T) -> list[T]:
    """Return the values of all processes, in their order; wait for all of them."""
    if not distributed.is_initialized():
        return [value]
    found: list[Any] = [None] * world()
    distributed.all_gather_object(found, value)
    return found


def share(value: T) -> T:
    """Return the value of the first process, and wait for it; other values are not used."""
    if not distributed.is_initialized():
        return value
    found = [value]
    distributed.broadcast_object_list(found, src=0)
    return found[0]


def divide(items: Sequence[T], work: Callable[[Sequence[T]], Sequence[U]]) -> list[U]:
    """Return what a function returns for all items, where each process does a part of them.

    Args:
        items: The items, the same in all processes.
        work: Returns a result for each item.

    Example:
        >>> divide(["pain", "no sleep"], lambda texts: [len(text) for text in texts])
        [4, 8]
    """
    found: list[Any] = [None] * len(items)
    for number, part in enumerate(gather(list(work(items[rank() :: world()])))):
        found[number :: world()] = part
    return found


def in_turns(work: Callable[[], T]) -> T:
    """Do the same in all processes: in the first, then in one of each other machine, then the rest.

    What one process downloads into a cache, the later ones find there.
    """
    turn = 0 if is_first() else 1 if is_first_here() else 2
    found = None
    for now in range(3):
        if now == turn:
            found = work()
        gather(None)
    return found  # type: ignore[return-value]


def check_same(values: dict[str, Any]) -> None:
    """Raise if a file is not the same on all machines.

    Args:
        values: The hashes of files, by name; of one process on each machine, empty in others.

    Raises:
        InputError: The first machine has another hash.
    """
    everybody = gather((socket.gethostname(), values))
    first, known = everybody[0]
    for host, found in everybody:
        other = [name for name in found if found[name] != known[name]]
        if other:
            raise InputError(
                f"{', '.join(other)}: the data on {host} are not those on {first}; all machines "
                "must read the same files, for example from shared storage"
            )


def _agree_on_name(store: Store, number: int, size: int) -> str:
    """Return a name for the group that no other group in the store has.

    After a restart, the store may still have what earlier processes wrote, such as their addresses:
    the agents of PyTorch 2.13 keep it. So each process draws a number. The first one offers its own
    as the name until all have confirmed it; the others take only an answer to theirs.
    """
    mine = uuid4().hex
    if number:
        store.set(f"discotag/hello/{number}", mine)
        name: str = store.get(f"discotag/welcome/{mine}").decode()
        store.set(f"discotag/{name}/{number}", "")
        return name
    missing = set(range(1, size))
    deadline = monotonic() + TIMEOUT.total_seconds()
    while missing:
        if monotonic() > deadline:
            raise RuntimeError(f"no word from processes {', '.join(map(str, sorted(missing)))}")
        for other in missing:
            store.set(f"discotag/welcome/{store.get(f'discotag/hello/{other}').decode()}", mine)
        sleep(BETWEEN_LOOKS)
        missing = {other for other in missing if not store.check([f"discotag/{mine}/{other}"])}
    return mine


def _check_gpus() -> None:
    """Raise `InputError` if there are GPUs, but not one for each process of this machine."""
    number = torch.cuda.device_count()
    wanted = int(os.environ.get("LOCAL_RANK", "0")) + 1
    if 0 < number < wanted:
        raise InputError(
            f"{socket.gethostname()}: {wanted} or more processes were started, but the number of "
            f"GPUs is {number}; use --nproc-per-node {number}"
        )


def _is_first_to_end(store: Store) -> bool:
    """Return whether no other process has ended with an error before."""
    if not is_first():
        sleep(FIRST_SAY)
    mine = os.environ["RANK"]
    try:
        by: bytes = store.compare_set(ENDED, "", mine)
    except RuntimeError:  # nobody can be asked any more
        return is_first()
    return by == mine.encode()


def _is_of_connection(error: Exception) -> bool:
    """Return whether an error says that other processes cannot be reached."""
    return isinstance(error, distributed.DistError) or (
        isinstance(error, RuntimeError) and "gloo" in str(error).lower()
    )
