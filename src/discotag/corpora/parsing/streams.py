"""Read the bytes of a file as UTF-8, decompressed and decoded on the fly.

Files compressed with gzip are decompressed. Files with a byte-order mark of UTF-16 or UTF-32 are
decoded from it. Other files are read as UTF-8, or in the encoding that `decoding` names; a
byte-order mark has precedence over that name.
"""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from discotag.corpora.parsing.file_kinds import describe
from discotag.corpora.parsing.problems import CorpusError, Problem
from discotag.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Buffer

HEAD: Final = 1 << 16
"""The number of bytes that are used to recognise a file."""

SHORTEST: Final = 64
"""The number of bytes that are enough to recognise compression and encoding."""

CHUNK: Final = 1 << 18
"""The number of bytes that are read at a time."""

GZIP: Final = b"\x1f\x8b\x08"

MARKS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark is its beginning
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}

BAD_BYTE: Final = 0xDC00
"""A byte that cannot be decoded becomes half of a surrogate pair: this code plus the byte. In UTF-8
that is an error again, from which `bad_byte` recovers the byte."""

HANDLER: Final = "discotag.bad_byte"

T = TypeVar("T")

_encoding: ContextVar[str | None] = ContextVar("encoding", default=None)


class UnknownEncodingError(InputError):
    """An unknown encoding."""


def check_encoding(name: str) -> str:
    """Return the name of an encoding as Python spells it.

    Raises:
        UnknownEncodingError: There is no text encoding with this name.

    Example:
        >>> check_encoding("Windows-1252"), check_encoding("UTF8")
        ('cp1252', 'utf-8')
    """
    try:
        "".encode(name)  # some codecs are not text encodings
        codecs.getincrementaldecoder(name)(HANDLER).decode(b"a\x00b\x00")
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise UnknownEncodingError(
            f"unknown encoding {name!r}; use a name such as windows-1252, latin-1 or utf-16"
        ) from None


def current_encoding() -> str | None:
    """Return the encoding that `decoding` or `decoded` names, or None."""
    return _encoding.get()


@contextmanager
def decoding(encoding: str | None) -> Iterator[None]:
    """Decode the files that are opened in a `with` block as `encoding`; None changes nothing.

    The encoding applies to the current thread only. For generators, which run in the context of
    their caller, use `decoded`.

    Raises:
        UnknownEncodingError: There is no such encoding.
    """
    token = _encoding.set(_encoding.get() if encoding is None else check_encoding(encoding))
    try:
        yield
    finally:
        _encoding.reset(token)


def decoded(items: Iterator[T], encoding: str | None) -> Iterator[T]:
    """Iterate over items, decoding the files that the iterator opens as `encoding`.

    Raises:
        UnknownEncodingError: There is no such encoding.
    """
    return items if encoding is None else _decoded(items, check_encoding(encoding))


def _decoded(items: Iterator[T], encoding: str) -> Iterator[T]:
    while True:
        token = _encoding.set(encoding)
        try:
            item = next(items)
        except StopIteration:
            return
        finally:
            _encoding.reset(token)
        yield item


class Stream(io.BufferedReader):
    """The bytes of a file as UTF-8.

    Attributes:
        encoding: The encoding of the file, or None if it is unknown and UTF-8 is assumed.
    """

    def __init__(self, layer: _Layer, encoding: str | None) -> None:
        super().__init__(layer, CHUNK)
        self.encoding = encoding
        self._layer = layer

    def look(self) -> bytes:
        """Return up to `HEAD` bytes from the beginning without consuming them.

        A first line that is a complete JSON object is enough, so that JSON lines can be read from
        a pipe while they are written.
        """
        return self._layer.look(lambda start: len(start) >= HEAD or _is_json_line(start))[:HEAD]


class _Layer(io.RawIOBase):
    """Bytes from a function, which can be inspected before they are read."""

    def __init__(self, source: Callable[[int], bytes]) -> None:
        self._source = source
        self._start = b""

    def look(self, enough: Callable[[bytes], bool]) -> bytes:
        while not enough(self._start):
            try:
                chunk = self._source(HEAD)
            except EOFError:  # a truncated gzip file; reading on will raise again
                break
            if not chunk:
                break
            self._start += chunk
        return self._start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        room = memoryview(buffer)
        found = self._start[: len(room)] or self._source(len(room))
        self._start = self._start[len(room) :]
        room[: len(found)] = found
        return len(found)


def unpacked(source: Callable[[int], bytes], path: Path) -> Stream:
    """Decompress and decode the bytes that a function reads.

    Args:
        source: Returns up to the given number of bytes.
        path: The file, for messages.

    Raises:
        CorpusError: The file is not text.
    """
    layer = _Layer(source)
    start = layer.look(_is_enough)
    if start.startswith(GZIP):
        layer = _Layer(gzip.GzipFile(fileobj=io.BufferedReader(layer, CHUNK)).read1)
        start = layer.look(lambda start: len(start) >= HEAD)
    mark = next((mark for mark in MARKS if start.startswith(mark)), b"")
    if not mark and (about := describe(start)) is not None:
        raise CorpusError(Problem("binary", about, str(path)))
    name = MARKS.get(mark, _encoding.get())
    if name in (None, "utf-8", "utf-8-sig"):
        return Stream(layer, name)
    return Stream(_Layer(_transcoder(layer, name, len(mark), path)), name)


def bad_byte(error: UnicodeDecodeError) -> int:
    """Return the byte of the file that could not be decoded, from the error of its stream."""
    first, *more = error.object[error.start : error.start + 3]
    code = (more[0] & 0x3F) << 6 | more[1] & 0x3F if first == 0xED and len(more) == 2 else 0
    return code & 0xFF if code >> 8 == (BAD_BYTE & 0xFFF) >> 8 else first


def _is_enough(start: bytes) -> bool:
    return len(start) >= SHORTEST or b"\n" in start


def _is_json_line(start: bytes) -> bool:
    line, end, _ = start.lstrip().partition(b"\n")
    return bool(end) and line.startswith(b"{") and line.rstrip().endswith(b"}")


def _transcoder(layer: _Layer, encoding: str, skipped: int, path: Path) -> Callable[[int], bytes]:
    """Return a function that reads a layer in another encoding as UTF-8."""
    source = io.BufferedReader(layer, CHUNK)
    source.read(skipped)
    decoder = codecs.getincrementaldecoder(encoding)(HANDLER)
    held = b""

    def read(size: int) -> bytes:
        nonlocal held
        while not held:
            chunk = source.read1(CHUNK)
            try:
                held = decoder.decode(chunk, final=not chunk).encode("utf-8", "surrogatepass")
            except UnicodeError as error:  # from a decoder that ignores error handlers
                message = f"the file is not {encoding}: {error}"
                raise CorpusError(Problem("encoding", message, str(path))) from None
            if not chunk:
                break
        found, held = held[:size], held[size:]
        return found

    return read


def _mark_bad_bytes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(chr(BAD_BYTE + byte) for byte in bad), error.end


codecs.register_error(HANDLER, _mark_bad_bytes)
