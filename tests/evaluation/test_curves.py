import math

import numpy as np
import pytest

from discotag.evaluation import calibration, calibration_error, precision_recall


def some(seed, number=500):
    random = np.random.default_rng(seed)
    return [(float(value), bool(random.random() < value)) for value in random.random(number)]


def test_bins_have_all_mentions():
    scored = [*some(1), (1.0, True), (0.0, False)]
    bins = calibration(scored, 7)
    assert sum(each.mentions for each in bins) == len(scored)
    assert sum(each.right for each in bins) == sum(right for _, right in scored)
    for each in bins:
        here = [
            value for value, _ in scored if each.low <= value < each.high or value == each.high == 1
        ]
        assert each.mentions == len(here)
        assert each.scores == pytest.approx(sum(here))


@pytest.mark.parametrize("value", [place / 10 for place in range(-1, 12)])
def test_a_score_is_in_the_bin_that_contains_it(value):
    for near in (math.nextafter(value, -1), value, math.nextafter(value, 2)):
        (each,) = (each for each in calibration([(near, True)]) if each.mentions)
        assert each.low <= near or each.low == 0
        assert near < each.high or each.high == 1


def test_the_error_of_good_and_of_bad_scores():
    assert calibration_error(calibration(some(2, 20_000))) < 0.02
    assert calibration_error(calibration([(0.95, False)] * 4)) == pytest.approx(0.95)
    assert calibration_error(calibration([])) == 0


def test_precision_and_recall_by_counting():
    scored, gold = some(3), 400
    points = precision_recall(scored, gold)
    assert [each.threshold for each in points] == sorted({v for v, _ in scored}, reverse=True)
    for each in points:
        kept = [right for value, right in scored if value >= each.threshold]
        assert each.precision == sum(kept) / len(kept)
        assert each.recall == sum(kept) / gold
    assert precision_recall([], 3) == []
    assert precision_recall([(0.5, False)], 0)[0].recall == 0
