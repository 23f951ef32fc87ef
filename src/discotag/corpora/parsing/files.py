"""Read and write files: decoded, with line numbers and bounded sizes, written atomically."""

from __future__ import annotations

import codecs
import gzip
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, TextIO, cast

from discotag.characters import printable
from discotag.corpora.parsing.problems import MAX_MESSAGE, CorpusError, Problem, Report, strict
from discotag.corpora.parsing.streams import Stream, bad_byte, unpacked
from discotag.counts import counted

MAX_LINE: Final = 64 << 20
"""The longest line that is read, in bytes: far longer than any document that people annotate."""

MAX_FILE: Final = 256 << 20
"""The largest file that is read as one document, in bytes."""

BYTE_ORDER_MARK: Final = "\ufeff"

MAX_NAMES: Final = 20
"""The number of files left out of a folder that a message names; the others are counted."""

ADVICE: Final = "use --encoding windows-1252"

STANDARD: Final = Path("-")
"""Standard input or output."""


@contextmanager
def opened(path: Path) -> Iterator[Stream]:
    """Open a file, or standard input for `-`, as bytes of UTF-8, unpacked and decoded.

    Raises:
        CorpusError: The file does not exist, cannot be read, or is not text.
    """
    try:
        if path == STANDARD:
            yield _standard_input()
        else:
            with path.open("rb", buffering=0) as raw:
                yield unpacked(raw.read, path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        cut = isinstance(error, EOFError)
        message = "the gzip file is truncated" if cut else f"the gzip file is damaged: {error}"
        raise CorpusError(Problem("syntax", message, str(path))) from None
    except OSError as error:
        raise failed(error, path) from None


def head(path: Path) -> str:
    """Return the beginning of a file, with undecodable bytes replaced.

    The beginning of standard input can still be read afterwards.
    """
    global _looked_at
    with opened(path) as stream:
        start = stream.look()
        if path == STANDARD:
            _looked_at = _standard(sys.stdin), stream
    return start.decode("utf-8-sig", errors="replace")


def _standard_input() -> Stream:
    global _looked_at
    source, looked_at = _standard(sys.stdin), _looked_at
    _looked_at = None
    if looked_at is not None and looked_at[0] is source:
        return looked_at[1]
    return unpacked(getattr(source, "read1", source.read), STANDARD)


_looked_at: tuple[BinaryIO, Stream] | None = None
"""Standard input, and the stream of it whose beginning `head` has returned."""


def lines(path: Path, report: Report) -> Iterator[tuple[int, str | None]]:
    """Yield the lines of a file with their numbers, from 1; None for a line that is invalid.

    Lines have up to `MAX_LINE` bytes. They end with a line feed, with or without a carriage return,
    which is removed, and so is a byte-order mark.
    """
    with opened(path) as stream:
        yield from lines_of(stream, path, report)


def lines_of(stream: Stream, path: Path, report: Report) -> Iterator[tuple[int, str | None]]:
    """Yield the lines of an open file; see `lines`."""
    number = 0
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        if len(raw) > MAX_LINE and not raw.endswith(b"\n"):
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(MAX_LINE)
            size = MAX_LINE >> 20
            report(Problem("too_long", f"the line is longer than {size} MiB", str(path), number))
            yield number, None
            continue
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            line = raw.decode()
        except UnicodeDecodeError as error:
            report(undecodable(error, stream, path, number))
            yield number, None
            continue
        if line.endswith("\n"):
            line = line[:-2] if line.endswith("\r\n") else line[:-1]
        yield number, line


def read_text(path: Path, report: Report, *, keep_mark: bool = False) -> str | None:
    """Return the text of a file with its line ends unchanged; None if it is invalid.

    Args:
        path: The file.
        report: Called if the file is too long or cannot be decoded.
        keep_mark: Whether to keep a byte-order mark of UTF-8 as the first character.
    """
    with opened(path) as stream:
        raw = stream.read(MAX_FILE + 1)
    if len(raw) > MAX_FILE:
        size = MAX_FILE >> 20
        report(Problem("too_long", f"the file is larger than {size} MiB", str(path)))
        return None
    try:
        return raw.decode("utf-8" if keep_mark else "utf-8-sig")
    except UnicodeDecodeError as error:
        report(undecodable(error, stream, path, raw[: error.start].count(b"\n") + 1))
        return None


@contextmanager
def created(path: Path) -> Iterator[TextIO]:
    """Open a file for writing that appears only when it is complete; `-` is standard output.

    On a terminal, control characters are replaced by visible ones.

    Raises:
        CorpusError: The file cannot be written.
    """
    try:
        if path == STANDARD:
            sink = _standard(sys.stdout)
            sys.stdout.flush()
            writer = codecs.getwriter("utf-8")(sink)  # whatever the encoding of the terminal
            yield cast(TextIO, _Terminal(writer) if sys.stdout.isatty() else writer)
            sink.flush()
        else:
            with (
                created_bytes(path) as binary,
                TextIOWrapper(binary, encoding="utf-8", newline="\n") as stream,
            ):
                yield stream
    except UnicodeEncodeError:
        raise _unpaired(path) from None
    except BrokenPipeError:  # the reader of the output has stopped: not an error of the corpus
        raise
    except OSError as error:
        named = Path("standard output") if path == STANDARD else path
        raise failed(error, named) from None


@contextmanager
def created_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing bytes; it appears only when it is complete.

    Raises:
        CorpusError: The file cannot be written.
    """
    try:
        if path.exists() and not path.is_file():  # a device or a pipe, which cannot be replaced
            with path.open("wb") as stream:
                yield stream
        else:
            with _replaced(Path(os.path.realpath(path))) as stream:  # keep a link
                yield stream
    except UnicodeEncodeError:
        raise _unpaired(path) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise failed(error, path) from None


def _unpaired(path: Path) -> CorpusError:
    message = "half of a surrogate pair is not a character and cannot be written"
    return CorpusError(Problem("encoding", message, str(path)))


class _Terminal:
    """Writes text without control characters."""

    def __init__(self, stream: codecs.StreamWriter) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Write a part of the text."""
        self._stream.write(printable(text, keep="\n\t"))


@contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces this one at the end."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".discotag.")
    temporary = Path(name)
    try:
        with open(handle, "wb") as stream:  # noqa: PTH123
            yield stream
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _standard(stream: TextIO | None) -> BinaryIO:
    """Return the binary stream of standard input or output; the shell may have closed it."""
    if stream is None:
        raise OSError("it is closed")
    return stream.buffer


def write_pieces(stream: TextIO, pieces: Iterable[str]) -> None:
    """Write text so that it is read back unchanged, even if it begins with a byte-order mark.

    Readers drop the first byte-order mark of a file, so another one is written before it.
    """
    first = True
    for piece in pieces:
        if first and piece.startswith(BYTE_ORDER_MARK):
            stream.write(BYTE_ORDER_MARK)
        stream.write(piece)
        first = False


def files_in(folder: Path, suffixes: tuple[str, ...] = (), report: Report = strict) -> list[Path]:
    """Return the files in a folder and its subfolders, sorted.

    Hidden files and folders are left out, and so are files with other endings. Links to files are
    followed, links to folders are not.

    Args:
        folder: The folder.
        suffixes: The endings of the files; any by default.
        report: Called for folders that cannot be read and for broken links, and with a warning
            that names the files left out.
    """
    found: list[Path] = []
    left_out: list[str] = []
    for place, folders, names in os.walk(folder, onerror=lambda error: _tell(error, report)):
        here = Path(place)
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if (here / name).is_symlink()]
        for name in (*names, *links):
            path = here / name
            if name.startswith("."):
                continue
            try:
                wanted = name.endswith(suffixes or "") and stat.S_ISREG(path.stat().st_mode)
            except OSError as error:
                _tell(error, report)
                continue
            if wanted:
                found.append(path)
            else:
                left_out.append(path.relative_to(folder).as_posix())
    if left_out:
        report(Problem("left_out", _left_out(sorted(left_out)), str(folder)))
    return sorted(found)


