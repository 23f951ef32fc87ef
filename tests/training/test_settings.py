import json

import pytest

from discotag.model import objectives
from discotag.training.runs import find_continued
from discotag.training.settings import OBJECTIVES, Settings, SettingsError, make_settings


def test_defaults_are_the_papers():
    settings = Settings()
    assert (settings.epochs, settings.rate, settings.warmup) == (20, 1e-5, 0.1)
    assert (settings.dropout, settings.weight_decay, settings.gradient_norm) == (0.5, 0.01, 1.0)
    assert (settings.slots, settings.naming, settings.gap_mentions) == (2, "structural", False)


def test_objectives_are_those_of_the_layer():
    assert list(OBJECTIVES) == list(objectives.Objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_naming_follows_from_the_objective(objective):
    wanted = "structural" if objective == "nll" else "semantic"
    assert Settings(objective=objective).naming == wanted


def test_flags_win_over_the_file(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("epochs: 3\nrate: 1e-4\nlabels: [A, B]\n")
    settings = make_settings(file, {"epochs": 5, "seeds": None})
    assert (settings.epochs, settings.rate, settings.labels) == (5, 1e-4, ("A", "B"))
    assert settings.seeds == 1


def test_settings_come_back_from_their_data():
    settings = Settings(labels=("A",), objective="soft_em", report_to=("wandb",))
    assert Settings(**settings.as_data()) == settings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epoch: 3", "unknown settings epoch; there are encoder,"),
        ("epochs: many", "epochs is a whole number, got 'many'"),
        ("epochs: 2.5", "epochs is a whole number, got 2.5"),
        ("epochs: true", "epochs is a whole number, got True"),
        ("epochs: 0", "epochs is a number at least 1; got 0"),
        ("rate: .nan", "rate is a number, got nan"),
        ("rate: 2", "rate is a number from 1e-09 to 1; got 2.0"),
        ("dropout: 1", "dropout is a number from 0 to 0.99; got 1.0"),
        ("labels: [1]", "labels is a list of str, got [1]"),
        ("gap_mentions: 1", "gap_mentions is true or false, got 1"),
        ("objective: crf", "objective is one of nll, soft_em"),
        ("objective: soft_em\nnaming: structural", "naming must be semantic"),
        ("naming: semantic", "naming must be structural"),
        ("encoder: a\nfrom_model: bundled", "leave out encoder, 'a'"),
        ("from_model: ./nope", "./nope: there is no such folder"),
        ("from_model: 5", "from_model is text, got 5"),
        ("window: 1000000", "window is a number from 8 to 8192; got 1000000"),
        ("overlap: -1", "overlap is a number from 0 to 4096; got -1"),
        ("- 1", "must hold lines like"),
        ("a: [", "is not YAML"),
    ],
)
def test_bad_settings_get_one_line(tmp_path, text, message):
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError) as error:
        make_settings(file, {})
    assert str(error.value).startswith(f"{file}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("epochs: 3\nrate: 1e-4\nepochs: 5\n", "3: epochs is given twice, first in line 1"),
        ("# 1\n'rate': 1e-4\n\nrate: 1e-4\n", "4: rate is given twice, first in line 2"),
        ("{epochs: 3, epochs: 5}", "1: epochs is given twice, first in line 1"),
    ],
)
def test_a_setting_that_is_given_twice_is_reported_with_its_line(tmp_path, text, where):
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError) as error:
        make_settings(file, {})
    assert str(error.value) == f"{file}:{where}"


def test_the_default_encoder_is_the_papers_unless_a_model_is_continued():
    assert Settings().encoder == "microsoft/deberta-v3-base"
    assert Settings(encoder="").encoder == "microsoft/deberta-v3-base"
    assert Settings(from_model="bundled").encoder == ""


def test_what_is_not_given_is_as_in_the_model_to_continue_from(tmp_path):
    settings = make_settings(None, {"from_model": "bundled", "dropout": 0.4})
    assert (settings.slots, settings.naming, settings.gap_mentions) == (2, "structural", True)
    assert (settings.window, settings.overlap, settings.dropout) == (512, 128, 0.4)
    assert settings.labels == ()  # other labels in the data are an error, not left out
    # The settings of a run are a settings file.
    (tmp_path / "again.yaml").write_text(json.dumps(settings.as_data()))
    assert make_settings(tmp_path / "again.yaml", {}) == settings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"slots": 3}, "bundled: cannot be continued so: slots is 2 in it, not 3"),
        ({"gap_mentions": False}, "gap_mentions is True in it, not False"),
        ({"arc_weights": True}, "arc_weights is False in it, not True"),
        ({"objective": "soft_em", "naming": "semantic"}, "naming is 'structural' in it, not 'sem"),
        ({"labels": ("ADR", "Drug")}, "bundled: its labels are ADR, not ADR, Drug; leave out"),
    ],
)
def test_settings_that_contradict_the_model_to_continue_from(given, message):
    settings = make_settings(None, {"from_model": "bundled"} | given)
    with pytest.raises(SettingsError, match=message) as error:
        find_continued(settings)
    assert "\n" not in str(error.value)
    assert find_continued(make_settings(None, {"from_model": "bundled", "labels": ("ADR",)}))


def test_a_missing_or_binary_file_gets_one_line(tmp_path):
    with pytest.raises(SettingsError, match="No such file"):
        make_settings(tmp_path / "none.yaml", {})
    (tmp_path / "binary.yaml").write_bytes(b"\xff\x00")
    with pytest.raises(SettingsError, match="is not YAML"):
        make_settings(tmp_path / "binary.yaml", {})
