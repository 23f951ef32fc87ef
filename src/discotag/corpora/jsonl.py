"""discotag's own JSON lines: a document a line, nothing lost. The default everywhere.

A line is an object with

- `discotag`: the version of the format, 1;
- `id`, `text`: of the document, where known;
- `sentences`: each with `words`, a list of strings; where the text is known, `start` and `end`, the
  characters of the document the sentence stands at, and `starts`, the character of the document
  each word begins at (`text` instead of `end`, if only the sentence's text is known);
  and `mentions`.

A mention has `label`, `words` (half-open ranges of the sentence's words), `text`, where known
`score`, and where the text is known `fragments` (half-open ranges of the document's characters),
`start` and `end`. Reading needs of these `label` and `words`. What people write by hand may be
shorter: `{"text": "…", "mentions": [{"label": "ADR", "fragments": [[4, 8], [39, 48]]}]}` is cut
into sentences and words on reading.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from operator import add
from pathlib import Path
from typing import Any, Final

from discotag.corpora.files import created, lines
from discotag.corpora.formats import Format
from discotag.corpora.problems import CorpusError, Problem, Report
from discotag.errors import DiscotagError
from discotag.mentions import Document, InvalidMention, Mention, Sentence
from discotag.words import Flaw, Marked, Splitter

VERSION: Final = 1

HALF_CHARACTER: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""An escape that may be half of a surrogate pair."""


def recognises(path: Path, head: str) -> bool:
    """Whether the first line begins an object as this format has them."""
    first = head.lstrip().split("\n", 1)[0]
    return first.startswith("{") and any(
        f'"{key}":' in first.replace(" :", ":") for key in ("discotag", "sentences", "mentions")
    )


def read(path: Path, splitter: Splitter, report: Report) -> Iterator[Document]:
    """A document for each line."""
    for number, line in lines(path, report):
        if not line or line.isspace():
            continue
        try:
            data = json.loads(line)
            if HALF_CHARACTER.search(line):
                json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = "half of a surrogate pair stands for no character"
            report(Problem("encoding", message, str(path), number))
            continue
        except (ValueError, RecursionError) as error:  # numbers of 5,000 digits are a ValueError
            message = getattr(error, "msg", str(error)).lower()
            report(Problem("syntax", f"not JSON: {message}", str(path), number))
            continue
        try:
            document = from_data(data, splitter, report, str(path), number)
        except CorpusError:
            raise
        except DiscotagError as error:
            report(Problem("syntax", str(error), str(path), number))
            continue
        yield document


def write(documents: Iterable[Document], path: Path) -> None:
    """Write a line for each document."""
    with created(path) as stream:
        for document in documents:
            stream.write(to_line(document))


FORMAT: Final = Format(
    name="jsonl",
    about="discotag's own JSON lines, a document a line, lossless",
    suffixes=(".jsonl", ".ndjson"),
    recognises=recognises,
    read=read,
    write=write,
)


def to_line(document: Document) -> str:
    """A document as a line of JSON, with its line end."""
    return json.dumps(to_data(document), ensure_ascii=False, separators=(",", ":")) + "\n"


def to_data(document: Document) -> dict[str, Any]:
    """A document as plain data."""
    data: dict[str, Any] = {"discotag": VERSION}
    if document.id is not None:
        data["id"] = document.id
    if document.text is not None:
        data["text"] = document.text
    data["sentences"] = [
        _sentence_data(sentence, document.text is not None) for sentence in document.sentences
    ]
    return data


def from_data(
    data: Any, splitter: Splitter, report: Report, path: str, line: int | None = None
) -> Document:
    """The document that plain data stands for; problems are said to be in this line of this file.

    Raises:
        DiscotagError: The data is not of this format.
    """
    where = (report, path, line)
    _must(isinstance(data, dict), "a document is an object in curly brackets")
    version = data.get("discotag", VERSION)
    _must(version == VERSION, "this program reads version 1 of the format, not this one")
    text, name = data.get("text"), data.get("id")
    _must(text is None or isinstance(text, str), "'text' must be a string")
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    _must(name is None or isinstance(name, str), "'id' must be a string")
    if "sentences" not in data:
        _must(text is not None, "a document needs 'sentences' or 'text'")
        marked = [_mark(item, line) for item in _list(data, "mentions")]
        for mark, times in Counter(marked).items():
            if times > 1:
                message = f"mention of {mark.label} stands here {times} times"
                report(Problem("duplicate", message, path, line))

        def complain(mark: Marked, flaw: Flaw, message: str) -> None:
            report(Problem(flaw, message, path, line))

        return splitter.document(text, marked, id=name, complain=complain)
    sentences = tuple(_sentence(item, text, where) for item in _list(data, "sentences"))
    return Document(sentences, text=text, id=name)


