"""A grammar compiled into arrays that say which values a sweep combines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.automata import Automaton

Indices = npt.NDArray[np.int64]

DENSE_LIMIT: Final = 4096
"""A grammar is swept densely while (largest in- or out-degree of a state) x (states) is at most
this. In larger grammars, states with common arcs share the computation; see `_share`."""

SPLIT_STATES: Final = 64
"""In `plan_of`, grammars with more states than this get levels of fans of similar size."""


class Level(NamedTuple):
    """States whose values are computed together, each from a fan of values that are already known.

    A fan is the list of terms that are summed up for a state. All arrays are (places, states of the
    level): each column is a fan, and shorter fans are padded.

    Attributes:
        source: The row of the known value: the old values first, then those of earlier levels.
        tag: The tag whose score is added; `tags` for padding (-inf), `tags + 1` for no tag (0).
        arc: The arc whose weight is added; `arcs` for no arc.
    """

    source: Indices
    tag: Indices
    arc: Indices


class Plan(NamedTuple):
    """One step of a sweep, from the values after a word to those before it.

    Attributes:
        levels: The levels, in the order in which they are computed.
        result: For each state, the row of its new value: the old values come first, then the
            values of all levels.
    """

    levels: tuple[Level, ...]
    result: Indices


@dataclass(frozen=True, eq=False)
class Arrays:
    """A compiled grammar.

    Attributes:
        states, tags: The number of states and of tags.
        start: The start state.
        final: For each state, whether a sequence may end there.
        source, tag, target: For each arc, its two states and its tag; sorted by source, then tag.
        fan_target, fan_tag, fan_arc: The arcs that leave each state in the order of tags,
            (places, states); padding has the tag `tags` and the arc `arcs`.
        plan: The step of a sweep.
    """

    states: int
    tags: int
    start: int
    final: npt.NDArray[np.bool_]
    source: Indices
    tag: Indices
    target: Indices
    fan_target: Indices
    fan_tag: Indices
    fan_arc: Indices
    plan: Plan

    @property
    def arcs(self) -> int:
        """The number of arcs."""
        return len(self.source)


@lru_cache(maxsize=64)
def compile_grammar(grammar: Automaton, *, weighted: bool = False) -> Arrays:
    """Compile a deterministic automaton; tags are numbered in the order of its alphabet.

    With `weighted`, each arc may have a weight of its own, so states do not share computation.
    """
    number = {symbol: n for n, symbol in enumerate(grammar.alphabet)}
    arcs = sorted(
        (source, number[tag], target)
        for source, steps in enumerate(grammar.steps)
        for tag, target in steps.items()
    )
    source, tag, target = (np.array([arc[k] for arc in arcs], dtype=np.int64) for k in range(3))
    size, tags = grammar.size, len(grammar.alphabet)
    fans: list[list[int]] = [[] for _ in range(size)]
    for arc, (state, _, _) in enumerate(arcs):
        fans[state].append(arc)
    fan_arc = _padded(fans, len(arcs))
    widest = max(np.bincount(source).max(initial=0), np.bincount(target).max(initial=0))
    large = bool(widest * size > DENSE_LIMIT)
    sharing = _share(fans, arcs) if large and not weighted else [[] for _ in range(size)]
    return Arrays(
        states=size,
        tags=tags,
        start=grammar.start,
        final=np.isin(np.arange(size), list(grammar.finals)),
        source=source,
        tag=tag,
        target=target,
        fan_target=np.append(target, 0)[fan_arc],
        fan_tag=np.append(tag, tags)[fan_arc],
        fan_arc=fan_arc,
        plan=_plan(fans, sharing, arcs, tags, split=large),
    )


def plan_of(arrays: Arrays, arcs: Indices, tags: int, *, forward: bool = False) -> Plan:
    """Return the plan of a sweep that uses only these arcs, whose tags are all below `tags`.

    With `forward`, the plan is for a sweep from the first word to the last, which computes the
    values after a word from those before it; the words are then given in reverse order.
    """
    ends = (arrays.target, arrays.source) if forward else (arrays.source, arrays.target)
    every = list(zip(ends[0].tolist(), arrays.tag.tolist(), ends[1].tolist(), strict=True))
    fans: list[list[int]] = [[] for _ in range(arrays.states)]
    for arc in arcs.tolist():
        fans[every[arc][0]].append(arc)
    return _plan(fans, [[] for _ in fans], every, tags, split=arrays.states > SPLIT_STATES)


def _share(fans: list[list[int]], arcs: list[tuple[int, int, int]]) -> list[list[int]]:
    """Replace arcs that a state has in common with another state by the value of that state.

    Most states can end a span and then continue like the start state, so this removes most arcs.

    Args:
        fans: The arcs of each state; changed in place to those that are not replaced.
        arcs: Source, tag and target of each arc.

    Returns:
        For each state, the states whose values are added to those of its remaining arcs: it has
        all arcs of each of them, and no two of them have an arc in common.
    """
    reads = [frozenset(arcs[a][1:] for a in fan) for fan in fans]
    states_of: dict[tuple[int, int], set[int]] = {}
    for state, pairs in enumerate(reads):
        for pair in pairs:
            states_of.setdefault(pair, set()).add(state)
    sharing: list[list[int]] = []
    for state, fan in enumerate(fans):
        left = set(reads[state])
        # Only proper subsets, so that no state depends on itself.
        near = {s for pair in left for s in states_of[pair]}
        candidates = sorted(
            (s for s in near if 1 < len(reads[s]) < len(left) and reads[s] < reads[state]),
            key=lambda s: (-len(reads[s]), s),
        )
        chosen = []
        for other in candidates:
            if reads[other] <= left:
                chosen.append(other)
                left -= reads[other]
        sharing.append(chosen)
        fan[:] = [arc for arc in fan if arcs[arc][1:] in left]
    return sharing


def _plan(
    fans: list[list[int]],
    sharing: list[list[int]],
    arcs: list[tuple[int, int, int]],
    tags: int,
    *,
    split: bool,
) -> Plan:
    """Return the plan for these fans; with `split`, fans of similar size share a level.

    That keeps the padding small.
    """
    width, row, levels = len(fans), dict[int, int](), []
    for states in _levels(sharing):
        buckets: dict[int, list[int]] = {}
        entries = {
            state: [(arcs[arc][2], arcs[arc][1], arc) for arc in fans[state]]
            + [(row[other], tags + 1, len(arcs)) for other in sharing[state]]
            for state in states
        }
        for state, fan in entries.items():
            buckets.setdefault(len(fan).bit_length() if split else 0, []).append(state)
        for _, bucket in sorted(buckets.items()):
            row |= {state: width + n for n, state in enumerate(bucket)}
            width += len(bucket)
            columns = [entries[state] for state in bucket]
            fillings = (0, tags, len(arcs))
            levels.append(
                Level(
                    *(
                        _padded([[e[k] for e in fan] for fan in columns], fillings[k])
                        for k in range(3)
                    )
                )
            )
    return Plan(tuple(levels), np.array([row[state] for state in range(len(fans))], dtype=np.int64))


def _levels(needs: list[list[int]]) -> list[list[int]]:
    """Return all states, sorted into levels such that each comes after the states it needs."""
    depth: dict[int, int] = {}

    def find(state: int) -> int:
        if state not in depth:
            depth[state] = max((find(other) + 1 for other in needs[state]), default=0)
        return depth[state]

    levels: list[list[int]] = [[] for _ in range(max(map(find, range(len(needs)))) + 1)]
    for state in range(len(needs)):
        levels[depth[state]].append(state)
    return levels


def _padded(fans: list[list[int]], filling: int) -> Indices:
    """Return fans of different sizes as the columns of an array that has at least one row."""
    height = max(1, max((len(fan) for fan in fans), default=0))
    table = np.full((height, len(fans)), filling, dtype=np.int64)
    for column, fan in enumerate(fans):
        table[: len(fan), column] = fan
    return table
