"""How far the scores of predicted mentions can be trusted: calibration, precision and recall."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

BINS: Final = 10
"""The number of bins of a calibration."""

Scored = tuple[float, bool]
"""The score of a predicted mention, and whether it is right."""


@dataclass(slots=True)
class Bin:
    """The predicted mentions with scores from `low` to `high`.

    Attributes:
        low, high: The range; `high` belongs to the next bin, except for 1.
        mentions: Their number.
        scores: The sum of their scores.
        right: The number of them that are right.
    """

    low: float
    high: float
    mentions: int = 0
    scores: float = 0.0
    right: int = 0


def calibration(scored: Iterable[Scored], bins: int = BINS) -> list[Bin]:
    """Return how many mentions of each range of scores are right.

    Example:
        >>> [(each.mentions, each.right) for each in calibration([(0.9, True), (0.2, False)], 2)]
        [(1, 0), (1, 1)]
    """
    found = [Bin(number / bins, (number + 1) / bins) for number in range(bins)]
    ends = [each.high for each in found[:-1]]
    for value, right in scored:
        each = found[bisect_right(ends, value)]
        each.mentions += 1
        each.scores += value
        each.right += right
    return found


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the expected calibration error.

    It is `sum_b |right_b - scores_b| / mentions`: the mean difference between the scores of a bin
    and the share of its mentions that is right. Without mentions it is 0.

    Example:
        >>> calibration_error(calibration([(0.75, True)] * 3 + [(0.75, False)]))
        0.0
    """
    mentions = sum(each.mentions for each in bins)
    return sum(abs(each.right - each.scores) for each in bins) / max(1, mentions)


class Point(NamedTuple):
    """The figures of the mentions with a score of at least `threshold`."""

    threshold: float
    precision: float
    recall: float


def precision_recall(scored: Iterable[Scored], gold: int) -> list[Point]:
    """Return precision and recall for each threshold, from the highest to the lowest.

    Args:
        scored: The predicted mentions.
        gold: The number of gold mentions.

    Example:
        >>> for point in precision_recall([(0.9, True), (0.4, False)], gold=2):
        ...     print(point)
        Point(threshold=0.9, precision=1.0, recall=0.5)
        Point(threshold=0.4, precision=0.5, recall=0.5)
    """
    ordered = sorted(scored, reverse=True)
    found: list[Point] = []
    right = 0
    for number, (value, is_right) in enumerate(ordered, 1):
        right += is_right
        if number == len(ordered) or ordered[number][0] < value:
            found.append(Point(value, right / number, right / gold if gold else 0.0))
    return found
