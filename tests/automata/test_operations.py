import pytest
from hypothesis import given

from any_automata import automata, language
from discotag.automata import (
    EPSILON,
    Arc,
    Automaton,
    AutomatonError,
    determinise,
    intersect,
    minimise,
    remove_epsilons,
    trim,
    unfold,
    union,
)

LONGEST = 4


def is_deterministic(automaton):
    pairs = [(arc.source, arc.symbol) for arc in automaton.arcs]
    return len(pairs) == len(set(pairs)) and all(symbol is not EPSILON for _, symbol in pairs)


def residuals(automaton):
    """How many different languages its states accept: the size of the minimal automaton.

    Of at most 8 states two that differ do so on a word of less than 8 symbols.
    """
    found = set()
    for state in automaton.states:
        words = language(
            Automaton(automaton.alphabet, automaton.size, automaton.arcs, automaton.finals, state),
            longest=8,
        )
        found.add(frozenset(words))
    return len(found - {frozenset()})


@given(automata())
def test_remove_epsilons(automaton):
    without = remove_epsilons(automaton)
    assert all(arc.symbol is not EPSILON for arc in without.arcs)
    assert language(without) == language(automaton)


@given(automata())
def test_determinise(automaton):
    deterministic = determinise(automaton)
    assert is_deterministic(deterministic)
    assert deterministic.deterministic
    assert language(deterministic) == language(automaton)


@given(automata())
def test_trim(automaton):
    trimmed = trim(automaton)
    assert language(trimmed) == language(automaton)
    inward = {trimmed.start} | {arc.target for arc in trimmed.arcs}
    assert inward == set(trimmed.states)
    onward = trimmed.finals | {arc.source for arc in trimmed.arcs}
    assert trimmed.size == 1 or onward == set(trimmed.states)


@given(automata(most=3))
def test_minimise(automaton):
    smallest = minimise(automaton)
    assert is_deterministic(smallest)
    assert language(smallest) == language(automaton)
    # As many states as there are residual languages; the empty language keeps its start state.
    assert smallest.size == max(1, residuals(trim(determinise(automaton))))


@given(automata(most=3), automata(most=3))
def test_intersect(first, second):
    assert language(intersect(first, second)) == language(first) & language(second)


@given(automata(most=3), automata(most=3))
def test_union(first, second):
    assert language(union(first, second)) == language(first) | language(second)


@given(automata(most=3), automata(most=3))
def test_minimised_forms_are_equal_exactly_if_the_languages_are(first, second):
    # Two automata of n and m deterministic states differ, if at all, on a word shorter than n + m.
    longest = determinise(first).size + determinise(second).size
    same = language(first, longest) == language(second, longest)
    assert (minimise(first) == minimise(second)) == same


def test_the_empty_language_is_one_state():
    nothing = minimise(Automaton(("a",), 2, (Arc(0, "a", 1),), frozenset()))
    assert (nothing.size, nothing.arcs, nothing.finals) == (1, (), frozenset())


def test_minimise_refines_until_nothing_changes():
    # Each state of a chain differs from the next only after a walk to the end.
    chain = tuple(Arc(n, "a", n + 1) for n in range(20))
    twice = tuple(Arc(n + 21 if n else 0, "b", n + 22) for n in range(20))
    ends = tuple(Arc(n + 21, "a", n + 22) for n in range(1, 20))
    both = Automaton(("a", "b"), 42, chain + twice[:1] + ends, frozenset({20, 41}))
    assert minimise(both).size == 21


def test_unfold_takes_states_of_any_kind():
    balanced = unfold(
        "ab",
        "",
        lambda seen, symbol: seen + symbol if len(seen) < 2 else None,
        lambda seen: seen in ("ab", "ba"),
    )
    assert language(balanced) == {("a", "b"), ("b", "a")}


@pytest.mark.parametrize("operation", [intersect, union])
def test_alphabets_must_agree(operation):
    one = Automaton(("a",), 1, (), frozenset())
    other = Automaton(("b",), 1, (), frozenset())
    with pytest.raises(AutomatonError, match="same alphabet"):
        operation(one, other)
