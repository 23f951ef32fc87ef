"""Calibration of the scores of mentions."""

import numpy as np
import pytest

from discotag import Scheme
from discotag.model.calibration import Calibration, fit_calibration, log_odds
from discotag.model.config import ConfigError, ModelConfig


def test_without_weights_of_its_own_nothing_changes():
    chances = np.array([0.001, 0.2, 0.5, 0.97])
    np.testing.assert_allclose(Calibration().probability(chances), chances)


def test_the_truth_is_found_again():
    random = np.random.default_rng(0)
    chances, scores = random.uniform(0.01, 0.99, 50_000), random.normal(size=50_000)
    truth = Calibration(bias=-0.7, tagger=0.4, scorer=0.9)
    right = random.uniform(size=50_000) < truth.probability(chances, scores)
    found = fit_calibration(chances, right, scores)
    wanted = (truth.bias, truth.tagger, truth.scorer)
    assert (found.bias, found.tagger, found.scorer) == pytest.approx(wanted, abs=0.06)


def test_too_sure_scores_become_modest():
    random = np.random.default_rng(1)
    chances = random.choice([0.999, 0.9, 0.1], size=5000)
    right = random.uniform(size=5000) < np.select([chances > 0.95, chances > 0.5], [0.7, 0.4], 0.1)
    found = fit_calibration(chances, right).probability(chances)
    for value in (0.999, 0.9, 0.1):
        seen = right[chances == value].mean()
        assert abs(found[chances == value].mean() - seen) < 0.1


def test_data_that_can_be_separated_has_finite_weights():
    found = fit_calibration(np.array([0.9, 0.1]), np.array([True, False]), np.array([3.0, -3.0]))
    assert np.isfinite([found.bias, found.tagger, found.scorer]).all()
    assert 0 < found.probability(np.array([0.0]), np.array([-3.0]))[0] < 0.5


def test_certain_scores_have_finite_log_odds():
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()


def test_it_is_part_of_the_configuration():
    config = ModelConfig(
        Scheme(("A",)), mention_scorer=8, bias=0.5, calibration=Calibration(1.0, 0.5, 0.25)
    )
    assert ModelConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("calibration", {"bias": "much"}, "the configuration's calibration: bias must be a number"),
        (
            "calibration",
            {"bias": 10**400},
            "the configuration's calibration: bias must be a number",
        ),
        ("calibration", {"slope": 1.0}, "the configuration's calibration: .*slope"),
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
    with np.errstate(all="raise"):
        found = Calibration(0.0, 1.0, 3.0).probability(np.array([1e-9, 1.0]), np.array([-1e6, 1e6]))
        fit_calibration(np.array([0.5, 0.5]), np.array([True, False]), np.array([1e6, -1e6]))
    assert found == pytest.approx([0, 1], abs=1e-9)
