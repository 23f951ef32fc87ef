"""Checkpoints that are whole or do not count, whenever the process was killed."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

COMPLETE: Final = "complete.json"
"""Written last into a checkpoint, with the size of each file; without it a checkpoint is torn."""

STATE: Final = "trainer_state.json"
PART: Final = ".part"
"""Ends the name of a file that is being written."""

PICKLED_ARGUMENTS: Final = "training_args.bin"
"""Written by the trainer and never read: what decides the run stands in `settings.yaml`."""


def write_text(text: str, path: Path) -> None:
    """Write a file that is there whole or not at all."""
    part = path.with_name(f"{path.name}{PART}")
    part.write_text(text, encoding="utf-8")
    _flush(part)
    part.replace(path)


def write_json(data: object, path: Path) -> None:
    """The same for data."""
    write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", path)


def write_weights(weights: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors as safetensors, whole or not at all."""
    part = path.with_name(f"{path.name}{PART}")
    with writing(path):
        save_file(dict(weights), part)
    _flush(part)
    part.replace(path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What libraries raise when they cannot write weights, as an `OSError`."""
    try:
        yield
    except (RuntimeError, SafetensorError) as error:
        line = " ".join(str(error).split())
        message = f"weights cannot be written, the disk may be full ({line})"
        raise OSError(errno.EIO, message, str(path)) from error


def complete(folder: Path) -> None:
    """Mark a checkpoint as whole."""
    (folder / PICKLED_ARGUMENTS).unlink(missing_ok=True)
    sizes = {str(path.relative_to(folder)): path.stat().st_size for path in flushed(folder)}
    write_json(sizes, folder / COMPLETE)


def flushed(folder: Path) -> list[Path]:
    """The files of a folder, all of which are on the disk now."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in files:
        _flush(path)
    return files


def is_complete(folder: Path) -> bool:
    """Whether all files of a checkpoint are there, as long as they were."""
    try:
        sizes = json.loads((folder / COMPLETE).read_text(encoding="utf-8"))
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return False


def found_in(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first."""
    return sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))


def last_complete(folder: Path) -> Path | None:
    """The last checkpoint that is whole, if there is one."""
    return next((path for path in reversed(found_in(folder)) if is_complete(path)), None)


def remove_torn(folder: Path) -> None:
    """Remove what a killed process left unfinished."""
    for path in found_in(folder):
        if not is_complete(path):
            shutil.rmtree(path)
    for path in folder.glob(f"*{PART}"):
        path.unlink()


def remove_older(newest: Path) -> None:
    """Remove the checkpoints before this one."""
    for path in found_in(newest.parent):
        if path != newest:
            (path / COMPLETE).unlink(missing_ok=True)  # from here on it does not count
            shutil.rmtree(path)


def history(checkpoint: Path) -> list[dict[str, Any]]:
    """What the trainer logged up to a checkpoint."""
    state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    return list(state["log_history"])


def _flush(path: Path) -> None:
    """Make sure the file is on the disk, not only in memory, before what refers to it is."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
