"""Finding the threshold of a model with which few mentions are missed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from discotag.counts import counted
from discotag.errors import InputError
from discotag.evaluation.guarantee import GRID, OUTSIDE, Bound, check_goal, find_bound
from discotag.mentions import Document, Mention, Sentence
from discotag.model.guarantee import CHOICES, MOST, Count, Guarantee, Match, Unit
from discotag.prediction.predictions import distinct
from discotag.prediction.tagger import Tagger
from discotag.words import Splitter

LEAST: Final = float(GRID[0])
"""The lowest score of candidates that are looked at."""

PREDICTED: Final = 1.0
"""The score of what is predicted, and so returned with every threshold."""


class UnreachableError(InputError):
    """The recall that was asked for cannot be guaranteed."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A guarantee, and what was measured on the same text.

    These shares are those of this text. They are likely a little worse on other text, for which
    only the guarantee holds.

    Attributes:
        guarantee: The guarantee.
        documents: The number of documents.
        gold: The number of gold mentions, or of documents or sentences with one.
        other_labels: The number of gold mentions that were left out, because the model does not
            have their labels.
        found: The share of these that mentions and candidates find.
        predicted: The share that mentions alone find.
        mentions: The number of predicted mentions.
        candidates: The number of further candidates.
    """

    guarantee: Guarantee
    documents: int
    gold: int
    other_labels: int
    found: float
    predicted: float
    mentions: int
    candidates: int


def find_guarantee(
    tagger: Tagger,
    documents: Iterable[Document],
    *,
    target_recall: float,
    confidence: float = 0.9,
    count: Count = "mentions",
    unit: Unit = "documents",
    match: Match = "exact",
    progress: bool = False,
) -> Measured:
    """Find the highest score of candidates with which a recall is guaranteed.

    The guarantee holds for text that is like the documents: for the source that they were drawn
    from at random, or for the whole of a collection of which they are a random sample. It holds
    with a probability of at least `confidence` over the choice of the documents, for a sample of
    any size, and whatever the quality of the model and of its scores. The documents must be new to
    the model.

    `tagger.with_guarantee(found.guarantee)` returns the candidates, and can be saved.

    Args:
        tagger: The model.
        documents: Documents with all their gold mentions. Those whose labels the model does not
            have are left out.
        target_recall: The share of mentions or documents to find, between 0 and 1.
        confidence: The probability with which the guarantee holds, between 0 and 1.
        count: `mentions`: so many mentions are found. `documents`: so many of the documents with a
            mention have at least one mention or candidate, right or wrong.
        unit: What is drawn at random: documents, or sentences. It is sentences only if those of a
            document are as different as those of different documents. Mentions of a document
            beyond the tenth, or of a sentence beyond the fourth, have less weight, so that no unit
            decides alone.
        match: Whether a mention is found by the same mention only (`exact`), or by one of its label
            that shares a word with it (`overlap`).
        progress: Show a progress bar on standard error, if it is a terminal.

    Raises:
        UnreachableError: No score guarantees it. The message says what can be reached.
        InputError: An argument is out of range, or there are no gold mentions.

    Example:
        >>> from discotag import find_guarantee, load  # doctest: +SKIP
        >>> found = find_guarantee(load(), documents, target_recall=0.9)  # doctest: +SKIP
        >>> found.guarantee.threshold  # doctest: +SKIP
        0.031
    """
    for name, value in (("count", count), ("unit", unit), ("match", match)):
        if value not in CHOICES[name]:
            raise InputError(f"{name} must be {' or '.join(CHOICES[name])}, got {value!r}")
    check_goal(target_recall, confidence)
    given = list(documents)
    gold = [_with_labels(each, tagger.scheme.labels) for each in given]
    left_out = sum(len(a.mentions) - len(b.mentions) for a, b in zip(given, gold, strict=True))
    if not any(each.mentions for each in gold):
        wanted = ", ".join(tagger.scheme.labels)
        others = sorted({mention.label for each in given for mention in each.mentions})
        has = f"; its labels are {', '.join(others)}" if others else ""
        raise InputError(f"it has no gold mentions of {wanted}, so recall cannot be measured{has}")
    found = find_as_in_text(tagger, gold, progress=progress)
    if count == "documents" or match == "overlap":
        found = [_distinct(each) for each in found]
    if unit == "sentences":
        gold, found = _sentences(gold), _sentences(found)
    pairs = list(zip(gold, found, strict=True))
    bound = find_bound(
        [scores_of_gold(*pair, count, match) for pair in pairs],
        target_recall,
        confidence,
        None if count == "documents" else MOST[unit],
    )
    if bound.threshold is None:
        raise UnreachableError(_unreachable(bound, target_recall, confidence, count, unit, match))
    guarantee = Guarantee(
        threshold=bound.threshold,
        target_recall=target_recall,
        confidence=confidence,
        count=count,
        unit=unit,
        match=match,
        units=bound.units,
        runtime=tagger.runtime.name,
    )
    return _measured(guarantee, pairs, len(given), left_out)


def find_as_in_text(
    tagger: Tagger, gold: Sequence[Document], *, progress: bool = False
) -> list[Document]:
    """Return documents with the mentions and candidates that are found without gold mentions.

    Where text is read with gold mentions, sentences that a mention reaches across are one. In text
    to predict on, they are not, so that such a mention cannot be found.
    """
    pieces = [_as_in_text(each, tagger.splitter) for each in gold]
    apart = [
        replace(each, sentences=tuple(chain.from_iterable(own)))
        for each, own in zip(gold, pieces, strict=True)
    ]
    found = tagger.predict(apart, candidates=LEAST, progress=progress)
    joined = []
    for document, own, guess in zip(gold, pieces, found, strict=True):
        sentences = iter(guess.sentences)
        filled = [_joined([next(sentences) for _ in each]) for each in own]
        joined.append(document.with_mentions(*zip(*filled, strict=True)) if filled else document)
    return joined


def _as_in_text(document: Document, splitter: Splitter) -> list[list[Sentence]]:
    """Return each sentence of a document, or instead of it those that a mention has joined."""
    text = document.text
    if text is None or not document.mentions:
        return [[each] for each in document.sentences]
    ranges = splitter.sentence_ranges(text)
    found = []
    for sentence in document.sentences:
        spans = [each.spans for each in sentence.mentions if each.spans]
        begin, end = sentence.start, sentence.start + len(sentence.text or "")
        inside = [(start, stop) for start, stop in ranges if begin <= start and stop <= end]
        parts = [splitter.sentence(text, start, stop) for start, stop in inside]
        crossed = any(own[0][0] < start < own[-1][1] for own in spans for start, _ in inside)
        same = [word for each in parts for word in each.words] == [*sentence.words]
        found.append(parts if crossed and same else [sentence])
    return found


def _joined(sentences: Iterable[Sentence]) -> tuple[list[Mention], list[Mention]]:
    """Return the mentions and the candidates of sentences that follow each other, as of one."""
    mentions, candidates, passed = list[Mention](), list[Mention](), 0
    for each in sentences:
        mentions += [mention.shifted(passed) for mention in each.mentions]
        candidates += [mention.shifted(passed) for mention in each.candidates]
        passed += len(each.words)
    return mentions, candidates


def scores_of_gold(gold: Document, found: Document, count: Count, match: Match) -> list[float]:
    """Return the score of what finds each gold mention of a document, or the whole document.

    Args:
        gold: The document with its gold mentions.
        found: The document with its mentions and candidates.
        count: As in `find_guarantee`.
        match: As in `find_guarantee`.

    Returns:
        For each gold mention the highest score of what finds it: `PREDICTED`, the score of a
        candidate, or `OUTSIDE`. With documents, there is one score, or none without gold mentions.
    """
    if count == "documents":
        if not gold.mentions:
            return []
        if found.mentions:
            return [PREDICTED]
        return [max((each.score or 0.0 for each in found.candidates), default=OUTSIDE)]
    return [
        max(
            [PREDICTED for each in guess.mentions if finds(each, mention, match)]
            or [each.score or 0.0 for each in guess.candidates if finds(each, mention, match)],
            default=OUTSIDE,
        )
        for truth, guess in zip(gold.sentences, found.sentences, strict=True)
        for mention in dict.fromkeys(truth.mentions)
    ]


def finds(mention: Mention, gold: Mention, match: Match) -> bool:
    """Return whether a mention finds a gold mention, exactly or by a shared word.

    Example:
        >>> finds(Mention("ADR", [(0, 2)]), Mention("ADR", [(1, 2), (4, 5)]), "overlap")
        True
    """
    if match == "exact":
        return mention == gold
    return mention.label == gold.label and not set(mention.words).isdisjoint(gold.words)


def _with_labels(document: Document, labels: Sequence[str]) -> Document:
    """Return a document with the mentions that have one of these labels."""
    kept = [[each for each in own.mentions if each.label in labels] for own in document.sentences]
    return document.with_mentions(kept)


def _distinct(document: Document) -> Document:
    """Return a document with the candidates that `Guarantee.distinct` leaves."""
    sentences = document.sentences
    return document.with_mentions(
        [each.mentions for each in sentences],
        [distinct(each.mentions, each.candidates) for each in sentences],
    )


def _sentences(documents: Iterable[Document]) -> list[Document]:
    """Return each sentence as a document."""
    return [Document((each,)) for document in documents for each in document.sentences]


def _measured(
    guarantee: Guarantee, pairs: Sequence[tuple[Document, Document]], documents: int, left_out: int
) -> Measured:
    """Return what the mentions and candidates of documents find, and how many they are."""
    scores = [
        each for pair in pairs for each in scores_of_gold(*pair, guarantee.count, guarantee.match)
    ]
    return Measured(
        guarantee=guarantee,
        documents=documents,
        gold=len(scores),
        other_labels=left_out,
        found=sum(each >= guarantee.threshold for each in scores) / len(scores),
        predicted=sum(each == PREDICTED for each in scores) / len(scores),
        mentions=sum(len(found.mentions) for _, found in pairs),
        candidates=sum(
            (each.score or 0.0) >= guarantee.threshold
            for _, found in pairs
            for each in found.candidates
        ),
    )


def _unreachable(
    bound: Bound, target: float, confidence: float, count: Count, unit: Unit, match: Match
) -> str:
    """Return a message that says what can be reached."""
    parts = [
        f"a recall of {target:g} of {count} cannot be guaranteed with confidence {confidence:g}: "
        f"mentions and candidates of any score find {bound.found:.1%}, in a sample of "
        f"{counted(bound.units, unit[:-1])} with mentions",
        f"the highest recall that this sample can guarantee is {bound.reachable:g}"
        if bound.reachable
        else "this sample can guarantee no recall",
    ]
    if bound.needed is not None:
        parts.append(f"it would take about {bound.needed:,} {unit} with mentions like these")
    elif count == "mentions" and match == "exact":
        parts.append(
            "mentions that only have to overlap are easier to find: --match overlap, in Python "
            "match='overlap'"
        )
    return "; ".join(parts)
