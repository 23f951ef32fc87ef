"""Thresholds with a guarantee: few gold mentions are missed, with a given confidence.

A threshold that misses 5% of the mentions of a sample may miss more of them elsewhere. The tests
here are exact for samples of any size, however the scores were found: if units (documents or
sentences) are drawn independently, or at random from a finite collection, then with a probability
of at least the confidence, no threshold is chosen that misses more than was asked for.

Thresholds are tested from the lowest, which keeps the most candidates, to the highest, and the
last one that passes all tests so far is chosen. No correction for several tests is needed in this
fixed order (Angelopoulos et al. 2021, "Learn then Test"). Each test is

- for units that are found or missed as a whole, the exact binomial test;
- for mentions, of which a unit may have several, a bet against the null hypothesis: if more than
  the share `a` of mentions is missed, the expectation of `missed - a * mentions` over units is
  positive, and `1 - bet * (missed - a * mentions)`, multiplied over units, is above `1 / d` with a
  probability of at most `d`, for each bet and for the mean over several bets (Waudby-Smith and
  Ramdas 2024, "Estimating means of bounded random variables by betting"). To bound what a single
  unit can lose, one with more mentions than a fixed number counts as that many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, lgamma, log
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discotag.errors import InputError

Numbers = npt.NDArray[Any]

MOST: Final = {"documents": 10, "sentences": 4}
"""The most mentions that a unit counts as. They must not be chosen by the sample."""

BETS: Final = np.arange(1, 10) / 10
"""The bets, as shares of the highest one that cannot lose more than everything."""

GRID: Final = 1 / (1 + np.exp(np.linspace(9.0, -5.0, 141)))
"""The thresholds that are tested, in their order: equally far apart in log-odds."""

OUTSIDE: Final = -1.0
"""The score of a gold mention that is no candidate."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What is known of the best threshold.

    Attributes:
        threshold: The highest threshold whose recall is guaranteed; None if there is none.
        found: The share of the gold mentions or documents of the sample that it finds; without a
            threshold, the share that the lowest one finds.
        reachable: The highest recall that can be guaranteed with this sample, at the lowest
            threshold, in whole percent.
        units: The number of units with gold mentions.
    """

    threshold: float | None
    found: float
    reachable: float
    units: int


def find_bound(
    scores: Sequence[Sequence[float]], target: float, confidence: float, most: int | None
) -> Bound:
    """Find the highest threshold with a guaranteed recall.

    Args:
        scores: For each unit, the score of each of its gold mentions: that of the candidate that
            finds it, or `OUTSIDE`. Units without gold mentions may be left out.
        target: The recall to guarantee.
        confidence: The probability with which it is guaranteed.
        most: The most mentions that a unit counts as; None: each unit is found or missed as a
            whole, and has one score.

    Raises:
        InputError: If target or confidence is not between 0 and 1, or no unit has a score.

    Example:
        >>> round(find_bound([[0.9], [0.7, 0.8]] * 100, 0.9, 0.95, 4).threshold, 2)
        0.69
    """
    for name, value in (("target_recall", target), ("confidence", confidence)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise InputError(f"{name} must be between 0 and 1, got {value!r}")
    units = [np.array(each) for each in scores if len(each)]
    if not units:
        raise InputError("there are no gold mentions, so recall cannot be measured")
    best = None
    for threshold in GRID.tolist():
        if not passes(*_losses(units, threshold), 1 - target, 1 - confidence, most):
            break
        best = threshold
    missed, sizes = _losses(units, GRID[0] if best is None else best)
    lowest = _losses(units, GRID[0])
    reachable = (
        percent
        for percent in range(99, 0, -1)
        if passes(*lowest, 1 - percent / 100, 1 - confidence, most)
    )
    return Bound(
        threshold=best,
        found=float(1 - missed.sum() / sizes.sum()),
        reachable=next(reachable, 0) / 100,
        units=len(units),
    )


def passes(missed: Numbers, sizes: Numbers, share: float, doubt: float, most: int | None) -> bool:
    """Return whether it is certain enough that less than a share of mentions is missed.

    Args:
        missed: (units,), the number of gold mentions that are missed.
        sizes: (units,), the number of all of them.
        share: The highest share that may be missed.
        doubt: The highest probability of a wrong answer.
        most: As in `find_bound`.
    """
    if most is None:
        return tail(int(missed.sum()), len(sizes), share) <= doubt
    lost = np.minimum(sizes, most) / sizes * (missed - share * sizes)
    gains = np.log1p(-np.outer(BETS / ((1 - share) * most), lost)).sum(1)
    return bool(np.logaddexp.reduce(gains) - log(len(BETS)) >= -log(doubt))


def tail(events: int, trials: int, chance: float) -> float:
    """Return the probability of at most so many events in independent trials.

    Example:
        >>> round(tail(0, 45, 0.05), 4)
        0.0994
    """
    logs = (
        lgamma(trials + 1) - lgamma(each + 1) - lgamma(trials - each + 1)
        + each * log(chance) + (trials - each) * log(1 - chance)
        for each in range(events + 1)
    )  # fmt: skip
    return min(1.0, sum(map(exp, logs)))


def fewest_units(target: float, confidence: float) -> int:
    """Return how many units are needed at the least, if each is found or missed as a whole.

    Example:
        >>> fewest_units(0.95, 0.9)
        45
    """
    return ceil(log(1 - confidence) / log(target))


def _losses(units: Sequence[Numbers], threshold: float) -> tuple[Numbers, Numbers]:
    missed = np.array([(each < threshold).sum() for each in units])
    return missed, np.array([len(each) for each in units])
