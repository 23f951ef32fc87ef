"""The scheme: mentions to tags and back, without loss and without doubt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from operator import index
from typing import Final

from discotag.automata import Automaton
from discotag.mentions import InvalidSentence, Mention, check_inside
from discotag.scheme.coding import Coder
from discotag.scheme.errors import IllFormed, Incompatible, SchemeError, UnknownLabel, UnknownTag
from discotag.scheme.layers import Layers, find_layers
from discotag.scheme.rules import Rule, build_grammar, build_rules
from discotag.scheme.tags import SLOT_NAMES, Tag, tagset

NAMINGS: Final = ("structural", "semantic")

MOST_STATES_TIMES_LABELS: Final = 100_000
"""Bounds (states of the scheme with one label) x labels^2, and so the time to compile a grammar:
about half a minute at the bound."""


@dataclass(frozen=True)
class Scheme:
    """What tags there are, and what they mean.

    Args:
        labels: The labels of mentions.
        slots: How many component types a mention set may have, 0 to 4. The paper has 2. With 0,
            and with 1, there are no mention sets and the scheme is BIO.
        naming: `structural`: slots are named by order of first appearance, so that mentions have
            one tag sequence. `semantic`: slots have a meaning, so that each mention set has
            one tag sequence for every way to name its slots.
        gap_mentions: Whether continuous mentions may stand in the gaps of a mention set.

    Raises:
        SchemeError: An argument is out of range.

    Example:
        >>> scheme = Scheme(labels=("ADR",))
        >>> mentions = [Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])]
        >>> tags = scheme.encode(5, mentions)  # pain in arms and shoulders
        >>> " ".join(tags)
        'DB-Bx DI-Ix DI-By DI-O DI-By'
        >>> scheme.decode(tags) == set(mentions)
        True
    """

    labels: tuple[str, ...]
    slots: int = 2
    naming: str = "structural"
    gap_mentions: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.labels, str):
            raise SchemeError(f"labels must be a list of labels; for one, give ({self.labels!r},)")
        try:
            labels = tuple(self.labels)
        except TypeError:
            raise SchemeError(f"labels must be a list of labels, got {self.labels!r}") from None
        object.__setattr__(self, "labels", labels)
        for label in labels:
            if not isinstance(label, str) or not label or not _is_plain(label):
                raise SchemeError(f"a label is printable text without white space, got {label!r}")
        if not labels or len(set(labels)) < len(labels):
            raise SchemeError(f"a scheme needs labels, each once, got {labels}")
        check_slots(self.slots)
        if self.naming not in NAMINGS:
            raise SchemeError(f"naming must be one of {', '.join(NAMINGS)}, got {self.naming!r}")
        if not isinstance(self.gap_mentions, bool):
            raise SchemeError(f"gap_mentions must be True or False, got {self.gap_mentions!r}")

    @property
    def structural(self) -> bool:
        """Whether slots are named by order of first appearance."""
        return self.naming == "structural"

    @cached_property
    def tagset(self) -> Mapping[str, Tag]:
        """Each tag by its name, taken apart."""
        return tagset(self.labels, self.slots, self.structural, self.gap_mentions)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """All tags, `O` first."""
        return tuple(self.tagset)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that well-formed tag sequences keep, in the order of their numbers."""
        return _rules(self)

    @cached_property
    def grammar(self) -> Automaton:
        """The minimal automaton of the well-formed tag sequences.

        Raises:
            SchemeError: It would be too large: the more slots, the fewer labels there may be.
        """
        return _grammar(self)

    def encode(self, length: int, mentions: Iterable[Mention]) -> list[str]:
        """The tags of a sentence of `length` words with these mentions.

        With semantic naming this is one of several encodings: slots are named by order of first
        appearance. A sentence without words has no tags.

        Raises:
            Incompatible: No tag sequence stands for these mentions. The same mention given
                twice is refused too.
            InvalidMention: A mention reaches past the last word.
            UnknownLabel: A mention has none of the scheme's labels.
        """
        return self.write(self.layers(length, mentions))

    def encodings(self, length: int, mentions: Iterable[Mention]) -> list[list[str]]:
        """All tag sequences that stand for these mentions, the one of `encode` first.

        Structural naming has one. With semantic naming and two slots, k mention sets have 2^k;
        in general each set has as many as there are ways to name the slots it fills.

        Raises:
            As `encode`.
        """
        layers = self.layers(length, mentions)
        if self.structural:
            return [self.write(layers)]
        namings = [list(group.namings(self.slots)) for group in layers.sets]
        return [self.write(Layers(length, sets, layers.continuous)) for sets in product(*namings)]

    def decode(self, tags: Iterable[str]) -> frozenset[Mention]:
        """The mentions that a tag sequence stands for; none for an empty one.

        A mention set of many components stands for many mentions: with k slots of n components each
        there are n^k.

        Raises:
            IllFormed: The tags break a rule.
            UnknownTag: One of them is not a tag of this scheme.
        """
        return self.read(tags).mentions

    def layers(self, length: int, mentions: Iterable[Mention]) -> Layers:
        """The mentions as mention sets and continuous mentions; raises as `encode`."""
        layers, problems = self._fit(length, mentions)
        if problems:
            raise problems[0]
        return layers

    def problems(self, length: int, mentions: Iterable[Mention]) -> list[Incompatible]:
        """Why these mentions do not fit, none if they do; raises as `encode` for the rest.

        For each group of mentions that is no mention set the first reason, and for each set what
        stands in its span and may not.
        """
        return self._fit(length, mentions)[1]

    def _fit(self, length: int, mentions: Iterable[Mention]) -> tuple[Layers, list[Incompatible]]:
        if index(length) < 0:
            raise InvalidSentence(f"a sentence cannot have {length} words")
        mentions = list(mentions)
        for mention in mentions:
            check_inside(mention, length)
            if mention.label not in self.labels:
                known = " ".join(self.labels)
                raise UnknownLabel(f"the label of {mention} is none of the scheme's: {known}")
        return find_layers(length, mentions, self.slots, self.gap_mentions)

    def write(self, layers: Layers) -> list[str]:
        """The tags of a sentence in two layers that this scheme can hold."""
        return self._coder.write(layers)

    def read(self, tags: Iterable[str]) -> Layers:
        """The two layers that a tag sequence stands for; raises as `decode`."""
        if isinstance(tags, str):
            raise UnknownTag(0, tags, self.tags)
        tags = tuple(tags)
        steps, state = self.grammar.steps, self.grammar.start
        try:
            for tag in tags:
                state = steps[state][tag]
        except KeyError:
            raise self._broken(tags) from None
        if state not in self.grammar.finals:
            raise self._broken(tags)
        return self._coder.read(tags)

    def _broken(self, tags: Sequence[str]) -> IllFormed | UnknownTag:
        """The first rule that tags break which the grammar refuses."""
        for position, tag in enumerate(tags):
            if tag not in self.tagset:
                return UnknownTag(position, tag, self.tags)
        stops = [(rule.breaks_at(tags), rule) for rule in self.rules]
        # Of the rules broken first, the first: min keeps their order.
        position, rule = min(
            ((at, rule) for at, rule in stops if at is not None), key=lambda stop: stop[0]
        )
        return IllFormed(position, rule.number, rule.text, tags[position])

    @cached_property
    def _coder(self) -> Coder:
        return Coder(self.tagset, self.labels, self.slots)


