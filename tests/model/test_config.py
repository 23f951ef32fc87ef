"""Test the configuration of a model: round trips and invalid values."""

import json

import pytest

from discotag import Scheme
from discotag.model.config import VERSION, ConfigError, ModelConfig
from discotag.model.model_card import card
from discotag.words import Splitter

SCHEME = Scheme(labels=("ADR", "Drug"), slots=3, gap_mentions=True)


def test_round_trip_through_json():
    config = ModelConfig(
        SCHEME,
        dropout=0.1,
        window=64,
        overlap=16,
        arc_weights=True,
        encoder="some/encoder",
        language="en",
        data="posts",
        licence="cc-by-4.0",
        figures={"F1": 71.25, "sentences": 6000},
        notes="Made for tests.",
    )
    assert ModelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_configuration_of_version_1():
    data = {"version": 1, "scheme": {"labels": ["A"]}, "recall": -1.5}
    config = ModelConfig.from_dict(data)
    assert config == ModelConfig(Scheme(("A",)), bias=-1.5)
    assert config.to_dict()["version"] == VERSION == 2
    with pytest.raises(ConfigError, match="older discotag, .* train it again"):
        ModelConfig.from_dict(data | {"mention_scorer": 8})
    with pytest.raises(ConfigError, match="least_discontinuous .* needs a calibration"):
        ModelConfig(Scheme(("A",)), least_discontinuous=0.3)
    with pytest.raises(ConfigError, match="unknown keys: recall"):
        ModelConfig.from_dict(data | {"version": 2})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dropout": 1}, "dropout must be at least 0 and below 1, got 1"),
        ({"dropout": "a"}, "dropout must be"),
        ({"window": 4}, "window must be a whole number from 8 to 8192, got 4"),
        ({"window": 64, "overlap": 33}, "overlap must be between 0 and half the window, 32"),
        ({"window": 8193}, "window must be a whole number from 8 to 8192, got 8193"),
        ({"dropout": float("nan")}, "dropout must be at least 0 and below 1, got nan"),
        ({"scheme": Scheme([str(n) for n in range(1001)])}, "up to 1000 labels, got 1001"),
        ({"arc_weights": 1}, "arc_weights must be true or false"),
        ({"data": 7}, "data must be text, got 7"),
        ({"figures": {"F1": "high"}}, "figures must map names to numbers"),
        ({"scheme": "ADR"}, "scheme must be a Scheme"),
    ],
)
def test_values_out_of_range(changes, message):
    with pytest.raises(ConfigError, match=message):
        ModelConfig(**{"scheme": SCHEME, **changes})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "must be an object, got list"),
        ({}, "version must be a number, got None"),
        ({"version": VERSION + 1}, f"has version {VERSION + 1}, .* upgrade discotag"),
        ({"version": VERSION}, "has no scheme"),
        ({"version": VERSION, "scheme": {"labels": []}}, "a scheme needs one or more labels"),
        ({"version": VERSION, "scheme": {"tags": 3}}, "scheme: .*unexpected keyword"),
        ({"version": VERSION, "scheme": None}, "the configuration's scheme"),
        ({"version": VERSION, "scheme": {"labels": ["A"]}, "depth": 1}, "unknown keys: depth"),
    ],
)
def test_data_that_is_not_a_configuration(data, message):
    with pytest.raises(ConfigError, match=message):
        ModelConfig.from_dict(data)


def test_the_card():
    import yaml

    config = ModelConfig(
        SCHEME, licence="cc-by-4.0", data="a | b", figures={"F1": 0.71234}, notes="## More"
    )
    text = card(config)
    _, header, body = text.split("---\n", 2)
    assert yaml.safe_load(header)["license"] == "cc-by-4.0"
    for part in ("`ADR`, `Drug`", "a \\| b", "| F1 | 0.7123 |", "3 slots", "## More"):
        assert part in body
    assert "not stated" in card(ModelConfig(SCHEME))


def test_only_an_encoder_on_the_hub_is_the_base_model():
    assert 'base_model: "some/encoder"' in card(ModelConfig(SCHEME, encoder="some/encoder"))
    text = card(ModelConfig(SCHEME, encoder="encoder"))
    assert "base_model" not in text
    assert "| encoder | encoder |" in text


def test_the_splitter():
    assert ModelConfig(SCHEME).splitter() == Splitter()
    config = ModelConfig(SCHEME, words="characters", language="zh")
    assert config.splitter() == Splitter(words="characters", language="zh")
    assert config.splitter("lines", "spaces") == Splitter("lines", "spaces", "zh")
    assert ModelConfig.from_dict(config.to_dict()) == config
    with pytest.raises(ConfigError, match="words must be one of pattern, characters, spaces"):
        ModelConfig(SCHEME, words="syllables")
