"""How sentences fit schemes, and why they do not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from discotag.mentions import Sentence
from discotag.scheme import IncompatibleError
from discotag.scheme.layers import Grouping
from discotag.scheme.scheme import check_slots


@dataclass(frozen=True, slots=True)
class Setting:
    """The part of a scheme that decides whether mentions fit: not its labels, not its naming.

    Raises:
        SchemeError: The number of slots is out of range.

    Example:
        >>> print(Setting(3, gap_mentions=True))
        3 slots, gap mentions
    """

    slots: int
    gap_mentions: bool = False

    def __post_init__(self) -> None:
        check_slots(self.slots)

    def __str__(self) -> str:
        if self.slots < 2:  # a mention set fills at least two slots
            return "BIO"
        return f"{self.slots} slots{', gap mentions' if self.gap_mentions else ''}"


BIO: Final = Setting(0)
COMPARED: Final = (BIO, Setting(2), Setting(2, True), Setting(3), Setting(3, True))
"""The schemes that every corpus is compared with; the paper has two slots, no gap mentions."""


@dataclass(slots=True)
class Fit:
    """How a corpus fits one scheme.

    Attributes:
        setting: The scheme.
        sentences: The number of sentences that do not fit.
        discontinuous_sentences: The number of those with a discontinuous mention.
        reasons: The number of groups of mentions that do not fit, for each reason: mentions that
            share words but are not a mention set, or a set with other mentions in its span.
    """

    setting: Setting
    sentences: int = 0
    discontinuous_sentences: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": str(self.setting),
            "slots": self.setting.slots,
            "gap_mentions": self.setting.gap_mentions,
            "incompatible_sentences": self.sentences,
            "incompatible_discontinuous_sentences": self.discontinuous_sentences,
            "reasons": dict(self.reasons.most_common()),
        }


class Fits:
    """How a corpus fits the schemes of `COMPARED` and a requested one.

    Args:
        asked: The requested scheme.

    Example:
        >>> from discotag.mentions import Mention
        >>> fits = Fits(Setting(2))
        >>> pain = Mention("ADR", [(0, 1), (2, 3), (4, 5)])
        >>> [problem.reason for problem in fits.add(Sentence("a b c d e".split(), [pain]))]
        ['too_many_slots']
        >>> [str(fit.setting) for fit in fits.all if fit.sentences == 0]
        ['3 slots', '3 slots, gap mentions']
    """

    def __init__(self, asked: Setting) -> None:
        settings = COMPARED if asked in COMPARED else (*COMPARED, asked)
        self.all = tuple(Fit(setting) for setting in settings)
        self.asked = self.all[settings.index(asked)]

    def add(self, sentence: Sentence) -> list[IncompatibleError]:
        """Count a sentence, and return why it does not fit the requested scheme."""
        length, mentions = len(sentence.words), sentence.mentions
        grouping = Grouping.of(mentions)
        if not grouping.groups:  # nearly all sentences: they fit every scheme
            return []
        discontinuous = any(mention.discontinuous for mention in mentions)
        asked: list[IncompatibleError] = []
        for fit in self.all:
            problems = grouping.fit(length, fit.setting.slots, fit.setting.gap_mentions)[1]
            if problems:
                fit.sentences += 1
                fit.discontinuous_sentences += discontinuous
                fit.reasons.update(problem.reason for problem in problems)
            if fit is self.asked:
                asked = problems
        return asked
