"""Statistics of a corpus: sizes, labels, fragments, gaps, overlaps."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any, Final

from discotag.mentions import Document, Mention, Sentence
from discotag.scheme.layers import group_mentions

OVERLAPS: Final = {
    "nested": "all words of one mention are words of the other, which has more",
    "crossing": "they share words, and each has other words",
    "same_words": "they have the same words",
}
"""How two mentions that share words can overlap."""


@dataclass(slots=True)
class LabelCounts:
    """The counts of a label, and the number of the first sentence that has it, from 1."""

    mentions: int = 0
    discontinuous: int = 0
    first_sentence: int = 0


@dataclass(slots=True)
class Analysis:
    """Counts of a corpus, in memory that grows only with the number of labels.

    Attributes:
        documents: The number of documents.
        sentences: The number of sentences.
        words: The number of words.
        mentions: The number of mentions.
        discontinuous_mentions: The number of mentions with more than one fragment.
        sentences_with_mentions: The number of sentences with a mention.
        discontinuous_sentences: The number of sentences with a discontinuous mention.
        labels: The counts of each label.
        fragments: The number of mentions by their number of fragments.
        gap_lengths: The number of gaps by their number of words.
        overlaps: The number of pairs of mentions by the way they overlap, a key of `OVERLAPS`.
        mentions_per_group: The number of groups of mentions that share words, by their number of
            mentions; a discontinuous mention that shares no words is a group of one.

    Example:
        >>> analysis = Analysis()
        >>> analysis.add(Document([Sentence(["toes", "hurt"], [Mention("ADR", [(0, 2)])])]))
        >>> analysis.words, analysis.mentions, analysis.discontinuous_mentions
        (2, 1, 0)
    """

    documents: int = 0
    sentences: int = 0
    words: int = 0
    mentions: int = 0
    discontinuous_mentions: int = 0
    sentences_with_mentions: int = 0
    discontinuous_sentences: int = 0
    labels: dict[str, LabelCounts] = field(default_factory=dict)
    fragments: Counter[int] = field(default_factory=Counter)
    gap_lengths: Counter[int] = field(default_factory=Counter)
    overlaps: Counter[str] = field(default_factory=Counter)
    mentions_per_group: Counter[int] = field(default_factory=Counter)

    def add(self, document: Document) -> None:
        """Count a document."""
        self.documents += 1
        for sentence in document.sentences:
            self.add_sentence(sentence)

    def add_sentence(self, sentence: Sentence) -> None:
        """Count a sentence, but not its document."""
        self.sentences += 1
        self.words += len(sentence.words)
        if not sentence.mentions:
            return
        self.sentences_with_mentions += 1
        before = self.discontinuous_mentions
        for mention in sentence.mentions:
            self._add_mention(mention)
        if self.discontinuous_mentions > before:
            self.discontinuous_sentences += 1
        for group in group_mentions(sentence.mentions):
            if len(group) == 1 and not group[0].discontinuous:
                continue
            self.mentions_per_group[len(group)] += 1
            for one, other in combinations([set(mention.words) for mention in group], 2):
                kind = _overlap(one, other)
                if kind is not None:
                    self.overlaps[kind] += 1

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes by name, without labels and histograms."""
        return {
            "documents": self.documents,
            "sentences": self.sentences,
            "words": self.words,
            "mentions": self.mentions,
            "discontinuous_mentions": self.discontinuous_mentions,
            "sentences_with_mentions": self.sentences_with_mentions,
            "discontinuous_sentences": self.discontinuous_sentences,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; histograms are sorted by key, labels by number of mentions."""
        labels = sorted(self.labels.items(), key=lambda item: (-item[1].mentions, item[0]))
        return {
            **self.sizes,
            "labels": {
                label: {"mentions": each.mentions, "discontinuous": each.discontinuous}
                for label, each in labels
            },
            "fragments": dict(sorted(self.fragments.items())),
            "gap_lengths": dict(sorted(self.gap_lengths.items())),
            "overlaps": {kind: self.overlaps[kind] for kind in OVERLAPS},
            "mentions_per_group": dict(sorted(self.mentions_per_group.items())),
        }

    def _add_mention(self, mention: Mention) -> None:
        self.mentions += 1
        counts = self.labels.get(mention.label)
        if counts is None:
            counts = self.labels[mention.label] = LabelCounts(first_sentence=self.sentences)
        counts.mentions += 1
        self.fragments[len(mention.fragments)] += 1
        if mention.discontinuous:
            self.discontinuous_mentions += 1
            counts.discontinuous += 1
            gaps = (right[0] - left[1] for left, right in pairwise(mention.fragments))
            self.gap_lengths.update(gaps)


def _overlap(one: set[int], other: set[int]) -> str | None:
    if one == other:
        return "same_words"
    if one.isdisjoint(other):
        return None
    return "nested" if one < other or other < one else "crossing"
