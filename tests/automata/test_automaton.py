from itertools import product

import pytest
from hypothesis import given

from any_automata import automata, language
from discotag.automata import EPSILON, Arc, Automaton, AutomatonError, determinise, to_dot


@given(automata())
def test_accepts_is_membership(automaton):
    words = language(automaton)
    for length in range(5):
        for word in product(automaton.alphabet, repeat=length):
            assert automaton.accepts(word) == (word in words)


@given(automata())
def test_words_and_counts_by_length(automaton):
    automaton = determinise(automaton)
    words = language(automaton)
    for length in range(5):
        listed = list(automaton.words(length))
        assert listed == sorted(word for word in words if len(word) == length)
        assert automaton.count(length) == len(listed)


def test_words_come_in_the_order_of_the_alphabet():
    every = Automaton(("b", "a"), 1, (Arc(0, "a", 0), Arc(0, "b", 0)), frozenset({0}))
    assert ["".join(word) for word in every.words(2)] == ["bb", "ba", "ab", "aa"]
    assert every.count(200) == 2**200


def test_unknown_symbols_and_epsilon_are_refused():
    every = Automaton(("a",), 1, (Arc(0, "a", 0), Arc(0, EPSILON, 0)), frozenset({0}))
    assert every.accepts(["a", "a"])
    assert not every.accepts(["z"])
    assert not every.accepts([EPSILON])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alphabet": ("a", "a")}, "each symbol once"),
        ({"alphabet": (EPSILON,)}, "not EPSILON"),
        ({"finals": {2}}, "among the 2 states"),
        ({"start": 2}, "among the 2 states"),
        ({"arcs": (Arc(0, "a", 2),)}, "outside the 2 states"),
        ({"arcs": (Arc(0, "z", 1),)}, "not in the alphabet"),
    ],
)
def test_automata_that_cannot_be(arguments, message):
    with pytest.raises(AutomatonError, match=message):
        Automaton(**{"alphabet": ("a",), "size": 2, "arcs": (), "finals": {1}} | arguments)


def test_questions_that_need_a_deterministic_automaton():
    choice = Automaton(("a",), 2, (Arc(0, "a", 0), Arc(0, "a", 1)), frozenset({1}))
    with pytest.raises(AutomatonError, match="call determinise first"):
        choice.count(1)
    with pytest.raises(AutomatonError, match="must not be negative, got -1"):
        determinise(choice).count(-1)


def test_dot_joins_the_symbols_of_an_edge_and_escapes():
    automaton = Automaton(('"', "b\\"), 2, (Arc(0, '"', 1), Arc(0, "b\\", 1)), frozenset({1}))
    dot = to_dot(automaton, name="x")
    assert '0 -> 1 [label="\\"\\nb\\\\"];' in dot
    assert "1 [shape=doublecircle];" in dot
    assert "start -> 0;" in dot
    assert "ε" in to_dot(Automaton((), 1, (Arc(0, EPSILON, 0),), frozenset()))
