"""The inputs of a job: files, folders and patterns to a list of Parquet files or JSON lines."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from discotag.corpora.parsing.streams import GZIP
from discotag.corpora.tables.parquet import MARK
from discotag.errors import InputError
from discotag.scale.storage import (
    Facts,
    absolute,
    explaining,
    facts,
    file_system,
    is_remote,
    local_path,
    opened,
    public,
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

PART_ENDINGS: Final = (".jsonl", ".parquet")
"""The endings of the parts that a job writes."""

HIDDEN: Final = (".", "_")
"""The beginnings of names that are not read unless a file is given by its name."""

PACKED: Final = ".gz"

PATTERN: Final = frozenset("*?[")
"""Characters of patterns."""

AT_A_TIME: Final = 16
"""The number of remote files that are asked for at a time."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read.

    Attributes:
        address: Where it is, in any working folder.
        shown: The address as it was given, without a password, for messages.
        name: A short name that no other file of the job has, without the ending if possible.
        kind: What it is.
        packed: Whether it is compressed with gzip, and so cannot be divided.
        facts: Its size and version.
    """

    address: str
    shown: str
    name: str
    kind: Kind
    packed: bool
    facts: Facts


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
    times = Counter(_real(address) for address, _ in found)
    twice = next((address for address, _ in found if times[_real(address)] > 1), None)
    if twice is not None:
        raise InputError(f"{public(twice)}: the file is given twice")
    names = _names(found)
    kinds = in_parallel(lambda file: kind or _kind(file[0]), found)
    if len(set(kinds)) > 1:
        first, second = (public(found[kinds.index(each)][0]) for each in ("parquet", "jsonl"))
        raise InputError(
            f"{first} is Parquet and {second} is JSON lines; a job reads one of them, so run two"
        )
    return [
        Source(
            absolute(address),
            public(address),
            name,
            form,
            form == "jsonl" and _is_packed(address),
            known,
        )
        for (address, _), name, form, known in zip(
            found, names, kinds, in_parallel(lambda file: facts(file[0]), found), strict=True
        )
    ]


def in_parallel(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Return what a function returns for each item, computed by several threads."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(function, items))


def is_inside(address: str, folder: str) -> bool:
    """Return whether an address is that of a folder, or of something in it.

    Example:
        >>> is_inside("s3://a/posts/found", "s3://a/posts"), is_inside("s3://a/b", "s3://a/posts")
        (True, False)
    """
    inner, outer = _real(address), _real(folder)
    return inner == outer or inner.startswith(f"{outer}/")


def check_apart(arguments: Iterable[str], out: str) -> None:
    """Raise `InputError` if the outputs of a job would be among its inputs."""
    for argument in arguments:
        start = _before_pattern(argument)
        if start == argument or "**" in argument:  # a file, or all that is in a folder
            among = is_inside(out, start)
        else:
            pattern = f"{_real(start)}/{argument.removeprefix(start).lstrip('/')}"
            part = PurePosixPath(_real(out), "part-000000")
            found = any(part.with_suffix(ending).match(pattern) for ending in PART_ENDINGS)
            among = found or _real(out) == _real(start)
        if among:
            raise InputError(
                f"{public(out)}: the output is in the input {public(argument)}; write elsewhere"
            )


def _before_pattern(argument: str) -> str:
    """Return the folder in which a pattern begins; other arguments are returned unchanged."""
    at = min((argument.find(each) for each in PATTERN if each in argument), default=-1)
    if at < 0:
        return argument
    folder, slash, _ = argument[:at].rpartition("/")
    return folder or slash or "."


def _real(address: str) -> str:
    if is_remote(address):
        return address.rstrip("/")
    return os.path.realpath(local_path(address)).rstrip("/")


def _files(argument: str) -> list[tuple[str, str]]:
    """Return the addresses of an argument's files, each with the folder that names begin in."""
    if not argument or argument == "-":
        raise InputError("a job reads files, not standard input")
    return _remote_files(argument) if is_remote(argument) else _local_files(argument)


