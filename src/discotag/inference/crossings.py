"""Boundaries between words that no mention crosses, whatever words follow.

If no tag sequence of any importance has a mention, or a mention set, that reaches across the
boundary between two words, then the words before it and the words after it can be decoded apart.

The sequences of the words up to the boundary and of some further words are divided into those that
cross it and those that do not. Both are summed up by the state of the grammar in which they end.
What follows depends on that state only, so it cannot change the odds of crossing to more than the
highest odds of any state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discotag.automata import Automaton
from discotag.inference.arrays import Arrays, Plan, compile_grammar, plan_of
from discotag.inference.probability import LONG
from discotag.inference.semirings import KBest, Log, Max
from discotag.inference.sweep import step
from discotag.inference.toolbox import Array, Toolbox

Numbers = npt.NDArray[Any]

REACH: Final = 8
"""The number of words before and after a boundary that `guess_crossings` looks at."""

MOST_ODDS: Final = 30.0
"""The highest log-odds of a tag in `guess_crossings`, so that products do not overflow."""


@dataclass(frozen=True, eq=False)
class Walls:
    """A grammar, and which of its tags cross a boundary.

    Attributes:
        arrays: The compiled grammar.
        forward: The plan of a step from the values before a word to those after it.
        apart: (tags + 2, 1), the tags of a word next to the boundary with which it is not crossed.
            Without arc weights, this is the word after it, which begins something new. With them,
            it is the word before it, with the tag O: the weight of the next arc depends on it.
        shift: The number of words from the word after the boundary to that word.
        new: (tags,), 1 for tags that begin a mention, else 0.
        follows: (tags, tags), 1 if the second continues a mention and may follow the first, else 0.
        ends: (tags,), 1 if a sentence can end with the tag, else 0.
    """

    arrays: Arrays
    forward: Plan
    apart: npt.NDArray[np.bool_]
    shift: int
    new: Numbers
    follows: Numbers
    ends: Numbers


@lru_cache(maxsize=64)
def find_walls(grammar: Automaton, *, weighted: bool = False) -> Walls:
    """Return what `crossings` needs to know about the grammar of a scheme."""
    arrays = compile_grammar(grammar, weighted=weighted)
    first = arrays.tag[arrays.source == arrays.start]  # O, and those that begin a mention
    apart = np.zeros((arrays.tags + 2, 1), dtype=bool)
    apart[0 if weighted else first] = True
    into, out = np.zeros((2, arrays.states, arrays.tags))
    into[arrays.target, arrays.tag] = 1
    out[arrays.source, arrays.tag] = 1
    follows = (into.T @ out > 0).astype(np.float64)
    follows[:, first] = 0
    new = np.zeros(arrays.tags)
    new[first[1:]] = 1
    return Walls(
        arrays,
        plan_of(arrays, np.arange(arrays.arcs), arrays.tags, forward=True),
        apart,
        -1 if weighted else 0,
        new,
        follows,
        (arrays.final @ into > 0).astype(np.float64),
    )


def guess_crossings(tools: Toolbox, walls: Walls, scores: Array) -> Array:
    """Return estimated odds that a mention crosses the boundary before each word, (words,).

    It is fast but inexact, to choose boundaries for `crossings`: it considers mentions of up to
    `REACH` words on either side, and checks the grammar only between neighbouring tags.

    Args:
        tools: The array library.
        walls: The grammar.
        scores: (words, tags).
    """
    scores = tools.levelled(scores[None], double=True)[0]
    walls = tools.local(walls, scores)
    odds = tools.exp((scores - scores[:, :1]).clip(max=MOST_ODDS))
    nothing = odds[:1] * 0
    new = odds * walls.new
    begun, ended = odds * 0, odds * 0
    for _ in range(REACH):
        begun = odds * (tools.join([nothing, (begun + new)[:-1]]) @ walls.follows)
        ended = walls.ends + tools.join([(odds * ended)[1:], nothing]) @ walls.follows.T
    return (begun * ended).sum(1)


def crossings(
    tools: Toolbox,
    walls: Walls,
    scores: Array,
    mask: Array,
    weights: Array | None,
    margin: int,
    k: int,
) -> tuple[Array, Array]:
    """Return how important sequences are that cross the boundary before the last `margin` words.

    Args:
        tools: The array library.
        walls: The grammar.
        scores: (batch, words, tags).
        mask: (batch, words), as in `discotag.inference.algorithms`; True for the last words.
        weights: (arcs,), or None.
        margin: The number of words after the boundary.
        k: Look at the k best sequences; 0: do not.

    Returns:
        For each sentence, two numbers that no further words can raise: the log-odds that a sequence
        crosses the boundary; and how far the best of those that do is above the k-th best of the
        others, -inf for `k=0`.
    """
    scores = tools.levelled(scores, double=scores.shape[1] > LONG)
    ready, weights = tools.prepared(scores, weights)
    given = (tools.local(walls, ready), ready, mask.T, weights, margin)
    begun = tools.beginnings(given[0].arrays, ready)
    within, across = _divided(Log(tools), *given, begun)
    odds = _highest_difference(tools, across, within)
    if not k:
        return odds, tools.filled(tuple(odds.shape), -float("inf"), odds)
    within, across = _divided(KBest(tools, k), *given, tools.padded_ranks(begun, k))
    return odds, _highest_difference(tools, across[..., 0], within[..., -1])


def _divided(
    ring: Max,
    walls: Walls,
    scores: Array,
    mask: Array,
    weights: Array | None,
    margin: int,
    values: Array,
) -> tuple[Array, Array]:
    """Return the values of the sequences that do not cross the boundary, and of those that do."""
    tools, branch = ring.tools, len(scores) - margin + walls.shift
    for word in range(branch):
        new = step(ring, walls.forward, values, scores[word], weights)
        values = ring.keep(mask[word], new, values)
    here, nothing = scores[branch], -float("inf")
    parts = [
        step(ring, walls.forward, values, tools.where(allowed, here, nothing), weights)
        for allowed in (walls.apart, ~walls.apart)
    ]
    values = tools.join(parts, 1)
    for word in range(branch + 1, len(scores)):
        both = tools.join([scores[word], scores[word]], 1)
        values = step(ring, walls.forward, values, both, weights)
    batch = scores.shape[2]
    return values[:, :batch], values[:, batch:]


def _highest_difference(tools: Toolbox, values: Array, others: Array) -> Array:
    """Return the highest difference of a state; it is -inf where the first value is."""
    nothing = -float("inf")
    return tools.max_down(tools.where(values == nothing, nothing, values - others))
