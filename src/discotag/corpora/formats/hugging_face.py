"""Hugging Face's JSON lines of words and tags: `{"tokens": ["Sore"], "ner_tags": ["B-ADR"]}`.

Tags are strings of BIO, BIOES, BILOU or BMES, as in CoNLL files. Numbers are refused, because their
names are not in the file. Further fields are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats.format import Format, Reading
from discotag.corpora.parsing.json_stream import first_object, values
from discotag.corpora.parsing.json_values import as_list, as_name, as_object, as_text
from discotag.corpora.parsing.problems import MalformedError, Problem
from discotag.corpora.parsing.tags import flaw_of, untagged
from discotag.corpora.parsing.word_mentions import Tell
from discotag.counts import counted
from discotag.mentions import Document, Sentence

WORDS: Final = "tokens"
TAGS: Final = "ner_tags"

NUMBERS: Final = (
    f"'{TAGS}' are numbers, whose names are not in the file; write the names instead, which "
    f"dataset.features['{TAGS}'].feature.names lists"
)


def recognises(path: Path, head: str) -> bool:
    """Return whether documents have words and tags."""
    return first_object(head)[1].keys() >= {WORDS, TAGS}


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document of one sentence for each line, or for each object of a list.

    Tags that are numbers are reported once and end the reading.
    """
    for number, data in values(path, reading.report):

        def tell(kind: str, message: str, line: int | None = number) -> None:
            reading.report(Problem(kind, message, str(path), line))

        try:
            document = as_object(data, "a document")
            tags = as_list(document, TAGS)
            if any(type(tag) is int for tag in tags):
                tell("syntax", NUMBERS)
                return
            sentence = _sentence(document, tags, tell)
            name = as_name(document.get("id"), "'id'")
        except MalformedError as error:
            tell("syntax", str(error))
            continue
        extra = {key: value for key, value in document.items() if key not in ("id", WORDS, TAGS)}
        yield Document((sentence,), id=name, extra=extra, place=(str(path), number))


FORMAT: Final = Format(
    name="hugging-face",
    about="Hugging Face's JSON lines of tokens and ner_tags (read only)",
    suffixes=(".jsonl", ".json"),
    recognises=recognises,
    read=read,
    keeps_text=False,
    discontinuous=False,
    overlaps=False,
)


def _sentence(document: dict[str, Any], tags: list[Any], tell: Tell) -> Sentence:
    words = tuple(as_text(word, "a word") for word in as_list(document, WORDS))
    if not all(words):
        raise MalformedError("a word is empty")
    if len(words) != len(tags):
        raise MalformedError(f"{counted(len(words), 'word')} but {counted(len(tags), 'tag')}")
    for tag in tags:
        flaw = flaw_of(as_text(tag, "a tag"))
        if flaw is not None:
            raise MalformedError(flaw)
    mentions, wrong = untagged(tags)
    for place in wrong:
        tell("ill_formed", f"{tags[place]!r} continues a mention that did not begin")
    return Sentence(words, tuple(mentions))
