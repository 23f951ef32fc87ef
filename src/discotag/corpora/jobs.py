"""Jobs that write one output: locked while they run, with a record of their settings.

The record is a hidden file next to the output. An interrupted job can be resumed with the same
settings, but not with others.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout

from discotag.counts import counted
from discotag.errors import DiscotagError
from discotag.mentions import Document


class JobError(DiscotagError):
    """An output that another process is writing, or a job that cannot be resumed."""


@contextmanager
def locked(out: Path, *, patience: float = 0) -> Iterator[None]:
    """Keep other processes from writing the same output.

    Args:
        out: The output.
        patience: Seconds to wait for another process that is writing it.

    Raises:
        JobError: Another process is writing the output, or it cannot be written.
    """
    path = _beside(out, "lock")
    if not path.parent.is_dir():
        raise JobError(f"{out}: the folder {path.parent} does not exist")
    lock = FileLock(path, timeout=patience)
    try:
        lock.acquire()
    except Timeout:
        raise JobError(f"{out}: another process is writing it; wait, or write elsewhere") from None
    except OSError as error:
        raise JobError(f"{out}: cannot be written: {(error.strerror or '').lower()}") from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # before the release: a file that another process has locked
        lock.release()  # by then must stay


def record(out: Path, settings: Mapping[str, Any]) -> None:
    """Write the settings of a job to its record."""
    text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    try:
        record_of(out).write_text(text, "utf-8")
    except OSError as error:
        raise JobError(f"{out}: cannot be written: {(error.strerror or '').lower()}") from None


def check_same(out: Path, settings: Mapping[str, Any]) -> None:
    """Raise if an output was started with other settings.

    Raises:
        JobError: The settings differ, or there is no record of them.
    """
    path = record_of(out)
    try:
        before = json.loads(path.read_text("utf-8"))
        if not isinstance(before, dict):
            raise ValueError
    except (OSError, ValueError):
        raise JobError(
            f"{out}: cannot be resumed: {path.name} has no record of its settings; "
            "use --force to start again"
        ) from None
    changes = changed(before, settings)
    if changes:
        raise JobError(
            f"{out}: was started with other settings ({'; '.join(changes)}); resume with the same "
            "settings, or write to another file"
        )


def changed(before: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Return a line for each setting that differs from the recorded ones.

    Example:
        >>> changed({"model": "a", "input": ["x"]}, {"model": "b", "input": ("x",)})
        ["model was 'a', now 'b'"]
    """
    now = json.loads(json.dumps(settings))  # as read from a record
    return [
        f"{name} was {before.get(name)!r}, now {now.get(name)!r}"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]


def record_of(out: Path) -> Path:
    """Return the path of the record of an output."""
    return _beside(out, "job.json")


def repair(out: Path) -> int:
    """Remove an incomplete last line, and count the complete ones.

    Raises:
        JobError: The file cannot be read or written.
    """
    whole = number = 0
    try:
        with out.open("rb+") as stream:
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                number += 1
            stream.truncate(whole)
    except OSError as error:
        raise JobError(f"{out}: cannot be resumed: {(error.strerror or '').lower()}") from None
    return number


def compared(documents: Iterator[Document], out: Path, done: int) -> Iterator[Document]:
    """Yield documents, and raise unless the first `done` of them are those in the output.

    Raises:
        JobError: A document differs, or there are fewer documents.
    """
    number = 0
    with out.open("rb") as stream:
        for number, document in enumerate(documents, start=1):
            if number <= done:
                _compare(document, stream, out, number)
            yield document
    if number < done:
        raise JobError(
            f"{out}: has {counted(done, 'document')}, but the input {number:,}; "
            "resume with the same input, or write to another file"
        )


def _compare(document: Document, stream: IO[bytes], out: Path, number: int) -> None:
    try:
        data = json.loads(stream.readline())
        words = [word for sentence in data["sentences"] for word in sentence["words"]]
        same = (data.get("id"), data.get("text"), words) == (
            document.id,
            document.text,
            list(document.words),
        )
    except (ValueError, TypeError, KeyError):
        same = False
    if not same:
        raise JobError(
            f"{out}:{number}: this is not document {number} of the input; "
            "resume with the same input, or write to another file"
        )


def _beside(out: Path, ending: str) -> Path:
    """Return a hidden file beside an output, which belongs to it.

    Raises:
        JobError: The output is the root folder, which has nothing beside it.
    """
    real = Path(os.path.realpath(out))
    if not real.name:
        raise JobError(f"{out}: is the root of the file system; write to another folder")
    return real.with_name(f".{real.name}.{ending}")
