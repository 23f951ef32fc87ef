"""Files that are written completely or not at all, even if the process is killed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from discotag.errors import one_line

PART: Final = ".part"
"""The end of the name of a file that is being written."""


def write_text(text: str, path: Path) -> None:
    """Write a text file, completely or not at all."""
    with _replaced(path) as part:
        part.write_text(text, encoding="utf-8")


def write_json(data: object, path: Path) -> None:
    """Write plain data as JSON, completely or not at all."""
    write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", path)


def read_json(path: Path) -> Any:
    """Return the plain data of a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_weights(weights: Mapping[str, Tensor], path: Path, notes: Mapping[str, str]) -> None:
    """Write tensors with notes as safetensors, completely or not at all."""
    with _replaced(path) as part, writing(path):
        save_file(dict(weights), part, dict(notes))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what libraries raise when they cannot write weights into an `OSError`."""
    try:
        yield
    except (RuntimeError, SafetensorError) as error:
        message = f"weights cannot be written, the disk may be full ({one_line(error)})"
        raise OSError(errno.EIO, message, str(path)) from error


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """Give the path of a temporary file that replaces a file at the end."""
    part = path.with_name(f"{path.name}{PART}")
    yield part
    flush(part)
    part.replace(path)


def flush(path: Path) -> None:
    """Make sure that a file is on the disk, before a file that refers to it is written."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
