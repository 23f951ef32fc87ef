"""What callers give to be tagged: texts, lists of words, sentences and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from discotag.errors import InputError
from discotag.mentions import Document, Sentence
from discotag.prediction.engine import Portion
from discotag.prediction.pipeline import collection_paused
from discotag.prediction.runtimes import LOOK_AHEAD, Runtime
from discotag.words import Splitter

Item = str | Sequence[str] | Sentence | Document
"""An input of the tagger: a text, a list of words, a sentence or a document."""


def check_items(items: object) -> None:
    """Raise `InputError` if this is not an iterable of items."""
    if isinstance(items, str | Sentence | Document):
        raise InputError("give a list of items, even for a single one")
    if type(items).__name__ == "DataFrame":
        raise InputError(
            'cannot tag a data frame: give the column with the texts, frame["comment"]'
        )
    # Data sets of PyTorch have items, but are not of the type Iterable.
    several = isinstance(items, Iterable) or hasattr(items, "__getitem__")
    if not several or isinstance(items, bytes | Mapping):
        raise InputError(f"cannot tag {type(items).__name__}: give a text, or a list of items")


def read_portions(
    items: Iterable[Item], splitter: Splitter, runtime: Runtime, skip: int = 0
) -> Iterator[Portion[Any]]:
    """Yield the documents of items, those that are tagged together.

    The bounds of portions do not depend on `skip`, so that batches, and with them the last bit
    of scores, are always the same.

    Args:
        items: The items.
        splitter: Splits texts.
        runtime: The runtime that will encode them.
        skip: The number of documents at the beginning that are not asked for.

    Raises:
        InputError: An item cannot be tagged.
    """
    most = runtime.budget  # small at first, for a quick first result
    waiting = enumerate(items)
    passed = 0
    while documents := _next_documents(waiting, splitter, most):
        if passed + len(documents) > skip:
            yield Portion(documents, max(0, skip - passed))
        passed += len(documents)
        most = min(2 * most, LOOK_AHEAD * runtime.batch)


def _next_documents(
    items: Iterator[tuple[int, Item]], splitter: Splitter, most: int
) -> list[Document]:
    """Return the documents of the next items, with about `most` words in all."""
    documents: list[Document] = []
    words = 0
    with collection_paused():
        for number, item in items:
            document = _document(item, number, splitter)
            documents.append(document)
            for sentence in document.sentences:
                words += len(sentence.words)
            if words >= most or len(documents) >= most:
                break
    return documents


def _document(item: Item, number: int, splitter: Splitter) -> Document:
    if isinstance(item, str):
        return splitter.document(item)
    if _is_missing(item):
        return Document((), text="")
    if isinstance(item, Document):
        return item
    if isinstance(item, Sentence):
        return Document((item,))
    if isinstance(item, Sequence) and all(isinstance(word, str) for word in item):
        return Document((Sentence(tuple(item)),))
    raise InputError(
        f"item {number}: cannot tag {type(item).__name__}: give a text, a list of words, "
        "a Sentence or a Document"
    )


def _is_missing(item: object) -> bool:
    """Return whether a value of a data frame is missing: None, NaN, or the NA of pandas."""
    return (
        item is None or type(item).__name__ == "NAType" or (isinstance(item, float) and isnan(item))
    )
