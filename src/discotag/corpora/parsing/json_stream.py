"""Read JSON as a stream of values, with bounded memory and depth."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

import ijson
from ijson.common import ObjectBuilder

from discotag.corpora.parsing.files import MAX_LINE, lines_of, opened, undecodable
from discotag.corpora.parsing.problems import CorpusError, MalformedError, Problem, Report
from discotag.corpora.parsing.streams import Stream

MAX_DEPTH: Final = 100
"""The deepest nesting of lists and objects; the formats need ten levels."""

CHUNK: Final = 1 << 20
"""The number of bytes that are parsed at a time. ijson scans an unfinished string again with each
chunk, so that the time for a long string is quadratic in its number of chunks."""

OPENING: Final = frozenset({"start_map", "start_array"})
CLOSING: Final = frozenset({"end_map", "end_array"})

BOM: Final = b"\xef\xbb\xbf"

WHOLE_CHARACTERS: Final = re.compile(
    rb"(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])....|\\u[dD][89abAB]..\\u[dD][c-fC-F]..)*+", re.DOTALL
)
"""Matches bytes up to an escape that is incomplete, or is half of a surrogate pair."""

CUT_OFF: Final = re.compile(
    rb"\\(?:u.{0,3}|u[dD][89abAB]..(?:\\(?:u(?:[dD](?:[c-fC-F].?)?)?)?)?)?", re.DOTALL
)
"""Matches the beginning of an escape or surrogate pair that more bytes may complete."""

MAYBE_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""Matches an escape that may be half of a surrogate pair."""

HALF_CHARACTER: Final = "half of a surrogate pair is not a character"

FIRST_LINE: Final = re.compile(r"(?:b['\"])?([^\n\\]*)")
"""Matches the description in a message of ijson, which may be bytes and show the place."""


def objects(path: Path, lists: Collection[str], report: Report) -> Iterator[Any]:
    """Yield the outermost objects of a JSON file, one after the other.

    The items of outermost lists are yielded one by one. If an object has a list under one of the
    keys `lists`, the items of that list are yielded instead. One item at a time is kept in memory.
    Invalid JSON is reported and ends the iteration.
    """
    with opened(path) as stream:
        yield from _objects(stream, lists, path, report)


def first_object(head: str) -> tuple[bool, dict[str, str]]:
    """Return the keys of the first object in the beginning of a JSON file.

    Returns:
        Whether the object is in a list, and its keys, each with the ijson event of its value, such
        as `string` or `start_array`; the event is empty where the beginning ends. There are no keys
        if there is no object.

    Example:
        >>> first_object('[{"id": 7, "text": "Sore')
        (True, {'id': 'number', 'text': ''})
    """
    keys: dict[str, str] = {}
    opened, key, in_list = 0, None, False
    start = BytesIO(head.encode("utf-8", "replace"))
    with suppress(ijson.JSONError, ValueError, SystemError):
        for event, value in ijson.basic_parse(start, multiple_values=True, use_float=True):
            if not opened and event in ("start_array", "start_map"):
                in_list, opened = in_list or event == "start_array", int(event == "start_map")
            elif not opened:
                break  # the first value is not an object
            elif opened == 1 and event == "map_key":
                key, keys[value] = value, ""
            elif event == "end_map" and opened == 1:
                break
            else:
                if opened == 1 and key is not None:
                    keys[key] = event
                opened += (event in OPENING) - (event in CLOSING)
    return in_list, keys


def values(path: Path, report: Report) -> Iterator[tuple[int | None, Any]]:
    """Yield the values of JSON lines, of a JSON list, or of objects over several lines.

    Each value has its line number in JSON lines, and None in other files.
    """
    with opened(path) as stream:
        first, *more = stream.look().removeprefix(BOM).lstrip().split(b"\n", 2)
        goes_on = bool(more) and not first.rstrip().endswith(b"}") and more[0][:1] != b"{"
        if first.startswith(b"[") or (first.startswith(b"{") and goes_on):
            for data in _objects(stream, (), path, report):
                yield None, data
        else:
            yield from _values_by_line(stream, path, report)


def _objects(stream: Stream, lists: Collection[str], path: Path, report: Report) -> Iterator[Any]:
    source = _Bounded(stream)
    try:
        events = ijson.basic_parse(source, multiple_values=True, use_float=True, buf_size=CHUNK)
        for found in _outermost(events, lists):
            source.held = 0
            yield found
    except _TooLongError as error:
        report(Problem("too_long", str(error), str(path)))
    except _HalfCharacterError:
        report(Problem("encoding", HALF_CHARACTER, str(path)))
    except UnicodeDecodeError as error:
        report(undecodable(error, stream, path, source.line))
    except (ijson.JSONError, MalformedError, ValueError, SystemError) as error:
        # SystemError: ijson on a number with thousands of digits
        match = FIRST_LINE.match(str(error))
        assert match is not None  # the pattern matches an empty string
        message = "a number is too long" if isinstance(error, SystemError) else match[1]
        report(Problem("syntax", f"not JSON: {message}", str(path)))


