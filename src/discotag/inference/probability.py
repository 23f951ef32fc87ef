"""The probability of mentions: exact, and in time linear in the words, for any array library.

The sequences that contain a mention are those of the grammar in `containment`. Where the words are
apart from the mention, what the grammar does is the same for all mentions of a label: so a
sentence is swept once from each side for all of them, and for each mention only the words from
its first to its last.
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
"""Numbers held at a time for the mentions that are looked at together: their words times states and
tags, and the arcs of one word. It bounds memory."""

LONG: Final = 512
"""Longer sentences are computed in double precision: their log-sums are large numbers, of which
single precision would leave too few digits to a difference."""


@dataclass(frozen=True, eq=False)
class _Search:
    """A grammar of the sequences that contain a mention, and its arcs at words apart from it."""

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
    """Return the probability of each mention to be among those of its sentence.

    Args:
        tools: The array library.
        scheme: The scheme.
        scores: (batch, words, tags); neither NaN nor inf.
        lengths: The number of words of each sentence; what is behind is not looked at.
        mentions: For each sentence any mentions, with labels of the scheme.
        weights: The weights of the arcs of the scheme's grammar.

    Returns:
        The probabilities of the mentions of the first sentence, then of the second, and so on.

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
    """A mention to look for.

    Attributes:
        number: Which of all mentions it is.
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
    """Yield the log-sums over the sequences that contain mentions, and these, some at a time."""
    search = tools.local(_search(scheme, label, weights is not None), scores)
    arrays = search.arrays
    if weights is not None:
        weights = weights[search.base_arcs]
    ready, padded = _prepared(tools, scores, weights)
    ring = Log(tools)
    ends = tools.ends(arrays, ready).clip(FORBIDDEN)
    beginnings = tools.beginnings(arrays, ready).clip(FORBIDDEN)
    # (words + 1, states, batch): the log-sums of what comes before and after each word.
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
    """Return scores and weights as `sweep` wants them, without -inf: gradients can pass."""
    ready, padded = tools.prepared(scores, weights)
    return ready.clip(FORBIDDEN), padded


def _portions(wanted: Sequence[_Wanted], by_word: int, arcs: int) -> Iterator[list[_Wanted]]:
    """Yield mentions that are looked at together: of like width, and not too many."""
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
    """Return the scores of the words of mentions, (mentions, words, relations * tags), and a mask.

    A word's tags count only in its own relation to the mention. The last words are aligned.
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
