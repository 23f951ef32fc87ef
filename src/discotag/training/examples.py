"""Sentences in the form that a network learns from: subwords and gold taggings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discotag.inference.gold import find_gold
from discotag.lexicon import silver_slots
from discotag.mentions import Sentence
from discotag.model.network import Network
from discotag.training.batching import Examples, Taught
from discotag.training.data import read_lexicon
from discotag.training.settings import Settings


def make_examples(
    network: Network,
    sentences: Sequence[Sentence],
    settings: Settings,
    *,
    unlabelled: Sequence[Sentence] = (),
    teacher: Sequence[Taught] | None = None,
) -> Examples:
    """Split sentences into subwords, and find their gold taggings under the objective.

    Args:
        network: The network whose subwords they are.
        sentences: Sentences that fit the scheme of the network.
        settings: The objective, and the lexicon that names slots.
        unlabelled: Sentences on which only teachers are learned from.
        teacher: What teachers say about the sentences, and then about the unlabelled ones.
    """
    scheme = network.layer.scheme
    objective = settings.objective
    lexicon = read_lexicon(settings.lexicon) if objective.uses_lexicon else None
    golds = []
    for each in sentences:
        slots = silver_slots(each.words, each.mentions, lexicon, scheme) if lexicon else {}
        golds.append(
            find_gold(
                scheme,
                len(each.words),
                frozenset(each.mentions),
                frozenset(slots.items()),
                objective.uses_all_namings,
                network.layer.arc_weights is not None,
            )
        )
    for each in unlabelled:
        golds.append(find_gold(scheme, len(each.words), frozenset(), frozenset(), False, False))
    everything = [*sentences, *unlabelled]
    return Examples(
        network.tokenizer.encode([each.words for each in everything]),
        golds,
        np.arange(len(everything)) < len(sentences),
        [each.mentions for each in everything],
        teacher,
    )
