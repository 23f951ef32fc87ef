"""Tags: the parts of a tag, and the tagset of a scheme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

SLOT_NAMES: Final = "xyzw"
"""The printed names of slots; there can be no more slots than names."""


class Upper(Enum):
    """The position of a word in the upper layer; the values are the prefixes of tags."""

    OUTSIDE = ""
    SET_BEGIN = "DB-"
    SET_INSIDE = "DI-"


class Lower(Enum):
    """The role of a word in the lower layer."""

    NOTHING = "O"
    CONTINUOUS_BEGIN = "CB"
    CONTINUOUS_INSIDE = "CI"
    COMPONENT_BEGIN = "B"
    COMPONENT_INSIDE = "I"


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag in parts.

    Attributes:
        upper: Whether the word is outside of mention sets, the first word of one, or inside.
        lower: The role of the word in the lower layer.
        slot: The slot of a component word, else None.
        label: The label of the mention set or continuous mention; None for `O`.
    """

    upper: Upper
    lower: Lower
    slot: int | None = None
    label: str | None = None

    def name(self, with_label: bool) -> str:
        """Return the tag as text, such as `DI-Bx` or `DI-Bx:ADR`."""
        slot = "" if self.slot is None else SLOT_NAMES[self.slot]
        label = f":{self.label}" if with_label and self.label is not None else ""
        return f"{self.upper.value}{self.lower.value}{slot}{label}"


OUTSIDE: Final = Tag(Upper.OUTSIDE, Lower.NOTHING)
"""The tag of a word in no mention and no mention set."""


def tagset(
    labels: Sequence[str], slots: int, structural: bool, gap_mentions: bool
) -> dict[str, Tag]:
    """Return the tags of a scheme by name: `O` first, then label by label.

    A mention set fills at least two slots, so with fewer the tags are those of BIO.
    """
    tags = [OUTSIDE]
    for label in labels:
        tags += [Tag(Upper.OUTSIDE, part, None, label) for part in _CONTINUOUS]
        if slots < 2:
            continue
        first = 1 if structural else slots
        tags += [Tag(Upper.SET_BEGIN, Lower.COMPONENT_BEGIN, k, label) for k in range(first)]
        tags += [Tag(Upper.SET_INSIDE, p, k, label) for k in range(slots) for p in _COMPONENT]
        tags.append(Tag(Upper.SET_INSIDE, Lower.NOTHING, None, label))
        if gap_mentions:
            tags += [Tag(Upper.SET_INSIDE, part, None, label) for part in _CONTINUOUS]
    return {tag.name(with_label=len(labels) > 1): tag for tag in tags}


_CONTINUOUS: Final = (Lower.CONTINUOUS_BEGIN, Lower.CONTINUOUS_INSIDE)
_COMPONENT: Final = (Lower.COMPONENT_BEGIN, Lower.COMPONENT_INSIDE)
