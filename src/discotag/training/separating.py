"""Augmentation: new sentences with separate coordinations, beside the shared ones of folding.

"Rash and chest pain" are two mentions that share no word. Folding alone would teach that mentions
around a conjunction do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

import numpy as np

from discotag.mentions import Fragment, Mention, Sentence
from discotag.scheme import Scheme
from discotag.training.folding import (
    CONJUNCTIONS,
    FUNCTION_WORDS,
    TRIES,
    Words,
    draw_conjunction,
    find_chains,
    has_content,
    is_capitalised,
    lowered,
    replaced,
    uncapitalised,
    usual_words,
)

COMMA: Final = ","

MOST_SEPARATE: Final = 3.0
"""The most separate coordinations for each shared one, so that a corpus of lists (CRAFT UBERON has
7) does not grow several times as large."""

SHARES: Final = (0.75, 0.2, 0.05)
"""The shares of new coordinations of two, three and four mentions."""

LONGEST: Final = 6
"""The most words of a mention that is added. Longer ones are mostly clauses."""


@dataclass(frozen=True, slots=True)
class Coordinations:
    """The numbers of coordinations of a corpus.

    Attributes:
        shared: Two neighbouring components of a slot with a conjunction between them.
        separate: Two neighbouring continuous mentions with a conjunction between them.
    """

    shared: int
    separate: int

    @property
    def ratio(self) -> float:
        """The number of separate coordinations for each shared one."""
        return self.separate / max(1, self.shared)


def count_coordinations(
    sentences: Sequence[Sentence], scheme: Scheme, conjunctions: Container[str] = CONJUNCTIONS
) -> Coordinations:
    """Count the coordinations of sentences that fit a scheme.

    Commas do not count: most of them separate the items of a list.

    Example:
        >>> two = Sentence("rash and chest pain".split(), [
        ...     Mention("ADR", [(0, 1)]), Mention("ADR", [(2, 4)])])
        >>> count_coordinations([two], Scheme(("ADR",)))
        Coordinations(shared=0, separate=1)
    """
    shared = separate = 0
    for sentence in sentences:
        if not sentence.mentions:
            continue
        words = lowered(sentence.words)
        layers = scheme.layers(len(words), sentence.mentions)
        used = {place for mention in sentence.mentions for place in mention.words}

        def joins(place: int, words: Words = words) -> bool:
            return words[place] in conjunctions and words[place] != COMMA

        for slot in (slot for group in layers.sets for slot in group.slots):
            for chain in find_chains(words, slot, used, conjunctions):
                shared += sum(joins(end) for _, end in chain[:-1])
        alone = sorted((each.fragments[0], each.label) for each in layers.continuous)
        separate += sum(
            first[1] + 1 == second[0] and label == other and joins(first[1])
            for (first, label), (second, other) in pairwise(alone)
        )
    return Coordinations(shared, separate)


def number_to_add(kept: Coordinations, new: Coordinations) -> int:
    """Return how many separate coordinations keep the proportion of a corpus.

    Args:
        kept: The coordinations of the corpus.
        new: Those of the sentences that folding has added.

    Example:
        >>> number_to_add(Coordinations(shared=40, separate=80), Coordinations(100, 10))
        190
    """
    return max(0, round(min(kept.ratio, MOST_SEPARATE) * new.shared) - new.separate)


def separate(
    sentences: Sequence[Sentence],
    scheme: Scheme,
    number: int,
    seed: int,
    conjunctions: Mapping[str, float] = CONJUNCTIONS,
) -> list[Sentence]:
    """Return new sentences in which unrelated mentions are coordinated and share no word.

    One to three continuous mentions from anywhere in the corpus are joined to a mention of a
    sentence with the same label, in any order: "I had a rash." becomes "I had a rash and chest
    pain.". At least one of the mentions has several words, so that words could be shared by
    mistake. Mentions that could really share words are not joined: "numbness" and "tingling in my
    feet" are not if the corpus has mentions that begin with "numbness in".

    Args:
        sentences: Sentences that fit the scheme.
        scheme: The scheme, which all new sentences fit too.
        number: The number of new sentences; fewer are made where few mentions can be joined.
        seed: Decides what is joined, and how.
        conjunctions: The conjunctions to join with, with their weights.

    Example:
        >>> rash = Sentence("I had a rash".split(), [Mention("ADR", [(3, 4)])])
        >>> pain = Sentence("Bad chest pain".split(), [Mention("ADR", [(1, 3)])])
        >>> (new,) = separate([rash, pain], Scheme(("ADR",)), 1, 1, {"and": 1})
        >>> print(" ".join(new.words), *new.mentions, sep="; ")
        Bad rash and chest pain; ADR 'rash' [1:2]; ADR 'chest pain' [3:5]
    """
    random = np.random.default_rng(seed)
    hosts = list(_find_hosts(sentences, scheme))
    usual = usual_words(sentences)
    words = {host.words: uncapitalised(host, usual) for host, _ in hosts}
    pool: dict[str, dict[Words, Words]] = defaultdict(dict)
    for host, mention in hosts:
        text = words[host.words][slice(*mention.fragments[0])]
        if len(text) <= LONGEST and _can_be_joined(text, conjunctions):
            pool[mention.label].setdefault(lowered(text), text)
    others = {label: list(texts.values()) for label, texts in pool.items()}
    neighbours = Neighbours(sentences)
    known = {each.words for each in sentences}
    new: list[Sentence] = []
    for _ in range(number if hosts else 0):
        for _ in range(TRIES):
            host, mention = hosts[random.integers(len(hosts))]
            if mention.label not in others:
                continue
            count = 1 + random.choice(len(SHARES), p=SHARES)
            drawn = others[mention.label]
            added = [drawn[each] for each in random.integers(len(drawn), size=count)]
            place = int(random.integers(count + 1))
            made = _joined(
                host,
                words[host.words],
                mention,
                (added[:place], added[place:]),
                draw_conjunction(conjunctions, random),
            )
            listed = [lowered(each) for each in added]
            listed.insert(place, lowered(host.words[slice(*mention.fragments[0])]))
            if (
                made.words in known
                or max(map(len, listed)) == 1
                or any(neighbours.can_share(*pair) for pair in combinations(listed, 2))
                or not _are_different(host, added)
                or scheme.problems(len(made.words), made.mentions)
            ):
                continue
            known.add(made.words)
            new.append(made)
            break
    return new


class Neighbours:
    """The words that follow and precede the beginnings and endings of a corpus's mentions."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self._after: dict[Words, set[str]] = defaultdict(set)
        self._before: dict[Words, set[str]] = defaultdict(set)
        for sentence in sentences:
            for mention in sentence.mentions:
                words = lowered(tuple(sentence.words[place] for place in mention.words))
                for place in range(1, len(words)):
                    self._after[words[:place]].add(words[place])
                    self._before[words[place:]].add(words[place - 1])

    def can_share(self, first: Words, second: Words) -> bool:
        """Return whether the first mention could share the end of the second, or the other way.

        They could if a mention of the corpus begins with the first one and a word of the second, or
        ends with a word of the first and the second one. Both are in lowered case.

        Example:
            >>> feet = Sentence("numbness in feet".split(), [Mention("ADR", [(0, 3)])])
            >>> neighbours = Neighbours([feet])
            >>> neighbours.can_share(("numbness",), ("tingling", "in", "my", "hands"))
            True
            >>> neighbours.can_share(("rash",), ("tingling", "in", "my", "hands"))
            False
        """
        return not (
            self._after.get(first, set()).isdisjoint(second[1:])
            and self._before.get(second, set()).isdisjoint(first[:-1])
        )


