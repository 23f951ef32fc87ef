"""Augmentation: new sentences, made by folding and unfolding coordinations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from discotag.mentions import Fragment, Mention, Sentence
from discotag.scheme import Layers, Scheme

Words = tuple[str, ...]

CONJUNCTIONS: Final[Mapping[str, float]] = MappingProxyType(
    {"and": 12.0, "or": 3.0, "/": 1.5, ",": 1.0, "&": 1.0}
)
"""Conjunctions of English with their weights: how often each is used, relative to the others."""

LONGEST_REST: Final = 3
"""The number of words that a mention may have besides those that it shares."""

SHARE_THREEFOLD: Final = 0.25
"""The share of folded coordinations of three mentions, where there are partners for it."""

SHARE_UNFOLDED: Final = 0.5
"""The share of unfolded coordinations among new sentences of sentences that allow both."""

TRIES: Final = 4
"""The number of attempts to draw a partner, or a new sentence that is different and fits."""

FUNCTION_WORDS: Final = frozenset([
    "a", "an", "the", "this", "that", "these", "those", "some", "any", "all", "each", "every",
    "such", "i", "me", "my", "mine", "myself", "you", "your", "yours", "he", "him", "his",
    "she", "her", "hers", "it", "its", "we", "us", "our", "they", "them", "their", "am", "is",
    "are", "was", "were", "be", "been", "being", "have", "has", "had", "having", "do", "does",
    "did", "done", "can", "could", "will", "would", "shall", "should", "may", "might", "must",
    "of", "in", "on", "at", "to", "from", "for", "with", "by", "about", "into", "onto", "over",
    "under", "after", "before", "during", "through", "between", "up", "down", "out", "off",
    "as", "than", "then", "so", "if", "when", "while", "but", "not", "no", "nor", "n't", "'s",
    "very", "too", "more", "most", "much", "many", "few", "less", "least",
    "also", "just", "only", "even", "quite", "rather", "really", "there", "here", "where",
    "who", "which", "what", "how",
])  # fmt: skip
"""Words that do not make two mentions alike if they share nothing else."""

PAIRED: Final = frozenset(["both", "either", "neither", "between"])
"""Words before a coordination that need all its parts."""

HYPHEN: Final = "-"

LEAST_SHARE: Final = 0.01
"""The share of sentences with a conjunction below which a corpus is taken not to be in English."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A continuous mention, cut into words that it shares with others, and the rest.

    Attributes:
        label: The label of the mention.
        shared, rest: The two parts; one of them ends where the other begins.
    """

    label: str
    shared: Fragment
    rest: Fragment

    def key(self, words: Words) -> Key:
        """Return what cuts must have in common so that their mentions can be folded."""
        shared = lowered(words[slice(*self.shared)])
        # "B- and T-cells", but not "B- and stem cells".
        return self.label, shared, self.shared < self.rest, words[self.rest[1] - 1] == HYPHEN


Key = tuple[str, Words, bool, bool]
"""A label, the shared words, whether they come first, and whether the rest ends with a hyphen."""


@dataclass(frozen=True, slots=True)
class Removal:
    """A component of a coordination, and the position of the conjunction to remove with it."""

    component: Fragment
    conjunction: int


def can_be_folded(sentences: Sequence[Sentence]) -> bool:
    """Return whether folding suits a corpus: it has discontinuous mentions and is in English.

    Where there are no discontinuous mentions, "muscle and joint pain" may be annotated as one
    mention.
    """
    enough = LEAST_SHARE * len(sentences)
    with_conjunction = sum("and" in lowered(each.words) for each in sentences)
    return with_conjunction >= enough and any(
        mention.discontinuous for each in sentences for mention in each.mentions
    )


def fold(
    sentences: Sequence[Sentence],
    scheme: Scheme,
    number: float,
    seed: int,
    conjunctions: Mapping[str, float] = CONJUNCTIONS,
) -> list[Sentence]:
    """Return new sentences with folded or unfolded coordinations.

    Folding combines a continuous mention with one or two mentions from anywhere in the corpus that
    have the same label and begin or end with the same words: "muscle pain" and "joint pain" become
    "muscle and joint pain", "pain in arms" and "pain in legs" become "pain in arms and legs".
    Unfolding removes a component of a mention set, with the conjunction next to it: "pain in arms
    and legs" becomes "pain in legs".

    Args:
        sentences: Sentences that fit the scheme.
        scheme: The scheme, which all new sentences fit too.
        number: The number of new sentences for each sentence with a mention to fold or a
            coordination to unfold; 0.5: one for every second of them, on average.
        seed: Decides what is folded and unfolded, and how.
        conjunctions: The conjunctions to fold with, in lower case, with their weights. Unfolding
            looks for the same ones.

    Example:
        >>> muscle = Sentence("Some muscle pain today".split(), [Mention("ADR", [(1, 3)])])
        >>> joint = Sentence("Bad joint pain".split(), [Mention("ADR", [(1, 3)])])
        >>> for each in fold([muscle, joint], Scheme(("ADR",)), 1, 1, {"and": 1}):
        ...     print(" ".join(each.words), *each.mentions, sep="; ")
        Some muscle and joint pain today; ADR 'muscle pain' [1:2 4:5]; ADR 'joint pain' [3:5]
        Bad joint and muscle pain; ADR 'joint pain' [1:2 4:5]; ADR 'muscle pain' [3:5]
    """
    random = np.random.default_rng(seed)
    partners = Partners(sentences, conjunctions)
    new: list[Sentence] = []
    for sentence in sentences:
        if not sentence.mentions:
            continue
        layers = scheme.layers(len(sentence.words), sentence.mentions)
        cuts = [
            cut
            for mention in layers.continuous
            for cut in find_cuts(sentence.words, mention, conjunctions)
            if partners.exist(sentence, cut)
        ]
        removals = list(find_removals(sentence, layers, conjunctions))
        if not cuts and not removals:
            continue
        known = {sentence.words}
        for _ in range(int(number + random.random())):
            for _ in range(TRIES):
                if removals and (not cuts or random.random() < SHARE_UNFOLDED):
                    made = unfolded(sentence, removals[random.integers(len(removals))])
                else:
                    cut = cuts[random.integers(len(cuts))]
                    rests = partners.draw(sentence, cut, random)
                    made = folded(sentence, cut, rests, draw_conjunction(conjunctions, random))
                # Without a partner, the words are still the same.
                if made.words in known or scheme.problems(len(made.words), made.mentions):
                    continue
                known.add(made.words)
                new.append(made)
                break
    return new


class Partners:
    """What the mentions of a corpus have besides words that they share with others."""

    def __init__(self, sentences: Sequence[Sentence], conjunctions: Container[str]) -> None:
        found: dict[Key, dict[Words, Words]] = defaultdict(dict)
        usual = usual_words(sentences)
        for sentence in sentences:
            words = uncapitalised(sentence, usual) if sentence.mentions else ()
            for mention in sentence.mentions:
                for cut in find_cuts(words, mention, conjunctions):
                    rest = words[slice(*cut.rest)]
                    found[cut.key(words)].setdefault(lowered(rest), rest)
        self._rests = {key: list(rests.values()) for key, rests in found.items() if len(rests) > 1}

    def exist(self, sentence: Sentence, cut: Cut) -> bool:
        """Return whether another mention of the corpus shares these words."""
        return cut.key(sentence.words) in self._rests

    def draw(self, sentence: Sentence, cut: Cut, random: np.random.Generator) -> list[Words]:
        """Draw the rests of one or two mentions to fold with one of the sentence.

        Their words do not occur in mentions of the sentence, nor in each other, not even in the
        plural. If no such mention is drawn in a few attempts, the list is empty.
        """
        rests = self._rests[cut.key(sentence.words)]
        wanted = 2 if random.random() < SHARE_THREEFOLD else 1
        taken = {
            _singular(sentence.words[place]) for each in sentence.mentions for place in each.words
        }
        drawn: list[Words] = []
        for _ in range(TRIES):
            rest = rests[random.integers(len(rests))]
            singular = {_singular(word) for word in rest if word != HYPHEN}
            if taken.isdisjoint(singular):
                drawn.append(rest)
                taken |= singular
            if len(drawn) == wanted:
                break
        return drawn


def find_cuts(words: Words, mention: Mention, conjunctions: Container[str]) -> Iterator[Cut]:
    """Yield the ways to cut a mention into words that others may share, and the rest."""
    start, end = mention.fragments[0]
    if mention.discontinuous:
        return
    for length in range(1, min(LONGEST_REST, end - start - 1) + 1):
        prefix = Cut(mention.label, (start, end - length), (end - length, end))
        suffix = Cut(mention.label, (start + length, end), (start, start + length))
        for cut in (prefix, suffix):
            shared, rest = words[slice(*cut.shared)], words[slice(*cut.rest)]
            if _can_be_shared(shared) and _can_be_coordinated(rest, cut is prefix, conjunctions):
                yield cut


def folded(sentence: Sentence, cut: Cut, rests: Sequence[Words], conjunction: str) -> Sentence:
    """Return the sentence with a mention folded with others, whose rests are given.

    Example:
        >>> sentence = Sentence("pain in arms".split(), [Mention("ADR", [(0, 3)])])
        >>> cut = Cut("ADR", shared=(0, 2), rest=(2, 3))
        >>> print(*folded(sentence, cut, [("legs",), ("feet",)], "and").words)
        pain in arms , legs and feet
    """
    inserted: list[str] = []
    coordinated = [cut.rest]
    at = cut.rest[1]
    for number, rest in enumerate(rests, 1):
        # "arms, legs and feet", but "arms/legs/feet".
        inserted.append(conjunction if number == len(rests) or conjunction == "/" else ",")
        coordinated.append((at + len(inserted), at + len(inserted) + len(rest)))
        inserted += rest
    old = Mention(cut.label, (cut.shared, cut.rest))
    by = len(inserted) if cut.shared[0] >= at else 0
    shared = cut.shared[0] + by, cut.shared[1] + by
    new = [Mention(cut.label, (shared, rest)) for rest in coordinated]
    return replaced(sentence, (at, at), inserted, {old}, new)


def replaced(
    sentence: Sentence,
    part: Fragment,
    words: Sequence[str],
    gone: Container[Mention],
    new: Iterable[Mention] = (),
) -> Sentence:
    """Return the sentence with other words in a part of it, in capitals if the sentence is.

    Args:
        sentence: The sentence.
        part: The part.
        words: The words that replace it.
        gone: The mentions that the new sentence does not have. The others are moved with their
            words.
        new: Further mentions of the new sentence.
    """
    start, end = part
    by = len(words) - (end - start)
    if is_shouted(sentence):
        words = [word.upper() for word in words]

    def moved(fragment: Fragment) -> Fragment:
        return (fragment[0] + by, fragment[1] + by) if fragment[0] >= end else fragment

    kept = [
        Mention(each.label, tuple(map(moved, each.fragments)))
        for each in sentence.mentions
        if each not in gone
    ]
    return Sentence((*sentence.words[:start], *words, *sentence.words[end:]), (*kept, *new))


def find_removals(
    sentence: Sentence, layers: Layers, conjunctions: Container[str]
) -> Iterator[Removal]:
    """Yield the components of coordinations that can be removed.

    Components are coordinated if they are in the same slot and exactly one conjunction is between
    them. From "arms , legs and feet", "arms" or "legs" can be removed, with the comma. Removing
    "feet" with "and" would leave "arms , legs", so it is not offered.
    """
    used = {word for mention in sentence.mentions for word in mention.words}
    lower = lowered(sentence.words)
    for components in (slot for group in layers.sets for slot in group.slots):
        for chain in find_chains(lower, components, used, conjunctions):
            if chain[0][0] and lower[chain[0][0] - 1] in PAIRED:
                continue
            separators = [end for _, end in chain[:-1]]
            for number, component in enumerate(chain):
                if not _is_word(sentence.words[component[0]]):
                    continue  # the colon of "first week : nausea , headache" would be lost
                separator = separators[max(number - 1, 0)]
                if (
                    len(separators) == 1
                    or separator != separators[-1]
                    or lower[separators[-2]] == lower[separators[-1]]
                ):
                    yield Removal(component, separator)


def unfolded(sentence: Sentence, removal: Removal) -> Sentence:
    """Return the sentence without a component, its conjunction and the mentions that have it.

    Example:
        >>> parts = [Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])]
        >>> sentence = Sentence("Pain in arms and legs".split(), parts)
        >>> new = unfolded(sentence, Removal(component=(2, 3), conjunction=3))
        >>> print(*new.words, *new.mentions)
        Pain in legs ADR 'Pain in legs' [0:3]
    """
    start = min(removal.component[0], removal.conjunction)
    end = max(removal.component[1], removal.conjunction + 1)
    gone = {each for each in sentence.mentions if removal.component[0] in each.words}
    made = replaced(sentence, (start, end), (), gone)
    if start or not is_capitalised(sentence.words[0]):
        return made
    first = made.words[0][:1].upper() + made.words[0][1:]
    return Sentence((first, *made.words[1:]), made.mentions)


def find_chains(
    lower: Words,
    components: Sequence[Fragment],
    used: Container[int],
    conjunctions: Container[str],
) -> Iterator[list[Fragment]]:
    """Yield the longest runs of two or more components with one conjunction between neighbours."""
    chain: list[Fragment] = []
    for component in components:
        between = chain[-1][1] if chain else -1
        if between + 1 != component[0] or between in used or lower[between] not in conjunctions:
            if len(chain) > 1:
                yield chain
            chain = []
        chain.append(component)
    if len(chain) > 1:
        yield chain


def _can_be_shared(words: Words) -> bool:
    return _is_word(words[0]) and _is_word(words[-1]) and has_content(words)


def _can_be_coordinated(words: Words, comes_last: bool, conjunctions: Container[str]) -> bool:
    """Return whether these words can be coordinated, before or after the shared ones."""
    last = words[-1]
    if not comes_last:  # "muscle", "B -", but not "loss of"
        if last == HYPHEN:
            last = words[-2] if len(words) > 1 else HYPHEN
        if last.lower() in FUNCTION_WORDS:
            return False
    return (
        has_content(words)
        and _is_word(words[0])
        and _is_word(last)
        and all(_is_word(each) or each == HYPHEN for each in words)
        and not any(each.lower() in conjunctions for each in words)
    )


def _is_word(word: str) -> bool:
    return any(map(str.isalnum, word))


def has_content(words: Words) -> bool:
    return any(_is_word(word) and word.lower() not in FUNCTION_WORDS for word in words)


def draw_conjunction(conjunctions: Mapping[str, float], random: np.random.Generator) -> str:
    weights = np.array(list(conjunctions.values()), float)
    return list(conjunctions)[random.choice(len(weights), p=weights / weights.sum())]


def lowered(words: Words) -> Words:
    return tuple(map(str.lower, words))


def is_capitalised(word: str) -> bool:
    return word[:1].isupper() and word[1:].islower()


def is_shouted(sentence: Sentence) -> bool:
    """Return whether the sentence is in capitals."""
    return " ".join(sentence.words).isupper()


def usual_words(sentences: Sequence[Sentence]) -> set[str]:
    """Return the words of sentences that are not in capitals, as they are written there."""
    return {word for each in sentences if not is_shouted(each) for word in each.words}


def uncapitalised(sentence: Sentence, usual: Container[str]) -> Words:
    """Return the words without capitals, as far as the corpus has them like that elsewhere."""
    shouted = is_shouted(sentence)
    return tuple(
        word.lower() if (shouted or is_capitalised(word)) and word.lower() in usual else word
        for word in sentence.words
    )


def _singular(word: str) -> str:
    """Return the word in lower case and without the ending of most English plurals."""
    return word.lower().removesuffix("s")
