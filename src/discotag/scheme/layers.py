"""The two layers of a sentence: mention sets, and the components of their slots."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod
from operator import attrgetter

from discotag.mentions import Fragment, Mention
from discotag.scheme.errors import IncompatibleError


@dataclass(frozen=True, slots=True)
class MentionSet:
    """Mentions as the Cartesian product of components.

    Attributes:
        label: The label of all its mentions.
        slots: For each slot its components in order. At least two slots are filled; empty slots
            at the end are left out.

    Example:
        >>> pain = MentionSet("ADR", (((0, 2),), ((2, 3), (4, 5))))
        >>> for mention in sorted(pain.mentions):
        ...     print(mention)
        ADR [0:2 4:5]
        ADR [0:3]
    """

    label: str
    slots: tuple[tuple[Fragment, ...], ...]

    def __post_init__(self) -> None:
        filled = [number for number, parts in enumerate(self.slots, 1) if parts]
        object.__setattr__(self, "slots", self.slots[: max(filled, default=0)])

    @property
    def components(self) -> tuple[tuple[Fragment, int], ...]:
        """Each component with its slot, in word order."""
        return tuple(
            sorted((part, slot) for slot, parts in enumerate(self.slots) for part in parts)
        )

    @property
    def start(self) -> int:
        """The first word of the first component."""
        return min(parts[0][0] for parts in self.slots if parts)

    @property
    def end(self) -> int:
        """One past the last word of the last component."""
        return max(parts[-1][1] for parts in self.slots if parts)

    @property
    def mentions(self) -> Iterator[Mention]:
        """One mention for every choice of a component from each filled slot."""
        filled = (parts for parts in self.slots if parts)
        return (Mention(self.label, choice) for choice in product(*filled))

    def namings(self, slots: int) -> Iterator[MentionSet]:
        """Yield this set under every assignment of `slots` slot names to its filled slots.

        The first one names slots by order of first appearance, as in structural naming.
        """
        filled = sorted(parts for parts in self.slots if parts)
        for names in permutations(range(slots), len(filled)):
            named: list[tuple[Fragment, ...]] = [()] * slots
            for name, parts in zip(names, filled, strict=True):
                named[name] = parts
            yield MentionSet(self.label, tuple(named))


@dataclass(frozen=True, slots=True)
class Layers:
    """A sentence in two layers.

    Attributes:
        length: The number of words.
        sets: The mention sets, in order; their spans do not overlap.
        continuous: All other mentions, in order; they include gap mentions.
    """

    length: int
    sets: tuple[MentionSet, ...]
    continuous: tuple[Mention, ...]

    @property
    def mentions(self) -> frozenset[Mention]:
        """All mentions of the sentence."""
        if not self.sets:
            return frozenset(self.continuous)
        return frozenset(self.continuous).union(*(group.mentions for group in self.sets))


def find_layers(
    length: int, mentions: Iterable[Mention], slots: int, gap_mentions: bool
) -> tuple[Layers, list[IncompatibleError]]:
    """Group mentions into sets and continuous ones.

    Args:
        length: The number of words; no mention reaches past it.
        mentions: In any order.
        slots: The number of slots that a set may fill.
        gap_mentions: Whether continuous mentions are allowed in the gaps of a set.

    Returns:
        The layers, with slots named by order of first appearance, and what does not fit: an error
        for each group of mentions that is not a mention set, and for each set whose span contains
        mentions that are not allowed there. The layers are complete only if there is no error.
    """
    return Grouping.of(mentions).fit(length, slots, gap_mentions)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The mentions of a sentence grouped by shared words, before a scheme is chosen.

    Attributes:
        groups: For each group that is not a single continuous mention, its mentions, and the
            mention set that they form or the reason why they form none.
        continuous: The continuous mentions that share no words with others, in order.
    """

    groups: tuple[tuple[tuple[Mention, ...], MentionSet | IncompatibleError], ...]
    continuous: tuple[Mention, ...]

    @classmethod
    def of(cls, mentions: Iterable[Mention]) -> Grouping:
        """Group mentions, given in any order."""
        ordered = sorted(mentions, key=attrgetter("fragments", "label"))
        if _are_apart(ordered):
            return cls((), tuple(ordered))
        groups = []
        continuous = []
        for group in group_mentions(ordered):
            if len(group) == 1 and not group[0].discontinuous:
                continuous.append(group[0])
            else:
                groups.append((tuple(group), _mention_set(group)))
        return cls(tuple(groups), tuple(continuous))

    def fit(
        self, length: int, slots: int, gap_mentions: bool
    ) -> tuple[Layers, list[IncompatibleError]]:
        """Return the layers under a scheme, and what does not fit; see `find_layers`."""
        sets: list[MentionSet] = []
        problems: list[IncompatibleError] = []
        for group, found in self.groups:
            if isinstance(found, IncompatibleError):
                problems.append(found)
                continue
            if len(found.slots) > slots:
                problems.append(IncompatibleError("too_many_slots", group))
            sets.append(found)
        problems += _crossings(sets, self.continuous, gap_mentions)
        return Layers(length, tuple(sets), self.continuous), problems


