import pytest

from discotag.model import objectives
from discotag.training.settings import OBJECTIVES, InvalidSettings, Settings, make_settings


def test_defaults_are_the_papers():
    settings = Settings()
    assert (settings.epochs, settings.rate, settings.warmup) == (20, 1e-5, 0.1)
    assert (settings.dropout, settings.weight_decay, settings.gradient_norm) == (0.5, 0.01, 1.0)
    assert (settings.slots, settings.naming, settings.gap_mentions) == (2, "structural", False)


def test_objectives_are_those_of_the_layer():
    assert OBJECTIVES == objectives.OBJECTIVES


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
        ("encoder: ''", "encoder is empty"),
        ("- 1", "must hold lines like"),
        ("a: [", "is not YAML"),
    ],
)
def test_bad_settings_get_one_line(tmp_path, text, message):
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(InvalidSettings) as error:
        make_settings(file, {})
    assert str(error.value).startswith(f"{file}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_or_binary_file_gets_one_line(tmp_path):
    with pytest.raises(InvalidSettings, match="No such file"):
        make_settings(tmp_path / "none.yaml", {})
    (tmp_path / "binary.yaml").write_bytes(b"\xff\x00")
    with pytest.raises(InvalidSettings, match="is not YAML"):
        make_settings(tmp_path / "binary.yaml", {})
