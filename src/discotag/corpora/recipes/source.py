"""The source of a recipe as a folder: archives are unpacked safely to a temporary folder."""

from __future__ import annotations

import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Final, NoReturn

from discotag.corpora.parsing.files import MAX_FILE, is_inside
from discotag.corpora.parsing.problems import CorpusError, Problem

MAX_ENTRIES: Final = 200_000
"""The largest number of entries in an archive; the largest corpus has about ten thousand."""

MAX_UNPACKED: Final = 4 << 30
"""The largest size of all unpacked files together, in bytes."""

MAX_TAPE: Final = 32 << 30
"""The largest decompressed tar file, in bytes: it is always read to its end."""

CHUNK: Final = 1 << 20

ARCHIVES: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")

DAMAGED: Final = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)

UNKNOWN: Final = (NotImplementedError, RuntimeError, ValueError)
"""Errors for unknown compression or versions, passwords, and undecodable names."""

MAX_NAMED: Final = 20
"""The largest number of files of one folder that are named; more are counted."""

Wanted = Callable[[str], bool]

Pass = Callable[[str], None]
"""Called with the name of each file that is not read."""


def ignore(name: str) -> None:
    """Ignore a file that is not read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an archive; `content` returns None for a link or a device."""

    name: str
    content: Callable[[], IO[bytes] | None]


@contextmanager
def unpacked(
    source: Path, wanted: Wanted = lambda name: True, pass_over: Pass = ignore
) -> Iterator[Path]:
    """Yield a folder with the files of a folder or archive.

    A folder is yielded unchanged. The wanted files of an archive (zip or tar, compressed or not)
    are unpacked to a temporary folder, which is removed afterwards.

    Args:
        source: A folder or an archive.
        wanted: Returns whether to unpack an entry, given its name with forward slashes.
        pass_over: Called with the name of each file that is hidden or not wanted.

    Raises:
        CorpusError: The path does not exist, is not an archive or a damaged one, an entry would
            leave the folder or is a link, or the archive is too large.

    Example:
        >>> with unpacked(Path("tests")) as folder:
        ...     folder.name
        'tests'
    """
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            place = path.relative_to(source)
            if path.is_file() and (is_hidden(place) or not wanted(place.as_posix())):
                pass_over(place.as_posix())
        yield source
        return
    if not source.exists():
        _fail(source, "no such file or folder", "missing")
    with tempfile.TemporaryDirectory(prefix="discotag-") as name:
        folder = Path(name)
        try:
            _unpack(source, folder, wanted, pass_over)
        except CorpusError:
            raise
        except DAMAGED as error:
            _fail(source, f"the archive is damaged: {error}")
        except UNKNOWN as error:
            _fail(source, f"the archive cannot be unpacked: {error}")
        except OSError as error:
            _fail(source, f"the archive cannot be unpacked: {error.strerror or error}")
        yield folder


def named(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of files, with one count for a folder with many files.

    Example:
        >>> named(["README", *(f"cadec/sct/{number}.ann" for number in range(1250))])
        ('README', '1,250 files in cadec/sct')
    """
    folders: dict[PurePosixPath, list[str]] = defaultdict(list)
    for name in names:
        folders[PurePosixPath(name).parent].append(name)
    shown: list[str] = []
    for folder, inside in folders.items():
        many = len(inside) > MAX_NAMED
        shown += [f"{len(inside):,} files in {folder}"] if many else inside
    return tuple(shown)


def _unpack(source: Path, folder: Path, wanted: Wanted, pass_over: Pass) -> None:
    room = MAX_UNPACKED
    for number, entry in enumerate(_entries(source)):
        if number >= MAX_ENTRIES:
            _fail(source, f"the archive has more than {MAX_ENTRIES} entries", "too_long")
        if not is_inside(entry.name) or "\0" in entry.name:
            _fail(source, f"the entry {entry.name!r} would be unpacked outside of its folder")
        name = PurePosixPath(entry.name.replace("\\", "/"))
        if is_hidden(name) or not wanted(str(name)):
            pass_over(str(name))
            continue
        stream = entry.content()
        if stream is None:
            _fail(source, f"the entry {entry.name!r} is a link or a device, not a file")
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with stream, target.open("wb") as out:
            room -= _copy(source, entry.name, stream, out, min(room, MAX_FILE))


def _copy(source: Path, name: str, stream: IO[bytes], out: IO[bytes], room: int) -> int:
    """Copy a stream, and raise if it is larger than `room`, whatever size it declares."""
    written = 0
    while chunk := stream.read(CHUNK):
        written += len(chunk)
        if written > room:
            _fail(source, f"the unpacked archive is too large, at {name!r}", "too_long")
        out.write(chunk)
    return written


def _entries(source: Path) -> Iterator[Entry]:
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    yield Entry(info.filename, partial(_zip_content, packed, info))
    elif tarfile.is_tarfile(source):
        with tarfile.open(source) as tape:
            passed = 0
            for member in tape:
                passed += member.size
                if passed > MAX_TAPE:
                    _fail(
                        source, f"the unpacked archive is too large, at {member.name!r}", "too_long"
                    )
                if not member.isdir():
                    yield Entry(member.name, partial(_tar_content, tape, member))
    else:
        known = ", ".join(ARCHIVES)
        _fail(source, f"this is neither a folder nor an archive ({known})")


def _tar_content(tape: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes] | None:
    return tape.extractfile(member) if member.isreg() else None


def _zip_content(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes] | None:
    kind = info.external_attr >> 28  # the upper half holds the mode of Unix
    return packed.open(info) if kind in (0, 8) else None


def is_hidden(name: PurePath) -> bool:
    """Return whether a file was added by a desktop system: `.DS_Store`, `__MACOSX/…`."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.parts)


def _fail(source: Path, message: str, kind: str = "syntax") -> NoReturn:
    raise CorpusError(Problem(kind, message, str(source)))