def _tell(error: OSError, report: Report) -> None:
    report(failed(error, Path(error.filename)).problem)


def _left_out(names: list[str]) -> str:
    """Name the files that are left out, up to a number and a length, and count the others."""
    length = 0
    shown: list[str] = []
    for name in names[:MAX_NAMES]:
        length += len(name)
        if shown and length > MAX_MESSAGE // 2:
            break
        shown.append(name)
    more = len(names) - len(shown)
    count = counted(len(names), "file is not read", "files are not read")
    return f"{count}: {', '.join(shown)}" + (f" and {more:,} more" if more else "")


def is_inside(name: str) -> bool:
    r"""Return whether the name of an archive entry stays inside the folder it is unpacked to.

    Example:
        >>> is_inside("text/1.txt"), is_inside("../1.txt"), is_inside("C:\\1.txt")
        (True, False, False)
    """
    path = PurePosixPath(name.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in name


def file_name(identifier: str) -> str:
    """Return a document id that is safe to use as a file name.

    Raises:
        CorpusError: The id has a separator or control character, or is a name like `..`.
    """
    bad = not identifier or identifier.startswith(".") or set(identifier) & set('/\\:*?"<>|')
    if bad or not identifier.isprintable() or len(os.fsencode(identifier)) > 200:
        raise CorpusError(
            Problem("syntax", "this document id cannot be used as a file name", repr(identifier))
        )
    return identifier


def undecodable(error: UnicodeDecodeError, stream: Stream, path: Path, line: int | None) -> Problem:
    """Return the problem of a byte that is invalid in the encoding of its file."""
    if stream.encoding is None:
        byte, name = error.object[error.start], "UTF-8"
        more = f"; if the file is Windows-1252 or Latin-1, {ADVICE}"
    else:
        byte, name = bad_byte(error), stream.encoding
        more = ", the encoding that the file is read in"
    message = f"byte 0x{byte:02x} is not {name}{more}"
    return Problem("encoding", message, str(path), line)


def failed(error: OSError, path: Path) -> CorpusError:
    """Return the error for a path that cannot be read or written."""
    return CorpusError(Problem("missing", (error.strerror or str(error)).lower(), str(path)))
