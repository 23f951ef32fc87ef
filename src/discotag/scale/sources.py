"""The inputs of a job: files, folders and patterns to a list of Parquet files or JSON lines."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final, Literal, NamedTuple

from fsspec.utils import glob_translate

from discotag.corpora.parsing.streams import GZIP
from discotag.corpora.tables.parquet import MARK
from discotag.errors import InputError, one_line
from discotag.scale.storage import (
    StorageError,
    absolute,
    explaining,
    file_system,
    in_parallel,
    is_remote,
    opened,
    public,
    version_of,
)

Kind = Literal["jsonl", "parquet"]

ENDINGS: Final[dict[str, Kind]] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jsonl.gz": "jsonl",
    ".ndjson.gz": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""The endings of files that a job reads, and what they are."""

KNOWN: Final = ", ".join(ENDINGS)

HIDDEN: Final = re.compile(r"(^|/)[._]")
"""Occurs in the paths of files of a folder that are not read."""

HIDDEN_MATCH: Final = re.compile(r"(^|/)(\.|_[^/]*$)")
"""Occurs in the paths of files that match a pattern and are not read."""

PATTERN: Final = frozenset("*?[")
"""Characters of patterns."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read.

    Attributes:
        address: Where it is, in any working folder.
        shown: The address as it was given, without a password, for messages.
        name: A short name that no other file of the job has, without the ending if possible.
        kind: What it is.
        packed: Whether it is compressed with gzip, and so cannot be divided.
        size: The number of its bytes.
        version: A text that changes when the file does: its entity tag or modification time.
    """

    address: str
    shown: str
    name: str
    kind: Kind
    packed: bool
    size: int
    version: str | None


class _File(NamedTuple):
    """A file as it was found.

    Attributes:
        address: Where it is, as the argument says it.
        below: Its path in the folder that was given, or in that of the file or pattern.
        info: What fsspec says of it.
    """

    address: str
    below: str
    info: dict[str, Any]


def find_sources(arguments: Sequence[str], kind: Kind | None = None) -> list[Source]:
    """Return the files of arguments, those of a folder or pattern in the order of their names.

    Of folders and patterns, files whose names begin with a dot or an underscore are not read, and
    of folders, neither are files with other endings.

    Args:
        arguments: Files, folders or patterns such as `posts/*.jsonl`, local or with a protocol.
        kind: What all files are; by default this is found from the ending, or from the content.

    Raises:
        InputError: There are no such files, they are neither Parquet nor JSON lines, or some of
            them are the one and some the other.
        StorageError: A file or a folder cannot be read.
    """
    found = [file for argument in arguments for file in _files(argument)]
    if not found:
        raise InputError("give the files, folders or patterns to read")
    reals = [_real(file.address) for file in found]
    times = Counter(reals)
    twice = next((n for n, real in enumerate(reals) if times[real] > 1), None)
    if twice is not None:
        raise InputError(f"{public(found[twice].address)}: the file is given twice")
    contents = in_parallel(lambda file: _content(file.address, kind), found)
    kinds = [each for each, _ in contents]
    if len(set(kinds)) > 1:
        first, second = (public(found[kinds.index(each)].address) for each in ("parquet", "jsonl"))
        raise InputError(
            f"{first} is Parquet and {second} is JSON lines; a job reads one of them, so run two"
        )
    return [
        Source(
            absolute(file.address),
            public(file.address),
            name,
            form,
            packed,
            int(file.info["size"]),
            version_of(file.info),
        )
        for file, name, (form, packed) in zip(found, _names(found), contents, strict=True)
    ]


def check_size(stream: BinaryIO, source: Source) -> None:
    """Raise `StorageError` if a file that was opened does not have the size that it had."""
    if stream.seek(0, 2) != source.size:
        raise changed(source)
    stream.seek(0)


def changed(source: Source) -> StorageError:
    """Return the error for a file that is not what it was."""
    return StorageError(
        f"{source.shown}: the file has changed since the job was planned", lasting=True
    )