def _are_apart(ordered: Sequence[Mention]) -> bool:
    """Return whether all mentions are continuous and share no words: the most frequent case."""
    passed = 0
    for mention in ordered:
        fragments = mention.fragments
        if len(fragments) > 1 or fragments[0][0] < passed:
            return False
        passed = fragments[0][1]
    return True


def group_mentions(mentions: Iterable[Mention]) -> list[list[Mention]]:
    """Group mentions that share words, directly or through other mentions.

    The order of the mentions is kept, within groups and of the groups' first mentions.

    Example:
        >>> spans = [(0, 2), (3, 4), (1, 3)]
        >>> groups = group_mentions(Mention("ADR", [span]) for span in spans)
        >>> [[mention.fragments[0] for mention in group] for group in groups]
        [[(0, 2), (1, 3)], [(3, 4)]]
    """
    ordered = list(mentions)
    parent = list(range(len(ordered)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    owner: dict[int, int] = {}
    for number, mention in enumerate(ordered):
        for word in mention.words:
            met, here = root(owner.setdefault(word, number)), root(number)
            parent[max(met, here)] = min(met, here)
    groups: dict[int, list[Mention]] = {}
    for number, mention in enumerate(ordered):
        groups.setdefault(root(number), []).append(mention)
    return list(groups.values())


def _mention_set(group: Sequence[Mention]) -> MentionSet | IncompatibleError:
    """Return the mention set that mentions sharing words form, or why they form none."""
    times = Counter(group)
    if len(times) < len(group):
        return IncompatibleError("same_words", [m for m, number in times.items() if number > 1])
    if len({mention.label for mention in group}) > 1:
        return IncompatibleError("mixed_labels", group)
    # A component is a maximal run of words that belong to exactly the same mentions.
    owners_of_word: dict[int, set[int]] = {}
    for number, mention in enumerate(group):
        for word in mention.words:
            owners_of_word.setdefault(word, set()).add(number)
    components: list[Fragment] = []
    owners: list[set[int]] = []
    for word in sorted(owners_of_word):
        if components and components[-1][1] == word and owners[-1] == owners_of_word[word]:
            components[-1] = (components[-1][0], word + 1)
        else:
            components.append((word, word + 1))
            owners.append(owners_of_word[word])
    sizes = Counter(number for own in owners for number in own)
    if len(set(sizes.values())) > 1:
        return IncompatibleError("uneven_components", group)
    # Two components share a slot when no mention has both.
    parts: list[list[Fragment]] = []
    owned: list[set[int]] = []  # the mentions that have a component of the slot
    for component, own in zip(components, owners, strict=True):
        for slot, taken in enumerate(owned):
            if taken.isdisjoint(own):
                parts[slot].append(component)
                taken |= own
                break
        else:
            parts.append([component])
            owned.append(set(own))
    if len(parts) != sizes[0] or prod(map(len, parts)) != len(group):
        return IncompatibleError("not_a_product", group)
    return MentionSet(group[0].label, tuple(map(tuple, parts)))


def _crossings(
    sets: Sequence[MentionSet], continuous: Sequence[Mention], gap_mentions: bool
) -> Iterator[IncompatibleError]:
    """Yield an error for each mention set with mentions in its span that are not allowed there."""
    furthest: MentionSet | None = None
    for group in sets:
        if furthest is not None and group.start < furthest.end:
            yield IncompatibleError("interleaved_sets", [*furthest.mentions, *group.mentions])
        if furthest is None or group.end > furthest.end:
            furthest = group
    if gap_mentions:
        return
    starts = [mention.start for mention in continuous]
    for group in sets:
        inside = continuous[bisect_left(starts, group.start) : bisect_left(starts, group.end)]
        if inside:
            yield IncompatibleError("mention_in_gap", [*group.mentions, *inside])
