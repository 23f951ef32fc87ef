"""The grammar: its sizes, and the figure of the paper."""

import pytest

from discotag import Scheme
from discotag.automata import EPSILON, Arc, Automaton, determinise, minimise, remove_epsilons
from oracle import TABLE


@pytest.mark.parametrize("row", TABLE, ids=lambda row: "-".join(map(str, row[:3])))
def test_table_of_sizes(row):
    slots, naming, gaps, tags, states, arcs, counts = row
    scheme = Scheme(("ADR",), slots, naming, gaps)
    grammar = scheme.grammar
    assert len(scheme.tags) == tags
    assert (len(grammar.states), len(grammar.arcs)) == (states, arcs)
    assert grammar.deterministic
    assert grammar == minimise(grammar)
    assert tuple(grammar.count(length) for length in range(len(counts))) == counts


def test_states_split_by_the_entering_tag_are_the_22_of_the_paper():
    grammar = Scheme(("ADR",), 2, "semantic").grammar
    entered = {(arc.target, arc.symbol) for arc in grammar.arcs}
    # The start is entered by O as well, and reads on alike: it is no state of its own.
    assert len(entered) == 22


def figure():
    """The grammar automaton as the paper draws it, `DB-Ix` on arc 7 to 6 read as `DI-Bx`."""
    left = [
        (1, "DB-Bx", 7),
        (7, "DI-O", 5),
        (7, "DI-Ix", 7),
        (7, "DI-Bx", 6),
        (5, "DI-Bx", 6),
        (6, EPSILON, 5),
        (5, "DI-O", 5),
        (6, "DI-Ix", 6),
        (5, "DI-By", 4),
        (4, "DI-Iy", 4),
        (4, EPSILON, 1),
        (4, "DI-O", 3),
        (3, "DI-By", 4),
        (7, "DI-By", 8),
        (8, EPSILON, 3),
        (8, "DI-Iy", 8),
    ]
    mirror_state = {1: 1, 3: 3, 4: 9, 5: 10, 6: 11, 7: 12, 8: 13}
    mirror_tag = str.maketrans("xy", "yx")
    right = [
        (mirror_state[p], tag and tag.translate(mirror_tag), mirror_state[q]) for p, tag, q in left
    ]
    middle = [(1, "O", 1), (1, "CB", 2), (2, "CI", 2), (2, EPSILON, 1), (3, "DI-O", 3)]
    tags = Scheme(("ADR",), 2, "semantic").tags
    # The figure's states count from 1; state 0 is left unused.
    arcs = tuple(Arc(*arc) for arc in [*middle, *left, *right])
    return Automaton(tags, 14, arcs, finals=frozenset({1}), start=1)


def test_the_figure_of_the_paper_accepts_a_strict_subset():
    grammar = Scheme(("ADR",), 2, "semantic").grammar
    drawn = determinise(remove_epsilons(figure()))
    for length in range(7):
        assert set(drawn.words(length)) <= set(grammar.words(length))
    assert (grammar.count(6), drawn.count(6)) == (3239, 3239 - 1296)
    refused = ["DB-Bx", "DI-Bx", "DI-By", "DI-By"]
    assert grammar.accepts(refused)
    assert not drawn.accepts(refused)


@pytest.mark.parametrize("slots", [0, 1])
def test_fewer_than_two_slots_are_bio(slots):
    scheme = Scheme(("ADR",), slots, gap_mentions=True)
    assert scheme.tags == ("O", "CB", "CI")
    assert len(scheme.grammar.states) == 2
    assert scheme.grammar.accepts(["CB", "CI", "O", "CB"])
    assert not scheme.grammar.accepts(["O", "CI"])


def test_tags_are_named_and_ordered_as_designed():
    assert Scheme(("ADR",)).tags == (
        *("O", "CB", "CI", "DB-Bx", "DI-Bx", "DI-Ix", "DI-By", "DI-Iy", "DI-O"),
    )
    assert Scheme(("ADR",), 2, "semantic", gap_mentions=True).tags[3:5] == ("DB-Bx", "DB-By")
    assert Scheme(("ADR",), gap_mentions=True).tags[-2:] == ("DI-CB", "DI-CI")
    two = Scheme(("A", "B")).tags
    assert two[:3] == ("O", "CB:A", "CI:A")
    assert len(two) == 17


def test_the_largest_scheme_compiles():
    scheme = Scheme(tuple("ABCDEF"), 4, "semantic", gap_mentions=True)
    assert len(scheme.tags) == 103
    tags = ["DB-Bw:F", "DI-CB:A", "DI-By:F"]
    assert scheme.grammar.accepts(tags)
    assert scheme.decode(tags) == scheme.decode(["DB-Bx:F", "DI-CB:A", "DI-Bz:F"])
