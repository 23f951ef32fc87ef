"""The probability of mentions, on NumPy: exact, and in time linear in the words.

The sequences that contain a mention are those of the grammar in `containment`. Where the words are
apart from the mention, what the grammar does is the same for all mentions of a label: so a
sentence is swept once from each side for all of them, and for each mention only the words from
its first to its last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.inference import algorithms
from discotag.inference.arrays import Arrays, Indices, Plan, compile_grammar, plan_of
from discotag.inference.containment import Relation, base_arcs, containing_grammar, relations
from discotag.inference.numpy_tools import NumpyTools
from discotag.inference.semirings import Log
from discotag.inference.sweep import sweep
from discotag.mentions import Mention
from discotag.scheme import Scheme

Numbers = npt.NDArray[Any]

CELLS: Final = 1 << 21
"""So many numbers are held at a time for the mentions that are looked at together: their words
times states and tags, and the arcs of one word. It bounds memory."""

LONG: Final = 512
"""Longer sentences are computed in double precision: their log-sums are large numbers, of which
single precision would leave too few digits to a difference."""


class _Search(NamedTuple):
    """A grammar of the sequences that contain a mention, and its arcs at words apart from it."""

    arrays: Arrays
    apart: Plan
    apart_forward: Plan


@lru_cache(maxsize=64)
def _search(scheme: Scheme, label: str, weighted: bool) -> _Search:
    grammar = containing_grammar(scheme, label, weighted=weighted)
    arrays = compile_grammar(grammar, weighted=weighted)
    tags = len(scheme.tags)
    # Symbols stand relation by relation.
    arcs = np.flatnonzero(arrays.tag // tags == Relation.APART)
    return _Search(arrays, plan_of(arrays, arcs, tags), plan_of(arrays, arcs, tags, forward=True))


def mention_probabilities(
    scheme: Scheme,
    scores: Numbers,
    lengths: Sequence[int],
    mentions: Sequence[Sequence[Mention]],
    weights: Numbers | None = None,
) -> list[list[float]]:
    """The probability of each mention to be among those of its sentence.

    Args:
        scheme: The scheme.
        scores: (batch, words, tags); neither NaN nor inf.
        lengths: How many words each sentence has; what stands behind is not looked at.
        mentions: For each sentence any mentions, with labels of the scheme.
        weights: Of the arcs of the scheme's grammar.

    Returns:
        For each sentence the probabilities, in the order of its mentions.

    Example:
        >>> from discotag import Scheme
        >>> even = np.zeros((1, 2, 9))
        >>> first, both = Mention("ADR", [(0, 1)]), Mention("ADR", [(0, 2)])
        >>> scheme = Scheme(labels=("ADR",))
        >>> [found] = mention_probabilities(scheme, even, [2], [[first, both]])
        >>> [round(chance, 3) for chance in found]
        [0.4, 0.2]
    """
    found = [[0.0] * len(each) for each in mentions]
    rows = [row for row, each in enumerate(mentions) if each]
    if not rows:
        return found
    longest = max(lengths[row] for row in rows)
    if longest > LONG:
        scores = scores.astype(np.float64)
    scores = scores[rows, :longest]
    # Less the highest of each word: no difference of log-sums changes, and more digits are left.
    scores = scores - np.where(np.isneginf(top := scores.max(2, keepdims=True)), 0, top)
    mask = np.arange(longest) < np.array([lengths[row] for row in rows])[:, None]
    tools = NumpyTools()
    with np.errstate(invalid="ignore"):
        base = compile_grammar(scheme.grammar, weighted=weights is not None)
        total = algorithms.log_partition(tools, base, scores, mask, weights)
        for label in sorted({mention.label for each in mentions for mention in each}):
            wanted = [
                _Wanted(number, place, mention, min(mention.end + 1, lengths[row]))
                for number, row in enumerate(rows)
                for place, mention in enumerate(mentions[row])
                if mention.label == label
            ]
            inside = _log_containing(tools, scheme, label, scores, mask, wanted, weights)
            chances = np.exp(inside - total[[each.row for each in wanted]]).clip(max=1)
            for each, chance in zip(wanted, chances.tolist(), strict=True):
                found[rows[each.row]][each.place] = chance
    return found


class _Wanted(NamedTuple):
    """A mention to look for.

    Attributes:
        row, place: Its sentence in the batch, and which of its mentions it is.
        mention: The mention.
        end: One past the last word whose relation to the mention is not `APART`.
    """

    row: int
    place: int
    mention: Mention
    end: int

    @property
    def width(self) -> int:
        return self.end - self.mention.start


def _log_containing(
    tools: NumpyTools,
    scheme: Scheme,
    label: str,
    scores: Numbers,
    mask: Numbers,
    wanted: Sequence[_Wanted],
    weights: Numbers | None,
) -> Numbers:
    """The log-sum over the sequences that contain each of the mentions, (mentions,)."""
    arrays, apart, apart_forward = _search(scheme, label, weights is not None)
    if weights is not None:
        weights = weights[base_arcs(scheme, label)]
    ready, padded = tools.prepared(scores, weights)
    ring = Log(tools)
    ends, beginnings = tools.ends(arrays, ready), tools.beginnings(arrays, ready)
    # (words + 1, states, batch): the log-sums of what comes before and after each word.
    after = np.stack(sweep(ring, apart, ends, ready, mask.T, padded))
    before = np.stack(
        sweep(ring, apart_forward, beginnings, ready[::-1], mask.T[::-1], padded)[::-1]
    )
    found = np.empty(len(wanted), dtype=ready.dtype)
    by_word = arrays.states + len(Relation) * len(scheme.tags)
    arcs = sum(level.tag.size for level in arrays.plan.levels)
    for numbers in _pieces(wanted, by_word, arcs):
        chosen = [wanted[number] for number in numbers]
        rows = np.array([each.row for each in chosen])
        starts = np.array([each.mention.start for each in chosen])
        stops = np.array([each.end for each in chosen])
        related, there = _related(scores, chosen, rows, stops)
        ready_related, _ = tools.prepared(related, None)
        last = after[stops, :, rows].T
        begun = sweep(ring, arrays.plan, last, ready_related, there.T, padded)[0]
        found[numbers] = tools.log_sum(before[starts, :, rows].T + begun, 0)
    return found


def _pieces(wanted: Sequence[_Wanted], by_word: int, arcs: int) -> Iterator[list[int]]:
    """Numbers of mentions that are looked at together: of like width, and not too many."""
    order = sorted(range(len(wanted)), key=lambda number: wanted[number].width)
    piece: list[int] = []
    for number in order:
        width = wanted[number].width
        if piece and (
            width.bit_length() > wanted[piece[0]].width.bit_length()
            or (len(piece) + 1) * (width * by_word + arcs) > CELLS
        ):
            yield piece
            piece = []
        piece.append(number)
    yield piece


def _related(
    scores: Numbers, chosen: Sequence[_Wanted], rows: Indices, stops: Indices
) -> tuple[Numbers, Numbers]:
    """The scores of the words of mentions, (mentions, words, relations * tags), and their mask.

    A word's tags count only in its own relation to the mention. The last words stand together.
    """
    width = max(each.width for each in chosen)
    relation = np.full((len(chosen), width), Relation.APART, dtype=np.int64)
    for number, each in enumerate(chosen):
        alone = each.mention.shifted(-each.mention.start)
        relation[number, width - each.width :] = relations(each.width, alone)
    words = stops[:, None] - width + np.arange(width)
    there = np.arange(width) >= width - np.array([[each.width] for each in chosen])
    taken = scores[rows[:, None], np.maximum(words, 0)]  # (mentions, width, tags)
    related = np.full((*relation.shape, len(Relation), scores.shape[2]), -np.inf, scores.dtype)
    numbers, places = np.indices(relation.shape)
    related[numbers, places, relation] = taken
    return related.reshape(*relation.shape, -1), there
