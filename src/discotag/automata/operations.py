"""Operations on automata, and automata from step functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from discotag.automata.automaton import EPSILON, Arc, Automaton, AutomatonError, Symbol

State = TypeVar("State", bound=Symbol)
AnySymbol = TypeVar("AnySymbol", bound=Symbol)


def unfold(
    alphabet: Sequence[AnySymbol],
    start: State,
    step: Callable[[State, AnySymbol], State | None],
    final: Callable[[State], bool],
) -> Automaton:
    """Build the deterministic automaton of all states that `step` reaches from `start`.

    Args:
        alphabet: All symbols, in the order of the new alphabet.
        start: The first state; a state may be any hashable value.
        step: Returns the state after reading a symbol, or None if the symbol is not allowed.
        final: Returns whether a word may end in a state.

    Example:
        >>> unfold("ab", 0, lambda n, s: (n + (s == "a")) % 2, lambda n: n == 0).count(2)
        2
    """

    def onward(state: State) -> Iterable[tuple[Symbol, State]]:
        for symbol in alphabet:
            target = step(state, symbol)
            if target is not None:
                yield symbol, target

    return _explore(tuple(alphabet), start, onward, final)


def remove_epsilons(automaton: Automaton) -> Automaton:
    """Remove `EPSILON` arcs and the states that can no longer be reached."""

    def onward(state: int) -> Iterable[tuple[Symbol, int]]:
        for near in sorted(automaton.closure((state,))):
            for symbol, targets in automaton.outgoing[near].items():
                if symbol is not EPSILON:
                    yield from ((symbol, target) for target in targets)

    def final(state: int) -> bool:
        return not automaton.finals.isdisjoint(automaton.closure((state,)))

    return _explore(automaton.alphabet, automaton.start, onward, final)


def determinise(automaton: Automaton) -> Automaton:
    """Return an automaton of the same language with at most one arc per state and symbol."""
    if automaton.deterministic:
        return automaton

    def step(here: frozenset[int], symbol: Symbol) -> frozenset[int] | None:
        there = (t for state in here for t in automaton.outgoing[state].get(symbol, ()))
        return automaton.closure(there) or None

    start = automaton.closure((automaton.start,))
    return unfold(
        automaton.alphabet, start, step, lambda here: not automaton.finals.isdisjoint(here)
    )


def intersect(first: Automaton, second: Automaton) -> Automaton:
    """Return the automaton of the words that both accept; the alphabets must be the same."""
    if first.alphabet != second.alphabet:
        raise AutomatonError("only automata with the same alphabet can be intersected")
    first, second = (
        remove_epsilons(a) if any(arc.symbol is EPSILON for arc in a.arcs) else a
        for a in (first, second)
    )

    def onward(pair: tuple[int, int]) -> Iterable[tuple[Symbol, tuple[int, int]]]:
        ours, theirs = first.outgoing[pair[0]], second.outgoing[pair[1]]
        for symbol, targets in ours.items():
            if symbol in theirs:
                yield from ((symbol, (t, u)) for t in targets for u in theirs[symbol])

    def final(pair: tuple[int, int]) -> bool:
        return pair[0] in first.finals and pair[1] in second.finals

    return _explore(first.alphabet, (first.start, second.start), onward, final)


def union(first: Automaton, second: Automaton) -> Automaton:
    """Return the automaton of the words that either accepts; the alphabets must be the same."""
    if first.alphabet != second.alphabet:
        raise AutomatonError("only automata with the same alphabet have a union")
    # State 0 is the new start; the states of `first` follow, then those of `second`.
    arcs, finals, base = [], set(), 1
    for part in (first, second):
        arcs.append(Arc(0, EPSILON, base + part.start))
        arcs.extend(Arc(base + p, symbol, base + q) for p, symbol, q in part.arcs)
        finals |= {base + state for state in part.finals}
        base += part.size
    return Automaton(first.alphabet, base, tuple(arcs), frozenset(finals))


def trim(automaton: Automaton) -> Automaton:
    """Keep only the states that are on a path from the start to a final state.

    The start state always stays, so the empty language is one state without arcs.
    """
    into: list[list[int]] = [[] for _ in automaton.states]
    for source, _, target in automaton.arcs:
        into[target].append(source)
    useful = set(automaton.finals)
    todo = list(useful)
    while todo:
        for source in into[todo.pop()]:
            if source not in useful:
                useful.add(source)
                todo.append(source)

    def onward(state: int) -> Iterable[tuple[Symbol, int]]:
        for symbol, targets in automaton.outgoing[state].items():
            yield from ((symbol, target) for target in targets if target in useful)

    return _explore(
        automaton.alphabet, automaton.start, onward, lambda state: state in automaton.finals
    )


def minimise(automaton: Automaton) -> Automaton:
    """Return the smallest deterministic automaton of the same language, without a sink state.

    States are numbered in the order in which the alphabet reaches them, so two automata over one
    alphabet have the same language if and only if their minimised forms are equal.
    """
    automaton = trim(determinise(automaton))
    steps = automaton.steps
    block = [int(state in automaton.finals) for state in automaton.states]
    blocks = len(set(block))
    while True:  # Moore's refinement: split blocks until their states step alike
        names: dict[tuple[int, frozenset[tuple[Symbol, int]]], int] = {}
        block = [
            names.setdefault(
                (block[state], frozenset((s, block[t]) for s, t in steps[state].items())),
                len(names),
            )
            for state in automaton.states
        ]
        if len(names) == blocks:
            break
        blocks = len(names)
    member = {name: state for state, name in enumerate(block)}

    def step(name: int, symbol: Symbol) -> int | None:
        target = steps[member[name]].get(symbol)
        return None if target is None else block[target]

    return unfold(
        automaton.alphabet,
        block[automaton.start],
        step,
        lambda name: member[name] in automaton.finals,
    )


def _explore(
    alphabet: tuple[Symbol, ...],
    start: State,
    onward: Callable[[State], Iterable[tuple[Symbol, State]]],
    final: Callable[[State], bool],
) -> Automaton:
    """Build the automaton of the reachable states, numbered breadth first; `start` becomes 0."""
    number = {start: 0}
    order = [start]
    arcs: dict[Arc, None] = {}
    for state in order:  # grows during the loop
        for symbol, target in onward(state):
            if target not in number:
                number[target] = len(order)
                order.append(target)
            arcs[Arc(number[state], symbol, number[target])] = None
    finals = frozenset(number[state] for state in order if final(state))
    return Automaton(alphabet, len(order), tuple(arcs), finals)
