"""The bodies of requests, checked before anything looks at them."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import (
    FailFast,
    Field,
    StrictInt,
    StringConstraints,
)

from discotag.annotate.actions import Action, Kind
from discotag.annotate.editing import Edit
from discotag.errors import DiscotagError
from discotag.mentions import Mention
from discotag.web.errors import ServiceError
from discotag.web.schemas import Body

MOST_FRAGMENTS: Final = 1000
"""The most fragments of a mention, and the most mentions of a sentence in a decision."""

LARGEST: Final = 2**31
"""Larger than any number of a word, a sentence, a document or an action."""

Whole = Annotated[StrictInt, Field(ge=0, le=LARGEST)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ProjectId = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Id = Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class MentionBody(Body):
    """A mention: its label and its fragments, counted in the words of its sentence."""

    label: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    fragments: Annotated[
        list[Annotated[list[Whole], FailFast(), Field(min_length=2, max_length=2)]],
        FailFast(),
        Field(min_length=1, max_length=MOST_FRAGMENTS),
    ]

    def mention(self) -> Mention:
        """Return the mention.

        Raises:
            ServiceError: Label or fragments are invalid.
        """
        try:
            return Mention(self.label, tuple((start, end) for start, end in self.fragments))
        except DiscotagError as error:
            raise ServiceError(422, "invalid", str(error)) from None


SentencesBody = Annotated[
    list[Annotated[list[MentionBody], FailFast(), Field(max_length=MOST_FRAGMENTS)]], FailFast()
]
"""The mentions of each sentence. Only the first error is reported: millions would take minutes."""


def mentions_of(sentences: SentencesBody) -> list[list[Mention]]:
    """Return the mentions of each sentence; raises as `MentionBody.mention`."""
    return [[each.mention() for each in mentions] for mentions in sentences]


class AnnotatorBody(Body):
    """The name of an annotator."""

    name: Annotated[str, StringConstraints(max_length=1000)]


class PresenceBody(Body):
    """Who has a document open."""

    project: ProjectId
    annotator: Name


class ActionBody(Body):
    """An action of an annotator; see `discotag.annotate.actions`."""

    id: Id
    project: ProjectId
    annotator: Name
    base: Whole
    kind: Kind
    sentence: Whole | None = None
    mention: MentionBody | None = None
    to: MentionBody | None = None
    model_version: Whole | None = None

    def edit(self, document: int) -> Edit:
        """Return what to do to a document.

        Raises:
            ServiceError: A field is missing or does not belong to this kind.
        """
        given = {name for name in ("sentence", "mention", "to") if getattr(self, name) is not None}
        wanted = FIELDS.get(self.kind, set())
        if given != wanted:
            needed = ", ".join(sorted(wanted)) or "no further fields"
            raise ServiceError(422, "invalid", f"{self.kind} takes {needed}")
        action = Action(
            self.kind,
            self.sentence,
            None if self.mention is None else self.mention.mention(),
            None if self.to is None else self.to.mention(),
        )
        return Edit(self.id, document, self.annotator, self.base, action, self.model_version)


FIELDS: Final[dict[str, set[str]]] = {
    "add": {"sentence", "mention"},
    "remove": {"sentence", "mention"},
    "accept": {"sentence", "mention"},
    "change": {"sentence", "mention", "to"},
}
"""The fields that kinds of actions have; other kinds have none."""


class DecisionBody(Body):
    """A decision between versions: the mentions of each sentence."""

    id: Id
    project: ProjectId
    annotator: Name
    base: Whole
    sentences: SentencesBody


class ContentBody(Body):
    """The mentions of each sentence."""

    sentences: SentencesBody


class TrainingBody(Body):
    """Nothing; training takes no options from the page."""
