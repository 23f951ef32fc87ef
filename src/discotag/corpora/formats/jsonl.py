"""discotag's JSON lines: one document per line, lossless, the default format.

A line is an object with

- `discotag`: the version of the format, 2;
- `id`, `text`: of the document, where known;
- `mentions`: each with `label`, `text`, `spans` where the text is known (half-open ranges of the
  document's characters), `fragments` (half-open ranges of the document's words), and `score`
  where known;
- `candidates`: in the same form, what a model did not predict but a person should look at, if any;
- `sentences`: each with `words`, a list of strings; and where the text is known, `start` and `end`,
  the characters of the document that are the sentence, and `starts`, the character of the document
  at which each word begins (`text` instead of `end`, if only the sentence's text is known);
- anything else, which is kept as the document's `extra`.

Documents written by hand may be shorter. Of a mention, `label` and `fragments` are enough. A
sentence can have `mentions` of its own, with `fragments` counted in its own words. A document
without sentences is split into sentences and words when it is read; its mentions have `label` and
`spans`: `{"text": "…", "mentions": [{"label": "ADR", "spans": [[4, 8], [39, 48]]}]}`. Other fields
of sentences and mentions are reported and not kept.

A file with a list of such objects, or with objects over several lines, can be read as well.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import accumulate
from operator import add
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.parsing.files import created
from discotag.corpora.parsing.json_stream import first_object, values
from discotag.corpora.parsing.json_values import as_list, as_object, as_text
from discotag.corpora.parsing.problems import MalformedError, Problem, Report, shown
from discotag.corpora.parsing.unwritable import unwritable
from discotag.corpora.parsing.word_mentions import Candidate, Tell, good_mentions
from discotag.counts import counted
from discotag.marks import Marked
from discotag.mentions import (
    Document,
    Fragment,
    Sentence,
    SentenceError,
)
from discotag.words import Splitter

VERSION: Final = 2

OWN_KEYS: Final = frozenset({"discotag", "sentences", "mentions"})
"""An object with one of these keys, or with a text, is a document."""

UNREAD: Final = (
    "entities", "annotations", "labels", "spans", "denotations", "ner_tags", "result"
)  # fmt: skip
"""Fields that other tools have for annotations."""

MEANINGS: Final = {
    "fragments": "ranges of words",
    "spans": "ranges of characters, which a document without 'sentences' needs",
}
SENTENCE: Final = frozenset({"words", "start", "end", "starts", "text", "mentions", "candidates"})
MENTION: Final = frozenset({"label", "text", "spans", "fragments", "score"})


def recognises(path: Path, head: str) -> bool:
    """Return whether the first object, alone or in a list, has the keys of a document."""
    keys = first_object(head)[1]
    return not OWN_KEYS.isdisjoint(keys) or keys.get("text") in ('"', "")


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each line, or for each object of a list."""
    seen: set[str] = set()

    def once(problem: Problem) -> None:
        """Report an unknown field only where it first occurs."""
        if problem.kind == "unknown_field":
            if problem.message in seen:
                return
            seen.add(problem.message)
        reading.report(problem)

    for number, data in values(path, reading.report):
        try:
            document = from_dict(data, reading.splitter, once, str(path), number)
            for key in UNREAD if OWN_KEYS.isdisjoint(data) else ():
                if isinstance(data.get(key), list) and data[key]:
                    message = f"{key!r} may have annotations, but is kept as a further field"
                    once(Problem("unknown_field", message, str(path), number))
        except (MalformedError, SentenceError) as error:
            reading.report(Problem("syntax", str(error), str(path), number))
            continue
        yield document


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write one line per document."""
    with created(path) as stream:
        for document in documents:
            stream.write(to_line(document))


def to_line(document: Document) -> str:
    """Return a document as a line of JSON, with its line end.

    Raises:
        UnwritableError: JSON cannot represent the `extra` fields of the document.
    """
    try:
        return (
            json.dumps(
                to_dict(document),
                ensure_ascii=False,
                allow_nan=False,
                separators=(",", ":"),
                default=_plain,
            )
            + "\n"
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise unwritable(FORMAT.name, f"the 'extra' fields or a score: {error}") from None


def _plain(value: object) -> str:
    """Return a date, time or exact number, which a table may have, as JSON can represent it."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not a type of JSON")