def _sentence_data(sentence: Sentence, in_text: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"words": sentence.words}
    if sentence.text is not None and sentence.offsets is not None:
        start = sentence.start
        data["start"] = start
        if in_text:
            data["end"] = start + len(sentence.text)
        else:
            data["text"] = sentence.text
        data["starts"] = [start + first for first, _ in sentence.offsets]
    elif sentence.start:
        data["start"] = sentence.start
    data["mentions"] = [_mention_data(sentence, mention) for mention in sentence.mentions]
    return data


def _mention_data(sentence: Sentence, mention: Mention) -> dict[str, Any]:
    data: dict[str, Any] = {"label": mention.label, "words": mention.fragments}
    if sentence.offsets is not None:
        return data | sentence.as_data(mention)
    data["text"] = mention.text
    return data if mention.score is None else data | {"score": mention.score}


def _sentence(data: Any, text: str | None, where: tuple[Report, str, int | None]) -> Sentence:
    _must(isinstance(data, dict), "a sentence is an object in curly brackets")
    words = tuple(_list(data, "words"))
    _must(set(map(type, words)) <= {str}, "'words' must be strings")
    start = data.get("start", 0)
    _must(type(start) is int and start >= 0, "'start' must be a number, 0 or more")
    own, offsets = data.get("text"), None
    _must(own is None or isinstance(own, str), "'text' must be a string")
    if "starts" in data:
        starts = _list(data, "starts")
        if len(starts) != len(words):
            raise DiscotagError(f"{len(words)} words but {len(starts)} starts")
        _must(set(map(type, starts)) <= {int}, "'starts' must be numbers")
        if own is None:
            end = data.get("end")
            _must(text is not None and type(end) is int, "'starts' needs a text, 'start' and 'end'")
            assert text is not None
            own = text[start:end]
        if start:
            starts = [place - start for place in starts]
        offsets = tuple(zip(starts, map(add, starts, map(len, words)), strict=True))
    mentions = _list(data, "mentions")
    kept = _mentions(mentions, len(words), where) if mentions else ()
    return Sentence(words, kept, text=own, offsets=offsets, start=start)


def _mentions(
    items: list[Any], length: int, where: tuple[Report, str, int | None]
) -> tuple[Mention, ...]:
    report, path, line = where
    found: list[Mention] = []
    for item in items:
        label = _label(item)
        fragments = _pairs(item, "words")
        kind = ""
        if any(start > end for start, end in fragments):
            kind = "inverted"
        elif not fragments or any(start == end for start, end in fragments):
            kind = "empty"
        elif any(not 0 <= place <= length for pair in fragments for place in pair):
            kind = "outside"
        if not label.isprintable():
            kind = "syntax"
        try:
            mention = Mention(label, fragments, score=_score(item))
        except InvalidMention as error:
            report(Problem(kind or "overlapping", str(error), path, line))
            continue
        if kind:
            message = f"mention {mention} reaches past its sentence, which has {length} words"
            report(Problem(kind, message, path, line))
            continue
        if mention in found:
            report(Problem("duplicate", f"mention {mention} stands here twice", path, line))
        found.append(mention)
    return tuple(found)


def _mark(item: Any, line: int | None) -> Marked:
    return Marked(_label(item), _pairs(item, "fragments"), _score(item), line)


def _label(item: Any) -> str:
    _must(isinstance(item, dict), "a mention is an object in curly brackets")
    label = item.get("label")
    _must(isinstance(label, str) and label != "", "a mention needs a 'label'")
    return str(label)


def _score(item: Any) -> float | None:
    score = item.get("score")
    _must(score is None or type(score) in (int, float), "'score' must be a number")
    try:
        return None if score is None else float(score)
    except OverflowError:
        raise DiscotagError("'score' is too large a number") from None


def _pairs(item: Any, key: str) -> tuple[tuple[int, int], ...]:
    pairs = _list(item, key)
    for pair in pairs:
        good = type(pair) is list and len(pair) == 2 and type(pair[0]) is type(pair[1]) is int
        _must(good, f"'{key}' must be pairs of numbers, [[start, end], …]")
    return tuple([(pair[0], pair[1]) for pair in pairs])


def _list(data: dict[str, Any], key: str) -> list[Any]:
    found = data.get(key, [])
    if type(found) is not list:
        raise DiscotagError(f"'{key}' must be a list")
    return found


def _must(holds: bool, message: str) -> None:
    if not holds:
        raise DiscotagError(message)
