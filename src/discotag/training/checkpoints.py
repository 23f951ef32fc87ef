"""Files and checkpoints that are complete or do not count, even if the process is killed."""

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

from discotag.errors import one_line

COMPLETE: Final = "complete.json"
"""Written last into a checkpoint, with the size of each file; without it, it is incomplete."""

STATE: Final = "trainer_state.json"
PART: Final = ".part"
"""The end of the name of a file that is being written."""

PICKLED_ARGUMENTS: Final = "training_args.bin"
"""Written by the trainer and never read: the settings of a run are in `settings.yaml`."""


def write_text(text: str, path: Path) -> None:
    """Write a text file, completely or not at all."""
    part = path.with_name(f"{path.name}{PART}")
    part.write_text(text, encoding="utf-8")
    _flush(part)
    part.replace(path)


def write_json(data: object, path: Path) -> None:
    """Write plain data as JSON, completely or not at all."""
    write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", path)


def write_weights(weights: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors as safetensors, completely or not at all."""
    part = path.with_name(f"{path.name}{PART}")
    with writing(path):
        save_file(dict(weights), part)
    _flush(part)
    part.replace(path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what libraries raise when they cannot write weights into an `OSError`."""
    try:
        yield
    except (RuntimeError, SafetensorError) as error:
        message = f"weights cannot be written, the disk may be full ({one_line(error)})"
        raise OSError(errno.EIO, message, str(path)) from error


def complete(folder: Path) -> None:
    """Mark a checkpoint as complete."""
    (folder / PICKLED_ARGUMENTS).unlink(missing_ok=True)
    sizes = {str(path.relative_to(folder)): path.stat().st_size for path in flushed(folder)}
    write_json(sizes, folder / COMPLETE)


def flushed(folder: Path) -> list[Path]:
    """Make sure that all files of a folder are on the disk, and return them."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in files:
        _flush(path)
    return files


def is_complete(folder: Path) -> bool:
    """Return whether all files of a checkpoint exist and have the size that they had."""
    try:
        sizes = json.loads((folder / COMPLETE).read_text(encoding="utf-8"))
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return False


def found_in(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, oldest first."""
    return sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))


def last_complete(folder: Path) -> Path | None:
    """Return the last complete checkpoint, or None."""
    return next((path for path in reversed(found_in(folder)) if is_complete(path)), None)


def remove_incomplete(folder: Path) -> None:
    """Remove checkpoints and files that a killed process has not finished."""
    for path in found_in(folder):
        if not is_complete(path):
            shutil.rmtree(path)
    for path in folder.glob(f"*{PART}"):
        path.unlink()


def remove_older(newest: Path) -> None:
    """Remove all checkpoints except the newest."""
    for path in found_in(newest.parent):
        if path != newest:
            (path / COMPLETE).unlink(missing_ok=True)  # from now on it does not count
            shutil.rmtree(path)


def history(checkpoint: Path) -> list[dict[str, Any]]:
    """Return what the trainer has logged up to a checkpoint."""
    state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    return list(state["log_history"])


def _flush(path: Path) -> None:
    """Make sure that a file is on the disk, before a file that refers to it is written."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
