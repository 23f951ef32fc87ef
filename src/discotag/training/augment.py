"""Augmentation: new sentences, made by swapping components of mention sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from discotag.lexicon import Lexicon
from discotag.mentions import Fragment, Mention, Sentence
from discotag.scheme import Layers, MentionSet, Scheme

SHARE_SWAPPED = 0.5
"""The share of the components of a sentence that are swapped; at least one is."""

Kind = tuple[str, int, bool]
"""The kind of a component: label, slot in order of first appearance, whether it has a body part."""


def augment(
    sentences: Sequence[Sentence], scheme: Scheme, number: int, seed: int, lexicon: Lexicon
) -> list[Sentence]:
    """Return new sentences, `number` of them for each sentence with a mention set.

    In a new sentence, components are swapped for components of the same kind from other sentences:
    of the same label and slot, and a body part for a body part. The words around them stay the
    same, and so do the components that form a mention together: "pain in arms and legs" may become
    "cramps in feet and legs".

    Args:
        sentences: Sentences that fit the scheme.
        scheme: The scheme.
        number: The number of new sentences for each sentence with a mention set.
        seed: Decides which components are swapped.
        lexicon: The names of body parts.

    Example:
        >>> arms = Sentence("sore arms and legs".split(),
        ...                 [Mention("ADR", [(0, 2)]), Mention("ADR", [(0, 1), (3, 4)])])
        >>> feet = Sentence("tired feet or toes".split(),
        ...                 [Mention("ADR", [(0, 2)]), Mention("ADR", [(0, 1), (3, 4)])])
        >>> lexicon = Lexicon(["arm", "leg", "foot", "toe"])
        >>> new = augment([arms, feet], Scheme(("ADR",)), 1, 3, lexicon)
        >>> [" ".join(each.words) for each in new]
        ['tired feet and toes', 'tired legs or arms']
    """
    random = np.random.default_rng([seed, number])
    layers = [scheme.layers(len(each.words), each.mentions) for each in sentences]
    pool: dict[Kind, dict[tuple[str, ...], None]] = defaultdict(dict)
    for sentence, layer in zip(sentences, layers, strict=True):
        for fragment, kind in _components(sentence.words, layer.sets, lexicon):
            pool[kind][sentence.words[slice(*fragment)]] = None
    fillers = {kind: list(found) for kind, found in pool.items()}
    new = []
    for sentence, layer in zip(sentences, layers, strict=True):
        components = list(_components(sentence.words, layer.sets, lexicon))
        for _ in range(number if components else 0):
            chosen = random.random(len(components)) < SHARE_SWAPPED
            chosen[random.integers(len(components))] = True
            taken = {sentence.words[slice(*fragment)] for fragment, _ in components}
            swaps = {}
            for (fragment, kind), swap in zip(components, chosen, strict=True):
                free = [words for words in fillers[kind] if words not in taken]
                if swap and free:
                    swaps[fragment] = free[random.integers(len(free))]
                    taken.add(swaps[fragment])
            new.append(_swapped(sentence, layer, swaps))
    return [each for each in new if not scheme.problems(len(each.words), each.mentions)]


def _components(
    words: Sequence[str], sets: Iterable[MentionSet], lexicon: Lexicon
) -> Iterable[tuple[Fragment, Kind]]:
    for group in sets:
        for (start, end), slot in group.components:
            yield (start, end), (group.label, slot, bool(lexicon.find(words[start:end])))


def _swapped(
    sentence: Sentence, layers: Layers, swaps: dict[Fragment, tuple[str, ...]]
) -> Sentence:
    """Return the sentence with other words in some components."""
    words: list[str] = []
    place: list[int] = []  # where each old word, or what replaces it, begins now
    ends = {}
    starts = {start: (end, filler) for (start, end), filler in swaps.items()}
    position = 0
    while position < len(sentence.words):
        end, filler = starts.get(position, (position + 1, sentence.words[position : position + 1]))
        place += [len(words)] * (end - position)
        words += filler
        ends[end] = len(words)
        position = end

    def moved(fragment: Fragment) -> Fragment:
        return place[fragment[0]], ends[fragment[1]]

    sets = [
        MentionSet(each.label, tuple(tuple(map(moved, parts)) for parts in each.slots))
        for each in layers.sets
    ]
    continuous = [Mention(each.label, (moved(each.fragments[0]),)) for each in layers.continuous]
    mentions = {mention for each in sets for mention in each.mentions}.union(continuous)
    return Sentence(tuple(words), tuple(mentions))
