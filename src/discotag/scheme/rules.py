"""The well-formedness rules, each a small automaton, and the grammar, their intersection.

Each rule checks one condition only: rule 4 accepts a mention set that begins with `DI-O`, because
rule 2 rejects it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Final, NamedTuple, TypeVar

from discotag.automata import Automaton, Symbol, intersect, minimise, unfold
from discotag.scheme.tags import Lower, Tag, Upper

State = TypeVar("State", bound=Symbol)

MINIMUM_SLOTS: Final = 2
"""The smallest number of slots that a mention set fills (the paper's rule 4)."""


@dataclass(frozen=True)
class Rule:
    """A rule: its number, its text, and the automaton of the sequences that satisfy it."""

    number: int
    text: str
    automaton: Automaton

    def breaks_at(self, tags: Sequence[str]) -> int | None:
        """Return the position at which tags break the rule, or None if they satisfy it.

        This is the first tag that no continuation can make well-formed; if a mention set ends too
        early, it is the last word of the set.
        """
        steps, finals = self.automaton.steps, self.automaton.finals
        state = self.automaton.start
        for position, tag in enumerate(tags):
            onward = steps[state].get(tag)
            if onward is None:
                ended = state not in finals and not tag.startswith(Upper.SET_INSIDE.value)
                return position - 1 if ended else position
            state = onward
        return None if state in finals else len(tags) - 1


def build_rules(tags: Mapping[str, Tag], slots: int, structural: bool) -> tuple[Rule, ...]:
    """Build the rules over these tags, in the order of their numbers."""
    order = ", and slot k+1 first appears after slot k has" if structural else ""
    has_gaps = any(tag.upper is Upper.SET_INSIDE and _is_continuous(tag) for tag in tags.values())
    gap = ", and DI-CI follows DI-CB or DI-CI" if has_gaps else ""
    own = "; a gap mention has its own" if has_gaps else ""
    several = len({tag.label for tag in tags.values()} - {None}) > 1
    rules = [
        (1, "CI follows CB or CI", _continuous_goes_on(tags)),
        (2, "DI-* follows DB-* or DI-*", _set_goes_on(tags)),
        (3, f"*-Ik follows *-Bk or *-Ik of the same slot{gap}", _component_goes_on(tags)),
        (4, f"a mention set fills at least two slots{order}", _filled(tags, structural)),
        (
            5,
            "no two neighbouring components without a word between them are both the only one "
            "of their slot",
            _apart(tags, slots),
        ),
        (6, "a mention set ends with a component word", _ended(tags)),
    ]
    if several:
        rules.append((7, f"all tags of one span carry the same label{own}", _labels(tags)))
    return tuple(Rule(number, text, automaton) for number, text, automaton in rules)


def build_grammar(rules: tuple[Rule, ...]) -> Automaton:
    """Build the minimal automaton of the sequences that satisfy all rules."""
    return reduce(_both, (rule.automaton for rule in rules))


def _both(first: Automaton, second: Automaton) -> Automaton:
    return minimise(intersect(first, second))


# Rules 1, 2 and 3 concern pairs of neighbouring tags: the state is what the rule remembers of the
# previous tag.


def _pairs(
    tags: Mapping[str, Tag],
    first: State,
    remember: Callable[[Tag], State],
    may_follow: Callable[[State, Tag], bool],
) -> Automaton:
    """Build the automaton of the sequences in which every two neighbouring tags are allowed."""

    def step(memory: State, name: str) -> State | None:
        return remember(tags[name]) if may_follow(memory, tags[name]) else None

    return minimise(unfold(tuple(tags), first, step, lambda memory: True))


def _continuous_goes_on(tags: Mapping[str, Tag]) -> Automaton:
    """Rule 1."""

    def may_follow(in_mention: bool, tag: Tag) -> bool:
        return in_mention or tag.upper is not Upper.OUTSIDE or not _goes_on(tag)

    return _pairs(
        tags, False, lambda tag: tag.upper is Upper.OUTSIDE and _is_continuous(tag), may_follow
    )


def _set_goes_on(tags: Mapping[str, Tag]) -> Automaton:
    """Rule 2."""

    def may_follow(in_set: bool, tag: Tag) -> bool:
        return in_set or tag.upper is not Upper.SET_INSIDE

    return _pairs(tags, False, lambda tag: tag.upper is not Upper.OUTSIDE, may_follow)


def _component_goes_on(tags: Mapping[str, Tag]) -> Automaton:
    """Rule 3; the state is the slot of the previous word, a gap mention, or neither."""
    nothing, gap_mention = -2, -1

    def kind(tag: Tag) -> int:
        if tag.slot is not None:
            return tag.slot
        in_gap = tag.upper is Upper.SET_INSIDE and _is_continuous(tag)
        return gap_mention if in_gap else nothing

    def may_follow(before: int, tag: Tag) -> bool:
        return tag.upper is not Upper.SET_INSIDE or not _goes_on(tag) or kind(tag) == before

    return _pairs(tags, nothing, kind, may_follow)


def _is_continuous(tag: Tag) -> bool:
    return tag.lower in (Lower.CONTINUOUS_BEGIN, Lower.CONTINUOUS_INSIDE)


def _goes_on(tag: Tag) -> bool:
    return tag.lower in (Lower.CONTINUOUS_INSIDE, Lower.COMPONENT_INSIDE)


# Rules 4, 5 and 6 concern one mention set at a time: it begins at DB-*, and ends before the first
# tag that is not DI-*.


def _each_set(
    tags: Mapping[str, Tag],
    fresh: State,
    step: Callable[[State, Tag], State | None],
    complete: Callable[[State], bool],
) -> Automaton:
    """Build the automaton of the sequences of which `step` takes every set to a complete state."""

    # A state is () outside of mention sets, and (state of the set,) inside.
    def step_all(state: tuple[State, ...], name: str) -> tuple[State, ...] | None:
        tag = tags[name]
        if tag.upper is Upper.SET_INSIDE and state:
            inner = step(state[0], tag)
        elif not may_end(state):
            return None
        elif tag.upper is Upper.SET_BEGIN:
            inner = step(fresh, tag)
        else:
            return ()
        return None if inner is None else (inner,)

    def may_end(state: tuple[State, ...]) -> bool:
        return not state or complete(state[0])

    outside: tuple[State, ...] = ()
    return minimise(unfold(tuple(tags), outside, step_all, may_end))


def _filled(tags: Mapping[str, Tag], structural: bool) -> Automaton:
    """Rule 4; the state of a set is the slots filled so far, as bits."""

    def step(filled: int, tag: Tag) -> int | None:
        if tag.slot is None or tag.lower is not Lower.COMPONENT_BEGIN:
            return filled
        earlier = (1 << tag.slot) - 1
        if structural and filled & earlier != earlier:
            return None
        return filled | 1 << tag.slot

    return _each_set(tags, 0, step, lambda filled: filled.bit_count() >= MINIMUM_SLOTS)


def _apart(tags: Mapping[str, Tag], slots: int) -> Automaton:
    """Rule 5: the intersection over all pairs of slots."""
    everything = unfold(tuple(tags), 0, lambda state, name: state, lambda state: True)
    pairs = (_apart_pair(tags, pair) for pair in combinations(range(slots), 2))
    return reduce(_both, pairs, everything)


class _Pair(NamedTuple):
    """What rule 5 knows of a mention set, for two of its slots."""

    components: tuple[int, int] = (0, 0)  # of each slot so far; 2 means two or more
    touching: bool = False  # whether components of both have been neighbours
    last: int | None = None  # which of the two slots the last word belongs to


def _apart_pair(tags: Mapping[str, Tag], pair: tuple[int, int]) -> Automaton:
    def step(state: _Pair, tag: Tag) -> _Pair:
        if tag.slot not in pair:
            return state._replace(last=None)
        which = pair.index(tag.slot)
        if tag.lower is not Lower.COMPONENT_BEGIN:
            return state._replace(last=which if state.last == which else None)
        first, second = state.components
        components = (min(first + 1, 2), second) if which == 0 else (first, min(second + 1, 2))
        touching = state.touching or state.last == 1 - which
        return _Pair(components, touching, which)

    def complete(state: _Pair) -> bool:
        return not (state.touching and state.components == (1, 1))

    return _each_set(tags, _Pair(), step, complete)


def _ended(tags: Mapping[str, Tag]) -> Automaton:
    """Rule 6; the state of a set is whether its last word is a component word."""
    return _each_set(tags, False, lambda _, tag: tag.slot is not None, lambda ended: ended)


class _Span(NamedTuple):
    """What rule 7 knows of the current span; None means that any label is allowed."""

    is_set: bool = False
    label: str | None = None
    gap_label: str | None = None


def _labels(tags: Mapping[str, Tag]) -> Automaton:
    """Rule 7; a gap mention has a label of its own."""

    def step(span: _Span, name: str) -> _Span | None:
        tag = tags[name]
        known = None  # the label that this tag must agree with
        if tag.upper is not Upper.SET_INSIDE:
            if tag.lower is Lower.CONTINUOUS_INSIDE and not span.is_set:
                known = span.label
            after = _Span(tag.upper is Upper.SET_BEGIN, tag.label)
        elif _is_continuous(tag):
            if tag.lower is Lower.CONTINUOUS_INSIDE:
                known = span.gap_label
            after = _Span(span.is_set, span.label if span.is_set else None, tag.label)
        else:
            if span.is_set:
                known = span.label
            after = _Span(span.is_set, known)
        return after if known in (None, tag.label) else None

    return minimise(unfold(tuple(tags), _Span(), step, lambda span: True))
