"""W2NER's JSON: a list with an object for each sentence.

`{"sentence": ["Sore", "toes"], "ner": [{"index": [0, 1], "type": "ADR"}]}`: the words, and for each
mention the indices of its words in order, counted from 0. Other keys, such as `word`, are ignored.
W2NER converts labels to lower case when it loads them; here they are unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.parsing.files import created
from discotag.corpora.parsing.json_stream import first_object, objects
from discotag.corpora.parsing.json_values import as_list, as_number, as_object, as_text
from discotag.corpora.parsing.problems import MalformedError, Problem, Report
from discotag.corpora.parsing.unwritable import unwritable
from discotag.corpora.parsing.word_mentions import Candidate, Tell, good_mentions
from discotag.mentions import Document, Sentence

EMPTY: Final = re.compile(r"\s*\[\s*\]\s*")


def recognises(path: Path, head: str) -> bool:
    """Return whether the file is a list that is empty or has objects with sentences."""
    in_list, keys = first_object(head)
    return (in_list and not keys.keys().isdisjoint(("sentence", "ner"))) or (
        EMPTY.fullmatch(head) is not None
    )


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each sentence; one at a time is kept in memory."""
    for number, data in enumerate(objects(path, (), reading.report), start=1):
        try:
            sentence = _sentence(data, number, path, reading.report)
        except MalformedError as error:
            reading.report(Problem("syntax", f"sentence {number}: {error}", str(path)))
            continue
        yield Document((sentence,), place=(str(path), None))


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write the sentences of all documents, one per line.

    Raises:
        CorpusError: A sentence has no words, which W2NER would leave out.
    """
    with created(path) as stream:
        stream.write("[")
        sentences = (sentence for document in documents for sentence in document.sentences)
        for number, sentence in enumerate(sentences):
            data = json.dumps(_data(sentence), ensure_ascii=False)
            stream.write(f"{',' if number else ''}\n{data}")
        stream.write("\n]\n")


FORMAT: Final = Format(
    name="w2ner",
    about="W2NER's JSON: a list of sentences, mentions as word indices",
    suffixes=(".json",),
    recognises=recognises,
    read=read,
    write=write,
    outputs=(".json",),
    keeps_text=False,
)


def _sentence(data: Any, number: int, path: Path, report: Report) -> Sentence:
    item = as_object(data, "a sentence")
    if "sentence" not in item:
        raise MalformedError("the words, a list under 'sentence', are missing")
    words = [as_text(word, "a word") for word in as_list(item, "sentence")]
    if not all(words):
        raise MalformedError("a word is empty")

    def tell(kind: str, message: str) -> None:
        report(Problem(kind, f"sentence {number}, {message}", str(path)))

    found = good_mentions(_candidates(item, tell), len(words), tell)
    return Sentence(tuple(words), found)


def _candidates(sentence: dict[str, Any], tell: Tell) -> Iterator[Candidate]:
    for each in as_list(sentence, "ner"):
        try:
            mention = as_object(each, "a mention")
            label = as_text(mention.get("type"), "'type'")
            places = [as_number(place, "each of 'index'") for place in as_list(mention, "index")]
        except MalformedError as error:
            tell("syntax", f"{each!r}: {error}")
            continue
        yield Candidate(repr(each), label, tuple((place, place + 1) for place in places))


def _data(sentence: Sentence) -> dict[str, Any]:
    if not all(sentence.words) or not sentence.words:
        what = "an empty word" if sentence.words else "a sentence without words"
        raise unwritable(FORMAT.name, what)
    return {
        "sentence": sentence.words,
        "ner": [{"index": mention.words, "type": mention.label} for mention in sentence.mentions],
    }
