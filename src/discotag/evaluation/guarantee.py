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
  Ramdas 2024, "Estimating means of bounded random variables by betting"). What a single unit can
  lose must be bounded, so one with more mentions than a fixed number counts as that many, both in
  the test and in the recall that is guaranteed: each of its mentions has less weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discotag.errors import InputError

Numbers = npt.NDArray[Any]

BETS: Final = np.arange(1, 10) / 10
"""The bets, as shares of the highest one that cannot lose more than everything."""

GRID: Final = 1 / (1 + np.exp(np.linspace(9.0, -5.0, 141)))
"""The thresholds that are tested, in their order: equally far apart in log-odds."""

TIMES: Final = np.arange(1.1, 100, 0.1)
"""How much larger samples are tried to say which one is large enough."""

OUTSIDE: Final = -1.0
"""The score of a gold mention that is no candidate."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What is known of the best threshold.

    Attributes:
        threshold: The highest threshold whose recall is guaranteed; None if there is none.
        found: The share of the gold mentions or documents of the sample that it finds, weighed as
            in the tests; without a threshold, the share that the lowest one finds.
        reachable: The highest recall that can be guaranteed with this sample, at the lowest
            threshold, in whole percent.
        units: The number of units with gold mentions.
        needed: Without a threshold, about how many units like these it takes to guarantee the
            target; None if no number of them does.
    """

    threshold: float | None
    found: float
    reachable: float
    units: int
    needed: int | None = None


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
    check_goal(target, confidence)
    units = [np.array(each) for each in scores if len(each)]
    if not units:
        raise InputError("there are no gold mentions, so recall cannot be measured")
    every, sizes = np.concatenate(units), np.array([len(each) for each in units])
    starts = np.cumsum(sizes) - sizes

    def missed_below(threshold: float) -> Numbers:
        return np.add.reduceat(every < threshold, starts, dtype=np.int64)

    wanted = -log(1 - confidence)
    best = None
    for threshold in GRID.tolist():
        if evidence(missed_below(threshold), sizes, 1 - target, most) < wanted:
            break
        best = threshold
    lowest = missed_below(GRID[0])
    missed = lowest if best is None else missed_below(best)
    weights = _weights(sizes, most)
    found = float(1 - (weights * missed).sum() / (weights * sizes).sum())
    reachable = (
        percent
        for percent in range(99, 0, -1)
        if evidence(lowest, sizes, 1 - percent / 100, most) >= wanted
    )
    needed = None
    if best is None:
        numbers = (round(len(units) * times) for times in TIMES)
        needed = next(
            (
                number
                for number in numbers
                if evidence(lowest, sizes, 1 - target, most, number / len(units)) >= wanted
            ),
            None,
        )
    return Bound(best, found, next(reachable, 0) / 100, len(units), needed)


def check_goal(target: object, confidence: object) -> None:
    """Raise `InputError` unless both are between 0 and 1."""
    for name, value in (("target_recall", target), ("confidence", confidence)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise InputError(f"{name} must be between 0 and 1, got {value!r}")


def evidence(
    missed: Numbers, sizes: Numbers, share: float, most: int | None, times: float = 1.0
) -> float:
    """Return how certain it is that less than a share of mentions is missed.

    Args:
        missed: (units,), the number of gold mentions that are missed.
        sizes: (units,), the number of all of them.
        share: The highest share that may be missed.
        most: As in `find_bound`.
        times: How often the sample is counted, to see what a larger one would say.

    Returns:
        A number that is above log(1 / d) with a probability of at most d if more is missed.
    """
    if most is None:
        return -log_tail(round(int(missed.sum()) * times), round(len(sizes) * times), share)
    lost = _weights(sizes, most) * (missed - share * sizes)
    gains = np.log1p(-np.outer(BETS / ((1 - share) * most), lost)).sum(1) * times
    return float(np.logaddexp.reduce(gains) - log(len(BETS)))


def log_tail(events: int, trials: int, chance: float) -> float:
    """Return the logarithm of the probability of at most so many events in independent trials.

    Example:
        >>> round(log_tail(0, 45, 0.05), 4)
        -2.3082
    """
    logs = [
        lgamma(trials + 1) - lgamma(each + 1) - lgamma(trials - each + 1)
        + each * log(chance) + (trials - each) * log(1 - chance)
        for each in range(events + 1)
    ]  # fmt: skip
    return min(0.0, float(np.logaddexp.reduce(logs)))


def _weights(sizes: Numbers, most: int | None) -> Numbers:
    """Return the weight of each mention of units of these sizes."""
    return np.ones(len(sizes)) if most is None else np.minimum(sizes, most) / sizes
