import json

import pytest

from discotag.described import describe
from discotag.model.objectives import Objective
from discotag.training.initial_network import find_continued
from discotag.training.settings import Settings, SettingsError, make_settings


def test_the_preset_paper_has_the_settings_of_the_paper():
    settings = make_settings(None, {}, "paper")
    assert (settings.num_train_epochs, settings.learning_rate) == (20, 1e-5)
    assert (settings.warmup_ratio, settings.max_grad_norm) == (0.1, 1.0)
    assert (settings.dropout, settings.weight_decay) == (0.5, 0.01)
    assert (settings.slots, settings.naming, settings.gap_mentions) == (2, "structural", False)
    assert settings.head_learning_rate == settings.learning_rate
    assert settings.mention_scorer == 0
    assert settings.discontinuous_weight == 1
    assert settings.adversarial == 0


def test_the_defaults_are_the_preset_best():
    assert make_settings(None, {}) == make_settings(None, {}, "best") == Settings()
    assert Settings().mention_scorer


def test_options_go_before_the_file_and_the_file_before_the_preset(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("preset: paper\nbatch_size: 8\ndropout: 0.1\n")
    settings = make_settings(file, {"dropout": 0.2})
    assert (settings.num_train_epochs, settings.batch_size, settings.dropout) == (20, 8, 0.2)
    assert make_settings(file, {}, "best").num_train_epochs == Settings().num_train_epochs


def test_an_unknown_preset_gets_one_line(tmp_path):
    with pytest.raises(SettingsError, match=r"^preset must be one of best, paper; got 'worst'$"):
        make_settings(None, {}, "worst")
    file = tmp_path / "settings.yaml"
    for value in ("worst", "[paper]", "{paper: 1}"):
        file.write_text(f"preset: {value}\n")
        with pytest.raises(SettingsError, match=r"settings.yaml: preset must be one of"):
            make_settings(file, {})


def test_layers_that_are_trained_have_the_rate_of_the_encoder():
    assert make_settings(None, {"from_model": "bundled"}).head_learning_rate == 3e-5
    settings = make_settings(None, {"from_model": "bundled", "learning_rate": 5e-6})
    assert settings.head_learning_rate == 5e-6
    given = {"from_model": "bundled", "head_learning_rate": 2e-4}
    assert make_settings(None, given).head_learning_rate == 2e-4


def test_an_objective_may_be_given_by_its_name():
    assert Settings(objective="soft_em").objective is Objective.SOFT_EM
    assert Settings(objective="soft_em") == Settings(objective=Objective.SOFT_EM)


def test_names_are_those_of_hugging_face_where_it_has_the_same_setting():
    import inspect

    from transformers import TrainingArguments

    same = {"learning_rate", "num_train_epochs", "weight_decay", "max_grad_norm", "seed"}
    assert same <= {*inspect.signature(TrainingArguments).parameters} & {*describe(Settings)}


def test_every_setting_has_a_help_text_that_is_a_sentence():
    for name, description in describe(Settings).items():
        assert description.help[0].isupper(), name
        assert description.help.endswith("."), name


@pytest.mark.parametrize("objective", Objective)
def test_naming_follows_from_the_objective(objective):
    wanted = "structural" if objective == "nll" else "semantic"
    assert Settings(objective=objective).naming == wanted


def test_options_win_over_the_file(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("num_train_epochs: 3\nlearning_rate: 1e-4\nlabels: [A, B]\n")
    settings = make_settings(file, {"num_train_epochs": 5, "num_seeds": None})
    assert (settings.num_train_epochs, settings.learning_rate) == (5, 1e-4)
    assert (settings.labels, settings.num_seeds) == (("A", "B"), 1)


def test_settings_come_back_from_their_data():
    settings = Settings(labels=("A",), objective="soft_em", report_to=("wandb",))
    assert Settings(**settings.to_dict()) == settings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs: 3", "unknown settings epochs; the settings are preset, encoder,"),
        ("num_train_epochs: many", "num_train_epochs must be a whole number; got 'many'"),
        ("num_train_epochs: 2.5", "num_train_epochs must be a whole number; got 2.5"),
        ("num_train_epochs: true", "num_train_epochs must be a whole number; got True"),
        ("num_train_epochs: 0", "num_train_epochs must be at least 1; got 0"),
        ("learning_rate: .nan", "learning_rate must be a number; got nan"),
        ("learning_rate: 2", "learning_rate must be from 1e-09 to 1; got 2.0"),
        ("dropout: 1", "dropout must be from 0 to 0.99; got 1.0"),
        ("labels: [1]", "labels must be a list of str; got [1]"),
        ("gap_mentions: 1", "gap_mentions must be true or false; got 1"),
        ("objective: crf", "objective must be one of nll, soft_em"),
        ("objective: 5", "objective must be one of nll, soft_em"),
        ("precision: half", "precision must be one of auto, bf16, float32; got 'half'"),
        ("naming: both", "naming must be one of structural, semantic; got 'both'"),
        ("objective: soft_em\nnaming: structural", "naming must be semantic"),
        ("naming: semantic", "naming must be structural"),
        ("encoder: a\nfrom_model: bundled", "leave out encoder, 'a'"),
        ("from_model: ./nope", "./nope: there is no such folder"),
        ("from_model: 5", "from_model must be text; got 5"),
        ("window: 1000000", "window must be from 8 to 8192; got 1000000"),
        ("overlap: -1", "overlap must be from 0 to 4096; got -1"),
        ("overlap: 300", "overlap must be between 0 and half the window, 256, got 300"),
        ("- 1", "must contain lines like"),
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
        ("seed: 3\nslots: 1\nseed: 5\n", "3: seed is given twice, first in line 1"),
        ("# 1\n'seed': 3\n\nseed: 3\n", "4: seed is given twice, first in line 2"),
        ("{seed: 3, seed: 5}", "1: seed is given twice, first in line 1"),
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
    assert (settings.slots, settings.naming, settings.gap_mentions) == (3, "structural", True)
    assert (settings.window, settings.overlap, settings.dropout) == (512, 128, 0.4)
    assert settings.labels == ()  # other labels in the data are an error, not left out
    # The settings of a run are a settings file.
    (tmp_path / "again.yaml").write_text(json.dumps(settings.to_dict()))
    assert make_settings(tmp_path / "again.yaml", {}) == settings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"slots": 2}, "bundled: cannot be continued with these settings: slots is 3 in"),
        ({"gap_mentions": False}, "gap_mentions is True in the model, not False"),
        ({"arc_weights": True}, "arc_weights is False in the model, not True"),
        (
            {"objective": "soft_em", "naming": "semantic"},
            "naming is 'structural' in the model, not",
        ),
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
