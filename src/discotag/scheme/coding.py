"""Two layers to tags and back, for layers and tags that are known to fit a scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from discotag.mentions import Fragment, Mention
from discotag.scheme.layers import Layers, MentionSet
from discotag.scheme.tags import OUTSIDE, Lower, Tag, Upper


class Names(NamedTuple):
    """The names of the tags of one label, by meaning; component tags are indexed by slot."""

    continuous: tuple[str, str]
    set_begin: tuple[str, ...]
    component: tuple[tuple[str, str], ...]
    nothing: str
    gap_mention: tuple[str, str]


class Opening(NamedTuple):
    """What begins at a word: a component if there is a slot, otherwise a continuous mention."""

    label: str
    slot: int | None
    new_set: bool


class Coder:
    """Writes and reads tags of one tagset.

    Args:
        tags: The tagset.
        labels: Its labels.
        slots: Its slots.
    """

    def __init__(self, tags: Mapping[str, Tag], labels: Sequence[str], slots: int) -> None:
        several = len(labels) > 1
        self.outside = OUTSIDE.name(several)
        self.names = {label: _names(label, slots, several) for label in labels}
        # What a tag begins; True if it continues what was begun; None in a gap.
        self.openings = {name: _opening(tag) for name, tag in tags.items()}

    def write(self, layers: Layers) -> list[str]:
        """Return the tags of a sentence that is given as two layers."""
        tags = [self.outside] * layers.length
        for group in layers.sets:
            names = self.names[group.label]
            components = group.components
            start, end = components[0][0][0], components[-1][0][1]
            tags[start:end] = [names.nothing] * (end - start)
            for fragment, slot in components:
                _fill(tags, fragment, names.component[slot])
            tags[start] = names.set_begin[components[0][1]]
        for mention in layers.continuous:
            names = self.names[mention.label]
            free = tags[mention.start] == self.outside
            _fill(tags, mention.fragments[0], names.continuous if free else names.gap_mention)
        return tags

    def read(self, tags: Sequence[str]) -> Layers:
        """Return the two layers that a well-formed tag sequence encodes."""
        found: list[tuple[Opening, int, int]] = []
        for position, opening in enumerate(map(self.openings.__getitem__, tags)):
            if opening is None:
                continue
            if opening is True:
                found[-1] = (*found[-1][:2], position + 1)
            else:
                found.append((opening, position, position + 1))
        continuous: list[Mention] = []
        sets: list[tuple[str, dict[int, list[Fragment]]]] = []
        for opening, start, end in found:
            if opening.slot is None:
                continuous.append(Mention(opening.label, ((start, end),)))
                continue
            if opening.new_set:
                sets.append((opening.label, {}))
            sets[-1][1].setdefault(opening.slot, []).append((start, end))
        return Layers(len(tags), tuple(_mention_set(*each) for each in sets), tuple(continuous))


def _mention_set(label: str, parts: dict[int, list[Fragment]]) -> MentionSet:
    return MentionSet(label, tuple(tuple(parts.get(k, ())) for k in range(max(parts) + 1)))


def _fill(tags: list[str], fragment: Fragment, names: tuple[str, str]) -> None:
    start, end = fragment
    tags[start:end] = (names[0], *[names[1]] * (end - start - 1))


def _names(label: str, slots: int, several: bool) -> Names:
    def pair(layer: Upper, first: Lower, rest: Lower, slot: int | None = None) -> tuple[str, str]:
        return (
            Tag(layer, first, slot, label).name(several),
            Tag(layer, rest, slot, label).name(several),
        )

    component = (Lower.COMPONENT_BEGIN, Lower.COMPONENT_INSIDE)
    continuous = (Lower.CONTINUOUS_BEGIN, Lower.CONTINUOUS_INSIDE)
    return Names(
        continuous=pair(Upper.OUTSIDE, *continuous),
        set_begin=tuple(
            Tag(Upper.SET_BEGIN, Lower.COMPONENT_BEGIN, k, label).name(several)
            for k in range(slots)
        ),
        component=tuple(pair(Upper.SET_INSIDE, *component, k) for k in range(slots)),
        nothing=Tag(Upper.SET_INSIDE, Lower.NOTHING, None, label).name(several),
        gap_mention=pair(Upper.SET_INSIDE, *continuous),
    )


def _opening(tag: Tag) -> Opening | Literal[True] | None:
    if tag.lower is Lower.NOTHING or tag.label is None:
        return None
    if tag.lower in (Lower.CONTINUOUS_INSIDE, Lower.COMPONENT_INSIDE):
        return True
    return Opening(tag.label, tag.slot, tag.upper is Upper.SET_BEGIN)
