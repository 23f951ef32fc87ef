"""Automata for hypothesis, and their languages by walking every path."""

from hypothesis import strategies as st

from discotag.automata import EPSILON, Arc, Automaton


@st.composite
def automata(draw, alphabet="ab", most=5):
    """Any automaton, with epsilons and several arcs for one symbol."""
    size = draw(st.integers(1, most))
    state = st.integers(0, size - 1)
    arc = st.builds(Arc, state, st.sampled_from([*alphabet, EPSILON]), state)
    arcs = draw(st.lists(arc, max_size=3 * size, unique=True))
    finals = draw(st.frozensets(state))
    return Automaton(tuple(alphabet), size, tuple(arcs), finals, start=draw(state))


def language(automaton, longest=4):
    """All accepted words, by walking every path."""
    words = set()
    seen = set()
    todo = [(automaton.start, ())]
    while todo:
        state, word = todo.pop()
        if (state, word) in seen:
            continue
        seen.add((state, word))
        if state in automaton.finals:
            words.add(word)
        for source, symbol, target in automaton.arcs:
            if source == state:
                if symbol is EPSILON:
                    todo.append((target, word))
                elif len(word) < longest:
                    todo.append((target, (*word, symbol)))
    return words