def _values_by_line(stream: Stream, path: Path, report: Report) -> Iterator[tuple[int, Any]]:
    for number, line in lines_of(stream, path, report):
        if not line or line.isspace():
            continue
        try:
            value = line_value(line, str(path), number)
        except CorpusError as error:
            report(error.problem)
        else:
            yield number, value


def line_value(line: str, path: str, number: int | None) -> Any:
    """Return the value of a line of JSON.

    Args:
        line: The line.
        path: Its file, for messages.
        number: Its number, for messages.

    Raises:
        CorpusError: The line is not JSON.
    """
    try:
        value = json.loads(line)
        if MAYBE_HALF.search(line):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise CorpusError(Problem("encoding", HALF_CHARACTER, path, number)) from None
    except (ValueError, RecursionError) as error:  # numbers of 5,000 digits are a ValueError
        message = getattr(error, "msg", str(error)).lower()
        raise CorpusError(Problem("syntax", f"not JSON: {message}", path, number)) from None
    return value


class _TooLongError(MalformedError):
    """An object that exceeds the bound."""


class _HalfCharacterError(MalformedError):
    """Half of a surrogate pair, which ijson would turn into a question mark."""


class _Bounded:
    """A stream of bytes that raises if an object is too long.

    It also raises for bytes that are not UTF-8, and for an escape that is half of a surrogate pair.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.held = 0
        self.line = 1  # of what was read last
        self._stream = stream
        self._fresh = True
        self._error: Exception | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._unclear = b""  # an escape at the end of what was read

    def read(self, size: int = -1) -> bytes:
        if self._error is not None:
            raise self._error
        chunk = self._stream.read(size)
        self.held += len(chunk)
        if self.held > MAX_LINE:
            raise _TooLongError(f"an object is longer than {MAX_LINE >> 20} MiB")
        if not size:  # ijson first asks for zero bytes
            return chunk
        if self._fresh:
            self._fresh = False
            chunk = chunk.removeprefix(BOM)
        good = min(self._utf8(chunk), self._whole(chunk))
        if self._error is not None and good <= 0:
            raise self._error
        return chunk[:good]  # the objects before an error are still read

    def _utf8(self, chunk: bytes) -> int:
        """Return the number of bytes before the first that is not UTF-8."""
        before = len(self._decoder.getstate()[0])
        try:
            self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            self._error = error
            self.line += chunk.count(b"\n", 0, max(error.start - before, 0))
            return error.start - before
        self.line += chunk.count(b"\n")
        return len(chunk)

    def _whole(self, chunk: bytes) -> int:
        """Return the number of bytes before the first half of a surrogate pair."""
        if b"\\" not in chunk and not self._unclear:
            return len(chunk)
        before = len(self._unclear)
        data = self._unclear + chunk
        match = WHOLE_CHARACTERS.match(data)
        assert match is not None  # the pattern matches an empty string
        self._unclear = data[match.end() :]
        if self._unclear and not CUT_OFF.fullmatch(self._unclear):
            self._error = self._error or _HalfCharacterError("half of a surrogate pair")
            return match.end() - before
        return len(chunk)


def _outermost(events: Iterable[tuple[str, Any]], lists: Collection[str]) -> Iterator[Any]:
    depth = 0
    outer = inner = None  # an object, and one in a list of it
    outer_depth = list_depth = inner_depth = 0
    key, listed = "", False
    for event, value in events:
        if event in OPENING:
            depth += 1
            if depth > MAX_DEPTH:
                raise MalformedError(f"lists and objects are nested more than {MAX_DEPTH} deep")
        if inner is not None:
            inner.event(event, value)
            if event in CLOSING and depth == inner_depth:
                yield inner.value
                inner = None
        elif list_depth:
            if event == "end_array":
                list_depth = 0
            elif event in OPENING:
                inner, inner_depth = ObjectBuilder(), depth
                inner.event(event, value)
            else:
                yield value
        elif outer is not None:
            if event == "map_key" and depth == outer_depth:
                key = value
            if event == "start_array" and depth == outer_depth + 1 and key in lists:
                list_depth, listed = depth, True
                outer.event("null", None)
            else:
                outer.event(event, value)
            if event == "end_map" and depth == outer_depth:
                if not listed:
                    yield outer.value
                outer = None
        elif event == "start_map":
            outer, outer_depth, listed = ObjectBuilder(), depth, False
            outer.event(event, value)
        elif event not in OPENING and event not in CLOSING:
            yield value
        if event in CLOSING:
            depth -= 1
