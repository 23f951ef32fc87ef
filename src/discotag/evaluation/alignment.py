"""Align gold and predicted documents, also if their sentences and words differ."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Final, NamedTuple

from discotag.evaluation.scores import EvaluationError
from discotag.mentions import Document, Fragment, Mention, Sentence

SHOWN: Final = 40
"""The largest number of characters of a word that a message shows."""


class AlignmentError(EvaluationError):
    """Gold and predictions with different texts; the message says where they first differ."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold sentence and the mentions predicted for it.

    Args:
        document: The number of its document in the gold, from 1.
        id: The id of the document, if it has one.
        sentence: The number of the sentence in its document, from 1.
        words: The words that fragments count. If the words of gold and predictions differ, these
            are the parts of words that both have in common.
        gold: The gold mentions.
        predicted: The predicted mentions that begin in this sentence. A mention that reaches past
            the last word, into the next sentence of the gold, is never correct.
    """

    document: int
    id: str | None
    sentence: int
    words: tuple[str, ...]
    gold: tuple[Mention, ...]
    predicted: tuple[Mention, ...]


def align(gold: Iterable[Document], predicted: Iterable[Document]) -> Iterator[Pair]:
    """Yield a pair for each gold sentence, in order, from two streams of documents.

    Documents are taken in order, and joined on either side until both have the same text, except
    for white space. If both have the same words, words are compared, otherwise characters. At the
    first two documents with different ids, all further predicted documents are read into memory: if
    their ids are unique and include the id of the gold document, documents are matched by id from
    there on, otherwise by order.

    Raises:
        AlignmentError: The texts differ, or a document is missing on one side.

    Example:
        >>> gold = [Document([Sentence(["Sore"]), Sentence(["left", "arm"])])]
        >>> arm = Sentence(["Sore", "left", "arm"], [Mention("ADR", [(1, 3)])])
        >>> for pair in align(gold, [Document([arm])]):
        ...     print(pair.sentence, pair.words, *pair.predicted)
        1 ('Sore',)
        2 ('left', 'arm') ADR 'left arm' [0:2]
    """
    for golds, predictions in _blocks(enumerate(gold, 1), enumerate(predicted, 1)):
        yield from _pairs(golds, predictions)


Numbered = tuple[int, Document]
"""A document and its number, from 1."""


def _blocks(
    gold: Iterator[Numbered], predicted: Iterator[Numbered]
) -> Iterator[tuple[list[Numbered], list[Numbered]]]:
    """Yield the shortest runs of documents that have the same text on both sides."""
    ids_may_decide = True
    while True:
        truth, found = next(gold, None), next(predicted, None)
        if truth is None and found is None:
            return
        if truth and found and ids_may_decide and _ids_differ(truth[1], found[1]):
            rest = [found, *predicted]
            by_id = {document.id: (number, document) for number, document in rest}
            if len(by_id) == len(rest) and None not in by_id and truth[1].id in by_id:
                yield from _by_id(chain([truth], gold), by_id)
                return
            ids_may_decide, predicted = False, iter(rest[1:])
        yield _grown([truth] if truth else [], [found] if found else [], gold, predicted)


def _ids_differ(one: Document, other: Document) -> bool:
    return one.id is not None and other.id is not None and one.id != other.id


def _by_id(
    gold: Iterable[Numbered], predicted: dict[str | None, Numbered]
) -> Iterator[tuple[list[Numbered], list[Numbered]]]:
    for truth in gold:
        found = predicted.pop(truth[1].id, None)
        if found is None:
            raise AlignmentError(
                f"{_name(truth)} of the gold is missing in the predictions, or twice in the gold"
            )
        yield _grown([truth], [found], iter(()), iter(()))
    if predicted:
        left = next(iter(predicted.values()))
        raise AlignmentError(f"{_name(left)} of the predictions is missing in the gold")


def _grown(
    golds: list[Numbered],
    predictions: list[Numbered],
    more_gold: Iterator[Numbered],
    more_predicted: Iterator[Numbered],
) -> tuple[list[Numbered], list[Numbered]]:
    """Add documents to both sides until they have the same text."""
    sides, further = (golds, predictions), (more_gold, more_predicted)
    texts = ["".join(_visible(document) for _, document in side) for side in sides]
    done = [0, 0]  # characters of each text that have been compared
    while True:
        size = min(len(texts[0]) - done[0], len(texts[1]) - done[1])
        if texts[0][done[0] : done[0] + size] != texts[1][done[1] : done[1] + size]:
            raise AlignmentError(_difference(golds, predictions))
        done = [done[0] + size, done[1] + size]
        if done == [len(texts[0]), len(texts[1])]:
            return golds, predictions
        short = 0 if done[0] == len(texts[0]) else 1
        added = next(further[short], None)
        if added is None:
            raise AlignmentError(_difference(golds, predictions))
        sides[short].append(added)
        texts[short], done[short] = _visible(added[1]), 0


def _visible(document: Document) -> str:
    return "".join(_characters(sentence) for sentence in document.sentences)


def _characters(sentence: Sentence) -> str:
    """Return the text of a sentence without white space."""
    text = "".join(sentence.words) if sentence.text is None else sentence.text
    return "".join(text.split())


class _Place(NamedTuple):
    """A sentence, its number, and its document."""

    document: Numbered
    number: int
    sentence: Sentence


def _places(documents: Iterable[Numbered]) -> list[_Place]:
    return [
        _Place(document, number, sentence)
        for document in documents
        for number, sentence in enumerate(document[1].sentences, 1)
    ]


def _pairs(golds: list[Numbered], predictions: list[Numbered]) -> Iterator[Pair]:
    gold, predicted = _places(golds), _places(predictions)
    one, other = ([place.sentence.words for place in side] for side in (gold, predicted))
    if one == other:
        for mine, theirs in zip(gold, predicted, strict=True):
            yield _pair(mine, mine.sentence.words, mine.sentence.mentions, theirs.sentence.mentions)
        return
    words = tuple(chain.from_iterable(one))
    if words == tuple(chain.from_iterable(other)):
        yield from _mapped(words, _Side.by_words(gold), _Side.by_words(predicted))
    else:
        text = "".join(_visible(document) for _, document in golds)
        yield from _mapped(text, _Side.by_characters(gold), _Side.by_characters(predicted))


def _pair(
    place: _Place, words: tuple[str, ...], gold: Iterable[Mention], predicted: Iterable[Mention]
) -> Pair:
    number, document = place.document
    return Pair(number, document.id, place.number, words, tuple(gold), tuple(predicted))


class _Side(NamedTuple):
    """The sentences of one side of a block, measured in cells: its words, or its characters."""

    places: list[_Place]
    starts: list[int]
    """Where each sentence begins, and where the last one ends."""
    ranges: list[list[Fragment]]
    """For each sentence, the cells of each of its words."""

    @classmethod
    def by_words(cls, places: list[_Place]) -> _Side:
        starts = list(accumulate((len(place.sentence.words) for place in places), initial=0))
        ranges = [[(n, n + 1) for n in range(*ends)] for ends in pairwise(starts)]
        return cls(places, starts, ranges)

    @classmethod
    def by_characters(cls, places: list[_Place]) -> _Side:
        sizes = (len(_characters(place.sentence)) for place in places)
        starts = list(accumulate(sizes, initial=0))
        ranges = [
            [(start + first, start + end) for first, end in _visible_ranges(place.sentence)]
            for start, place in zip(starts, places, strict=False)
        ]
        return cls(places, starts, ranges)


def _visible_ranges(sentence: Sentence) -> list[Fragment]:
    """Return the range of each word, counted in visible characters of its sentence."""
    if sentence.text is None or sentence.offsets is None:
        sizes = (len("".join(word.split())) for word in sentence.words)
        return list(pairwise(accumulate(sizes, initial=0)))
    before = list(accumulate((not char.isspace() for char in sentence.text), initial=0))
    return [(before[start], before[end]) for start, end in sentence.offsets]


def _mapped(cells: Sequence[str], gold: _Side, predicted: _Side) -> Iterator[Pair]:
    """Yield the pairs of a block, cut wherever a word of either side begins or ends."""
    words = chain.from_iterable(chain(gold.ranges, predicted.ranges))
    cuts = sorted({*gold.starts, *chain.from_iterable(words)})
    firsts = [bisect_left(cuts, start) for start in gold.starts]
    truths: list[list[Mention]] = [[] for _ in gold.places]
    found: list[list[Mention]] = [[] for _ in gold.places]
    for side, groups in ((gold, truths), (predicted, found)):
        for place, ranges in zip(side.places, side.ranges, strict=True):
            for mention in place.sentence.mentions:
                pieces = _pieces(mention, place, ranges, cuts)
                home = bisect_right(firsts, pieces[0][0]) - 1
                moved = [(start - firsts[home], end - firsts[home]) for start, end in pieces]
                groups[home].append(
                    Mention(mention.label, tuple(moved), text=mention.text, score=mention.score)
                )
    spelt = ["".join(cells[start:end]) for start, end in pairwise(cuts)]
    for number, place in enumerate(gold.places):
        here = tuple(spelt[firsts[number] : firsts[number + 1]])
        yield _pair(place, here, truths[number], found[number])


def _pieces(
    mention: Mention, place: _Place, ranges: Sequence[Fragment], cuts: Sequence[int]
) -> list[Fragment]:
    runs = [(ranges[start][0], ranges[end - 1][1]) for start, end in mention.fragments]
    if any(start == end for start, end in runs):
        raise AlignmentError(
            f"{_name(place.document)}, sentence {place.number}: mention {mention} covers no "
            "visible character, so it cannot be aligned with predictions that have other words"
        )
    return [(bisect_left(cuts, start), bisect_left(cuts, end)) for start, end in runs]


def _name(document: Numbered) -> str:
    number, value = document
    return f"document {number}" if value.id is None else f"document {number} ({value.id!r})"


def _difference(golds: list[Numbered], predictions: list[Numbered]) -> str:
    """Describe the first difference of two blocks; documents, sentences and words count from 1."""
    one, other = (
        "".join(_visible(document) for _, document in side) for side in (golds, predictions)
    )
    both = enumerate(zip(one, other, strict=False))
    place = next((n for n, (mine, yours) in both if mine != yours), min(len(one), len(other)))
    if place == len(one):
        return f"the gold ends where the predictions continue with {_word_at(predictions, place)}"
    if place == len(other):
        return f"the predictions end where the gold continues with {_word_at(golds, place)}"
    return (
        f"the gold has {_word_at(golds, place)}, "
        f"where the predictions have {_word_at(predictions, place)}"
    )


def _word_at(documents: list[Numbered], cell: int) -> str:
    side = _Side.by_characters(_places(documents))
    number = bisect_right(side.starts, cell) - 1
    place, ranges = side.places[number], side.ranges[number]
    where = f"{_name(place.document)}, sentence {place.number}"
    word = next((n for n, (_, end) in enumerate(ranges) if end > cell), None)
    if word is None:  # characters that are not part of a word
        spelling = _characters(place.sentence)[cell - side.starts[number] :]
    else:
        spelling, where = place.sentence.words[word], f"{where}, word {word + 1}"
    shown = spelling if len(spelling) <= SHOWN else spelling[:SHOWN] + "…"
    return f"{shown!r} ({where})"