def to_dict(document: Document) -> dict[str, Any]:
    """Return a document as plain data."""
    return {"discotag": VERSION, **document.to_dict()}


FORMAT: Final = Format(
    name="jsonl",
    about="discotag's JSON lines, one document per line, lossless",
    suffixes=(".jsonl", ".ndjson"),
    recognises=recognises,
    read=read,
    write=write,
    line=to_line,
    outputs=(".jsonl", ".ndjson"),
    keeps_details=True,
)


def from_dict(
    data: Any, splitter: Splitter, report: Report, path: str, line: int | None = None
) -> Document:
    """Return the document of plain data; problems are reported with this file and line.

    Raises:
        MalformedError: The data is not of this format.
        SentenceError: Words, offsets and text do not agree.
    """

    def tell(kind: str, message: str) -> None:
        report(Problem(kind, message, path, line))

    document = as_object(data, "a document")
    version = document.get("discotag", VERSION)
    if version != VERSION:
        raise MalformedError(
            f"this is version {shown(str(version))} of the format; only {VERSION} is supported"
        )
    text, name = document.get("text"), document.get("id")
    if text is not None:
        as_text(text, "'text'")
    if name is not None:
        name = str(name) if type(name) is int else as_text(name, "'id'")
    extra = {key: value for key, value in document.items() if key not in Document.FIELDS}
    if document.get("sentences") is not None:
        sentences = _sentences(document, text, tell)
        return Document(sentences, text=text, id=name, extra=extra, place=(path, line))
    if text is None:
        raise MalformedError("a document needs 'sentences' or 'text'")
    if "candidates" in document:  # somebody else's: ours are beside sentences
        extra["input_candidates"] = document["candidates"]
        tell("unknown_field", "'candidates' of a text is kept as 'input_candidates'")
    marked = [
        Marked(label, spans, score, line)
        for label, spans, score, _ in _parts(document, "mentions", "spans", tell)
    ]
    for mark, times in Counter(marked).items():
        if times > 1:
            tell("duplicate", f"mention of {mark.label} is given {times} times")
    found = splitter.document(
        text, marked, id=name, complain=lambda mark, flaw, message: tell(flaw, message)
    )
    return replace(found, extra=extra, place=(path, line))


def _check_keys(data: dict[str, Any], known: Set[str], what: str, tell: Tell) -> None:
    if not data.keys() <= known:
        for key in sorted(data.keys() - known):
            tell("unknown_field", f"the field {shown(key)} of a {what} is unknown and not kept")


def _sentences(document: dict[str, Any], text: str | None, tell: Tell) -> tuple[Sentence, ...]:
    """Return the sentences of a document, with the mentions of the document in them."""
    sentences = []
    for number, each in enumerate(as_list(document, "sentences")):
        try:
            sentences.append(_sentence(each, text, tell))
        except (MalformedError, SentenceError) as error:
            raise type(error)(f"sentence {number}: {error}") from None
    kinds = [kind for kind in ("mentions", "candidates") if as_list(document, kind)]
    if not kinds:
        return tuple(sentences)
    borders = [0, *accumulate(len(sentence.words) for sentence in sentences)]
    found = {
        "mentions": [list(sentence.mentions) for sentence in sentences],
        "candidates": [list(sentence.candidates) for sentence in sentences],
    }
    places = [
        (sentence.start + start, sentence.start + end)
        for sentence in sentences
        for start, end in sentence.offsets or ()
    ]
    known = places if len(places) == borders[-1] else None
    for kind in kinds:
        for mention in good_mentions(_candidates(document, kind, tell, known), borders[-1], tell):
            number = bisect_right(borders, mention.start) - 1
            if mention.end > borders[number + 1]:
                tell("crosses", f"mention of {mention.label} reaches across sentences")
            else:
                found[kind][number].append(mention.shifted(-borders[number]))
    return tuple(map(Sentence.with_mentions, sentences, found["mentions"], found["candidates"]))


