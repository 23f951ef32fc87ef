"""Agreement between two annotators, for mentions that are sets of words.

Besides F1, which takes one of the two as right, this has gamma (Mathet, Widlöcher and
Métivier, 2015), 1 - observed / expected disorder. The disorder of two sets of mentions is the cost
of their best alignment over the mean number of mentions of the two. Here a mention that is not
aligned costs 1, and a pair costs

    2 (1 - s), where s = 2 |A ∩ B| / (|A| + |B|), halved if the labels differ,

so a pair that shares no word costs as much as two mentions that are not aligned, and the same words
with another label half of that. Fragments need no special treatment, because A and B are sets of
words. The expected disorder is the mean over random shifts: the mentions of one annotator are moved
along the words of all documents, and around at their end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

import numpy as np

from discotag.mentions import Mention

SHIFTS: Final = 30
"""Random shifts for the expected disorder, as many as Mathet et al. begin with."""

SEED: Final = 1
"""Fixed, so that the same versions always have the same gamma."""

MOST_ALIGNED: Final = 400
"""Mentions of a group that are aligned exactly: time grows with the third power. Larger groups of
overlapping mentions are improbable, and count as not aligned."""

Unit = tuple[str, frozenset[int]]
"""A label, and words counted over all documents."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document that two people have annotated.

    Attributes:
        lengths: The number of words of each sentence.
        first, second: The mentions of each sentence, of the one and of the other.
    """

    lengths: Sequence[int]
    first: Sequence[Iterable[Mention]]
    second: Sequence[Iterable[Mention]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two people agree; None where nothing can be compared.

    Attributes:
        documents: The number of documents that both have finished.
        f1: F1 of mentions with the same words and label.
        f1_discontinuous: The same for discontinuous mentions only.
        word_f1: F1 of words with their labels.
        gamma: Gamma; None also without SciPy.
    """

    documents: int
    f1: float | None
    f1_discontinuous: float | None
    word_f1: float | None
    gamma: float | None


def agree(texts: Sequence[Text]) -> Agreement:
    """Return the agreement of two annotators over several documents.

    Example:
        >>> toes = Mention("ADR", [(0, 2)])
        >>> agree([Text([3], [[toes]], [[toes]])]).f1
        1.0
    """
    first, second = _mentions(texts, "first"), _mentions(texts, "second")
    total = sum(sum(text.lengths) for text in texts)
    units = [[_unit(place, mention) for place, mention in each] for each in (first, second)]
    words = [{(label, word) for label, held in each for word in held} for each in units]
    return Agreement(
        len(texts),
        f1(set(units[0]), set(units[1])),
        f1(_discontinuous(first), _discontinuous(second)),
        f1(words[0], words[1]),
        gamma(units[0], units[1], total) if find_spec("scipy") is not None else None,
    )


def f1(first: Set[object], second: Set[object]) -> float | None:
    """Return the F1 of two sets, None if both are empty.

    Example:
        >>> f1({1, 2, 3}, {2, 3, 4})
        0.6666666666666666
    """
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else None


def gamma(first: Sequence[Unit], second: Sequence[Unit], words: int) -> float | None:
    """Return gamma, at most 1; 0 is chance. None if there is no mention, or only one place for one.

    Args:
        first: The mentions of one annotator.
        second: Those of the other.
        words: The number of words of all documents.
    """
    if not first and not second:
        return None
    random = np.random.default_rng(SEED)
    observed = disorder(first, second)
    pool = [first, second]
    expected = []
    for shift in random.integers(0, max(words, 1), SHIFTS):
        # As in the paper, each side is drawn from both annotators.
        one, other = (pool[int(side)] for side in random.integers(0, 2, 2))
        if one or other:
            expected.append(disorder(one, _shifted(other, int(shift), words)))
    mean = float(np.mean(expected)) if expected else 0.0
    return None if not mean else 1 - observed / mean


def disorder(first: Sequence[Unit], second: Sequence[Unit]) -> float:
    """Return the cost of the best alignment over the mean number of mentions.

    Example:
        >>> disorder([("ADR", frozenset({1, 2}))], [("ADR", frozenset({2, 3}))])
        1.0
    """
    from scipy.optimize import linear_sum_assignment

    cost = float(len(first) + len(second))
    for rows, columns in _groups(first, second):
        if max(len(rows), len(columns)) > MOST_ALIGNED:
            continue
        gain = np.array([[2 * similarity(first[a], second[b]) for b in columns] for a in rows])
        cost -= float(gain[linear_sum_assignment(gain, maximize=True)].sum())
    return 2 * cost / (len(first) + len(second))


def similarity(first: Unit, second: Unit) -> float:
    """Return how similar two mentions are, from 0 to 1.

    Example:
        >>> similarity(("ADR", frozenset({1, 2})), ("ADR", frozenset({2, 3})))
        0.5
        >>> similarity(("ADR", frozenset({1})), ("Drug", frozenset({1})))
        0.5
    """
    shared = 2 * len(first[1] & second[1]) / (len(first[1]) + len(second[1]))
    return shared if first[0] == second[0] else shared / 2


def _mentions(texts: Sequence[Text], side: str) -> list[tuple[int, Mention]]:
    """Return all mentions of one side, with the number of words before their sentence."""
    found, passed = [], 0
    for text in texts:
        for length, mentions in zip(text.lengths, getattr(text, side), strict=True):
            found += [(passed, mention) for mention in mentions]
            passed += length
    return found


def _unit(place: int, mention: Mention) -> Unit:
    return mention.label, frozenset(place + word for word in mention.words)


def _discontinuous(mentions: Iterable[tuple[int, Mention]]) -> set[object]:
    return {_unit(place, mention) for place, mention in mentions if mention.discontinuous}


def _shifted(units: Sequence[Unit], by: int, words: int) -> list[Unit]:
    return [(label, frozenset((word + by) % words for word in held)) for label, held in units]


def _groups(first: Sequence[Unit], second: Sequence[Unit]) -> list[tuple[list[int], list[int]]]:
    """Return groups of mentions that are connected by shared words; only they need alignment."""
    group = list(range(len(first) + len(second)))

    def find(each: int) -> int:
        while group[each] != each:
            group[each] = group[group[each]]
            each = group[each]
        return each

    owner: dict[int, int] = {}
    for number, (_, held) in enumerate([*first, *second]):
        for word in held:
            group[find(number)] = find(owner.setdefault(word, number))
    found: dict[int, tuple[list[int], list[int]]] = {}
    for number in range(len(group)):
        rows, columns = found.setdefault(find(number), ([], []))
        if number < len(first):
            rows.append(number)
        else:
            columns.append(number - len(first))
    return [(rows, columns) for rows, columns in found.values() if rows and columns]
