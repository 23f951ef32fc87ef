"""Versions of a document: what one annotator has made of it.

A version begins with the mentions of the corpus, which are accepted, and in sentences without any
those of the model, which are proposed. Each action makes a new version of it; see
`discotag.annotate.states`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from discotag.errors import DiscotagError
from discotag.mentions import Document, Mention

Origin = Literal["model", "corpus", "person"]
Status = Literal["proposed", "accepted"]


class RefusedError(DiscotagError):
    """An action that cannot be applied to a version.

    Attributes:
        code: `conflict` if the version is no longer as the action assumes, `invalid` if the action
            can never be applied.
    """

    def __init__(self, code: Literal["conflict", "invalid"], message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Held:
    """A mention of a version.

    Attributes:
        mention: The mention; its score is that of the model.
        origin: Who made it.
        status: Whether a person has accepted it.
    """

    mention: Mention
    origin: Origin
    status: Status


Sentences = tuple[tuple[Held, ...], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """An action that can be undone or redone.

    Attributes:
        name: What it did, such as `add ADR “sore toes”`.
        sentences: The mentions before it, or after it if it was undone.
        finished: Whether the version was finished then.
    """

    name: str
    sentences: Sentences
    finished: bool


@dataclass(frozen=True, slots=True)
class Version:
    """A document as one annotator has left it.

    Attributes:
        document: The document, for its words.
        sentences: The mentions of each sentence, sorted.
        finished: Whether the annotator has finished it.
        revision: The number of actions that made it.
        past: The steps that can be undone, the last one first to go.
        future: The steps that can be redone, the last one first to go.
    """

    document: Document
    sentences: Sentences
    finished: bool = False
    revision: int = 0
    past: tuple[Step, ...] = ()
    future: tuple[Step, ...] = ()

    @property
    def mentions(self) -> tuple[tuple[Mention, ...], ...]:
        """The mentions of each sentence, also those that are only proposed."""
        return tuple(tuple(each.mention for each in held) for held in self.sentences)

    @property
    def accepted(self) -> tuple[tuple[Mention, ...], ...]:
        """The accepted mentions of each sentence."""
        return tuple(
            tuple(each.mention for each in held if each.status == "accepted")
            for held in self.sentences
        )


def begin(document: Document, proposals: Sequence[Iterable[Mention]] | None = None) -> Version:
    """Return the version that an annotator begins with.

    Args:
        document: The document with the mentions of the corpus.
        proposals: The mentions that the model found in each sentence, if it has been asked.
    """
    found: list[tuple[Held, ...]] = []
    for number, sentence in enumerate(document.sentences):
        if sentence.mentions:
            own = dict.fromkeys(mention.with_score(None) for mention in sentence.mentions)
            held = [Held(mention, "corpus", "accepted") for mention in own]
        elif proposals is not None:
            held = [Held(mention, "model", "proposed") for mention in proposals[number]]
        else:
            held = []
        found.append(in_order(held))
    return Version(document, tuple(found))


def in_order(held: Iterable[Held]) -> tuple[Held, ...]:
    """Return mentions sorted by position."""
    return tuple(sorted(held, key=lambda each: each.mention))
