"""The scheme: a lossless and unambiguous mapping between mentions and tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from operator import index
from typing import Final

from discotag.automata import Automaton
from discotag.mentions import Mention, SentenceError, check_inside
from discotag.scheme.coding import Coder
from discotag.scheme.errors import (
    IllFormedError,
    IncompatibleError,
    SchemeError,
    UnknownLabelError,
    UnknownTagError,
)
from discotag.scheme.layers import Layers, find_layers
from discotag.scheme.rules import Rule, build_grammar, build_rules
from discotag.scheme.tags import SLOT_NAMES, Tag, tagset

NAMINGS: Final = ("structural", "semantic")

MOST_STATES_TIMES_LABELS: Final = 100_000
"""Bounds (states of the scheme with one label) x labels^2, and so the time to compile a grammar:
about half a minute at the bound."""


@dataclass(frozen=True)
class Scheme:
    """A tagging scheme: the tags, and what they mean.

    Args:
        labels: The labels of mentions.
        slots: The number of component types of a mention set, 0 to 4. The paper uses 2. With 0 or
            1 there are no mention sets, and the scheme is BIO.
        naming: `structural`: slots are named by order of first appearance, so that mentions have
            one tag sequence. `semantic`: slots have a meaning, so that each mention set has
            one tag sequence for every assignment of names to its slots.
        gap_mentions: Whether continuous mentions are allowed in the gaps of a mention set.

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
            raise SchemeError(f"labels must be a list of labels, such as ({self.labels!r},)")
        try:
            labels = tuple(self.labels)
        except TypeError:
            raise SchemeError(f"labels must be a list of labels, got {self.labels!r}") from None
        object.__setattr__(self, "labels", labels)
        for label in labels:
            if not isinstance(label, str) or not label or not _is_plain(label):
                raise SchemeError(f"a label must be printable, without white space, got {label!r}")
        if not labels or len(set(labels)) < len(labels):
            raise SchemeError(f"a scheme needs one or more labels, each once, got {labels}")
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
        """The tags by name, each as a `Tag`."""
        return tagset(self.labels, self.slots, self.structural, self.gap_mentions)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """All tags, `O` first."""
        return tuple(self.tagset)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that well-formed tag sequences satisfy, in the order of their numbers."""
        return _rules(self)

    @cached_property
    def grammar(self) -> Automaton:
        """The minimal automaton of the well-formed tag sequences.

        Raises:
            SchemeError: The grammar would be too large: more slots allow fewer labels.
        """
        return _grammar(self)

    def encode(self, length: int, mentions: Iterable[Mention]) -> list[str]:
        """Return the tags of a sentence of `length` words with these mentions.

        With semantic naming this is one of several encodings: the one that names slots by order of
        first appearance. A sentence without words has no tags.

        Raises:
            IncompatibleError: No tag sequence encodes these mentions, or a mention is given twice.
            MentionError: A mention reaches past the last word.
            UnknownLabelError: A mention has a label that the scheme does not have.
        """
        return self.write(self.layers(length, mentions))

    def encodings(self, length: int, mentions: Iterable[Mention]) -> list[list[str]]:
        """Return all tag sequences that encode these mentions, the one of `encode` first.

        With structural naming there is one. With semantic naming and two slots, k mention sets have
        2^k; in general, each set has one for every assignment of names to the slots it fills.

        Raises:
            IncompatibleError: See `encode`.
        """
        layers = self.layers(length, mentions)
        if self.structural:
            return [self.write(layers)]
        namings = [list(group.namings(self.slots)) for group in layers.sets]
        return [self.write(Layers(length, sets, layers.continuous)) for sets in product(*namings)]

    def decode(self, tags: Iterable[str]) -> frozenset[Mention]:
        """Return the mentions that a tag sequence encodes.

        A mention set of many components encodes many mentions: with k slots of n components each
        there are n^k.

        Raises:
            IllFormedError: The tags break a rule.
            UnknownTagError: A tag is not in the tagset of this scheme.
        """
        return self.read(tags).mentions

    def layers(self, length: int, mentions: Iterable[Mention]) -> Layers:
        """Divide mentions into mention sets and continuous mentions; raises as `encode`."""
        layers, problems = self._fit(length, mentions)
        if problems:
            raise problems[0]
        return layers

    def problems(self, length: int, mentions: Iterable[Mention]) -> list[IncompatibleError]:
        """Return an error for each reason why mentions do not fit; none if they do.

        There is one for each group of mentions that is not a mention set, and for each set whose
        span contains mentions that are not allowed there. Raises `MentionError` and
        `UnknownLabelError` as `encode` does.
        """
        return self._fit(length, mentions)[1]

    def _fit(
        self, length: int, mentions: Iterable[Mention]
    ) -> tuple[Layers, list[IncompatibleError]]:
        if index(length) < 0:
            raise SentenceError(f"the number of words must not be negative, got {length}")
        mentions = list(mentions)
        for mention in mentions:
            check_inside(mention, length)
            if mention.label not in self.labels:
                known = " ".join(self.labels)
                raise UnknownLabelError(f"the label of {mention} is not one of {known}")
        return find_layers(length, mentions, self.slots, self.gap_mentions)

    def write(self, layers: Layers) -> list[str]:
        """Return the tags of a sentence that is given as two layers that fit this scheme."""
        return self._coder.write(layers)

    def read(self, tags: Iterable[str]) -> Layers:
        """Return the two layers that a tag sequence encodes; raises as `decode`."""
        if isinstance(tags, str):
            raise UnknownTagError(0, tags, self.tags)
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

    def _broken(self, tags: Sequence[str]) -> IllFormedError | UnknownTagError:
        """Return the error for the first rule that ill-formed tags break."""
        for position, tag in enumerate(tags):
            if tag not in self.tagset:
                return UnknownTagError(position, tag, self.tags)
        stops = [(rule.breaks_at(tags), rule) for rule in self.rules]
        # Of several rules that are broken at the same word, min takes the first.
        position, rule = min(
            ((at, rule) for at, rule in stops if at is not None), key=lambda stop: stop[0]
        )
        return IllFormedError(position, rule.number, rule.text, tags[position])

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
        # Every state that may end a span leads to every label, and each label has its own states.
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
