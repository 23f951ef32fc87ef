"""A small library of finite automata: build, combine, minimise, count, list and draw them."""

from discotag.automata.automaton import EPSILON, Arc, Automaton, AutomatonError, Symbol
from discotag.automata.dot import to_dot
from discotag.automata.operations import (
    determinise,
    intersect,
    minimise,
    remove_epsilons,
    trim,
    unfold,
    union,
)

__all__ = [
    "EPSILON",
    "Arc",
    "Automaton",
    "AutomatonError",
    "Symbol",
    "determinise",
    "intersect",
    "minimise",
    "remove_epsilons",
    "to_dot",
    "trim",
    "unfold",
    "union",
]
