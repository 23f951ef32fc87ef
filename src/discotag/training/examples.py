"""Sentences as a network learns from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discotag.lexicon import silver_slots
from discotag.mentions import Sentence
from discotag.model.network import Network
from discotag.training.batches import Example, Marginals
from discotag.training.data import read_lexicon
from discotag.training.settings import Settings


def make_examples(
    network: Network,
    sentences: Sequence[Sentence],
    settings: Settings,
    *,
    unlabelled: Sequence[Sentence] = (),
    teacher: Sequence[Marginals] | None = None,
) -> list[Example]:
    """Cut sentences into subwords, and add what is known of slots and what teachers say.

    Args:
        network: Whose subwords they are.
        sentences: They fit the scheme of the network.
        settings: Whether a lexicon names slots, and which.
        unlabelled: Sentences of which only teachers say what is in them.
        teacher: The probabilities of tags, of the sentences and then of the unlabelled ones.
    """
    everything = [*sentences, *unlabelled]
    encoded = network.pieces.encode([each.words for each in everything])
    slots: list[Mapping[int, int]] = [{} for _ in everything]
    if settings.objective.startswith("weakly"):
        lexicon = read_lexicon(settings.lexicon)
        for number, each in enumerate(sentences):
            slots[number] = silver_slots(each.words, each.mentions, lexicon, network.layer.scheme)
    return [
        Example(
            encoded[number],
            frozenset(each.mentions) if number < len(sentences) else None,
            slots[number],
            None if teacher is None else teacher[number],
        )
        for number, each in enumerate(everything)
    ]
