"""The exact probability of mentions, in time linear in the number of words.

The tag sequences that contain a mention are those of the grammar in `containment`. On words apart
from the mention, this grammar behaves the same for all mentions of a label. Each sentence is
therefore swept only once from either end for all its mentions, and then, for each mention, the
words from its first to its last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.inference.algorithms import FORBIDDEN
from discotag.inference.arrays import Arrays, Indices, Plan, compile_grammar, plan_of
from discotag.inference.containment import Relation, base_arcs, containing_grammar, relation_table
from discotag.inference.semirings import Log
from discotag.inference.sweep import sweep
from discotag.inference.toolbox import Array, Toolbox
from discotag.mentions import Mention
from discotag.scheme import Scheme

CELLS: Final = 1 << 21
"""The most values held at a time for mentions that are computed together, to save memory: for each
mention, its words x (states + symbols), and the arcs of one word."""

LONG: Final = 512
"""Sentences with more words than this are computed in double precision: the difference of two large
log-partitions has too few correct digits in single precision."""


@dataclass(frozen=True, eq=False)
class _Search:
    """The compiled grammar of the sequences that contain a mention.

    Attributes:
        arrays: The grammar.
        apart, apart_forward: Its plans for words apart from the mention, for either direction.
        base_arcs: With weights, the arc of the scheme's grammar for each arc.
    """

    arrays: Arrays
    apart: Plan
    apart_forward: Plan
    base_arcs: Indices | None


@lru_cache(maxsize=64)
def _search(scheme: Scheme, label: str, weighted: bool) -> _Search:
    grammar = containing_grammar(scheme, label, weighted=weighted)
    arrays = compile_grammar(grammar, weighted=weighted)
    tags = len(scheme.tags)
    # Symbols are numbered relation by relation.
    arcs = np.flatnonzero(arrays.tag // tags == Relation.APART)
    return _Search(
        arrays,
        plan_of(arrays, arcs, tags),
        plan_of(arrays, arcs, tags, forward=True),
        base_arcs(scheme, label) if weighted else None,
    )


def mention_probabilities(
    tools: Toolbox,
    scheme: Scheme,
    scores: Array,
    lengths: Sequence[int],
    mentions: Sequence[Sequence[Mention]],
    weights: Array | None = None,
) -> Array:
    """Return the probability of each mention.

    It is the share of the tag sequences that encode the mention, alone or among others.

    Args:
        tools: The array library.
        scheme: The scheme.
        scores: (batch, words, tags), without NaN and +inf.
        lengths: The number of words of each sentence; scores after them are ignored.
        mentions: For each sentence, any mentions whose labels the scheme has.
        weights: (arcs,), the weights of the arcs of the scheme's grammar, or None.

    Returns:
        The probabilities, (mentions,): those of the first sentence, then of the second, and so on.

    Example:
        >>> from discotag import Scheme
        >>> from discotag.inference.backends.numpy_tools import NumpyTools
        >>> even = np.zeros((1, 2, 9))
        >>> first, both = Mention("ADR", [(0, 1)]), Mention("ADR", [(0, 2)])
        >>> scheme = Scheme(labels=("ADR",))
        >>> found = mention_probabilities(NumpyTools(), scheme, even, [2], [[first, both]])
        >>> found.round(3).tolist()
        [0.4, 0.2]
    """
    rows = [row for row, each in enumerate(mentions) if each]
    longest = max((lengths[row] for row in rows), default=0)
    number_of = {row: number for number, row in enumerate(rows)}
    by_label: dict[str, list[_Wanted]] = {}
    count = 0
    for row in rows:
        for mention in mentions[row]:
            wanted = _Wanted(count, number_of[row], mention, min(mention.end + 1, lengths[row]))
            by_label.setdefault(mention.label, []).append(wanted)
            count += 1
    chosen = tools.indices(np.array(rows, dtype=np.int64), scores)
    scores = tools.levelled(scores[chosen][:, :longest], double=longest > LONG)
    if not rows:
        return scores.reshape(-1)
    sizes = tools.indices(np.array([lengths[row] for row in rows]), scores)
    mask = tools.counting(longest, scores) < sizes[:, None]
    base = tools.local(compile_grammar(scheme.grammar, weighted=weights is not None), scores)
    ready, padded = _prepared(tools, scores, weights)
    ends = tools.ends(base, ready).clip(FORBIDDEN)
    total = sweep(Log(tools), base.plan, ends, ready, mask.T, padded)[0][base.start]
    inside, numbers = [], []
    for label, looked_for in by_label.items():
        for found, several in _log_containing(
            tools, scheme, label, scores, mask, looked_for, weights
        ):
            inside.append(found)
            numbers += [each.number for each in several]
    sentence = np.empty(count, dtype=np.int64)
    for looked_for in by_label.values():
        for each in looked_for:
            sentence[each.number] = each.row
    order = tools.indices(np.argsort(np.array(numbers)), scores)
    return tools.exp(tools.join(inside)[order] - total[tools.indices(sentence, scores)])


class _Wanted(NamedTuple):
    """A mention whose probability is asked for.

    Attributes:
        number: Its index among all mentions of the batch.
        row: Its sentence in the batch.
        mention: The mention.
        end: One past the last word whose relation to the mention is not `APART`.
    """

    number: int
    row: int
    mention: Mention
    end: int

    @property
    def width(self) -> int:
        return self.end - self.mention.start


def _log_containing(
    tools: Toolbox,
    scheme: Scheme,
    label: str,
    scores: Array,
    mask: Array,
    wanted: Sequence[_Wanted],
    weights: Array | None,
) -> Iterator[tuple[Array, list[_Wanted]]]:
    """Yield chunks of mentions, each after the log-sum-exp of the sequences that contain them."""
    search = tools.local(_search(scheme, label, weights is not None), scores)
    arrays = search.arrays
    if weights is not None:
        weights = weights[search.base_arcs]
    ready, padded = _prepared(tools, scores, weights)
    ring = Log(tools)
    ends = tools.ends(arrays, ready).clip(FORBIDDEN)
    beginnings = tools.beginnings(arrays, ready).clip(FORBIDDEN)
    # (words + 1, states, batch): the log-sum-exp of all that comes before and after each word.
    after = tools.stacked_words(sweep(ring, search.apart, ends, ready, mask.T, padded))
    backwards = len(ready) - 1 - tools.counting(len(ready), ready)
    reverse = sweep(
        ring, search.apart_forward, beginnings, ready[backwards], mask.T[backwards], padded
    )
    before = tools.stacked_words(reverse[::-1])
    by_word = arrays.states + len(Relation) * len(scheme.tags)
    arcs = sum(level.tag.shape[0] * level.tag.shape[1] for level in arrays.plan.levels)
    for chosen in _portions(wanted, by_word, arcs):
        rows, starts, stops = (
            tools.indices(np.array(values), scores)
            for values in zip(
                *((each.row, each.mention.start, each.end) for each in chosen), strict=True
            )
        )
        related, there = _related(tools, scores, chosen, rows, stops)
        ready_related, _ = _prepared(tools, related, None)
        last = after[stops, :, rows].T
        begun = sweep(ring, arrays.plan, last, ready_related, there.T, padded)[0]
        yield tools.log_sum(before[starts, :, rows].T + begun, 0), chosen


def _prepared(tools: Toolbox, scores: Array, weights: Array | None) -> tuple[Array, Array | None]:
    """Return scores and weights in the layout of `sweep`, without -inf, for finite gradients."""
    ready, padded = tools.prepared(scores, weights)
    return ready.clip(FORBIDDEN), padded


def _portions(wanted: Sequence[_Wanted], by_word: int, arcs: int) -> Iterator[list[_Wanted]]:
    """Yield lists of mentions to compute together: of similar width, and within `CELLS`."""
    portion: list[_Wanted] = []
    for each in sorted(wanted, key=lambda each: each.width):
        if portion and (
            each.width.bit_length() > portion[0].width.bit_length()
            or (len(portion) + 1) * (each.width * by_word + arcs) > CELLS
        ):
            yield portion
            portion = []
        portion.append(each)
    yield portion


def _related(
    tools: Toolbox, scores: Array, chosen: Sequence[_Wanted], rows: Array, stops: Array
) -> tuple[Array, Array]:
    """Return the scores of the words of each mention as scores of symbols (relation, tag).

    A symbol is forbidden unless its relation is the one of the word to the mention. Mentions are
    aligned at their last words.

    Returns:
        The scores, (mentions, words, relations * tags), and the mask, (mentions, words).
    """
    width = max(each.width for each in chosen)
    relation: npt.NDArray[Any] = relation_table(
        [(each.mention, width - each.width - each.mention.start) for each in chosen], width
    )
    there = np.arange(width) >= width - np.array([[each.width] for each in chosen])
    places = tools.counting(width, scores)
    words = (stops[:, None] - width + places).clip(0)
    taken = scores[rows[:, None], words]  # (mentions, width, tags)
    shape = (len(chosen), width, len(Relation), scores.shape[2])
    related = tools.filled(shape, FORBIDDEN, scores)
    numbers = tools.counting(len(chosen), scores)
    related[numbers[:, None], places, tools.indices(relation, scores)] = taken
    return related.reshape(len(chosen), width, -1), tools.indices(there, scores)
