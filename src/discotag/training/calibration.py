"""What is set on development data after training: calibration, and the bias of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from discotag.evaluation import score
from discotag.mentions import Document, Mention, Sentence
from discotag.model.calibration import Calibration, fit_calibration
from discotag.model.config import ModelConfig
from discotag.model.network import Network
from discotag.prediction.regions import Judged, Options
from discotag.prediction.tagger import Tagger
from discotag.training.epochs import merit_of
from discotag.training.evaluation import make_tagger, to_dict
from discotag.training.processes import divide

BIASES: Final = (0.0, -0.5, 0.5, -1.0, 1.0, -1.5, 1.5)
"""The values of `bias` that are tried, the ones to prefer first."""


def calibrated(network: Network, dev: Sequence[Sentence], *, bf16: bool = False) -> ModelConfig:
    """Return the configuration of a network with a calibration and `bias` for its weights.

    Without a mention scorer, `bias` stays 0, so that the best tag sequence is taken, and no
    discontinuous mention is left out for its score.

    Args:
        network: The trained network.
        dev: The sentences to set them on.
        bf16: Whether the network computes in bf16.
    """
    return calibrated_tagger(make_tagger(network, bf16=bf16), dev)


def calibrated_tagger(tagger: Tagger, dev: Sequence[Sentence]) -> ModelConfig:
    """Return the configuration of a tagger with a calibration and `bias` for its runtime.

    An export in eight bits has slightly other scores than the network that it was made from.

    Args:
        tagger: The tagger; its own calibration and `bias` are replaced by neutral ones.
        dev: The sentences to set them on.
    """
    config = replace(tagger.config, bias=0.0, calibration=None, least_discontinuous=0.0)
    tagger.config = config
    if not config.mention_scorer:
        documents = divide([Document((Sentence(each.words),)) for each in dev], tagger.tag_batch)
        found = [document.sentences[0].mentions for document in documents]
        return replace(config, calibration=calibration_of_found(dev, found))
    judged = divide(dev, tagger.options)
    calibration = calibration_of_candidates(dev, judged)
    bias = best_bias(dev, judged)
    if calibration is None:
        return replace(config, bias=bias)
    least = least_score(dev, judged, bias)
    trusted = [[_trusted(calibration, *each, least) for each in regions] for regions in judged]
    return replace(
        config,
        bias=best_bias(dev, trusted),
        calibration=calibration,
        least_discontinuous=least,
    )


def calibration_of_found(
    dev: Sequence[Sentence], found: Sequence[Sequence[Mention]]
) -> Calibration | None:
    """Return a calibration of the scores of mentions; None if none is right.

    Args:
        dev: Sentences with gold mentions.
        found: The mentions that a model without mention scorer and calibration finds in each.
    """
    pairs = [
        (mention, sentence)
        for sentence, mentions in zip(dev, found, strict=True)
        for mention in mentions
    ]
    chances = [mention.score or 0.0 for mention, _ in pairs]
    return _fitted(pairs, chances, None)


def calibration_of_candidates(
    dev: Sequence[Sentence], judged: Sequence[Judged]
) -> Calibration | None:
    """Return a calibration of the scores of candidates; None if none is right.

    Args:
        dev: Sentences with gold mentions.
        judged: What `Tagger.options` returns for each.
    """
    regions = [
        (options, own, sentence)
        for sentence, each in zip(dev, judged, strict=True)
        for options, own in each
    ]
    return _fitted(
        [(mention, sentence) for options, _, sentence in regions for mention in options.mentions],
        [chance for options, _, _ in regions for chance in options.probabilities()],
        [value for _, own, _ in regions for value in own],
    )


def best_bias(dev: Sequence[Sentence], judged: Sequence[Judged]) -> float:
    """Return the value of `bias` whose mentions are best on development data."""
    return max(BIASES, key=lambda bias: merit_of(to_dict(score(dev, _found(judged, bias)))))


def least_score(dev: Sequence[Sentence], judged: Sequence[Judged], bias: float) -> float:
    """Return the lowest score that a discontinuous mention should have for the best F1.

    With calibrated scores, it is half of the best F1 (Lipton, Elkan and Naryanaswamy 2014, "Optimal
    thresholding of classifiers to maximize F1 measure"). A bound that is searched for on the few
    discontinuous mentions of development data would vary more.
    """
    f1 = score(dev, _found(judged, bias)).discontinuous.micro.f1
    return round(f1 / 2, 2)


def _found(judged: Sequence[Judged], bias: float) -> list[frozenset[Mention]]:
    """Return the mentions of the best readings of each sentence."""
    return [
        frozenset(each for options, own in regions for each in chosen(options, own, bias))
        for regions in judged
    ]


def _trusted(
    calibration: Calibration, options: Options, odds: list[float], least: float
) -> tuple[Options, list[float]]:
    """Return a region without discontinuous mentions whose score is too low."""
    discontinuous = np.array([each.discontinuous for each in options.mentions], dtype=bool)
    chances = np.array(options.probabilities())
    scores = calibration.probability(chances, np.array(odds), discontinuous)
    rejected = discontinuous & (scores < least)
    return options.without(rejected.tolist()), odds


def chosen(options: Options, odds: Sequence[float], bias: float) -> list[Mention]:
    """Return the mentions of the best reading of a region."""
    best = options.best([value + bias for value in odds])
    return [options.mentions[index] for index in best]


def _fitted(
    mentions: Sequence[tuple[Mention, Sentence]],
    chances: Sequence[float],
    odds: Sequence[float] | None,
) -> Calibration | None:
    """Return a calibration of mentions, each given with the gold sentence that it is in."""
    right = np.array([mention in sentence.mentions for mention, sentence in mentions], dtype=bool)
    if not right.any():  # nothing to learn from
        return None
    return fit_calibration(
        np.array(chances),
        None if odds is None else np.array(odds),
        np.array([mention.discontinuous for mention, _ in mentions], dtype=bool),
        right,
    )
