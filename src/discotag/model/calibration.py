"""Calibration: from what a model says about a mention to the probability that it is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discotag.described import is_number

Numbers = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]

LEAST: Final = 1e-4
"""Probabilities are kept this far from 0 and 1, where their log-odds are dominated by rounding."""

LARGEST_ODDS: Final = 30.0
"""The largest log-odds that are told apart: beyond, a probability is 0 or 1 for every purpose."""

LARGEST_WEIGHT: Final = 1e6
"""The largest weight of a calibration; fitted ones are below 10."""

STEPS: Final = 50
"""The number of Newton steps; the problem is convex, and 10 are enough in practice."""

PENALTY: Final = 1.0
"""The weight of the squared coefficients in the loss, for small data and for data that can be
separated perfectly."""

APART: Final = (3.0, 100.0)
"""The weights of the squared differences between the coefficients of discontinuous and of
continuous mentions: between the constants, and between the others. In cross-validation over the
mentions of PsyTAR and of written reports, values from (3, 30) to (3, 300) and (5, 5) give the same
log-loss within 0.002; without any penalty, few discontinuous mentions decide."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a logistic regression.

    Attributes:
        constant: The constant.
        tagger: The weight of the log-odds of the mention's probability under the tagger.
        scorer: The weight of the mention scorer's log-odds.
        sure: The further weight of what exceeds the knot of the calibration in these log-odds.
    """

    constant: float = 0.0
    tagger: float = 1.0
    scorer: float = 0.0
    sure: float = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            _check_weight(name, value)


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic regression of whether a mention is right, for each of the two kinds of mentions.

    The log-odds that a mention is right are

        constant + tagger * logit(chance) + scorer * odds + sure * max(odds - knot, 0)

    where chance is its probability under the tagger and odds are the mention scorer's log-odds.
    Mentions of which the scorer is sure are more often right than a line through all mentions says,
    and with the knot their scores can say so.

    Attributes:
        continuous: The weights for continuous mentions.
        discontinuous: The weights for discontinuous mentions.
        knot: The log-odds of the scorer from which `sure` counts.

    Example:
        >>> modest = Calibration(Weights(constant=-1.0, tagger=0.5), Weights(constant=-2.0))
        >>> modest.probability(np.array([0.5, 0.5]), None, np.array([False, True])).round(3)
        array([0.269, 0.119])
    """

    continuous: Weights = field(default_factory=Weights)
    discontinuous: Weights = field(default_factory=Weights)
    knot: float = 0.0

    def __post_init__(self) -> None:
        for name in ("continuous", "discontinuous"):
            if not isinstance(getattr(self, name), Weights):
                raise TypeError(f"{name} must be Weights, got {getattr(self, name)!r}")
        _check_weight("knot", self.knot)

    @classmethod
    def from_dict(cls, data: object) -> Calibration:
        """Return the calibration that `dataclasses.asdict` gave as plain data.

        Raises:
            TypeError: If the data is not that of a calibration.
        """
        values = _values(cls, data)
        kinds = {name: _weights(name, each) for name, each in values.items() if name != "knot"}
        return cls(**{**values, **kinds})

    def probability(self, chances: Numbers, odds: Numbers | None, discontinuous: Flags) -> Numbers:
        """Return the calibrated probability of mentions.

        Args:
            chances: Their probabilities under the tagger.
            odds: The mention scorer's log-odds; None: there is no scorer.
            discontinuous: Whether each is discontinuous.
        """
        given = _features(chances, odds, self.knot)
        both = (list(asdict(each).values()) for each in (self.continuous, self.discontinuous))
        one, other = (given @ np.array(weights) for weights in both)
        return _logistic(np.where(discontinuous, other, one))


def log_odds(chances: Numbers) -> Numbers:
    """Return the log-odds of probabilities, kept away from infinity."""
    kept = np.clip(np.asarray(chances, dtype=np.float64), LEAST, 1 - LEAST)
    found: Numbers = np.log(kept / (1 - kept))
    return found


