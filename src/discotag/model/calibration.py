"""Calibration: from what a model says about a mention to the probability that it is right."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

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


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic regression of whether a mention is right.

    Attributes:
        bias: The constant.
        tagger: The weight of the log-odds of the mention's probability under the tagger.
        scorer: The weight of the mention scorer's log-odds.

    Example:
        >>> float(Calibration(bias=-1.0, tagger=0.5).probability(np.array([0.5]))[0].round(3))
        0.269
    """

    bias: float = 0.0
    tagger: float = 1.0
    scorer: float = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not -LARGEST_WEIGHT <= value <= LARGEST_WEIGHT:
                raise TypeError(
                    f"{name} must be a number of at most {LARGEST_WEIGHT:g}, got {value!r}"
                )

    def probability(self, chances: Numbers, odds: Numbers | None = None) -> Numbers:
        """Return the calibrated probability of mentions.

        Args:
            chances: Their probabilities under the tagger.
            odds: The mention scorer's log-odds; None: there is no scorer.
        """
        total = self.bias + self.tagger * log_odds(chances)
        if odds is not None:
            total = total + self.scorer * _bounded(odds)
        return _logistic(total)


def log_odds(chances: Numbers) -> Numbers:
    """Return the log-odds of probabilities, kept away from infinity."""
    kept = np.clip(np.asarray(chances, dtype=np.float64), LEAST, 1 - LEAST)
    found: Numbers = np.log(kept / (1 - kept))
    return found


def fit_calibration(
    chances: Numbers, right: npt.NDArray[np.bool_], odds: Numbers | None = None
) -> Calibration:
    """Return the calibration under which candidates are most likely to be right or wrong as seen.

    Args:
        chances: The probabilities of candidates under the tagger.
        right: Whether each is right.
        odds: The mention scorer's log-odds; None: there is no scorer.

    Example:
        >>> chances = np.array([0.9] * 1000)
        >>> found = fit_calibration(chances, np.arange(1000) < 600)
        >>> float(found.probability(chances)[0].round(2))
        0.6
    """
    columns = [np.ones(len(chances)), log_odds(chances)]
    if odds is not None:
        columns.append(_bounded(odds))
    given = np.stack(columns, 1)
    weights = np.zeros(given.shape[1])
    for _ in range(STEPS):
        predicted = _logistic(given @ weights)
        slope = given.T @ (predicted - right) + PENALTY * weights
        curve = (given.T * (predicted * (1 - predicted))) @ given
        weights -= np.linalg.solve(curve + PENALTY * np.eye(len(weights)), slope)
    return Calibration(*weights.tolist())


def _bounded(odds: Numbers) -> Numbers:
    found: Numbers = np.clip(np.asarray(odds, dtype=np.float64), -LARGEST_ODDS, LARGEST_ODDS)
    return found


def _logistic(odds: Numbers) -> Numbers:
    found: Numbers = 1 / (1 + np.exp(-_bounded(odds)))
    return found
