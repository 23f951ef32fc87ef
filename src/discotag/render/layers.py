"""The two layers of a sentence as columns: words, slots above them, and tags below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discotag.mentions import Fragment
from discotag.render.layout import Measure, lay_out
from discotag.scheme import Layers
from discotag.scheme.tags import SLOT_NAMES


@dataclass(frozen=True, slots=True)
class Column:
    """A word in the two layers.

    Attributes:
        word: The word.
        tag: Its tag.
        slot: The slot that it fills, or None.
        begins: Whether it is the first word of a component.
        label: The label of the mention set that it is in, or None; also for words in gaps.
        opens: Whether it is the first word of the set.
        closes: Whether it is the last word of the set.
    """

    word: str
    tag: str
    slot: int | None = None
    begins: bool = False
    label: str | None = None
    opens: bool = False
    closes: bool = False

    @property
    def sign(self) -> str:
        """The name of the slot at the first word of a component, and a dot at the others."""
        if self.slot is None:
            return ""
        return SLOT_NAMES[self.slot] if self.begins else "·"


def columns(words: Sequence[str], layers: Layers, tags: Sequence[str]) -> list[Column]:
    """Return the columns of a sentence.

    Args:
        words: The words.
        layers: The mention sets; see `Scheme.layers`.
        tags: The tag of each word.
    """
    found = [Column(word, tag) for word, tag in zip(words, tags, strict=True)]
    for group in layers.sets:
        slots = {
            word: (slot, word == start)
            for (start, end), slot in group.components
            for word in range(start, end)
        }
        for word in range(group.start, group.end):
            slot, begins = slots.get(word, (None, False))
            found[word] = Column(
                words[word],
                tags[word],
                slot=slot,
                begins=begins,
                label=group.label,
                opens=word == group.start,
                closes=word + 1 == group.end,
            )
    return found


def column_lines(given: Sequence[Column], *, measure: Measure, width: float) -> Iterator[Fragment]:
    """Yield the ranges of columns that fit into a line; a column is as wide as its widest text."""
    texts = [max(each.word, each.tag, key=measure) for each in given]
    layout = lay_out(texts, [True] * len(given), [], [], measure=measure, width=width)
    for line in layout.lines:
        yield line.start, line.start + len(line.words)
