"""What a scheme cannot hold, as sentences for annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from discotag.mentions import Mention, Sentence
from discotag.scheme import Scheme

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