def check_slots(slots: int) -> None:
    """Raise `SchemeError` unless a scheme can have this number of slots."""
    if type(slots) is not int or slots not in range(len(SLOT_NAMES) + 1):
        raise SchemeError(f"slots must be 0 to {len(SLOT_NAMES)}, got {slots!r}")


@lru_cache(maxsize=64)
def _rules(scheme: Scheme) -> tuple[Rule, ...]:
    return build_rules(scheme.tagset, scheme.slots, scheme.structural)


@lru_cache(maxsize=64)
def _grammar(scheme: Scheme) -> Automaton:
    if len(scheme.labels) > 1:
        # Every state that may end a span leads to every label, and there are states for each.
        single = Scheme(scheme.labels[:1], scheme.slots, scheme.naming, scheme.gap_mentions)
        most = int((MOST_STATES_TIMES_LABELS / single.grammar.size) ** 0.5)
        if len(scheme.labels) > most:
            raise SchemeError(
                f"the grammar of {len(scheme.labels)} labels would be too large: with "
                f"{scheme.slots} slots, {scheme.naming} naming and "
                f"gap_mentions={scheme.gap_mentions} there may be {most}; "
                "use fewer slots, or a scheme for each label"
            )
    return build_grammar(scheme.rules)


def _is_plain(label: str) -> bool:
    return label.isprintable() and label == "".join(label.split())
