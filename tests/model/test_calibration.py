"""Calibration of the scores of mentions."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Scheme
from discotag.model.calibration import Calibration, Weights, fit_calibration, log_odds
from discotag.model.config import ConfigError, ModelConfig

TRUTH = Calibration(Weights(-0.7, 0.4, 0.9, 0.8), Weights(-1.6, 0.3, 0.6, 0.8), knot=0.5)


def some(truth, number, seed, rare=0.5):
    """Return chances, odds, whether discontinuous, and whether right as a calibration says."""
    random = np.random.default_rng(seed)
    chances, odds = random.uniform(0.01, 0.99, number), random.normal(0.5, 1.5, number)
    apart = random.uniform(size=number) < rare
    right = random.uniform(size=number) < truth.probability(chances, odds, apart)
    return chances, odds, apart, right


def error(found, truth, seed=99, kind=None, number=5000):
    """Return the mean difference between two calibrations, of one kind of mentions or of both."""
    chances, odds, apart, _ = some(truth, number, seed)
    apart = apart if kind is None else np.full(number, kind)
    pair = (each.probability(chances, odds, apart) for each in (found, truth))
    return np.abs(np.subtract(*pair)).mean()


def test_without_weights_of_its_own_nothing_changes():
    chances = np.array([0.001, 0.2, 0.5, 0.97])
    for odds in (None, np.ones(4)):
        found = Calibration().probability(chances, odds, np.array([True, False] * 2))
        np.testing.assert_allclose(found, chances)


def test_true_probabilities_are_found_again():
    straight = Calibration(Weights(-0.7, 0.4, 0.9), Weights(-1.6, 0.3, 0.6))
    # With a bend, where it is found differs from where it is.
    for truth, most in ((straight, 0.01), (TRUTH, 0.03)):
        found = fit_calibration(*some(truth, 50_000, 0))
        assert error(found, truth) < most
        assert error(found, truth, kind=True) < most


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000))
def test_few_mentions_give_modest_scores(seed):
    assert error(fit_calibration(*some(TRUTH, 60, seed)), TRUTH) < 0.2


def test_few_discontinuous_mentions_are_pooled_with_the_others():
    """About 12 of 600 have probabilities nearer to the truth than with a fit of their own."""
    pooled, alone, shared = [], [], []
    for seed in range(30):
        chances, odds, apart, right = some(TRUTH, 600, seed, rare=0.02)
        few = chances[apart], odds[apart], apart[apart], right[apart]
        pooled.append(error(fit_calibration(chances, odds, apart, right), TRUTH, kind=True))
        alone.append(error(fit_calibration(*few), TRUTH, kind=True))
        shared.append(error(fit_calibration(chances, odds, apart * False, right), TRUTH, kind=True))
    assert np.mean(pooled) < min(np.mean(alone), np.mean(shared))


def test_without_discontinuous_mentions_their_weights_are_those_of_the_others():
    found = fit_calibration(*some(TRUTH, 500, 3, rare=0.0))
    for name, value in asdict(found.continuous).items():
        assert getattr(found.discontinuous, name) == pytest.approx(value, abs=1e-6)


def test_with_enough_mentions_kinds_are_apart():
    chances, odds, apart, right = some(TRUTH, 20_000, 4)
    found = fit_calibration(chances, odds, apart, right).probability(chances, odds, apart)
    for kind in (True, False):
        for low, high in ((0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1)):
            here = (apart == kind) & (found >= low) & (found < high)
            assert found[here].mean() == pytest.approx(right[here].mean(), abs=0.03)


def test_the_highest_scores_are_as_high_as_the_truth():
    """The scorer is right in 98 of 100 cases where it is most sure, and is modest elsewhere."""
    truth = Calibration(Weights(-0.5, 0.1, 0.4, 1.5), Weights(-1.0, 0.1, 0.4, 1.5), knot=2.0)
    random = np.random.default_rng(5)
    chances, odds = random.uniform(0.5, 1, 2000), random.normal(1.8, 0.9, 2000).clip(-2, 3.5)
    apart = random.uniform(size=2000) < 0.1
    right = random.uniform(size=2000) < truth.probability(chances, odds, apart)
    found = fit_calibration(chances, odds, apart, right).probability(chances, odds, apart)
    assert (found >= 0.95).sum() > 10
    assert right[found >= 0.95].mean() > 0.94


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 200), st.booleans())
def test_more_probable_mentions_never_have_lower_scores(seed, number, scored):
    random = np.random.default_rng(seed)
    chances, odds = random.uniform(size=number), random.normal(size=number) * 3
    apart, right = random.uniform(size=(2, number)) < 0.5  # right by chance alone
    found = fit_calibration(chances, odds if scored else None, apart, right)
    rising, still = np.linspace(-40, 40, 161), np.full(161, 0.3)
    for kind in (np.zeros(161, dtype=bool), np.ones(161, dtype=bool)):
        by_odds = found.probability(still, rising if scored else None, kind)
        by_chance = found.probability(np.linspace(0, 1, 161), still if scored else None, kind)
        assert (np.diff(by_odds) >= 0).all()
        assert (np.diff(by_chance) >= 0).all()


def test_too_sure_scores_become_modest():
    random = np.random.default_rng(1)
    chances = random.choice([0.999, 0.9, 0.1], size=5000)
    right = random.uniform(size=5000) < np.select([chances > 0.95, chances > 0.5], [0.7, 0.4], 0.1)
    none = np.zeros(5000, dtype=bool)
    found = fit_calibration(chances, None, none, right).probability(chances, None, none)
    for value in (0.999, 0.9, 0.1):
        seen = right[chances == value].mean()
        assert abs(found[chances == value].mean() - seen) < 0.1


@pytest.mark.parametrize("number", [1, 15])
def test_data_that_can_be_separated_has_finite_weights(number):
    chances, odds = np.array([0.9, 0.1] * number), np.array([3.0, -3.0] * number)
    right, none = odds > 0, odds > 9
    found = fit_calibration(chances, odds, none, right)
    values = [*asdict(found.continuous).values(), *asdict(found.discontinuous).values()]
    assert np.isfinite(values).all()
    low, high = found.probability(np.array([0.1, 0.9]), np.array([-3.0, 3.0]), none[:2])
    assert 0 < low < 0.5 < high < 1
    every = fit_calibration(chances, odds, none, right | True)  # nothing to separate
    assert 0.5 < every.probability(chances, odds, none).max() < 1


def test_certain_scores_have_finite_log_odds():
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()


def test_it_is_part_of_the_configuration():
    config = ModelConfig(Scheme(("A",)), mention_scorer=8, bias=0.5, calibration=TRUTH)
    assert ModelConfig.from_dict(config.to_dict()) == config


def test_the_calibration_of_version_1():
    old = {"bias": -1.0, "tagger": 0.5, "scorer": 0.25}
    data = {"version": 1, "scheme": {"labels": ["A"]}, "recall": -1.5, "calibration": old}
    weights = Weights(-1.0, 0.5, 0.25)
    wanted = ModelConfig(Scheme(("A",)), bias=-1.5, calibration=Calibration(weights, weights))
    assert ModelConfig.from_dict(data) == wanted


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("calibration", {"knot": "much"}, "the configuration's calibration: knot must be a number"),
        (
            "calibration",
            {"continuous": {"constant": 10**400}},
            "the configuration's calibration: continuous: constant must be a number",
        ),
        ("calibration", {"slope": 1.0}, "calibration: must be an object with continuous, .*slope"),
        ("calibration", {"discontinuous": {"slope": 1.0}}, "discontinuous: .*slope"),
        ("calibration", {"discontinuous": None}, "discontinuous: must be an object with constant"),
        ("calibration", 3, "the configuration's calibration"),
        ("bias", "high", "bias must be between -20 and 20, got 'high'"),
        ("bias", float("nan"), "bias must be between"),
        ("mention_scorer", -1, "mention_scorer must be a whole number"),
        ("mention_scorer", True, "mention_scorer must be a whole number"),
    ],
)
def test_a_bad_configuration_gets_one_line(key, value, message):
    data = ModelConfig(Scheme(("A",))).to_dict() | {key: value}
    with pytest.raises(ConfigError, match=message):
        ModelConfig.from_dict(data)


def test_extreme_log_odds_raise_no_warning():
    apart, odds = np.array([False, True]), np.array([-1e6, 1e6])
    with np.errstate(all="raise"):
        weights = Weights(0.0, 1.0, 3.0, 1.0)
        found = Calibration(weights, weights).probability(np.array([1e-9, 1.0]), odds, apart)
        fit_calibration(np.array([0.5, 0.5]), -odds, apart, np.array([True, False]))
    assert found == pytest.approx([0, 1], abs=1e-9)
