"""Versions as plain data for the page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

from discotag.annotate.actions import content_of, plain
from discotag.annotate.editing import Snapshot
from discotag.annotate.records import Decision, Kept, mine
from discotag.annotate.versions import Held
from discotag.mentions import Document, Mention, Sentence
from discotag.render.html_drawing import drawing_data
from discotag.scheme import Scheme

MOST_KEPT: Final = 20
"""Versions whose sentences are kept as plain data, about a megabyte for a long document: as many as
people work at the same time."""

Views = list[tuple[Sequence[Held], dict[str, Any]]]
"""For each sentence its mentions, and the sentence with them as plain data."""


class Viewer:
    """Turns versions into plain data.

    An action changes one sentence as a rule, so those of the last versions are kept.

    Args:
        labels: The labels of the project, in the order of their colours.
        scheme: The scheme that mentions should fit.
    """

    def __init__(self, labels: tuple[str, ...], scheme: Scheme) -> None:
        self.labels = labels
        self.scheme = scheme
        self._lock = Lock()
        self._kept: OrderedDict[tuple[int, str], Views] = OrderedDict()

    def state(self, seen: Snapshot, holders: Sequence[str]) -> dict[str, Any]:
        """Return a version of a document as the page shows it."""
        version = seen.version
        return {
            "number": seen.number,
            "name": seen.name,
            "annotator": seen.annotator,
            "revision": version.revision,
            "status": seen.status,
            "mine": mine(seen.touched, version.finished),
            "finished": version.finished,
            "labels": list(self.labels),
            "sentences": self._sentences(seen),
            "undo": version.past[-1].name if version.past else None,
            "redo": version.future[-1].name if version.future else None,
            "holders": list(holders),
            "versions": list(seen.versions),
            "finished_by": list(seen.finished_by),
            "disagreement": seen.status == "disagreement",
            "decided": seen.status == "decided",
            "model_version": seen.model,
        }

    def versions(
        self,
        document: Document,
        revision: int,
        kept: Sequence[Kept],
        decision: Decision | None,
    ) -> dict[str, Any]:
        """Return all versions of a document side by side, and where they differ."""
        return {
            "revision": revision,
            "versions": [
                {
                    "annotator": each.annotator,
                    "finished": each.finished,
                    "sentences": self._content(document, each.content),
                }
                for each in kept
            ],
            "differences": differences(kept),
            "decision": None
            if decision is None
            else {
                "by": decision.annotator,
                "at": decision.at,
                "sentences": self._content(document, decision.content),
                "compared": _compared(document, decision),
            },
        }

    def _sentences(self, seen: Snapshot) -> list[dict[str, Any]]:
        """Return the sentences of a version, those that are as before from memory."""
        key = seen.number, seen.annotator
        with self._lock:
            before = self._kept.get(key, [])
        version = seen.version
        views: Views = []
        for place, held in enumerate(version.sentences):
            # An action leaves the very same mentions in the sentences that it does not change.
            if place < len(before) and before[place][0] is held:
                views.append(before[place])
            else:
                views.append((held, self._sentence(version.document.sentences[place], held)))
        with self._lock:
            self._kept[key] = views
            self._kept.move_to_end(key)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return [view for _, view in views]

    def _content(self, document: Document, content: str) -> list[dict[str, Any]]:
        return [
            self._sentence(sentence, [Held(each, "person", "accepted") for each in mentions])
            for sentence, mentions in zip(document.sentences, content_of(content), strict=True)
        ]

    def _sentence(self, sentence: Sentence, held: Sequence[Held]) -> dict[str, Any]:
        shown = sentence.with_mentions(each.mention for each in held)
        drawing = drawing_data(shown, self.labels)
        return {
            "words": list(sentence.words),
            "glued": drawing.get("glued", []),
            "mentions": [
                {
                    **plain(mention),
                    "text": mention.text,
                    "score": mention.score,
                    "origin": each.origin,
                    "status": each.status,
                }
                for mention, each in zip(shown.mentions, held, strict=True)
            ],
            "drawing": drawing,
            "problems": problems(self.scheme, shown),
        }


def _compared(document: Document, decision: Decision) -> list[list[dict[str, Any]]]:
    """Return for each sentence the mentions that versions had when a decision was made."""
    contents = [content_of(each) for each in decision.compared.values()]
    return [
        [plain(mention) for mention in sorted({each for held in contents for each in held[place]})]
        for place in range(len(document.sentences))
    ]


def differences(versions: Sequence[Kept]) -> list[dict[str, Any]]:
    """Return the mentions that only some of the versions have.

    Finished versions are compared; if there are not two of them, all versions are.
    """
    finished = [each for each in versions if each.finished]
    compared = finished if len(finished) > 1 else list(versions)
    contents = [(each.annotator, content_of(each.content)) for each in compared]
    found: dict[tuple[int, Mention], list[str]] = {}
    for name, sentences in contents:
        for number, mentions in enumerate(sentences):
            for mention in mentions:
                found.setdefault((number, mention), []).append(name)
    return [
        {"sentence": number, "mention": plain(mention), "annotators": names}
        for (number, mention), names in sorted(found.items())
        if len(names) < len(contents)
    ]


MEANINGS: Final = {
    "same_words": "The same mention is here twice.",
    "mixed_labels": "These mentions share words but have different labels.",
    "uneven_components": "These mentions share words, but do not consist of matching parts: one "
    "has more parts than another.",
    "not_a_product": "These mentions share words, but one combination of their parts is missing.",
    "too_many_slots": "These mentions share words in too many ways: they need more than {slots} "
    "kinds of parts.",
    "mention_in_gap": "A mention is between the parts of another one.",
    "interleaved_sets": "The parts of these mentions alternate: one begins inside the other, and "
    "ends after it.",
}
"""What each reason of `discotag.scheme.REASONS` means."""

CONSEQUENCE: Final = (
    " They are kept and exported, but a model of this scheme cannot find them together, and "
    "training leaves this sentence out."
)


def problems(scheme: Scheme, sentence: Sentence) -> list[dict[str, Any]]:
    """Return why the mentions of a sentence do not fit a scheme, as plain data.

    Args:
        scheme: The scheme; it has all labels.
        sentence: The sentence with its mentions.

    Example:
        >>> toes = Mention("ADR", [(0, 1), (2, 3)])
        >>> sentence = Sentence("sore the toes".split(), [toes, Mention("ADR", [(1, 2)])])
        >>> [each["reason"] for each in problems(Scheme(("ADR",)), sentence)]
        ['mention_in_gap']
    """
    return [
        {
            "reason": error.reason,
            "message": MEANINGS[error.reason].format(slots=scheme.slots) + CONSEQUENCE,
            "mentions": _numbers(sentence.mentions, error.mentions),
        }
        for error in scheme.problems(len(sentence.words), sentence.mentions)
    ]


def _numbers(mentions: Sequence[Mention], wanted: Sequence[Mention]) -> list[int]:
    chosen = set(wanted)
    return [number for number, mention in enumerate(mentions) if mention in chosen]