def fit_calibration(
    chances: Numbers, odds: Numbers | None, discontinuous: Flags, right: Flags
) -> Calibration:
    """Return the calibration under which candidates are most likely to be right or wrong as seen.

    The weights of both kinds of mentions are fitted together, and their differences are penalised:
    with few discontinuous mentions, their weights are those of continuous ones. All weights but the
    constants are at least 0, so that of two mentions of a kind, the one that tagger and scorer
    think more probable has the higher score.

    Args:
        chances: The probabilities of candidates under the tagger.
        odds: The mention scorer's log-odds; None: there is no scorer.
        discontinuous: Whether each candidate is discontinuous.
        right: Whether each candidate is right.

    Example:
        >>> chances = np.array([0.9] * 1000)
        >>> apart, right = np.zeros(1000, dtype=bool), np.arange(1000) < 600
        >>> found = fit_calibration(chances, None, apart, right)
        >>> float(found.probability(chances, None, apart)[0].round(2))
        0.6
    """
    knot = 0.0 if odds is None or not right.any() else float(np.median(_bounded(odds)[right]))
    given = _features(chances, odds, knot)
    size = given.shape[1]
    both = np.hstack([given * ~discontinuous[:, None], given * discontinuous[:, None]])
    apart = np.diag([APART[0], *[APART[1]] * (size - 1)])
    penalty = np.block([[PENALTY * np.eye(size) + apart, -apart], [-apart, apart]])
    free = np.ones(2 * size, dtype=bool)
    while True:
        weights = np.zeros(2 * size)
        weights[free] = _fit(both[:, free], right, penalty[np.ix_(free, free)])
        signed = np.where(np.arange(2 * size) % size == 0, 0.0, weights)  # constants have any sign
        if signed.min() >= 0:
            break
        free[signed.argmin()] = False
    return Calibration(Weights(*weights[:size].tolist()), Weights(*weights[size:].tolist()), knot)


def _fit(given: Numbers, right: Flags, penalty: Numbers) -> Numbers:
    """Return the weights of a logistic regression with a quadratic penalty, by Newton's method."""
    weights = np.zeros(given.shape[1])
    for _ in range(STEPS):
        predicted = _logistic(given @ weights)
        slope = given.T @ (predicted - right) + penalty @ weights
        curve = (given.T * (predicted * (1 - predicted))) @ given + penalty
        weights -= np.linalg.solve(curve, slope)
    return weights


def _features(chances: Numbers, odds: Numbers | None, knot: float) -> Numbers:
    """Return what the weights are for, (mentions, 4)."""
    one = log_odds(chances)
    scored = np.zeros_like(one) if odds is None else _bounded(odds)
    above = np.zeros_like(one) if odds is None else np.maximum(scored - knot, 0)
    return np.stack([np.ones_like(one), one, scored, above], -1)


def _weights(name: str, data: object) -> Weights:
    try:
        return Weights(**_values(Weights, data))
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def _values(kind: type, data: object) -> Mapping[str, Any]:
    """Return plain data, if it has values for fields of a class alone."""
    names = [each.name for each in fields(kind)]
    if not isinstance(data, Mapping) or not set(data) <= set(names):
        raise TypeError(f"must be an object with {', '.join(names)}, got {data!r}")
    return data


def _check_weight(name: str, value: object) -> None:
    if not is_number(value) or not -LARGEST_WEIGHT <= value <= LARGEST_WEIGHT:
        raise TypeError(f"{name} must be a number of at most {LARGEST_WEIGHT:g}, got {value!r}")


def _bounded(odds: Numbers) -> Numbers:
    found: Numbers = np.clip(np.asarray(odds, dtype=np.float64), -LARGEST_ODDS, LARGEST_ODDS)
    return found


def _logistic(odds: Numbers) -> Numbers:
    found: Numbers = 1 / (1 + np.exp(-_bounded(odds)))
    return found
