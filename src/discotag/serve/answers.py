"""Requests to documents, and documents with what was found in them to answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from discotag.mentions import Document, Sentence
from discotag.render.html_drawing import drawing_data
from discotag.scheme import IncompatibleError, Scheme
from discotag.serve.engine import Found
from discotag.serve.models import ServedModel
from discotag.serve.schemas import PredictRequest
from discotag.web.errors import ServiceError
from discotag.web.limits import Limits
from discotag.words import Splitter


def check_size(request: PredictRequest, limits: Limits) -> int:
    """Return how many characters a request has in all.

    Raises:
        ServiceError: It has too many texts, or one of them is too long (413).
    """
    items = request.items
    if len(items) > limits.max_texts:
        raise _too_much("too_many_texts", limits.max_texts, "texts", "a request", len(items))
    total = 0
    for number, item in enumerate(items):
        size = len(item) if isinstance(item, str) else sum(map(len, item))
        if size > limits.max_text:
            raise _too_much("too_long", limits.max_text, "characters", "a text", size, number)
        total += size
    return total


def make_documents(request: PredictRequest, splitter: Splitter, limits: Limits) -> list[Document]:
    """Return the documents of a request.

    Raises:
        ServiceError: There are too many words, or a sentence has too many (413).
    """
    documents = []
    total = 0
    for number, item in enumerate(request.items):
        if isinstance(item, str):
            document = splitter.document(item)
        else:
            document = Document.unchecked((Sentence.unchecked(tuple(item), None, None, 0),), None)
        documents.append(document)
        for sentence in document.sentences:
            size = len(sentence.words)
            total += size
            if size > limits.max_sentence:
                raise _too_much(
                    "sentence_too_long", limits.max_sentence, "words", "a sentence", size, number
                )
            if total > limits.max_words:
                raise _too_much("too_many_words", limits.max_words, "words", "a request")
    return documents


def fill(documents: Sequence[Document], found: Sequence[Found]) -> list[Document]:
    """Return documents with the mentions and candidates that an engine found."""
    sentences = iter(found)
    filled = []
    for document in documents:
        own = [next(sentences) for _ in document.sentences]
        filled.append(
            document.with_mentions(
                [each.mentions for each in own], [each.candidates for each in own]
            )
        )
    return filled


def write_answer(
    request: PredictRequest,
    model: ServedModel,
    documents: Sequence[Document],
    found: Sequence[Found],
) -> bytes:
    """Return the answer to a request as JSON.

    Args:
        request: The request.
        model: The model that was used.
        documents: The documents, with mentions.
        found: What an engine found in each sentence.
    """
    scheme = model.scheme
    readings = (each.alternatives for each in found)
    plain = []
    for document in documents:
        data = document.to_dict()
        if request.candidates:
            data.setdefault("candidates", [])
        if request.alternatives:
            data["alternatives"] = list(_alternatives(document, readings))
        if request.tags:
            data["tags"] = [_tags(scheme, each) for each in document.sentences]
        if request.draw:
            data["drawings"] = [drawing_data(each, scheme.labels) for each in document.sentences]
        plain.append(data)
    answer: dict[str, Any] = {"model": model.name, "documents": plain}
    if request.draw:
        answer["labels"] = scheme.labels
    return json.dumps(answer, ensure_ascii=False).encode()


def _alternatives(document: Document, readings: Iterator[Any]) -> Iterator[list[dict[str, Any]]]:
    """Yield the alternatives of each sentence; as in the document, words are counted through it."""
    passed = 0
    for sentence in document.sentences:
        yield [
            {
                "probability": probability,
                "mentions": [
                    each.shifted(passed).to_dict()
                    for each in sentence.with_mentions(mentions).mentions
                ],
            }
            for probability, mentions in next(readings)
        ]
        passed += len(sentence.words)


def _tags(scheme: Scheme, sentence: Sentence) -> list[str] | None:
    """Return the tags of a sentence; None if the scheme cannot represent its mentions.

    That happens if only some mentions of a mention set have a high score.
    """
    try:
        return scheme.encode(len(sentence.words), sentence.mentions)
    except IncompatibleError:
        return None


def _too_much(
    code: str, most: int, what: str, whole: str, got: int | None = None, number: int | None = None
) -> ServiceError:
    where = "" if number is None else f"item {number}: "
    found = "" if got is None else f", got {got:,}"
    return ServiceError(413, code, f"{where}{whole} may have up to {most:,} {what}{found}")
