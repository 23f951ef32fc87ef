"""The sentences of a corpus: reading them, and choosing those that a scheme can represent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discotag.errors import InputError
from discotag.lexicon import Lexicon
from discotag.mentions import Document, Mention, Sentence
from discotag.scheme import Scheme
from discotag.words import Splitter

if TYPE_CHECKING:
    from discotag.corpora import Problem

MOST_WORDS: Final = 5000
"""Longer sentences are not trained on, because all their windows have to be in memory at once. With
MiniLM, a training on a CPU takes 7 GB if one of its sentences has so many words."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A sentence that is not trained on.

    Attributes:
        number: Its position in the training data, from 0.
        sentence: The sentence.
        reasons: Why its mentions do not fit the scheme, see `discotag.scheme.REASONS`; or
            `no_words`, or `too_long`.
    """

    number: int
    sentence: Sentence
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as plain data."""
        return {
            "number": self.number,
            "reasons": self.reasons,
            "words": self.sentence.words,
            "mentions": [mention.to_dict() for mention in self.sentence.mentions],
        }


def read_documents(
    path: Path,
    labels: Sequence[str] = (),
    known: Sequence[str] = (),
    splitter: Splitter | None = None,
    report_problem: Callable[[Problem], None] | None = None,
) -> list[Document]:
    """Read all documents of a corpus, without their texts.

    A mention that is given twice is read once.

    Args:
        path: The corpus.
        labels: The labels whose mentions are kept; empty: all.
        known: The labels of the model to continue from; empty: any label is allowed.
        splitter: Splits text into sentences and words, if the corpus does not have words.
        report_problem: Is called with each problem; by default, errors are raised.

    Raises:
        InputError: The corpus cannot be read, has no sentence, or has mentions of labels that
            are not known.
    """
    from discotag import corpora  # needs packages that training on sentences does not
    from discotag.corpora.formats.registry import READABLE, UnrecognisedError
    from discotag.corpora.parsing.files import ADVICE

    convert = f"convert it: discotag corpus convert {quote(str(path))} corpus.jsonl"
    report = report_problem or corpora.strict
    try:
        documents = [
            Document(tuple(_clean(each, labels) for each in document.sentences), id=document.id)
            for document in corpora.read(path, splitter=splitter, report=report)
        ]
    except UnrecognisedError:
        raise InputError(
            f"{path}: the format was not recognised; if it is one of {READABLE}, "
            f"{convert} --from FORMAT"
        ) from None
    except corpora.CorpusError as error:
        if ADVICE not in str(error):
            raise
        # Training has no such option.
        advice = ADVICE.replace("use", convert, 1)
        raise InputError(str(error).replace(ADVICE, advice)) from None
    sentences = sentences_of(documents)
    if not any(sentence.words for sentence in sentences):
        raise InputError(f"{path}: it contains no sentence")
    other = [label for label in find_labels(sentences) if known and label not in known]
    if known and other:
        wanted = " ".join(f"--labels {label}" for label in known)
        raise InputError(
            f"{path}: has mentions of {', '.join(other)}, but the model to continue from knows "
            f"only {', '.join(known)}; {wanted} leaves the others out"
        )
    return documents


def read_sentences(path: Path, labels: Sequence[str] = ()) -> list[Sentence]:
    """Read all sentences of a corpus, as `read_documents`."""
    return sentences_of(read_documents(path, labels))


def sentences_of(documents: Iterable[Document]) -> list[Sentence]:
    """Return the sentences of documents."""
    return [sentence for document in documents for sentence in document.sentences]


def read_unlabelled(
    path: Path,
    splitter: Splitter | None = None,
    report_problem: Callable[[Problem], None] | None = None,
) -> list[Sentence]:
    """Read the sentences of a corpus, a table or plain text, without mentions.

    Args:
        path: The file.
        splitter: As in `read_documents`.
        report_problem: As in `read_documents`.

    Raises:
        InputError: The file cannot be read, or has no sentence.
    """
    from discotag import corpora  # needs packages that training does not
    from discotag.corpora.inputs import Inputs

    inputs = Inputs([str(path)], splitter=splitter, report=report_problem or corpora.strict)
    sentences = [
        Sentence(each.words)
        for document in inputs.documents()
        for each in document.sentences
        if each.words
    ]
    if not sentences:
        raise InputError(f"{path}: it contains no sentence")
    return sentences


