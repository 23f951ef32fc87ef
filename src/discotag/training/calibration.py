"""What is set on development data after training: calibration, and the bias of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from discotag.evaluation import score
from discotag.mentions import Document, Mention, Sentence
from discotag.model.calibration import fit_calibration
from discotag.model.config import ModelConfig
from discotag.model.network import Network
from discotag.prediction.regions import Judged, Options
from discotag.training.epochs import merit_of
from discotag.training.evaluation import make_tagger, to_dict
from discotag.training.processes import divide

BIASES: Final = (0.0, -0.5, 0.5, -1.0, 1.0, -1.5, 1.5)
"""The values of `bias` that are tried, the ones to prefer first."""


def calibrated(network: Network, dev: Sequence[Sentence], *, bf16: bool = False) -> ModelConfig:
    """Return the configuration of a network with a calibration and `bias` for its weights.

    Without a mention scorer, `bias` stays 0, so that the best tag sequence is taken.

    Args:
        network: The trained network.
        dev: The sentences to set them on.
        bf16: Whether the network computes in bf16.
    """
    config = replace(network.config, bias=0.0, calibration=None)
    tagger = make_tagger(network, bf16=bf16)
    tagger.config = config
    chances, odds, right = list[float](), list[float](), list[bool]()
    if network.scorer is None:
        documents = divide([Document((Sentence(each.words),)) for each in dev], tagger.tag_batch)
        for sentence, document in zip(dev, documents, strict=True):
            for mention in document.sentences[0].mentions:
                chances.append(mention.score or 0.0)
                right.append(mention in sentence.mentions)
    else:
        judged = divide(dev, tagger.options)
        config = replace(config, bias=best_bias(dev, judged))
        for sentence, regions in zip(dev, judged, strict=True):
            for options, own in regions:
                chances += options.probabilities()
                odds += own
                right += [mention in sentence.mentions for mention in options.mentions]
    if not any(right):  # nothing to learn from
        return config
    found = fit_calibration(
        np.array(chances), np.array(right), None if network.scorer is None else np.array(odds)
    )
    return replace(config, calibration=found)


def best_bias(dev: Sequence[Sentence], judged: Sequence[Judged]) -> float:
    """Return the value of `bias` whose mentions are best on development data."""

    def merit(bias: float) -> float:
        found = [
            frozenset(each for options, own in regions for each in chosen(options, own, bias))
            for regions in judged
        ]
        return merit_of(to_dict(score(dev, found)))

    return max(BIASES, key=merit)


def chosen(options: Options, odds: Sequence[float], bias: float) -> list[Mention]:
    """Return the mentions of the best reading of a region."""
    best = options.best([value + bias for value in odds])
    return [options.mentions[index] for index in best]