def _find_hosts(
    sentences: Sequence[Sentence], scheme: Scheme
) -> Iterator[tuple[Sentence, Mention]]:
    """Yield continuous mentions outside mention sets, with their sentences."""
    for sentence in sentences:
        if sentence.mentions:
            layers = scheme.layers(len(sentence.words), sentence.mentions)
            for mention in layers.continuous:
                start, end = mention.fragments[0]
                if not any(each.start < end and start < each.end for each in layers.sets):
                    yield sentence, mention


def _can_be_joined(words: Words, conjunctions: Container[str]) -> bool:
    return has_content(words) and not any(word in conjunctions for word in lowered(words))


def _are_different(host: Sentence, added: Sequence[Words]) -> bool:
    """Return whether no content word is in two of the mentions that are added or there already."""
    taken = {host.words[place].lower() for each in host.mentions for place in each.words}
    for words in map(lowered, added):
        content = set(words) - FUNCTION_WORDS
        if not taken.isdisjoint(content):
            return False
        taken |= content
    return True


def _joined(
    host: Sentence,
    uncapital: Words,
    mention: Mention,
    added: tuple[Sequence[Words], Sequence[Words]],
    conjunction: str,
) -> Sentence:
    """Return the sentence with mentions joined to one of its own, before it and after it.

    Args:
        host: The sentence.
        uncapital: Its words without capitals that only its beginning has.
        mention: The mention.
        added: The words of mentions to put before it and after it.
        conjunction: The last conjunction; commas are before it, or it is repeated.
    """
    start, end = mention.fragments[0]
    own = host.words[start:end] if not added[0] else uncapital[start:end]
    items = [*added[0], own, *added[1]]
    inserted: list[str] = []
    places: list[Fragment] = []
    for number, words in enumerate(items):
        if number:
            last = number == len(items) - 1
            inserted.append(conjunction if last or conjunction == "/" else COMMA)
        places.append((start + len(inserted), start + len(inserted) + len(words)))
        inserted += words
    if start == 0 and is_capitalised(host.words[0]):
        inserted[0] = inserted[0][:1].upper() + inserted[0][1:]
    new = [Mention(mention.label, (place,)) for place in places]
    return replaced(host, (start, end), inserted, {mention}, new)
