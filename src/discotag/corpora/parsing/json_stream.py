"""Read JSON as a stream of values, with bounded memory and depth."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from discotag.corpora.parsing.files import MAX_LINE, lines_of, opened, undecodable
from discotag.corpora.parsing.problems import CorpusError, MalformedError, Problem, Report
from discotag.corpora.parsing.streams import Stream

MAX_DEPTH: Final = 100
"""The deepest nesting of lists and objects in a value; the formats need ten levels."""

CHUNK: Final = 1 << 20
"""The number of bytes that are read at a time. For a value that is longer, it is doubled, because
the value is parsed again from its beginning."""

BOM: Final = b"\xef\xbb\xbf"

SPACE: Final = re.compile(r"[ \t\n\r]*")

LONGEST_TOKEN: Final = 12
"""The most characters of a number, a name or an escape at the end of what was read at which the
parser sees an error: an escaped surrogate pair has twelve."""

MAYBE_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""Matches an escape that may be half of a surrogate pair."""

HALF_CHARACTER: Final = "half of a surrogate pair is not a character"


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
        Whether the object is in a list, and its keys, each with the first character of its value;
        that is empty where the beginning ends. There are no keys if there is no object.

    Example:
        >>> first_object('[{"id": 7, "text": "Sore')
        (True, {'id': '7', 'text': '"'})
    """
    keys: dict[str, str] = {}
    in_list = False
    source = _Source(BytesIO(head.encode("utf-8", "replace")))
    with suppress(ValueError, MalformedError, RecursionError):
        while source.next() == "[":
            in_list = True
            source.take("[")
        for _ in source.items("{", "}"):
            key = source.key()
            keys[key] = source.next()
            source.value()
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
    source = _Source(stream)
    try:
        yield from _outermost(source, lists)
    except _TooLongError as error:
        report(Problem("too_long", str(error), str(path)))
    except UnicodeEncodeError:
        report(Problem("encoding", HALF_CHARACTER, str(path)))
    except UnicodeDecodeError as error:
        report(undecodable(error, stream, path, source.line))
    except (MalformedError, ValueError, RecursionError) as error:
        message = getattr(error, "msg", str(error)).lower()
        report(Problem("syntax", f"not JSON: {message}", str(path)))


def _outermost(source: _Source, lists: Collection[str]) -> Iterator[Any]:
    if not source.next():
        raise MalformedError("there is no value")
    while first := source.next():
        if first == "[":
            for _ in source.items("[", "]"):
                yield from _object(source, lists)
        else:
            yield from _object(source, lists)


def _object(source: _Source, lists: Collection[str]) -> Iterator[Any]:
    """Yield the next value, or the items of its lists under the keys `lists`."""
    if not lists or source.next() != "{":
        yield source.value()
        return
    found: dict[str, Any] = {}
    listed = False
    for _ in source.items("{", "}"):
        key = source.key()
        if key in lists and source.next() == "[":
            listed = True
            for _ in source.items("[", "]"):
                yield source.value()
        else:
            found[key] = source.value()
    if not listed:
        yield found


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
        _check_characters(value, line)
    except UnicodeEncodeError:
        raise CorpusError(Problem("encoding", HALF_CHARACTER, path, number)) from None
    except (ValueError, RecursionError) as error:  # numbers of 5,000 digits are a ValueError
        message = getattr(error, "msg", str(error)).lower()
        raise CorpusError(Problem("syntax", f"not JSON: {message}", path, number)) from None
    return value


def _check_characters(value: Any, text: str) -> None:
    """Raise `UnicodeEncodeError` if a value has half of a surrogate pair, given its JSON."""
    if MAYBE_HALF.search(text):
        json.dumps(value, ensure_ascii=False).encode()


class _TooLongError(MalformedError):
    """A value that exceeds the bound."""


class _Source:
    """A file of JSON, which is read as far as its next value needs."""

    def __init__(self, stream: BinaryIO) -> None:
        self.line = 1  # of what was read last
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._error: UnicodeDecodeError | None = None

    def next(self) -> str:
        """Return the next character that is not white space, or nothing at the end."""
        while True:
            match = SPACE.match(self._text, self._at)
            assert match is not None  # the pattern matches an empty string
            self._at = match.end()
            if self._at < len(self._text) or not self._read():
                return self._text[self._at : self._at + 1]

    def take(self, wanted: str) -> None:
        """Pass a character.

        Raises:
            MalformedError: The next character is another.
        """
        if self.next() != wanted:
            raise MalformedError(f"expecting {wanted!r}")
        self._at += 1

    def items(self, opening: str, closing: str) -> Iterator[None]:
        """Stop at each item of a list or object, which the caller then passes."""
        self.take(opening)
        if self.next() != closing:
            yield
            while self.next() == ",":
                self.take(",")
                yield
        self.take(closing)

    def key(self) -> str:
        """Pass a key and its colon, and return the key."""
        if self.next() != '"':
            raise MalformedError("expecting a key in double quotes")
        key: str = self.value()
        self.take(":")
        return key

    def value(self) -> Any:
        """Pass a value and return it.

        Raises:
            ValueError: It is not JSON, not UTF-8, or has half of a surrogate pair.
            MalformedError: It is too long, or nested too deep.
        """
        self.next()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                near = error.pos >= len(self._text) - LONGEST_TOKEN
                if not (near or error.msg.startswith("Unterminated")) or not self._read():
                    raise
                continue
            # A number at the end of what was read may go on, also after a point or an "e+".
            if type(value) not in (int, float) or end + 2 < len(self._text) or not self._read():
                break
        _check_characters(value, self._text[self._at : end])
        if _is_deep(value):
            raise MalformedError(f"lists and objects are nested more than {MAX_DEPTH} deep")
        self._at = end
        return value

    def _read(self) -> bool:
        """Read on; return whether there was more."""
        if self._error is not None:
            raise self._error
        rest = self._text[self._at :]
        if len(rest) > MAX_LINE:
            raise _TooLongError(f"an object is longer than {MAX_LINE >> 20} MiB")
        chunk = self._stream.read(min(max(CHUNK, len(rest)), MAX_LINE + 1 - len(rest)))
        try:
            text = self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:  # the values before it are still read
            self._error = error
            text = error.object[: error.start].decode()
        if not chunk and self._error is None:
            return False
        self._text, self._at = rest + text, 0
        self.line += text.count("\n")
        return True


DECODER: Final = json.JSONDecoder()


def _is_deep(value: Any) -> bool:
    """Return whether lists and objects are nested too deep."""
    level = [[value]]
    for _ in range(MAX_DEPTH + 1):
        level = [
            [*inner.values()] if type(inner) is dict else inner
            for each in level
            for inner in each
            if type(inner) in (dict, list)
        ]
        if not level:
            return False
    return True
