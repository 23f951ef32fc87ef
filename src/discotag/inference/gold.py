"""The tag sequences that encode gold mentions, under each naming of the slots, for losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.errors import InputError
from discotag.inference.arrays import Indices, compile_grammar
from discotag.inference.toolbox import Array, Toolbox
from discotag.mentions import Mention
from discotag.scheme import Layers, MentionSet, Scheme

MOST_NAMINGS: Final = 4096
"""The most namings of a sentence with arc weights, where all of them are listed."""


class Gold(NamedTuple):
    """The tag sequences that encode the gold mentions of a sentence, as independent groups.

    One group holds all words that have only one possible tag, and each mention set whose slots can
    be named in several ways is a group of its own. The alternatives of a group are its taggings.
    A sequence takes one alternative of each group, so the log-sum-exp over sequences is the sum
    over groups of the log-sum-exp over alternatives.

    Attributes:
        word, tag, arc: The words, tags and arcs of the alternatives, one entry for each word of
            each alternative; `arc` is empty if arcs have no weights.
        alternative: For each entry, its alternative.
        group: For each alternative, its group.
    """

    word: Indices
    tag: Indices
    arc: Indices
    alternative: Indices
    group: Indices


def find_gold(
    scheme: Scheme,
    length: int,
    mentions: frozenset[Mention],
    slots: frozenset[tuple[int, int]],
    all_namings: bool,
    weighted: bool,
) -> Gold:
    """Return the tag sequences that encode the gold mentions of a sentence.

    Args:
        scheme: The scheme.
        length: The number of words.
        mentions: The gold mentions.
        slots: Known slots, as pairs (word, slot). Namings that contradict them are left out; if
            they contradict all namings of a mention set, they are ignored for this set.
        all_namings: Whether to use every naming of each mention set, or only the first.
        weighted: Whether arcs have weights.

    Raises:
        IncompatibleError: If the mentions do not fit the scheme.
        InputError: If arcs have weights and there are more than `MOST_NAMINGS` namings.
    """
    layers = scheme.layers(length, mentions)
    namings = [_namings(scheme, group, dict(slots)) for group in layers.sets]
    if not all_namings:
        namings = [each[:1] for each in namings]
    if weighted:
        # The arcs after a set depend on its naming, so sets are not independent.
        return _one_group(scheme, _whole_sequences(scheme, layers, namings), weighted)
    index = {tag: number for number, tag in enumerate(scheme.tags)}
    builder = _Entries()
    tags = scheme.write(Layers(length, tuple(each[0] for each in namings), layers.continuous))
    free = {word for each in namings if len(each) > 1 for word in _component_words(each[0])}
    builder.group([[(word, index[tag], 0) for word, tag in enumerate(tags) if word not in free]])
    for each in namings:
        if len(each) > 1:
            builder.group(
                [
                    [(word, index[tags[word]], 0) for word in _component_words(naming)]
                    for naming in each
                    for tags in [scheme.write(Layers(length, (naming,), ()))]
                ]
            )
    return builder.gold(weighted=False)


def gold_of_tags(scheme: Scheme, tags: tuple[str, ...], weighted: bool) -> Gold:
    """Return gold that is given as one tag sequence.

    Raises:
        IllFormedError: If the tags break a rule of the scheme.
        UnknownTagError: If the scheme does not have one of the tags.
    """
    scheme.read(tags)
    return _one_group(scheme, [tags], weighted)


def _namings(scheme: Scheme, group: MentionSet, known: Mapping[int, int]) -> list[MentionSet]:
    if scheme.structural:
        return [group]
    every = list(group.namings(scheme.slots))
    agreeing = [
        naming
        for naming in every
        if all(
            known.get(word, slot) == slot
            for (start, end), slot in naming.components
            for word in range(start, end)
        )
    ]
    return agreeing or every


def _component_words(group: MentionSet) -> list[int]:
    return [word for (start, end), _ in group.components for word in range(start, end)]


def _whole_sequences(
    scheme: Scheme, layers: Layers, namings: Sequence[Sequence[MentionSet]]
) -> list[list[str]]:
    """Return all tag sequences of the sentence, one for each combination of namings."""
    sequences: list[tuple[MentionSet, ...]] = [()]
    for each in namings:
        sequences = [(*sets, naming) for sets in sequences for naming in each]
        if len(sequences) > MOST_NAMINGS:
            raise InputError(
                f"with arc weights, the mention sets of a sentence may have up to {MOST_NAMINGS} "
                f"namings in all; the {len(namings)} sets of this sentence have more. "
                "Use an objective with one naming"
            )
    return [scheme.write(Layers(layers.length, sets, layers.continuous)) for sets in sequences]


def _one_group(scheme: Scheme, taggings: Sequence[Sequence[str]], weighted: bool) -> Gold:
    """Return gold with one group, whose alternatives are these tag sequences."""
    index = {tag: number for number, tag in enumerate(scheme.tags)}
    arrays = compile_grammar(scheme.grammar, weighted=True)
    arc_of = np.full((arrays.states, arrays.tags), -1)
    arc_of[arrays.source, arrays.tag] = np.arange(arrays.arcs)
    builder = _Entries()
    alternatives = []
    for tags in taggings:
        state, entries = arrays.start, []
        for word, name in enumerate(tags):
            arc = int(arc_of[state, index[name]])
            entries.append((word, index[name], arc))
            state = int(arrays.target[arc])
        alternatives.append(entries)
    builder.group(alternatives)
    return builder.gold(weighted=weighted)


class _Entries:
    def __init__(self) -> None:
        self.entries: list[tuple[int, int, int, int]] = []
        self.groups: list[int] = []

    def group(self, alternatives: Iterable[Iterable[tuple[int, int, int]]]) -> None:
        number = self.groups[-1] + 1 if self.groups else 0
        for alternative in alternatives:
            self.entries += [(*entry, len(self.groups)) for entry in alternative]
            self.groups.append(number)

    def gold(self, *, weighted: bool) -> Gold:
        table = np.array(self.entries, dtype=np.int64).reshape(-1, 4).T
        word, tag, arc, alternative = (np.ascontiguousarray(row) for row in table)
        return Gold(word, tag, arc if weighted else arc[:0], alternative, np.array(self.groups))


class GoldBatch(NamedTuple):
    """The gold of several sentences, with alternatives and groups numbered across the batch.

    Attributes:
        row: For each entry, its sentence.
        gold: The entries.
        group_row: For each group, its sentence.
    """

    row: Indices
    gold: Gold
    group_row: Indices


class GoldTable:
    """The gold of many sentences in flat arrays, from which batches are taken.

    Args:
        golds: The gold of each sentence.
    """

    def __init__(self, golds: Sequence[Gold]) -> None:
        self._gold = Gold(
            *(_joined(gold[field] for gold in golds) for field in range(len(Gold._fields)))
        )
        self._entries = _sizes(len(gold.word) for gold in golds)
        self._alternatives = _sizes(len(gold.group) for gold in golds)
        self._groups = _sizes(int(gold.group[-1]) + 1 for gold in golds)
        self._first_entry = _starts(self._entries)
        self._first_alternative = _starts(self._alternatives)

    def batch(self, numbers: Indices) -> GoldBatch:
        """Return the gold of some sentences, by their numbers, as one batch."""
        entries, alternatives = self._entries[numbers], self._alternatives[numbers]
        groups, row = self._groups[numbers], np.arange(len(numbers))
        entry = _ranges(self._first_entry[numbers], entries)
        alternative = _ranges(self._first_alternative[numbers], alternatives)
        gold = self._gold
        return GoldBatch(
            np.repeat(row, entries),
            Gold(
                gold.word[entry],
                gold.tag[entry],
                gold.arc[entry] if len(gold.arc) else gold.arc,
                gold.alternative[entry] + np.repeat(_starts(alternatives), entries),
                gold.group[alternative] + np.repeat(_starts(groups), alternatives),
            ),
            np.repeat(row, groups),
        )


def collate_gold(golds: Sequence[Gold]) -> GoldBatch:
    """Combine the gold of several sentences into one batch."""
    return GoldTable(golds).batch(np.arange(len(golds)))


def gold_scores(
    tools: Toolbox,
    batch: GoldBatch,
    order: Array | None,
    scores: Array,
    weights: Array | None,
    *,
    best: bool = False,
) -> Array:
    """Return the log-sum-exp of the scores of the gold tag sequences of each sentence, (batch,).

    Args:
        tools: The array library.
        batch: The gold tag sequences.
        order: (batch, words), the position of each word in `scores`; None if word n is at n.
        scores: (batch, words, tags), in at least single precision.
        weights: The arc weights, or None.
        best: Return the score of the best gold sequence instead; its choice is held constant.
    """
    row, gold, group_row = batch
    rows, words, tags, alternative, group, group_rows = (
        tools.indices(each, scores)
        for each in (row, gold.word, gold.tag, gold.alternative, gold.group, group_row)
    )
    positions = words if order is None else order[rows, words]
    entries = tools.picked(scores, rows, positions, tags)
    if weights is not None:
        entries = entries + weights[tools.indices(gold.arc, scores)]
    by_alternative = tools.grouped_sum(entries, alternative, len(gold.group))
    by_group = by_alternative
    if len(gold.group) > len(group_row):  # else each group has one alternative, as always in NLL
        reduce = tools.grouped_highest if best else tools.grouped_log_sum
        by_group = reduce(by_alternative, group, len(group_row))
    return tools.grouped_sum(by_group, group_rows, len(scores))


def _joined(parts: Iterable[npt.NDArray[np.int64]]) -> Indices:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def _sizes(numbers: Iterable[int]) -> Indices:
    return np.fromiter(numbers, dtype=np.int64)


def _starts(sizes: Indices) -> Indices:
    return np.cumsum(sizes) - sizes


def _ranges(starts: Indices, sizes: Indices) -> Indices:
    """Return the numbers from each start on, as many as its size says, in one array."""
    return np.repeat(starts - _starts(sizes), sizes) + np.arange(sizes.sum())
