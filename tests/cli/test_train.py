import json
import re
import sys
from dataclasses import dataclass, fields
from io import StringIO

import pytest
import typer
from typer.testing import CliRunner

from discotag.cli.commands import Command
from discotag.cli.setting_options import takes_options
from discotag.cli.train import train
from discotag.cli.training_progress import shown_progress
from discotag.described import described
from discotag.errors import DiscotagError
from discotag.model.objectives import Objective
from discotag.training.progress import Progress
from discotag.training.settings import (
    DATA,
    LEARNING,
    SCHEME,
    TEACHERS,
    Settings,
    SettingsError,
)
from learnable import SENTENCES, learnable_encoder, sentence, write_jsonl

pytestmark = pytest.mark.slow

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="rich")
app.command(cls=Command)(train)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command")
    learnable_encoder(folder / "encoder")
    write_jsonl(SENTENCES, folder / "corpus.jsonl")
    write_jsonl(SENTENCES[-1:], folder / "without.jsonl")
    write_jsonl([sentence("my knees hurt", [(1, 3)], label="X")], folder / "other.jsonl")
    (folder / "prose.txt").write_text("My knees hurt. I had no sleep.\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (folder / "unknown.yaml").write_text("epochs: 9\n")
    learnable_encoder(folder / "mute")
    (folder / "mute" / "tokenizer.json").unlink()
    (folder / "settings.yaml").write_text(
        "num_train_epochs: 9\nlearning_rate: 5e-3\nbatch_size: 2\ndropout: 0\nfold: 0\n"
    )
    return folder


def call(place, *arguments):
    corpus = str(place / "corpus.jsonl")
    given = [corpus, "--dev", corpus, "--encoder", place / "encoder", *arguments]
    return CliRunner().invoke(app, list(map(str, given)))


def test_from_a_corpus_to_a_model(place, tmp_path):
    config = ["--config", place / "settings.yaml"]
    options = ["--test", place / "corpus.jsonl", "--num-seeds", 2]
    options += ["--num-train-epochs", 8, "--augment", 1]
    result = call(place, "--out", tmp_path / "run", *config, *options)
    assert result.exit_code == 0, result.output
    for expected in ("Trained on 9 sentences", "left out 0", "(kept)", "mean", "deviation"):
        assert expected in result.stdout
    assert "epoch 8: loss" in result.stderr
    assert (tmp_path / "run" / "model" / "model.safetensors").exists()
    assert "Compared with" in (tmp_path / "run" / "report.html").read_text("utf-8")
    figures = json.loads((tmp_path / "run" / "figures.json").read_text())
    assert figures["settings"]["num_train_epochs"] == 8  # the option wins over the file's 9
    assert figures["data"]["augmented"] == 3
    # The settings of a run are a settings file.
    again = Settings(**figures["settings"])
    assert again.learning_rate == 5e-3

    teacher = ["--teachers", tmp_path / "run" / "model", "--unlabelled", place / "corpus.jsonl"]
    student = call(place, "--out", tmp_path / "student", *config, *teacher, "--json")
    assert student.exit_code == 0, student.output
    assert json.loads(student.stdout)["best_seed"] == 1


def test_a_model_that_finds_no_discontinuous_mention_is_noted(place, tmp_path):
    options = ["--num-train-epochs", 1, "--learning-rate", 1e-9, "--mention-scorer", 0]
    result = call(place, "--out", tmp_path / "run", *options)
    assert result.exit_code == 0, result.output
    assert "finds none of the 3 discontinuous mentions of the dev data" in result.stdout
    options[1], options[3] = 60, 5e-3
    result = call(place, "--out", tmp_path / "other", *options)
    assert "finds none" not in result.stdout


def test_help_shows_examples():
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    assert "discotag train train.jsonl --dev dev.jsonl --out run --objective soft_em" in (
        " ".join(result.stdout.split())
    )


def test_every_setting_is_an_option_of_its_name_with_its_help_and_default():
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300"})
    lines = [line.strip("│ \n") for line in result.stdout.splitlines()]
    for each in fields(Settings):
        option = f"--{each.name.replace('_', '-')}"
        (line,) = [line for line in lines if line.startswith(f"{option} ")]
        description = each.metadata["description"]
        assert description.help in line
        assert "[default: " in line
        if type(each.default) is int:
            assert f"[default: {each.default}]" in line
    for group in (LEARNING, SCHEME, DATA, TEACHERS):
        assert f"─ {group} ─" in result.stdout


def test_choices_are_listed_and_others_are_refused(place, tmp_path):
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300"})
    assert f"One of {', '.join(Objective)}. [default: nll]" in result.stdout
    for option in ("--naming", "--precision", "--objective"):
        assert call(place, "--out", tmp_path / "run", option, "nothing").exit_code == 2


def test_a_new_setting_is_a_new_option():
    @dataclass(frozen=True)
    class MoreSettings(Settings):
        patience: int = described(3, "Epochs to wait.", group=LEARNING, least=1)
        tied: bool = described(False, "Tie weights.")

    given = {}

    @takes_options(MoreSettings)
    def command(**settings):
        given.update(settings)

    own = typer.Typer()
    own.command()(command)
    result = CliRunner().invoke(own, ["--patience", "5", "--tied", "--naming", "semantic"])
    assert result.exit_code == 0, result.output
    chosen = {name: value for name, value in given.items() if value is not None}
    assert chosen == {"patience": 5, "tied": True, "naming": "semantic"}
    assert MoreSettings(**chosen, objective="soft_em").patience == 5


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["--learning-rate", "2"], SettingsError, "learning_rate must be"),
        (["--slots", "9"], DiscotagError, "slots must be 0 to 4"),
        (["--labels", "XYZ"], DiscotagError, "corpus.jsonl: it has no mention of XYZ"),
        (
            ["--dev", "{}/without.jsonl"],
            DiscotagError,
            "without.jsonl: it has no mentions, so no epoch",
        ),
        (["--dev", "{}/other.jsonl"], DiscotagError, "no mention of ADR.*its labels are X$"),
        (
            ["--dev", "{}/prose.txt"],
            DiscotagError,
            "corpus convert .*prose.txt corpus.jsonl --",
        ),
        (["--test", "{}/picture.png"], DiscotagError, "picture.png: a PNG image, not text"),
        (["--config", "{}/unknown.yaml"], SettingsError, "unknown.yaml: unknown settings epochs"),
        (
            ["--encoder", "{}/corpus.jsonl"],
            DiscotagError,
            "corpus.jsonl: is a file; give the",
        ),
        (["--encoder", "{}/mute"], DiscotagError, "mute: has no usable tokenizer: there is no"),
        (["--teachers", "{}/encoder"], DiscotagError, "use discotag train --encoder .*encoder$"),
        (["--unlabelled", "{}/prose.txt"], DiscotagError, "unlabelled text needs a teacher"),
        (["--unlabelled", "x.txt"], DiscotagError, "x.txt: there is no such file"),
        (
            ["--report-to", "nobody"],
            DiscotagError,
            "nobody is unknown or not installed; (use|in)",
        ),
        (["--encoder", "./nowhere"], DiscotagError, "./nowhere: there is no such folder"),
        (["--teachers", "./nowhere"], DiscotagError, "./nowhere: there is no such folder"),
        (["--lexicon", "./nowhere"], DiscotagError, "nowhere: No such file or directory"),
        (["--from-model", "bundled"], SettingsError, "leave out encoder"),
    ],
)
def test_bad_input_gets_one_line_and_leaves_nothing(place, tmp_path, arguments, error, message):
    given = [each.format(place) for each in arguments]
    result = call(place, "--out", tmp_path / "new" / "run", *given)
    assert isinstance(result.exception, error)
    assert re.search(message, str(result.exception))
    assert "\n" not in str(result.exception)
    assert not list(tmp_path.iterdir())