def read_lexicon(path: str) -> Lexicon:
    """Return the lexicon of a file, or the one of discotag if the path is empty."""
    return Lexicon.load(path) if path else Lexicon.default()


def _clean(sentence: Sentence, labels: Sequence[str]) -> Sentence:
    mentions = dict.fromkeys(m for m in sentence.mentions if not labels or m.label in labels)
    return Sentence(sentence.words, tuple(mentions))


def find_labels(sentences: Iterable[Sentence]) -> tuple[str, ...]:
    """Return the labels of all mentions, sorted.

    Example:
        >>> find_labels([Sentence(["sore"], [Mention("ADR", [(0, 1)])])])
        ('ADR',)
    """
    return tuple(sorted({mention.label for each in sentences for mention in each.mentions}))


def fitting(sentences: Sequence[Sentence], scheme: Scheme) -> tuple[list[Sentence], list[LeftOut]]:
    """Return the sentences to learn from, and those that are left out.

    Sentences are left out if the scheme cannot represent them, if they have no words, or if they
    have more than `MOST_WORDS`.

    Example:
        >>> words = "sore feet and toes".split()
        >>> feet = Sentence(words, [Mention("ADR", [(0, 2)]), Mention("ADR", [(0, 1), (3, 4)])])
        >>> kept, left_out = fitting([feet], Scheme(("ADR",), slots=0))
        >>> left_out[0].reasons
        ('too_many_slots',)
    """
    kept, left_out = [], []
    for number, sentence in enumerate(sentences):
        length = len(sentence.words)
        if not length:
            left_out.append(LeftOut(number, sentence, ("no_words",)))
            continue
        if length > MOST_WORDS:
            left_out.append(LeftOut(number, sentence, ("too_long",)))
            continue
        problems = scheme.problems(length, sentence.mentions)
        if problems:
            reasons = tuple(dict.fromkeys(problem.reason for problem in problems))
            left_out.append(LeftOut(number, sentence, reasons))
        else:
            kept.append(sentence)
    return kept, left_out


def balanced(sentences: Sequence[Sentence], ratio: float, seed: int) -> list[Sentence]:
    """Return all sentences with mentions, and `ratio` times as many without, drawn at random.

    The order is kept. A negative ratio takes all sentences.

    Example:
        >>> with_mention = Sentence(["sore"], [Mention("ADR", [(0, 1)])])
        >>> len(balanced([with_mention, *[Sentence(["fine"])] * 9], 2.0, seed=1))
        3
    """
    if ratio < 0:
        return list(sentences)
    without = [number for number, each in enumerate(sentences) if not each.mentions]
    wanted = round(min(len(without), ratio * (len(sentences) - len(without))))
    drawn = np.random.default_rng(seed).choice(len(without), wanted, replace=False)
    chosen = {without[number] for number in drawn}
    return [each for number, each in enumerate(sentences) if each.mentions or number in chosen]


def write_left_out(left_out: Iterable[LeftOut], path: Path) -> None:
    """Write sentences that were left out as JSON lines."""
    with path.open("w", encoding="utf-8") as stream:
        for each in left_out:
            print(json.dumps(each.to_dict(), ensure_ascii=False), file=stream)


def count(sentences: Sequence[Sentence]) -> dict[str, int]:
    """Return the numbers of sentences and mentions."""
    mentions: list[Mention] = [mention for each in sentences for mention in each.mentions]
    return {
        "sentences": len(sentences),
        "sentences_with_mentions": sum(bool(each.mentions) for each in sentences),
        "mentions": len(mentions),
        "discontinuous": sum(mention.discontinuous for mention in mentions),
    }
