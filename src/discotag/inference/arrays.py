"""A grammar as arrays: which values a sweep combines into which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from discotag.automata import Automaton

Indices = npt.NDArray[np.int64]

DENSE_LIMIT: Final = 4096
"""Up to so many cells of (arcs out of or into the fullest state) x (states), a sweep reads all
arcs at once. Above, states that share arcs share the work (`_shared`)."""


SPLIT_STATES: Final = 64
"""With more states, the fans of a plan for chosen arcs are sorted by size."""


class Level(NamedTuple):
    """Values that can be computed together, each the sum of a fan of earlier values.

    Rows of the arrays are the places of a fan, columns its values; short fans are padded.

    Attributes:
        source: Rows of the values so far: the old ones, then those of each level before this.
        tag: The tag whose score is added; `tags` for padding (-inf), `tags + 1` for nothing (0).
        arc: The arc whose weight is added; `arcs` for none.
    """

    source: Indices
    tag: Indices
    arc: Indices


class Plan(NamedTuple):
    """One step of a sweep, from the values after a word to those before it.

    Attributes:
        levels: The levels, in order.
        result: For each state the row of its new value, counted through old values and levels.
    """

    levels: tuple[Level, ...]
    result: Indices


@dataclass(frozen=True, eq=False)
class Arrays:
    """A compiled grammar.

    Attributes:
        states, tags: How many.
        start: The first state.
        final: For each state whether a sequence may end there.
        source, tag, target: For each arc; sorted by state, then by tag.
        fan_target, fan_tag, fan_arc: For each place and state, the arcs of the state in the order
            of tags; padding has the tag `tags`, and `arcs` for an arc.
        plan: How a sweep goes on by a word.
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
        """How many arcs there are."""
        return len(self.source)


@lru_cache(maxsize=64)
def compile_grammar(grammar: Automaton, *, weighted: bool = False) -> Arrays:
    """Arrays for a deterministic automaton; tags are numbered in the order of its alphabet.

    With `weighted`, arcs may have weights of their own, so states share no arcs.
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
    sharing = _shared(fans, arcs) if large and not weighted else [[] for _ in range(size)]
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
    """The plan of a sweep along these arcs alone, whose tags are all below `tags`.

    With `forward` it goes from the first word to the last: from the values before a word to those
    after it, where the words are given in reverse.
    """
    ends = (arrays.target, arrays.source) if forward else (arrays.source, arrays.target)
    every = list(zip(ends[0].tolist(), arrays.tag.tolist(), ends[1].tolist(), strict=True))
    fans: list[list[int]] = [[] for _ in range(arrays.states)]
    for arc in arcs.tolist():
        fans[every[arc][0]].append(arc)
    return _plan(fans, [[] for _ in fans], every, tags, split=arrays.states > SPLIT_STATES)


def _shared(fans: list[list[int]], arcs: list[tuple[int, int, int]]) -> list[list[int]]:
    """For each state, other states all of whose arcs it has too, no two with an arc in common.

    The value of a state is the sum of the values of these and of the arcs left over, which are
    all that stay in its fan: `fans` is changed. Most states can end a span and then read on as
    the start does, so this leaves a fraction of the arcs.
    """
    reads = [frozenset(arcs[a][1:] for a in fan) for fan in fans]
    states_of: dict[tuple[int, int], set[int]] = {}
    for state, pairs in enumerate(reads):
        for pair in pairs:
            states_of.setdefault(pair, set()).add(state)
    sharing: list[list[int]] = []
    for state, fan in enumerate(fans):
        left = set(reads[state])
        # Only strictly smaller sets, so that sharing never goes round in circles.
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
    """Levels of fans; with `split`, fans of like size stand together: little is padding."""
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
    """All states, each in a later level than those it needs."""
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
    """Fans of different sizes as the columns of one array, at least one place high."""
    height = max(1, max((len(fan) for fan in fans), default=0))
    table = np.full((height, len(fans)), filling, dtype=np.int64)
    for column, fan in enumerate(fans):
        table[: len(fan), column] = fan
    return table
