"""Align two sets of annotated documents, also if their sentences and words differ."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any, Final, NamedTuple

from discotag.evaluation.scores import EvaluationError
from discotag.mentions import Document, Fragment, Mention, Sentence

SHOWN: Final = 40
"""The largest number of characters of a word that a message shows."""


Names = tuple[str, str]
"""What messages and descriptions call the first and the second side."""

GOLD_AND_PREDICTIONS: Final[Names] = ("the gold", "the predictions")


class AlignmentError(EvaluationError):
    """Documents with different texts; the message says where they first differ."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence of the first side, and the mentions of both sides in it.

    Args:
        document: The number of its document on the first side, from 1.
        id: The id of the document, if it has one.
        sentence: The number of the sentence in its document, from 1.
        words: The words that fragments count. If the words of the two sides differ, these are the
            parts of words that both have in common.
        first: The mentions of the first side, such as the gold.
        second: The mentions of the second side, such as predictions, that begin in this sentence.
            One that reaches past the last word, into the next sentence, equals none of the first.
    """

    document: int
    id: str | None
    sentence: int
    words: tuple[str, ...]
    first: tuple[Mention, ...]
    second: tuple[Mention, ...]

    def place(self) -> dict[str, Any]:
        """Return the sentence and where it is, as plain data."""
        return {
            "document": self.document,
            "id": self.id,
            "sentence": self.sentence,
            "words": self.words,
        }

    def __str__(self) -> str:
        """Return the sentence after the place where it is, as a line of text."""
        document = self.document if self.id is None else self.id
        return f"document {document}, sentence {self.sentence}: {' '.join(self.words)}"


def align(
    first: Iterable[Document],
    second: Iterable[Document],
    *,
    names: Names = GOLD_AND_PREDICTIONS,
) -> Iterator[Pair]:
    """Yield a pair for each sentence of the first side, in order, from two streams of documents.

    Documents are taken in order, and joined on either side until both have the same text, except
    for white space. If both have the same words, words are compared, otherwise characters. At the
    first two documents with different ids, all further documents of the second side are read into
    memory: if their ids are unique and include the id of the first side's document, documents are
    matched by id from there on, otherwise by order.

    Args:
        first: The side whose sentences are taken, such as the gold.
        second: The other side, such as predictions.
        names: What messages call the two sides.

    Raises:
        AlignmentError: The texts differ, or a document is missing on one side.

    Example:
        >>> gold = [Document([Sentence(["Sore"]), Sentence(["left", "arm"])])]
        >>> arm = Sentence(["Sore", "left", "arm"], [Mention("ADR", [(1, 3)])])
        >>> for pair in align(gold, [Document([arm])]):
        ...     print(pair.sentence, pair.words, *pair.second)
        1 ('Sore',)
        2 ('left', 'arm') ADR 'left arm' [0:2]
    """
    for sides in _blocks(enumerate(first, 1), enumerate(second, 1), names):
        yield from _pairs(*sides, names)


Numbered = tuple[int, Document]
"""A document and its number, from 1."""


def _blocks(
    first: Iterator[Numbered], second: Iterator[Numbered], names: Names
) -> Iterator[tuple[list[Numbered], list[Numbered]]]:
    """Yield the shortest runs of documents that have the same text on both sides."""
    ids_may_decide = True
    while True:
        one, other = next(first, None), next(second, None)
        if one is None and other is None:
            return
        if one and other and ids_may_decide and _ids_differ(one[1], other[1]):
            rest = [other, *second]
            by_id = {document.id: (number, document) for number, document in rest}
            if len(by_id) == len(rest) and None not in by_id and one[1].id in by_id:
                yield from _by_id(chain([one], first), by_id, names)
                return
            ids_may_decide, second = False, iter(rest[1:])
        yield _grown([one] if one else [], [other] if other else [], first, second, names)


def _ids_differ(one: Document, other: Document) -> bool:
    return one.id is not None and other.id is not None and one.id != other.id


def _by_id(
    first: Iterable[Numbered], second: dict[str | None, Numbered], names: Names
) -> Iterator[tuple[list[Numbered], list[Numbered]]]:
    for one in first:
        other = second.pop(one[1].id, None)
        if other is None:
            raise AlignmentError(
                f"{_name(one)} of {names[0]} is missing in {names[1]}, or twice in {names[0]}"
            )
        yield _grown([one], [other], iter(()), iter(()), names)
    if second:
        left = next(iter(second.values()))
        raise AlignmentError(f"{_name(left)} of {names[1]} is missing in {names[0]}")


def _grown(
    first: list[Numbered],
    second: list[Numbered],
    more_first: Iterator[Numbered],
    more_second: Iterator[Numbered],
    names: Names,
) -> tuple[list[Numbered], list[Numbered]]:
    """Add documents to both sides until they have the same text."""
    sides, further = (first, second), (more_first, more_second)
    texts = ["".join(_visible(document) for _, document in side) for side in sides]
    done = [0, 0]  # characters of each text that have been compared
    while True:
        size = min(len(texts[0]) - done[0], len(texts[1]) - done[1])
        if texts[0][done[0] : done[0] + size] != texts[1][done[1] : done[1] + size]:
            raise AlignmentError(_difference(first, second, names))
        done = [done[0] + size, done[1] + size]
        if done == [len(texts[0]), len(texts[1])]:
            return first, second
        short = 0 if done[0] == len(texts[0]) else 1
        added = next(further[short], None)
        if added is None:
            raise AlignmentError(_difference(first, second, names))
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


def _pairs(first: list[Numbered], second: list[Numbered], names: Names) -> Iterator[Pair]:
    mine, theirs = _places(first), _places(second)
    one, other = ([place.sentence.words for place in side] for side in (mine, theirs))
    if one == other:
        for here, there in zip(mine, theirs, strict=True):
            yield _pair(here, here.sentence.words, here.sentence.mentions, there.sentence.mentions)
        return
    words = tuple(chain.from_iterable(one))
    if words == tuple(chain.from_iterable(other)):
        yield from _mapped(words, _Side.by_words(mine), _Side.by_words(theirs), names)
    else:
        text = "".join(_visible(document) for _, document in first)
        yield from _mapped(text, _Side.by_characters(mine), _Side.by_characters(theirs), names)


def _pair(
    place: _Place, words: tuple[str, ...], first: Iterable[Mention], second: Iterable[Mention]
) -> Pair:
    number, document = place.document
    return Pair(number, document.id, place.number, words, tuple(first), tuple(second))


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


def _mapped(cells: Sequence[str], first: _Side, second: _Side, names: Names) -> Iterator[Pair]:
    """Yield the pairs of a block, cut wherever a word of either side begins or ends."""
    words = chain.from_iterable(chain(first.ranges, second.ranges))
    cuts = sorted({*first.starts, *chain.from_iterable(words)})
    begins = [bisect_left(cuts, start) for start in first.starts]
    mine: list[list[Mention]] = [[] for _ in first.places]
    theirs: list[list[Mention]] = [[] for _ in first.places]
    for side, groups, other in ((first, mine, names[1]), (second, theirs, names[0])):
        for place, ranges in zip(side.places, side.ranges, strict=True):
            for mention in place.sentence.mentions:
                pieces = _pieces(mention, place, ranges, cuts, other)
                home = bisect_right(begins, pieces[0][0]) - 1
                moved = [(start - begins[home], end - begins[home]) for start, end in pieces]
                groups[home].append(
                    Mention(mention.label, tuple(moved), text=mention.text, score=mention.score)
                )
    spelt = ["".join(cells[start:end]) for start, end in pairwise(cuts)]
    for number, place in enumerate(first.places):
        here = tuple(spelt[begins[number] : begins[number + 1]])
        yield _pair(place, here, mine[number], theirs[number])


def _pieces(
    mention: Mention,
    place: _Place,
    ranges: Sequence[Fragment],
    cuts: Sequence[int],
    other: str,
) -> list[Fragment]:
    runs = [(ranges[start][0], ranges[end - 1][1]) for start, end in mention.fragments]
    if any(start == end for start, end in runs):
        raise AlignmentError(
            f"{_name(place.document)}, sentence {place.number}: mention {mention} covers no "
            f"visible character, so it cannot be aligned with the other words of {other}"
        )
    return [(bisect_left(cuts, start), bisect_left(cuts, end)) for start, end in runs]


def _name(document: Numbered) -> str:
    number, value = document
    return f"document {number}" if value.id is None else f"document {number} ({value.id!r})"


def _difference(first: list[Numbered], second: list[Numbered], names: Names) -> str:
    """Describe the first difference of two blocks; documents, sentences and words count from 1."""
    one, other = ("".join(_visible(document) for _, document in side) for side in (first, second))
    both = enumerate(zip(one, other, strict=False))
    place = next((n for n, (mine, yours) in both if mine != yours), min(len(one), len(other)))
    if place == len(one):
        return f"after the end of {names[0]}, there is {_word_at(second, place)} in {names[1]}"
    if place == len(other):
        return f"after the end of {names[1]}, there is {_word_at(first, place)} in {names[0]}"
    return (
        f"there is {_word_at(first, place)} in {names[0]}, "
        f"but {_word_at(second, place)} in {names[1]}"
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