def _local_files(argument: str) -> list[tuple[str, str]]:
    path = local_path(argument)
    if path.is_dir():
        below = [
            each
            for each in sorted(path.rglob("*"))
            if each.is_file() and _is_wanted(each.relative_to(path).as_posix())
        ]
        return _some([(str(each), str(path)) for each in below], argument)
    if path.exists() or not PATTERN & set(argument):
        facts(argument)  # raises if it does not exist
        return [(str(path), str(path.parent))]
    found = sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207  # any path
    wanted = [each for each in found if each.is_file() and not each.name.startswith(HIDDEN)]
    return _some([(str(each), str(each.parent)) for each in wanted], argument)


def _remote_files(argument: str) -> list[tuple[str, str]]:
    files, path = file_system(argument)

    def address(inner: str) -> str:
        # Keep what the user wrote before the path, such as a name or a host.
        start, _, _ = argument.partition(path) if path in argument else ("", "", "")
        return f"{start}{inner}" if start else str(files.unstrip_protocol(inner))

    with explaining(argument):
        if PATTERN & set(argument):
            found = [
                each
                for each in sorted(files.glob(path))
                if files.isfile(each) and not each.rpartition("/")[2].startswith(HIDDEN)
            ]
            return _some([(address(each), _parent(address(each))) for each in found], argument)
        if not files.isdir(path):
            facts(argument)
            return [(argument, _parent(argument))]
        top = path.rstrip("/")
        below = [
            each for each in sorted(files.find(path)) if _is_wanted(each[len(top) :].lstrip("/"))
        ]
    return _some([(address(each), argument.rstrip("/")) for each in below], argument)


def _parent(address: str) -> str:
    return address.rpartition("/")[0]


def _some(files: list[tuple[str, str]], argument: str) -> list[tuple[str, str]]:
    if not files:
        raise InputError(
            f"{public(argument)}: no file there ends with {', '.join(ENDINGS)}"
            if not PATTERN & set(argument)
            else f"{public(argument)}: no file matches"
        )
    return files


def _is_wanted(below: str) -> bool:
    """Return whether a file of a folder is read, by its path in it."""
    hidden = any(part.startswith(HIDDEN) for part in below.split("/"))
    return not hidden and _ending(below) is not None


def _ending(name: str) -> str | None:
    lower = name.lower()
    return next((each for each in sorted(ENDINGS, key=len)[::-1] if lower.endswith(each)), None)


def _is_packed(address: str) -> bool:
    ending = _ending(address)
    return address.lower().endswith(PACKED) if ending else _head(address).startswith(GZIP)


def _kind(address: str) -> Kind:
    ending = _ending(address)
    if ending is not None:
        return ENDINGS[ending]
    start = _head(address)
    if start.startswith(MARK):
        return "parquet"
    if start.startswith(GZIP) or start.lstrip().startswith(b"{"):
        return "jsonl"
    raise InputError(
        f"{public(address)}: this is neither Parquet nor JSON lines, which a job reads; "
        "discotag corpus convert makes JSON lines of other formats"
    )


def _head(address: str) -> bytes:
    with opened(address) as stream, explaining(address):
        return stream.read(64).removeprefix(b"\xef\xbb\xbf")


def _names(files: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name for each file, the shortest that is unique."""
    choices = []
    for address, folder in files:
        below = address.removeprefix(folder).lstrip("/")
        ending = _ending(below)
        choices.append((below[: -len(ending)] if ending else below, below, public(address)))
    level = [0] * len(files)
    while True:
        names = [choice[at] for choice, at in zip(choices, level, strict=True)]
        times = Counter(names)
        again = [n for n, name in enumerate(names) if times[name] > 1 and level[n] < 2]
        if not again:
            return names
        for n in again:
            level[n] += 1