def test_a_corpus_without_mentions_is_refused_by_its_name(place, tmp_path):
    corpus, without = place / "corpus.jsonl", place / "without.jsonl"
    given = [without, "--dev", corpus, "--encoder", place / "encoder", "--out", tmp_path / "run"]
    result = CliRunner().invoke(app, list(map(str, given)))
    assert str(result.exception) == (
        f"{without}: it has no mentions, so nothing can be learned from it; give a corpus with "
        "mentions"
    )
    assert not list(tmp_path.iterdir())


def test_what_is_invalid_is_left_out_and_counted_if_asked_for(place, tmp_path):
    broken = tmp_path / "broken.jsonl"
    lines = (place / "corpus.jsonl").read_text("utf-8").splitlines()
    broken.write_text("\n".join([*lines, "{", '{"words": 3}']) + "\n")
    options = ["--config", place / "settings.yaml", "--num-train-epochs", 1]
    given = [broken, "--dev", place / "corpus.jsonl", "--encoder", place / "encoder", *options]
    given = [*map(str, given), "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, given)
    assert isinstance(result.exception, DiscotagError)
    assert re.search(rf"broken\.jsonl:{len(lines) + 1}: ", str(result.exception))
    assert not (tmp_path / "run").exists()
    result = CliRunner().invoke(app, [*given, "--skip-bad"])
    assert result.exit_code == 0, result.output
    assert "left out 0" in result.stdout  # of the sentences that were read
    assert "Left out 2 invalid parts of the corpora." in result.stdout
    figures = json.loads((tmp_path / "run" / "figures.json").read_text())
    assert figures["data"]["train"]["sentences"] == len(lines)


@pytest.fixture(scope="module")
def model(place):
    result = call(place, "--out", place / "first", "--config", place / "settings.yaml")
    assert result.exit_code == 0, result.output
    return place / "first" / "model"


def test_a_model_is_continued_only_if_asked_for(place, tmp_path, model):
    corpus = str(place / "corpus.jsonl")
    given = [corpus, "--dev", corpus, "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, [*given, "--encoder", str(model)])
    assert isinstance(result.exception, DiscotagError)
    assert str(result.exception) == (
        f"{model}: is a discotag model, not an encoder; to continue training it, use --from-model "
        f"{model}"
    )
    for name in ("./nope", str(tmp_path / "nope")):
        result = CliRunner().invoke(app, [*given, "--from-model", name])
        assert str(result.exception) == f"{name}: there is no such folder"
    assert not (tmp_path / "run" / "model").exists()
    options = [
        "--from-model",
        str(model),
        "--num-train-epochs",
        "1",
        "--learning-rate",
        "1e-9",
        "--json",
    ]
    result = CliRunner().invoke(app, [*given, *options])
    assert result.exit_code == 0, result.output
    before = json.loads((place / "first" / "figures.json").read_text())
    figures = json.loads(result.stdout)
    assert figures["dev"] == before["dev"]
    assert figures["dev"]["all"]["f1"] > 0.5
    assert figures["settings"]["from_model"] == str(model)


def test_bad_usage_is_said_as_such(place, tmp_path):
    assert call(place).exit_code == 2  # no --out
    assert call(place, "--out", tmp_path / "run", "--objective", "crf").exit_code == 2


def test_without_pytorch_it_says_what_to_install(tmp_path, monkeypatch):
    import builtins

    real = builtins.__import__

    def missing(name, *rest):
        if name == "discotag.training.runs":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(DiscotagError, match=r"training needs torch: pip install accelerate"):
        train(tmp_path / "t.jsonl", dev=tmp_path / "d.jsonl", out=tmp_path / "o")


def test_ctrl_c_says_how_to_go_on(monkeypatch, tmp_path):
    from discotag.cli import train
    from discotag.cli.messages import Interrupted
    from discotag.training import runs

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "run", stop)
    with pytest.raises(Interrupted, match="continues from the last checkpoint in .*run"):
        train.train(tmp_path / "a", dev=tmp_path / "b", out=tmp_path / "run")


def test_a_terminal_shows_a_bar_that_is_taken_down_whatever_happens(monkeypatch):
    written = StringIO()
    written.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")

    def stopped():
        with shown_progress() as show:
            show(Progress(seed=3, steps=10, step=4, epoch=1))
            show(Progress(seed=3, steps=10, step=5, epoch=1, loss=0.25))
            show(Progress(3, 10, 5, 2, 0.5, {"all": {"f1": 0.75}}))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert written.getvalue().endswith("\x1b[?25h")  # the cursor is back
    shown = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", written.getvalue())
    assert re.search(r"seed 3 .* 5/10 .* loss 0.500  F1 75.00", shown)


def test_without_a_terminal_there_is_a_line_for_each_epoch(capsys):
    with shown_progress() as show:
        show(Progress(seed=3, steps=10, step=4, epoch=1))
        show(Progress(seed=3, steps=10, step=5, epoch=1, loss=0.25))
        show(Progress(3, 10, 5, 2, 0.5, {"all": {"f1": 0.75}}))
    assert capsys.readouterr().err.splitlines() == [
        "seed 3: 10 steps, continuing after step 4",
        "seed 3: epoch 2: loss 0.5000, development F1 75.00",
    ]