def check_apart(arguments: Iterable[str], out: str) -> None:
    """Raise `InputError` if the outputs of a job would be among its inputs."""
    folder = _real(out)
    for argument in arguments:
        given = _real(argument)
        if PATTERN & set(argument):
            try:
                matches = re.compile(glob_translate(given)).match
            except ValueError as error:
                raise InputError(f"{public(argument)}: {one_line(error)}") from None
            among = any(matches(f"{folder}/part-000000.{each}") for each in ("jsonl", "parquet"))
        else:
            among = f"{folder}/".startswith(f"{given}/")
        if among:
            raise InputError(
                f"{public(out)}: the output is in the input {public(argument)}; write elsewhere"
            )


def _real(address: str) -> str:
    """Return an address without links, to compare it with others."""
    return (address if is_remote(address) else os.path.realpath(absolute(address))).rstrip("/")


def _files(argument: str) -> list[_File]:
    if not argument or argument == "-":
        raise InputError("a job reads files, not standard input")
    files, path = file_system(argument)
    with explaining(argument):
        if PATTERN & set(argument) and not files.exists(path):
            found, missing = files.glob(path, detail=True), "no file matches"
            top, hidden = re.split(r"[^/]*[*?[]", path, maxsplit=1)[0], HIDDEN_MATCH
        elif files.isdir(path):
            found, missing = files.find(path, detail=True), f"no file there ends with {KNOWN}"
            found = {name: info for name, info in found.items() if _ending(name) is not None}
            top, hidden = f"{path.rstrip('/')}/", HIDDEN
        else:
            return [
                _File(argument.removeprefix("file://"), PurePosixPath(path).name, files.info(path))
            ]
        wanted = []
        for name in sorted(found, key=lambda each: each.split("/")):
            info = found[name]
            if hidden.search(name.removeprefix(top)):
                continue
            if info["type"] != "file":  # such as a link, of which the file is of interest
                if not files.isfile(name):
                    continue
                info = files.info(name)
            below = name.removeprefix(top) if hidden is HIDDEN else PurePosixPath(name).name
            wanted.append(_File(_as_given(name, files, path, argument), below, info))
    if not wanted:
        raise InputError(f"{public(argument)}: {missing}")
    return wanted


def _as_given(name: str, files: Any, path: str, argument: str) -> str:
    """Return the address of a file, which begins as the user has written it.

    Args:
        name: The path of the file.
        files: Its file system.
        path: The path of the argument, in the same file system.
        argument: The argument.
    """
    if is_remote(argument):  # it may begin with the name of a user, for example
        start, found, _ = argument.partition(path)
        return f"{start}{name}" if found else str(files.unstrip_protocol(name))
    return name if argument.startswith(("/", "~", "file://")) else os.path.relpath(name)


def _ending(name: str) -> str | None:
    """Return the longest known ending that a name has."""
    lower = name.lower()
    return max((each for each in ENDINGS if lower.endswith(each)), key=len, default=None)


def _content(address: str, kind: Kind | None) -> tuple[Kind, bool]:
    """Return what a file is, unless this is known, and whether it is compressed."""
    ending = _ending(address)
    if ending is not None:
        form = kind or ENDINGS[ending]
        return form, form == "jsonl" and ending.endswith(".gz")
    with opened(address) as stream, explaining(address):
        start = stream.read(64).removeprefix(b"\xef\xbb\xbf")
    packed = start.startswith(GZIP)
    if kind is None and not start.startswith(MARK):
        if not packed and not start.lstrip().startswith(b"{"):
            raise InputError(
                f"{public(address)}: this is neither Parquet nor JSON lines, which a job reads; "
                "discotag corpus convert makes JSON lines of other formats"
            )
        kind = "jsonl"
    kind = kind or "parquet"
    return kind, kind == "jsonl" and packed


def _names(files: Sequence[_File]) -> list[str]:
    """Return a name for each file, the shortest that is unique."""
    choices = [
        (
            file.below[: len(file.below) - len(_ending(file.below) or "")],
            file.below,
            public(file.address),
        )
        for file in files
    ]
    level = [0] * len(files)
    while True:
        names = [choice[at] for choice, at in zip(choices, level, strict=True)]
        times = Counter(names)
        again = [n for n, name in enumerate(names) if times[name] > 1 and level[n] < 2]
        if not again:
            return names
        for n in again:
            level[n] += 1
