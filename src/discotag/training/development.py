"""Development data: what a model finds in it, and what is set on it after training.

Calibration, bias and figures all come from one tagging of the development data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from discotag.evaluation import Scores, score
from discotag.mentions import Document, Mention, Sentence
from discotag.model.calibration import Calibration, fit_calibration
from discotag.model.config import ModelConfig
from discotag.model.network import Network
from discotag.prediction.decoding import DIGITS
from discotag.prediction.regions import Judged, Options
from discotag.prediction.runtimes import TorchRuntime
from discotag.prediction.tagger import Tagger
from discotag.training.epochs import combined_f1
from discotag.training.processes import divide

BIASES: Final = (0.0, -0.5, 0.5, -1.0, 1.0, -1.5, 1.5)
"""The values of `bias` that are tried, the ones to prefer first."""


@dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """What a model without calibration and bias finds in sentences.

    Attributes:
        config: The configuration of the model.
        gold: The sentences, with their gold mentions.
        mentions: The mentions that it finds in each.
        readings: The readings that it chooses from, if it has a mention scorer.
    """

    config: ModelConfig
    gold: Sequence[Sentence]
    mentions: Sequence[Sequence[Mention]]
    readings: Sequence[Judged] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """What is set on development data.

    Attributes:
        config: The configuration of the model, with its calibration and `bias`.
        mentions: The mentions that the model finds with it in each sentence, with their scores.
    """

    config: ModelConfig
    mentions: Sequence[Sequence[Mention]]


def make_tagger(network: Network, *, bf16: bool = False) -> Tagger:
    """Return a tagger on a network that is being trained, in the precision of the training."""
    device = str(next(network.parameters()).device)
    runtime = TorchRuntime(network, device, half=bf16)
    return Tagger(network.config, network.tokenizer, runtime)


def find(
    tagger: Tagger, sentences: Sequence[Sentence], *, probabilities: bool = False
) -> list[tuple[Mention, ...]]:
    """Return the mentions that a tagger finds in each sentence; processes divide the work."""
    documents = [Document((Sentence(each.words),)) for each in sentences]
    found = divide(documents, partial(tagger.tag_batch, probabilities=probabilities))
    return [document.sentences[0].mentions for document in found]


def tag(tagger: Tagger, gold: Sequence[Sentence]) -> Tagged:
    """Return what a tagger finds without calibration and bias; processes divide the work."""
    config = replace(tagger.config, bias=0.0, calibration=None, least_discontinuous=0.0)
    plain = Tagger(config, tagger.tokenizer, tagger.runtime)
    if not config.mention_scorer:
        return Tagged(config, gold, find(plain, gold, probabilities=True))
    readings = divide(gold, plain.options)
    return Tagged(config, gold, _choose(readings, 0.0), readings)


def calibrate(tagged: Tagged) -> Calibrated:
    """Set the calibration and `bias` of a model on development data.

    An export in eight bits has slightly other scores than the network that it was made from, so it
    has a calibration of its own.

    Without a mention scorer, `bias` stays 0, so that the best tag sequence is taken, and no
    discontinuous mention is left out for its score.
    """
    config, gold, readings = tagged.config, tagged.gold, tagged.readings
    if readings is None:
        calibration = calibration_of_found(gold, tagged.mentions)
        config = replace(config, calibration=calibration)
        return Calibrated(config, [_scored(calibration, each) for each in tagged.mentions])
    calibration = calibration_of_candidates(gold, readings)
    bias = best_bias(gold, readings)
    least = 0.0
    if calibration is not None:
        least = least_score(gold, readings, bias)
        readings = [[_trusted(calibration, *each, least) for each in own] for own in readings]
        bias = best_bias(gold, readings)
    config = replace(config, bias=bias, calibration=calibration, least_discontinuous=least)
    return Calibrated(config, _choose(readings, bias, calibration))


def calibration_of_found(
    gold: Sequence[Sentence], found: Sequence[Sequence[Mention]]
) -> Calibration | None:
    """Return a calibration of the scores of mentions; None if none is right.

    Args:
        gold: Sentences with gold mentions.
        found: The mentions that a model without mention scorer and calibration finds in each.
    """
    pairs = [
        (mention, sentence)
        for sentence, mentions in zip(gold, found, strict=True)
        for mention in mentions
    ]
    return _fitted(pairs, [mention.score or 0.0 for mention, _ in pairs], None)


def calibration_of_candidates(
    gold: Sequence[Sentence], readings: Sequence[Judged]
) -> Calibration | None:
    """Return a calibration of the scores of candidates; None if none is right.

    Args:
        gold: Sentences with gold mentions.
        readings: What `Tagger.options` returns for each.
    """
    regions = [
        (options, odds, sentence)
        for sentence, own in zip(gold, readings, strict=True)
        for options, odds in own
    ]
    return _fitted(
        [(mention, sentence) for options, _, sentence in regions for mention in options.mentions],
        [chance for options, _, _ in regions for chance in options.probabilities()],
        [value for _, odds, _ in regions for value in odds],
    )


def best_bias(gold: Sequence[Sentence], readings: Sequence[Judged]) -> float:
    """Return the value of `bias` whose mentions are best on development data."""
    return max(BIASES, key=lambda bias: combined_f1(to_dict(score(gold, _choose(readings, bias)))))


def least_score(gold: Sequence[Sentence], readings: Sequence[Judged], bias: float) -> float:
    """Return the lowest score that a discontinuous mention should have for the best F1.

    With calibrated scores, it is half of the best F1 (Lipton, Elkan and Naryanaswamy 2014, "Optimal
    thresholding of classifiers to maximize F1 measure"). A bound that is searched for on the few
    discontinuous mentions of development data would vary more.
    """
    f1 = score(gold, _choose(readings, bias)).discontinuous.micro.f1
    return round(f1 / 2, 2)


def to_dict(scores: Scores) -> dict[str, dict[str, float]]:
    """Return the figures of the three slices, labels counted together."""
    return {
        name: {
            "precision": each.micro.precision,
            "recall": each.micro.recall,
            "f1": each.micro.f1,
            "gold": each.micro.gold,
            "predicted": each.micro.predicted,
            "correct": each.micro.correct,
        }
        for name, each in scores.slices()
    }


def _choose(
    readings: Sequence[Judged], bias: float, calibration: Calibration | None = None
) -> list[list[Mention]]:
    """Return the mentions of the best readings of each sentence, with their scores."""
    return [
        [mention for region in own for mention in _chosen(*region, bias, calibration)]
        for own in readings
    ]


def _chosen(
    options: Options, odds: Sequence[float], bias: float, calibration: Calibration | None
) -> list[Mention]:
    chances = options.probabilities()
    best = options.best([value + bias for value in odds])
    mentions = [options.mentions[index].with_score(min(1.0, chances[index])) for index in best]
    return _scored(calibration, mentions, [odds[index] for index in best])


def _scored(
    calibration: Calibration | None,
    mentions: Sequence[Mention],
    odds: Sequence[float] | None = None,
) -> list[Mention]:
    """Return mentions that have the tagger's probability as their score with a calibrated one."""
    if calibration is None or not mentions:
        return list(mentions)
    scores = calibration.probability(
        np.array([each.score for each in mentions]),
        None if odds is None else np.array(odds),
        np.array([each.discontinuous for each in mentions], dtype=bool),
    )
    return [
        each.with_score(round(value, DIGITS))
        for each, value in zip(mentions, scores.tolist(), strict=True)
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