def _sentence(data: Any, text: str | None, tell: Tell) -> Sentence:
    sentence = as_object(data, "a sentence")
    _check_keys(sentence, SENTENCE, "sentence", tell)
    words = tuple(as_list(sentence, "words"))
    if not set(map(type, words)) <= {str}:
        raise MalformedError("'words' must be strings")
    start = sentence.get("start", 0)
    if type(start) is not int:
        raise MalformedError("'start' must be a whole number")
    own, offsets = sentence.get("text"), None
    if own is not None:
        as_text(own, "'text'")
    if "starts" in sentence:
        starts = as_list(sentence, "starts")
        if len(starts) != len(words):
            lengths = f"{counted(len(words), 'word')} but {counted(len(starts), 'start')}"
            raise MalformedError(lengths)
        if not set(map(type, starts)) <= {int}:
            raise MalformedError("'starts' must be whole numbers")
        if own is None:
            end = sentence.get("end")
            if text is None or type(end) is not int:
                raise MalformedError("'starts' needs a text, 'start' and 'end'")
            if end > len(text):
                length = counted(len(text), "character")
                raise MalformedError(f"'end' is {end}, but the text has {length}")
            own = text[start:end]
        if start:
            starts = [place - start for place in starts]
        offsets = tuple(zip(starts, map(add, starts, map(len, words)), strict=True))
    mentions, candidates = (
        good_mentions(_candidates(sentence, kind, tell), len(words), tell)
        for kind in ("mentions", "candidates")
    )
    return Sentence(words, mentions, text=own, offsets=offsets, start=start, candidates=candidates)


def _candidates(
    holder: dict[str, Any], kind: str, tell: Tell, places: Sequence[Fragment] | None = None
) -> Iterator[Candidate]:
    """Yield the mentions, or the candidates, of a document or sentence.

    Args:
        holder: The document or sentence.
        kind: The field with them.
        tell: Called for each mention that is left out.
        places: The characters of each word, to compare `spans` with, if known.
    """
    for label, fragments, score, spans in _parts(holder, kind, "fragments", tell):
        name, ordered = f"mention of {label}", tuple(sorted(fragments))
        if spans and places and all(0 <= start < end <= len(places) for start, end in ordered):
            known = tuple((places[start][0], places[end - 1][1]) for start, end in ordered)
            if spans != known:
                message = (
                    f"its spans, {_listed(spans)}, are not those of its words, {_listed(known)}"
                )
                tell("text_mismatch", f"{name}: {message}")
                continue
        yield Candidate(name, label, ordered, score)


def _listed(fragments: Iterable[Fragment]) -> str:
    return " ".join(f"{start}:{end}" for start, end in fragments)


def _parts(
    holder: dict[str, Any], kind: str, key: str, tell: Tell
) -> Iterator[tuple[str, tuple[Fragment, ...], float | None, tuple[Fragment, ...]]]:
    """Yield the label, ranges, score and spans of each mention, and report malformed ones.

    Args:
        holder: The document or sentence.
        kind: The field with the mentions.
        key: The field with the ranges: `fragments` or `spans`.
        tell: Called for each mention that is left out.
    """
    for each in as_list(holder, kind):
        try:
            item = as_object(each, "a mention")
            _check_keys(item, MENTION, "mention", tell)
            label = as_text(item.get("label"), "'label'")
            if not label:
                raise MalformedError("a mention needs a 'label'")
            if key not in item:
                raise MalformedError(f"mention of {shown(label)} has no {key!r}, {MEANINGS[key]}")
            parts = label, _pairs(item, key), _score(item), _pairs(item, "spans")
        except MalformedError as error:
            tell("syntax", str(error))
        else:
            yield parts


def _pairs(item: dict[str, Any], key: str) -> tuple[Fragment, ...]:
    pairs = as_list(item, key)
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2 or not type(pair[0]) is type(pair[1]) is int:
            raise MalformedError(f"{key!r} must be pairs of whole numbers, [[start, end], …]")
    return tuple([(pair[0], pair[1]) for pair in pairs])


def _score(item: dict[str, Any]) -> float | None:
    score = item.get("score")
    if score is None:
        return None
    if type(score) not in (int, float):
        raise MalformedError("'score' must be a number")
    try:
        found = float(score)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise MalformedError("'score' must be a finite number")
    return found
