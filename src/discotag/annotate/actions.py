"""Actions of annotators: what the journal records, and their form as plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from discotag.mentions import Mention

Kind = Literal[
    "add", "remove", "accept", "change", "accept_all", "finish", "reopen", "undo", "redo"
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

DECIDE: Final = "decide"
"""The kind of a decision between versions, which is no part of any version."""


@dataclass(frozen=True, slots=True)
class Action:
    """What an annotator did to a version of a document.

    Attributes:
        kind: What was done.
        sentence: The number of the sentence, for the kinds that name a mention.
        mention: The mention that is added, removed, accepted or changed.
        to: What a changed mention becomes.
    """

    kind: Kind
    sentence: int | None = None
    mention: Mention | None = None
    to: Mention | None = None

    def to_json(self) -> str:
        """Return what the journal keeps of the action besides its kind."""
        data: dict[str, Any] = {}
        if self.sentence is not None:
            data["sentence"] = self.sentence
        if self.mention is not None:
            data["mention"] = plain(self.mention)
        if self.to is not None:
            data["to"] = plain(self.to)
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def from_json(cls, kind: Kind, text: str) -> Action:
        """Return the action that `to_json` wrote."""
        data = json.loads(text)
        return cls(
            kind,
            data.get("sentence"),
            Mention.from_dict(data["mention"]) if "mention" in data else None,
            Mention.from_dict(data["to"]) if "to" in data else None,
        )


def plain(mention: Mention) -> dict[str, Any]:
    """Return the label and fragments of a mention as plain data.

    Example:
        >>> plain(Mention("ADR", [(0, 1), (2, 3)]))
        {'label': 'ADR', 'fragments': [[0, 1], [2, 3]]}
    """
    return {"label": mention.label, "fragments": [list(each) for each in mention.fragments]}


def content_json(sentences: Sequence[Sequence[Mention]]) -> str:
    """Return the mentions of each sentence as text, the same text for the same mentions."""
    return json.dumps(
        [[plain(mention) for mention in sorted(mentions)] for mentions in sentences],
        ensure_ascii=False,
    )


def content_of(text: str) -> tuple[tuple[Mention, ...], ...]:
    """Return the mentions of each sentence that `content_json` wrote."""
    return tuple(tuple(map(Mention.from_dict, mentions)) for mentions in json.loads(text))
