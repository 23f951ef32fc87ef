"""The grammar of the tag sequences that contain a given mention.

The symbols of the grammar are pairs of a word's relation to the mention and its tag, so that one
grammar serves all mentions of a label. It accepts a sequence if its tags are well-formed and the
given mention is one of those they encode.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum
from functools import lru_cache
from itertools import count
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.automata import Automaton, minimise, trim, unfold
from discotag.inference.arrays import Indices, compile_grammar
from discotag.mentions import Mention
from discotag.scheme import Scheme
from discotag.scheme.tags import Lower, Tag, Upper


class Relation(IntEnum):
    """The relation of a word to a mention."""

    APART = 0  # neither the word nor the one before is in the mention
    FIRST = 1  # the word is in the mention, the one before is not
    FURTHER = 2  # both are in the mention
    AFTER = 3  # the word is not in the mention, the one before is


def relation_table(mentions: Sequence[tuple[Mention, int]], length: int) -> npt.NDArray[np.int64]:
    """Return the relation of each of `length` words to mentions, (mentions, words).

    Args:
        mentions: Mentions, each with the number of words by which to shift it to the right.
        length: The number of words.

    Example:
        >>> relation_table([(Mention("ADR", [(0, 2), (3, 4)]), 1)], 6).tolist()
        [[0, 1, 2, 3, 1, 3]]
    """
    borders = np.array(
        [
            (row + start + by, row + end + by)
            for row, (mention, by) in zip(count(step=length + 1), mentions, strict=False)
            for start, end in mention.fragments
        ],
        dtype=np.int64,
    ).reshape(-1, 2)
    changes = np.zeros((len(mentions), length + 1), dtype=np.int64)
    changes.ravel()[borders[:, 0]] = 1
    changes.ravel()[borders[:, 1]] = -1  # fragments never touch
    inside = changes.cumsum(axis=1)
    table = np.array([[Relation.APART, Relation.AFTER], [Relation.FIRST, Relation.FURTHER]])
    before = np.roll(inside, 1, axis=1)
    return np.asarray(table[inside, before][:, :length])


class _Phase(Enum):
    """How much of the mention has been read."""

    WAITING = 0
    RUNNING = 1  # inside the mention, tagged as a continuous mention
    IN_PARTS = 2  # inside the mention, tagged as components of the current mention set
    DONE = 3


class _Search(NamedTuple):
    """What has been read of the mention, and of the mention set that contains the last word.

    Attributes:
        phase: How much of the mention has been read.
        filled: A bit set of the slots of the mention set that have a component so far.
        used: The subset of these that the components of the mention fill.
    """

    phase: _Phase = _Phase.WAITING
    filled: int = 0
    used: int = 0


_DONE: Final = _Search(_Phase.DONE)
_RUNNING: Final = _Search(_Phase.RUNNING)


@lru_cache(maxsize=64)
def containing_grammar(scheme: Scheme, label: str, *, weighted: bool = False) -> Automaton:
    """Return the grammar over pairs (relation, tag) for mentions with this label.

    Its alphabet is sorted by relation. With `weighted`, the grammar is not minimised, so that
    each of its arcs corresponds to one arc of the scheme's grammar; see `base_arcs`.
    """
    steps, finals = scheme.grammar.steps, scheme.grammar.finals

    def step(
        state: tuple[int, _Search], symbol: tuple[Relation, str]
    ) -> tuple[int, _Search] | None:
        relation, name = symbol
        onward = steps[state[0]].get(name)
        if onward is None:
            return None
        search = _follow(state[1], relation, scheme.tagset[name], label)
        return None if search is None else (onward, search)

    def final(state: tuple[int, _Search]) -> bool:
        return state[0] in finals and _may_end(state[1])

    alphabet = [(relation, tag) for relation in Relation for tag in scheme.tags]
    automaton = unfold(alphabet, (scheme.grammar.start, _Search()), step, final)
    return trim(automaton) if weighted else minimise(automaton)


@lru_cache(maxsize=64)
def base_arcs(scheme: Scheme, label: str) -> Indices:
    """Return the arc of the scheme's grammar for each arc of the weighted `containing_grammar`."""
    arrays = compile_grammar(containing_grammar(scheme, label, weighted=True), weighted=True)
    base = compile_grammar(scheme.grammar, weighted=True)
    arc_of = np.full((base.states, base.tags), -1)
    arc_of[base.source, base.tag] = np.arange(base.arcs)
    # States are numbered breadth-first, so each is reached before its own arcs are visited.
    state = np.full(arrays.states, -1)
    state[arrays.start] = base.start
    found = np.empty(arrays.arcs, dtype=np.int64)
    for arc in range(arrays.arcs):
        found[arc] = arc_of[state[arrays.source[arc]], arrays.tag[arc] % base.tags]
        state[arrays.target[arc]] = base.target[found[arc]]
    return found


def _may_end(search: _Search) -> bool:
    """Return whether the mention is complete: its components fill all slots of the set so far."""
    return search.phase is not _Phase.WAITING and search.filled == search.used


def _follow(search: _Search, relation: Relation, tag: Tag, label: str) -> _Search | None:
    """Return the search after a word with this tag, or None if the mention cannot be found.

    The tags read so far must be the beginning of a well-formed sequence.
    """
    inside = relation in (Relation.FIRST, Relation.FURTHER)
    match search.phase:
        case _Phase.DONE:
            return None if inside else search
        case _Phase.RUNNING:
            if relation is Relation.FIRST:
                return None
            goes_on = tag.lower is Lower.CONTINUOUS_INSIDE
            return None if goes_on != inside else _RUNNING if inside else _DONE
        case _Phase.IN_PARTS if tag.upper is not Upper.SET_INSIDE:
            return None if inside or not _may_end(search) else _DONE
    if tag.upper is not Upper.SET_INSIDE:
        search = _Search()
    begun = 1 << tag.slot if tag.slot is not None and tag.lower is Lower.COMPONENT_BEGIN else 0
    if not inside:
        if relation is Relation.AFTER and tag.lower is Lower.COMPONENT_INSIDE:
            return None
        return search._replace(filled=search.filled | begun)
    if relation is Relation.FURTHER and tag.lower is Lower.COMPONENT_INSIDE:
        return search
    if tag.label != label or search.used & begun:
        return None
    if begun:
        return _Search(_Phase.IN_PARTS, search.filled | begun, search.used | begun)
    starts = search.phase is _Phase.WAITING and tag.lower is Lower.CONTINUOUS_BEGIN
    return _RUNNING if starts else None
