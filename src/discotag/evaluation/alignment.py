"""Gold and predicted documents side by side, also when they were cut differently."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Final, NamedTuple

from discotag.evaluation.scores import EvaluationError
from discotag.mentions import Document, Fragment, Mention, Sentence

SHOWN: Final = 40
"""Characters of a word that a message shows at most."""


class AlignmentError(EvaluationError):
    """Gold and predictions are not of the same text; the message says where they first differ."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold sentence and what was predicted for it.

    Args:
        document: The number of its document in the gold, from 1.
        id: The id of the document, if it has one.
        sentence: The number of the sentence in its document, from 1.
        words: The words that fragments count; pieces of words where the two sides have
            different words.
        gold: The gold mentions.
        predicted: The predicted mentions that begin in this sentence. One may reach past the
            last word, into a sentence that the gold has cut off; it is then never correct.
    """

    document: int
    id: str | None
    sentence: int
    words: tuple[str, ...]
    gold: tuple[Mention, ...]
    predicted: tuple[Mention, ...]


def align(gold: Iterable[Document], predicted: Iterable[Document]) -> Iterator[Pair]:
    """A pair for each sentence of the gold, in its order, from two streams of documents.

    Documents are taken in order, and joined on either side until both hold the same text, spaces
    aside. Where both have the same words these are compared, otherwise characters. Where two
    documents that should be compared have different ids, all further predicted documents are
    kept in memory: if their ids are unique, and the gold document's is among them, ids decide
    from there on; otherwise the order does.

    Raises:
        AlignmentError: The texts differ, or a document is on one side only.

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
    """The shortest runs of documents that hold the same text on both sides."""
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
                f"{_name(truth)} of the gold is not in the predictions, or twice in the gold"
            )
        yield _grown([truth], [found], iter(()), iter(()))
    if predicted:
        left = next(iter(predicted.values()))
        raise AlignmentError(f"{_name(left)} of the predictions is not in the gold")


def _grown(
    golds: list[Numbered],
    predictions: list[Numbered],
    more_gold: Iterator[Numbered],
    more_predicted: Iterator[Numbered],
) -> tuple[list[Numbered], list[Numbered]]:
    """Both sides with as many documents added as it takes to hold the same text."""
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
    """The text of a sentence without its spaces."""
    text = "".join(sentence.words) if sentence.text is None else sentence.text
    return "".join(text.split())


class _Place(NamedTuple):
    """A sentence, and where it stands."""

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
    """Where each word stands among the visible characters of its sentence."""
    if sentence.text is None or sentence.offsets is None:
        sizes = (len("".join(word.split())) for word in sentence.words)
        return list(pairwise(accumulate(sizes, initial=0)))
    before = list(accumulate((not char.isspace() for char in sentence.text), initial=0))
    return [(before[start], before[end]) for start, end in sentence.offsets]


def _mapped(cells: Sequence[str], gold: _Side, predicted: _Side) -> Iterator[Pair]:
    """The pairs of a block: cut into pieces wherever a word of either side begins or ends."""
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
            "visible character; gold and predictions differ in their words, so it has no place"
        )
    return [(bisect_left(cuts, start), bisect_left(cuts, end)) for start, end in runs]


def _name(document: Numbered) -> str:
    number, value = document
    return f"document {number}" if value.id is None else f"document {number} ({value.id!r})"


def _difference(golds: list[Numbered], predictions: list[Numbered]) -> str:
    """Where two blocks first differ, in words; documents, sentences and words count from 1."""
    one, other = (
        "".join(_visible(document) for _, document in side) for side in (golds, predictions)
    )
    both = enumerate(zip(one, other, strict=False))
    place = next((n for n, (mine, yours) in both if mine != yours), min(len(one), len(other)))
    if place == len(one):
        return f"the gold ends where the predictions go on with {_word_at(predictions, place)}"
    if place == len(other):
        return f"the predictions end where the gold goes on with {_word_at(golds, place)}"
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
    if word is None:  # characters of the text that stand in no word
        spelling = _characters(place.sentence)[cell - side.starts[number] :]
    else:
        spelling, where = place.sentence.words[word], f"{where}, word {word + 1}"
    shown = spelling if len(spelling) <= SHOWN else spelling[:SHOWN] + "…"
    return f"{shown!r} ({where})"
