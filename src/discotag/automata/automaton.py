"""Finite automata over any hashable symbols."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from discotag.counts import counted
from discotag.errors import InputError

Symbol = Hashable

EPSILON: Final = None
"""The symbol of an arc that reads nothing."""


class AutomatonError(InputError):
    """An invalid automaton, or an operation that does not apply to an automaton."""


class Arc(NamedTuple):
    """An arc from `source` to `target` that reads `symbol` (or nothing, if it is `EPSILON`)."""

    source: int
    symbol: Symbol
    target: int


@dataclass(frozen=True)
class Automaton:
    """A finite automaton with states `0 .. size - 1`; a word without a path is rejected.

    A state may have several arcs for one symbol, and arcs may be `EPSILON`; see `deterministic`.
    Words are listed in the order of `alphabet`.

    Example:
        >>> even = Automaton(("a",), size=2, arcs=(Arc(0, "a", 1), Arc(1, "a", 0)), finals={0})
        >>> even.accepts("aa"), even.accepts("aaa"), even.count(4)
        (True, False, 1)
    """

    alphabet: tuple[Symbol, ...]
    size: int
    arcs: tuple[Arc, ...]
    finals: frozenset[int]
    start: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphabet", tuple(self.alphabet))
        object.__setattr__(self, "arcs", tuple(Arc(*arc) for arc in self.arcs))
        object.__setattr__(self, "finals", frozenset(self.finals))
        symbols = set(self.alphabet)
        if EPSILON in symbols or len(symbols) != len(self.alphabet):
            raise AutomatonError("an alphabet must contain each symbol once, and not EPSILON")
        states = set(self.states)
        size = counted(self.size, "state")
        if self.start not in states or not self.finals <= states:
            raise AutomatonError(f"start and final states must be among the {size}")
        for arc in self.arcs:
            if arc.source not in states or arc.target not in states:
                raise AutomatonError(f"{arc} has a state outside the {size}")
            if arc.symbol is not EPSILON and arc.symbol not in symbols:
                raise AutomatonError(f"{arc} reads a symbol that is not in the alphabet")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Automata are keys of caches that are looked up for every batch.
        return hash((self.size, self.start, self.finals, self.arcs))

    @property
    def states(self) -> range:
        """All states."""
        return range(self.size)

    @cached_property
    def outgoing(self) -> tuple[Mapping[Symbol, tuple[int, ...]], ...]:
        """For each state, the states that each symbol leads to."""
        table: list[dict[Symbol, tuple[int, ...]]] = [{} for _ in self.states]
        for source, symbol, target in self.arcs:
            table[source][symbol] = (*table[source].get(symbol, ()), target)
        return tuple(table)

    @cached_property
    def deterministic(self) -> bool:
        """Whether no arc is `EPSILON` and no two arcs of a state read the same symbol."""
        return all(
            EPSILON not in arcs and all(len(targets) == 1 for targets in arcs.values())
            for arcs in self.outgoing
        )

    @cached_property
    def steps(self) -> tuple[dict[Symbol, int], ...]:
        """For each state, the state that each symbol leads to; deterministic automata only."""
        if not self.deterministic:
            raise AutomatonError("only deterministic automata have steps; call determinise first")
        return tuple({s: targets[0] for s, targets in arcs.items()} for arcs in self.outgoing)

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        """Return the given states and all states that `EPSILON` arcs lead to from them."""
        reached = set(states)
        todo = list(reached)
        while todo:
            for target in self.outgoing[todo.pop()].get(EPSILON, ()):
                if target not in reached:
                    reached.add(target)
                    todo.append(target)
        return frozenset(reached)

    def accepts(self, word: Iterable[Symbol]) -> bool:
        """Return whether some path reads `word` and ends in a final state."""
        if self.deterministic:
            state = self.start
            for symbol in word:
                step = self.steps[state]
                if symbol not in step:
                    return False
                state = step[symbol]
            return state in self.finals
        here = self.closure((self.start,))
        for symbol in word:
            if symbol is EPSILON:
                return False
            here = self.closure(t for state in here for t in self.outgoing[state].get(symbol, ()))
            if not here:
                return False
        return not self.finals.isdisjoint(here)

    def count(self, length: int) -> int:
        """Count the accepted words of this length; for deterministic automata only."""
        paths = {self.start: 1}
        for _ in range(_checked(length)):
            onward: dict[int, int] = {}
            for state, number in paths.items():
                for target in self.steps[state].values():
                    onward[target] = onward.get(target, 0) + number
            paths = onward
        return sum(number for state, number in paths.items() if state in self.finals)

    def words(self, length: int) -> Iterator[tuple[Symbol, ...]]:
        """Yield the accepted words of this length, sorted; for deterministic automata only."""
        # alive[n]: the states from which n more symbols can reach a final state
        alive = [self.finals]
        for _ in range(_checked(length)):
            after = alive[-1]
            alive.append(
                frozenset(s for s in self.states if not after.isdisjoint(self.steps[s].values()))
            )
        ordered = [[(s, arcs[s]) for s in self.alphabet if s in arcs] for arcs in self.steps]
        if self.start not in alive[length]:
            return
        word: list[Symbol] = []
        branches = [iter(ordered[self.start])] if length else []
        if not length:
            yield ()
        while branches:
            for symbol, target in branches[-1]:
                left = length - len(branches)
                if target not in alive[left]:
                    continue
                if not left:
                    yield (*word, symbol)
                    continue
                word.append(symbol)
                branches.append(iter(ordered[target]))
                break
            else:
                branches.pop()
                if word:
                    word.pop()


def _checked(length: int) -> int:
    if length < 0:
        raise AutomatonError(f"length must not be negative, got {length}")
    return length
