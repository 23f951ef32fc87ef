"""The threshold with a guarantee: its tests against simulation and the exact binomial."""

from itertools import product
from math import ceil, comb, exp, log

import numpy as np
import pytest

from discotag.errors import InputError
from discotag.evaluation.guarantee import GRID, OUTSIDE, evidence, find_bound, log_tail
from discotag.model.guarantee import MOST


@pytest.mark.parametrize("trials", [1, 2, 7, 40])
@pytest.mark.parametrize("chance", [0.05, 0.5, 0.9])
def test_the_tail_is_that_of_the_binomial_distribution(trials, chance):
    for events in range(trials + 1):
        wanted = sum(
            comb(trials, each) * chance**each * (1 - chance) ** (trials - each)
            for each in range(events + 1)
        )
        assert exp(log_tail(events, trials, chance)) == pytest.approx(wanted)


def test_so_many_units_are_needed_at_least():
    for target, confidence in product((0.5, 0.9, 0.95), (0.5, 0.9, 0.99)):
        units = ceil(log(1 - confidence) / log(target))  # all of them found: target**units
        found = find_bound([[1.0]] * units, target, confidence, None)
        assert found.threshold == pytest.approx(GRID[-1])
        if units > 1:
            assert find_bound([[1.0]] * (units - 1), target, confidence, None).threshold is None


def test_everything_is_found_by_a_high_threshold_and_nothing_by_any():
    found = find_bound([[1.0, 1.0]] * 200, 0.9, 0.9, MOST["documents"])
    assert (found.threshold, found.found, found.units) == (GRID[-1], 1.0, 200)
    found = find_bound([[OUTSIDE]] * 200, 0.9, 0.9, MOST["documents"])
    assert (found.threshold, found.found, found.reachable) == (None, 0.0, 0.0)


def test_what_can_be_reached_is_reached():
    scores = [[1.0] * 9 + [OUTSIDE]] * 150
    refused = find_bound(scores, 0.95, 0.9, MOST["documents"])
    assert refused.threshold is None
    assert refused.found == 0.9
    assert 0.75 < refused.reachable < 0.9
    assert find_bound(scores, refused.reachable, 0.9, MOST["documents"]).threshold is not None
    assert find_bound(scores, refused.reachable + 0.01, 0.9, MOST["documents"]).threshold is None


def test_a_higher_target_never_has_a_higher_threshold():
    random = np.random.default_rng(0)
    scores = [random.random(size).tolist() for size in random.integers(1, 5, 400)]
    found = [
        find_bound(scores, target, 0.9, MOST["sentences"]).threshold
        for target in (0.5, 0.6, 0.7, 0.8, 0.9)
    ]
    assert found == sorted(found, reverse=True)
    unsure, sure = (find_bound(scores, 0.8, each, MOST["sentences"]) for each in (0.5, 0.9999))
    assert sure.threshold < unsure.threshold


def test_units_without_gold_mentions_change_nothing():
    scores = [[0.9, 0.2]] * 60
    with_others = [*scores, *([[]] * 40)]
    assert find_bound(scores, 0.4, 0.9, 10) == find_bound(with_others, 0.4, 0.9, 10)


@pytest.mark.parametrize("most", [None, 3])
@pytest.mark.parametrize("units", [30, 200])
def test_a_share_that_is_missed_too_often_seldom_passes(most, units):
    """At the border of the null hypothesis, a test may pass in one of ten samples at most."""
    random = np.random.default_rng(units)
    share, doubt, times = 0.2, 0.1, 2000
    passed = 0
    for _ in range(times):
        sizes = np.ones(units) if most is None else random.integers(1, 6, units)
        if most is None:
            missed = random.random(units) < share
        else:  # whole units are missed: nothing varies more
            missed = sizes * (random.random(units) < share)
        passed += evidence(missed, sizes, share, most) >= -log(doubt)
    assert passed / times < doubt + 3 * (doubt * (1 - doubt) / times) ** 0.5


@pytest.mark.parametrize("most", [None, MOST["documents"]])
def test_the_guarantee_holds_in_as_many_samples_as_it_says(most):
    """Samples of a collection, which is small enough to know what is missed in all of it."""
    random = np.random.default_rng(7)
    sizes = random.integers(1, 4, 3000) if most else np.ones(3000, dtype=int)
    hard = random.random(3000) < 0.3  # mentions of a document are hard together
    scores = [
        (random.random(size) * (0.3 if low else 1.0)).tolist()
        for size, low in zip(sizes, hard, strict=True)
    ]
    every = np.concatenate(scores)
    wrong = tested = 0
    for _ in range(300):
        chosen = random.permutation(3000)[:150]
        bound = find_bound([scores[each] for each in chosen], 0.8, 0.9, most)
        if bound.threshold is not None:
            tested += 1
            wrong += (every < bound.threshold).mean() > 0.2
    assert tested == 300
    assert wrong / tested < 0.1 + 3 * (0.09 / tested) ** 0.5


@pytest.mark.slow
def test_the_guarantee_counts_long_documents_as_short_ones():
    """Half of the documents have 3 mentions, and half have 60, which are harder."""
    random = np.random.default_rng(1)
    sizes = np.where(random.random(4000) < 0.5, 3, 60)
    scores = [
        np.where(random.random(size) < (0.99 if size == 3 else 0.86), 1.0, OUTSIDE).tolist()
        for size in sizes
    ]
    weights = np.repeat(np.minimum(sizes, 10) / sizes, sizes)
    weighed = np.average(np.concatenate(scores) > 0, weights=weights)
    wrong = 0
    for _ in range(100):
        sample = [scores[each] for each in random.permutation(4000)[:1000]]
        wrong += find_bound(sample, weighed + 0.001, 0.9, 10).threshold is not None
    assert wrong / 100 < 0.1 + 3 * 0.03
    sample = [scores[each] for each in random.permutation(4000)[:1000]]
    assert find_bound(sample, weighed - 0.02, 0.9, 10).found == pytest.approx(weighed, abs=0.01)


@pytest.mark.parametrize("most", [None, 10])
def test_a_sample_of_the_size_that_is_needed_is_enough(most):
    scores = [[1.0] if number % 20 else [OUTSIDE] for number in range(60)]
    refused = find_bound(scores, 0.92, 0.9, most)
    assert refused.threshold is None
    assert refused.needed > 60
    more = [scores[number % 60] for number in range(round(1.1 * refused.needed))]
    assert find_bound(more, 0.92, 0.9, most).threshold is not None
    fewer = [scores[number % 60] for number in range(round(0.8 * refused.needed))]
    assert find_bound(fewer, 0.92, 0.9, most).threshold is None
    assert find_bound(scores, 0.96, 0.9, most).needed is None  # more are missed


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, True, "0.9", float("nan")])
def test_bad_arguments(value):
    with pytest.raises(InputError, match="target_recall must be between 0 and 1"):
        find_bound([[0.5]], value, 0.9, None)
    with pytest.raises(InputError, match="confidence must be between 0 and 1"):
        find_bound([[0.5]], 0.9, value, None)


def test_no_gold_mentions():
    with pytest.raises(InputError, match="no gold mentions"):
        find_bound([[], []], 0.9, 0.9, None)
