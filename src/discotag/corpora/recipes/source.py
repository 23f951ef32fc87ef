"""What the user downloaded, as a folder: archives are unpacked to a temporary one, with care."""

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

from discotag.corpora.parsing.files import MAX_FILE, failed, is_inside
from discotag.corpora.parsing.problems import CorpusError, Problem

MAX_ENTRIES: Final = 200_000
"""Names in an archive; the largest corpus prepared here has some ten thousand files."""

MAX_UNPACKED: Final = 4 << 30
"""Bytes that are written when unpacking, all files together."""

MAX_TAPE: Final = 32 << 30
"""Bytes of a tar file, decompressed: it is read to its end whatever is wanted of it."""

CHUNK: Final = 1 << 20

ARCHIVES: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")

DAMAGED: Final = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)

UNKNOWN: Final = (NotImplementedError, RuntimeError, ValueError)
"""Unknown compression or version, a password, names that are not in their encoding."""

MAX_NAMED: Final = 20
"""Files of one folder that are named one by one; more are counted."""

Wanted = Callable[[str], bool]

Pass = Callable[[str], None]
"""Is given the name of each file that is not read."""


def ignore(name: str) -> None:
    """Do nothing with the name of a file that is not read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in an archive, and how to read it; no `content` if it is a link or a device."""

    name: str
    content: Callable[[], IO[bytes] | None]


@contextmanager
def unpacked(
    source: Path, wanted: Wanted = lambda name: True, pass_over: Pass = ignore
) -> Iterator[Path]:
    """Yield a folder with the files of a folder or archive.

    A folder is given back as it is. Of an archive (zip or tar, compressed or not) the wanted files
    are unpacked to a temporary folder, which is gone afterwards.

    Args:
        source: A folder or an archive.
        wanted: Whether to unpack an entry, by its name with forward slashes.
        pass_over: Is given the name of each file that is hidden or not wanted.

    Raises:
        CorpusError: There is no such path, it is no archive or a damaged one, an entry would leave
            the folder or is a link, or it unpacks to too much.

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
        _fail(source, "there is no such file or folder", "missing")
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
    """Return the names of files, those of a folder with many of them as one count.

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
            _fail(source, f"the archive has over {MAX_ENTRIES} entries", "too_long")
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
    """Copy what was promised to be of any size, but no more than there is room for."""
    written = 0
    while chunk := stream.read(CHUNK):
        written += len(chunk)
        if written > room:
            _fail(source, f"the archive unpacks to too much, at {name!r}", "too_long")
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
                        source, f"the archive unpacks to too much, at {member.name!r}", "too_long"
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
    """Return whether a desktop system added this: `.DS_Store`, `__MACOSX/…`."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.parts)


def _fail(source: Path, message: str, kind: str = "syntax") -> NoReturn:
    raise CorpusError(Problem(kind, message, str(source)))


def check_sizes(path: Path) -> None:
    """Refuse a zip file, such as a workbook, that says it unpacks to too much.

    What reads it then reads no more of an entry than that.

    Raises:
        CorpusError: There is no such file, it is no zip file, or it is too large.
    """
    if not path.exists():
        _fail(path, "there is no such file", "missing")
    try:
        with zipfile.ZipFile(path) as packed:
            sizes = [info.file_size for info in packed.infolist()]
    except (*DAMAGED, *UNKNOWN) as error:
        _fail(path, f"this is not a workbook (.xlsx) or a damaged one: {error}")
    except OSError as error:
        raise failed(error, path) from None
    if len(sizes) > MAX_ENTRIES or max(sizes, default=0) > MAX_FILE or sum(sizes) > MAX_UNPACKED:
        _fail(path, "the file unpacks to too much", "too_long")
