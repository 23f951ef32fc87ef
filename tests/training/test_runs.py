import json
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

from discotag import load
from discotag.corpora import read
from discotag.errors import DiscotagError
from discotag.evaluation import Report, align, score
from discotag.prediction.tagger import Tagger
from discotag.training import development, run_folder, runs, whole_files
from discotag.training.checkpoints import last_checkpoint
from discotag.training.data import read_sentences
from discotag.training.development import to_dict
from discotag.training.initial_network import make_network
from discotag.training.progress import ignore
from discotag.training.run_folder import RunError, claim
from discotag.training.runs import run
from discotag.training.settings import Settings, make_settings
from discotag.training.sources import Sources, find_digests
from discotag.words import Splitter
from learnable import CROSSED, SENTENCES, learnable_encoder, sentence, write_jsonl
from locks import held

FAST = {
    "num_train_epochs": 40,
    "learning_rate": 5e-3,
    "batch_size": 2,
    "dropout": 0.1,
    "fold": 0.0,
}
KILL_IN_STEP = """
import os, signal
def listener(now):
    if now.step == {0}:
        os.kill(os.getpid(), signal.SIGKILL)
"""
"""Kills the process, as `kill -9` does, after a step."""

KILL_IN_CALL = """
import os, signal
from pathlib import Path
listener, real, calls = print, Path.{0}, []
def killing(path, *arguments):
    if path.name.startswith("checkpoint-"):
        calls.append(None)
    if len(calls) == {1}:
        os.kill(os.getpid(), signal.SIGKILL)
    real(path, *arguments)
Path.{0} = killing
"""
"""Kills the process when it changes a checkpoint for the n-th time."""

PROGRAM = """
import json, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from discotag.training.runs import run
from discotag.training.settings import Settings
from discotag.training.sources import Sources
train, out, settings = sys.argv[1:]
sources = Sources(Path(train), Path(train))
run(sources, Settings(**json.loads(settings)), Path(out), listener)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    learnable_encoder(folder / "encoder")
    write_jsonl([*SENTENCES, CROSSED], folder / "train.jsonl")
    return folder


def _settings(place, **more):
    return Settings(encoder=str(place / "encoder"), **FAST | more)


def _weights(out):
    return (out / "model" / "model.safetensors").read_bytes()


def _start(place, out, settings, program):
    arguments = [str(place / "train.jsonl"), str(out), json.dumps(settings.to_dict())]
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def uninterrupted(place):
    torch.set_num_threads(1)
    out = place / "uninterrupted"
    run(Sources(place / "train.jsonl", place / "train.jsonl"), _settings(place), out)
    return out


def test_a_run_leaves_what_it_promises(uninterrupted):
    names = {path.name for path in uninterrupted.iterdir()}
    assert names >= {"settings.yaml", "figures.json", "curve.png", "curve.svg", "left_out.jsonl"}
    assert "checkpoints" not in names
    assert {path.name for path in (uninterrupted / "model").iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "README.md",
    }
    figures = json.loads((uninterrupted / "figures.json").read_text())
    assert figures["data"]["left_out"] == 1
    assert figures["data"]["reasons"] == {"interleaved_sets": 1}
    assert len((uninterrupted / "left_out.jsonl").read_text().splitlines()) == 1
    assert figures["data"]["dev"]["sentences"] == 7  # evaluation keeps what does not fit
    assert figures["dev"]["all"]["gold"] == 10
    assert figures["dev"]["all"]["recall"] >= 0.8
    assert len(figures["seeds"][0]["epochs"]) == 40
    assert not list(uninterrupted.rglob("*.bin"))


def test_the_figures_are_those_of_the_model_with_its_bias(place, tmp_path, monkeypatch):
    monkeypatch.setattr(development, "BIASES", (20.0,))
    data, settings = place / "train.jsonl", _settings(place, num_train_epochs=2, mention_scorer=8)
    run(Sources(data, data), settings, tmp_path)
    found = json.loads((tmp_path / "figures.json").read_text())["dev"]["all"]
    gold = read_sentences(data)
    expected = score(gold, [each.mentions for each in load(tmp_path / "model").predict(gold)])
    assert found["predicted"] == expected.all.micro.predicted > found["gold"]


def test_the_report_is_that_of_the_model(place, tmp_path):
    reports = []
    data, settings = place / "train.jsonl", _settings(place, num_train_epochs=20)
    figures = run(Sources(data, data), settings, tmp_path / "run", write_report=reports.append)
    (report,) = reports
    assert (report.first, report.second) == (str(data), str(tmp_path / "run" / "model"))
    gold = list(read(data))
    wanted = Report(report.first, report.second)
    for pair in align(gold, load(tmp_path / "run" / "model").predict(gold)):
        wanted.add(pair)
    assert report.tallies == wanted.tallies
    assert report.differing == wanted.differing
    assert [each[1] for each in report.scored] == [each[1] for each in wanted.scored]
    assert [each[0] for each in report.scored] == pytest.approx(
        [each[0] for each in wanted.scored], abs=1e-3
    )
    assert to_dict(report.scores) == figures["dev"]


@pytest.mark.parametrize(
    ("moment", "checkpoint"),
    [
        (KILL_IN_STEP.format(2), None),  # before there is a checkpoint
        (KILL_IN_STEP.format(50), 48),  # within an epoch
        # With a checkpoint that has another name until it is written, and with two.
        (KILL_IN_CALL.format("replace", 3), 6),
        (KILL_IN_CALL.format("unlink", 3), 12),
    ],
)
def test_killed_at_a_moment_it_goes_on_to_the_same_weights(
    place, tmp_path, uninterrupted, moment, checkpoint
):
    out, settings = tmp_path / "killed", _settings(place)
    process = _start(place, out, settings, moment + PROGRAM)
    _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors
    last = last_checkpoint(out / "checkpoints" / "seed-1")
    assert (last and last.name) == (checkpoint and f"checkpoint-{checkpoint}.safetensors")
    figures = run(Sources(place / "train.jsonl", place / "train.jsonl"), settings, out)
    assert _weights(out) == _weights(uninterrupted)
    before = json.loads((uninterrupted / "figures.json").read_text())
    assert figures["seeds"][0]["epochs"] == before["seeds"][0]["epochs"]


def test_an_incomplete_checkpoint_does_not_count(tmp_path):
    older, whole = (tmp_path / f"checkpoint-{step}.safetensors" for step in (8, 10))
    for path in (older, whole):
        save_file({"learner/weight": torch.ones(9)}, path)
    (tmp_path / "checkpoint-12.safetensors").write_bytes(whole.read_bytes()[:-1])
    (tmp_path / "checkpoint-11.safetensors.part").touch()
    assert last_checkpoint(tmp_path) == whole
    assert {*tmp_path.iterdir()} == {whole, older}


@pytest.mark.parametrize("finished", [False, True])
def test_a_seed_of_an_earlier_version_begins_again(place, tmp_path, finished):
    """Its checkpoints were folders, and what it found in development data was not kept."""
    out, settings = tmp_path / "run", _settings(place, num_train_epochs=1)
    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    claim(out, settings, find_digests(sources, settings))
    seed = out / "checkpoints" / "seed-1"
    old = seed / ("model" if finished else "checkpoint-3")
    old.mkdir(parents=True)
    (old / "model.safetensors").write_bytes(b"old")
    (seed / ("result.json" if finished else "best.safetensors")).write_text("{}")
    assert run(sources, settings, out)["best_epoch"] == 1
    assert load(out / "model").scheme.labels == ("ADR",)
    assert not (out / "checkpoints").exists()


def test_a_finished_run_and_other_settings_and_data_get_one_line(place, uninterrupted, tmp_path):
    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    with pytest.raises(RunError, match="contains a finished run; give another folder"):
        run(sources, _settings(place), uninterrupted)
    digests = find_digests(sources, _settings(place))
    claim(tmp_path / "run", _settings(place, learning_rate=1.0), digests)
    claim(tmp_path / "run", _settings(place), digests)  # not begun yet
    (tmp_path / "run" / "checkpoints" / "seed-1" / "checkpoint-3").mkdir(parents=True)
    claim(tmp_path / "run", _settings(place), digests)
    with pytest.raises(RunError, match=r"other settings \(learning_rate was 0\.005\); give"):
        run(sources, _settings(place, learning_rate=1e-3), tmp_path / "run")
    other = write_jsonl(SENTENCES[:2], tmp_path / "other.jsonl")
    with pytest.raises(RunError, match=r"other data \(dev\); give"):
        run(Sources(sources.train, other), _settings(place), tmp_path / "run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(RunError, match="contains files that are not of a run"):
        run(sources, _settings(place), tmp_path / "full")
    with pytest.raises(DiscotagError, match="there is no such file"):
        run(Sources(tmp_path / "no", tmp_path / "no"), _settings(place), tmp_path / "n")


def test_a_restart_after_the_end_of_the_run(place, uninterrupted, monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    figures = run(sources, _settings(place), uninterrupted)
    assert figures == json.loads((uninterrupted / "figures.json").read_text())
    with pytest.raises(RunError, match=r"other settings \(learning_rate was 0\.005\); give"):
        run(sources, _settings(place, learning_rate=1e-3), uninterrupted)


def test_a_full_disk_and_an_unwritable_folder_are_noticed_before(place, tmp_path, monkeypatch):
    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunError, match=r"file: is not a folder; give another one with --out"):
            run(sources, _settings(place), out)
    full = SimpleNamespace(total=9, used=9, free=0)
    monkeypatch.setattr(run_folder.shutil, "disk_usage", lambda path: full)
    with pytest.raises(RunError, match=r"needs 0\.0 GB of disk space, but only 0\.0 GB are"):
        run(sources, _settings(place), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("when", ["checkpoint", "model"])
def test_a_disk_that_is_full_later_ends_in_one_line(place, tmp_path, monkeypatch, when):
    from safetensors import SafetensorError

    from discotag.model.network import Network

    def full(*_, **__):
        raise SafetensorError("No space left on device")

    if when == "model":
        monkeypatch.setattr(Network, "save_pretrained", full)
    else:
        monkeypatch.setattr(whole_files, "save_file", full)
    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    with pytest.raises(
        DiscotagError, match=r"disk may be full \(No space left .*; the same command continues"
    ):
        run(sources, _settings(place, num_train_epochs=1), tmp_path / "run")
    assert (tmp_path / "run" / "settings.yaml").exists()


def test_a_listener_is_told_about_every_step_and_epoch(place, tmp_path):
    told = []
    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    figures = run(sources, _settings(place, num_train_epochs=2), tmp_path / "run", told.append)
    assert [(each.step, each.epoch, each.figures is not None) for each in told] == [
        (0, 0, False),
        *[(step, 0, False) for step in (1, 2, 3)],
        (3, 1, True),
        *[(step, 1, False) for step in (4, 5, 6)],
        (6, 2, True),
    ]
    assert {(each.seed, each.steps) for each in told} == {(1, 6)}
    assert [each.loss is None for each in told] == [True, *[False] * 8]
    epochs = [each for each in told if each.figures is not None]
    assert [(each.loss, each.figures) for each in epochs] == [
        (each["loss"], each["dev"]) for each in figures["seeds"][0]["epochs"]
    ]


def test_development_data_without_mentions_is_refused(place, tmp_path):
    other = sentence("pain in my arms", [(0, 1)], label="X")
    dev = write_jsonl([SENTENCES[-1], other], tmp_path / "dev.jsonl")
    with pytest.raises(DiscotagError, match=r"dev\.jsonl: it has no mention of ADR, so no epoch"):
        run(Sources(place / "train.jsonl", dev), _settings(place), tmp_path / "run")


@pytest.mark.parametrize("arc_weights", [False, True])
def test_a_model_is_continued_from_its_weights(place, tmp_path, arc_weights):
    """With a rate too small to change anything, the first step shows where training began."""
    from safetensors.torch import load_file

    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    first = _settings(
        place, num_train_epochs=2, slots=3, gap_mentions=True, arc_weights=arc_weights
    )
    run(sources, first, tmp_path / "first")
    start = tmp_path / "first" / "model"
    settings = make_settings(
        None,
        {
            "from_model": str(start),
            "num_train_epochs": 1,
            "learning_rate": 1e-9,
            "head_learning_rate": 1e-9,
            "seed": 7,
        },
    )
    figures = run(sources, settings, tmp_path / "next")
    before, after = (
        load_file(each / "model.safetensors") for each in (start, tmp_path / "next/model")
    )
    assert before.keys() == after.keys()
    assert ("layer.arc_weights" in before) == arc_weights
    for name, value in before.items():
        torch.testing.assert_close(after[name], value, rtol=0, atol=1e-7)
    assert figures["settings"]["slots"] == 3
    one, other = (
        json.loads((each / "config.json").read_text()) for each in (start, tmp_path / "next/model")
    )
    assert one["discotag"]["scheme"] == other["discotag"]["scheme"]
    assert other["discotag"]["encoder"] == "encoder"
    assert "Training began with the weights of `model`." in other["discotag"]["notes"]
    assert str(tmp_path) not in json.dumps(other)


def test_how_text_is_split_is_saved_with_the_model(place, tmp_path):
    text = "服药后头痛。"
    row = {"text": text, "mentions": [{"label": "ADR", "spans": [[3, 5]]}]}
    train = tmp_path / "train.jsonl"
    train.write_text(json.dumps(row) + "\n")
    settings = _settings(place, words="characters", language="zh", num_train_epochs=1)
    run(Sources(train, train), settings, tmp_path / "run")
    tagger = load(tmp_path / "run" / "model")
    assert tagger.splitter == Splitter(words="characters", language="zh")
    assert tagger("CO2 高").words == ("C", "O", "2", "高")
    again = make_settings(None, {"from_model": str(tmp_path / "run" / "model")})
    assert (again.words, again.language) == ("characters", "zh")
    config = make_network(again, again.scheme(("ADR",)), 1).config
    assert (config.words, config.language) == ("characters", "zh")


def test_the_bundled_model_is_continued_from_its_weights():
    settings = make_settings(None, {"from_model": "bundled"})
    network = make_network(settings, settings.scheme(("ADR",)), 1)
    assert network.dropout.p == 0.3
    assert network.config.calibration is None  # it is set after training
    bundled = load(runtime="torch")
    network.config = bundled.config
    tagger = Tagger.from_network(network, "cpu")
    text = "The pain I was experiencing around the hipjoints was incredible."
    wanted, found = (each([text]) for each in (bundled, tagger))
    assert wanted == found
    scores = [[mention.score for mention in each[0].mentions] for each in (wanted, found)]
    assert scores[1] == pytest.approx(scores[0], abs=1e-6)


def test_a_model_that_has_changed_is_other_data(place, tmp_path):
    from discotag.model.files import BUNDLED, copy_model

    copy_model(BUNDLED, tmp_path / "model")
    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    settings = make_settings(None, {"from_model": str(tmp_path / "model"), "num_train_epochs": 1})
    out = tmp_path / "run"
    claim(out, settings, find_digests(sources, settings))
    (out / "checkpoints" / "seed-1" / "checkpoint-3").mkdir(parents=True)
    claim(out, settings, find_digests(sources, settings))
    (tmp_path / "model" / "README.md").write_text("said otherwise")  # changes no training
    claim(out, settings, find_digests(sources, settings))
    tokenizer = tmp_path / "model" / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text() + " ")
    with pytest.raises(RunError, match=r"contains a run with other data \(from_model\)"):
        run(sources, settings, out)


def test_an_encoder_and_a_lexicon_that_have_changed_are_other_data(place, tmp_path):
    learnable_encoder(tmp_path / "encoder")
    lexicon = tmp_path / "parts.txt"
    lexicon.write_text("# discotag lexicon 1\narm\n")
    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    settings = Settings(encoder=str(tmp_path / "encoder"), lexicon=str(lexicon))
    before = find_digests(sources, settings)
    lexicon.write_text("# discotag lexicon 1\nknee\n")
    config = tmp_path / "encoder" / "config.json"
    config.write_text(config.read_text() + " ")
    after = find_digests(sources, settings)
    assert {name for name in before if before[name] != after[name]} == {"encoder", "lexicon"}


def test_labels_that_the_model_to_continue_from_does_not_know(place, tmp_path):
    other = sentence("pain in my arms", [(0, 1)], label="Drug")
    mixed = write_jsonl([*SENTENCES, other], tmp_path / "mixed.jsonl")
    known = place / "train.jsonl"
    settings = make_settings(None, {"from_model": "bundled"})
    message = (
        r"mixed\.jsonl: has mentions of Drug, but the model to continue from knows only ADR; "
        "--labels ADR leaves the others out$"
    )
    for sources in (Sources(mixed, known), Sources(known, mixed), Sources(known, known, mixed)):
        with pytest.raises(DiscotagError, match=message):
            run(sources, settings, tmp_path / "run")


def test_several_seeds_keep_the_best(place, tmp_path):
    settings = _settings(place, num_seeds=2, num_train_epochs=4, learning_rate=2e-3)
    sources = Sources(place / "train.jsonl", place / "train.jsonl", place / "train.jsonl")
    left = []

    def look(now):
        if now.seed == 2 and now.loss is None:
            folder = tmp_path / "run" / "checkpoints" / "seed-1"
            left[:] = sorted(path.name for path in folder.iterdir())

    figures = run(sources, settings, tmp_path / "run", look)
    assert left == ["found.json", "model", "result.json"]  # as the second seed begins
    dev = [each["dev"]["all"]["f1"] for each in figures["seeds"]]
    assert [each["seed"] for each in figures["seeds"]] == [1, 2]
    assert figures["dev"]["all"]["f1"] == max(dev)
    assert figures["over_seeds"]["dev"]["all"]["mean"] == pytest.approx(sum(dev) / 2)
    assert figures["test"] == figures["dev"]


@pytest.mark.parametrize("last", ["write_model", "plot_curves"])
def test_killed_at_the_very_end_it_trains_nothing_again(place, tmp_path, monkeypatch, last):
    """Before and after the model is moved to its place."""
    settings = _settings(place, num_train_epochs=2)
    sources = Sources(place / "train.jsonl", place / "train.jsonl")
    out, reports = tmp_path / "run", []

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if last == "plot_curves":
            patch.setattr(runs, "plot_curves", stop)
        with pytest.raises(KeyboardInterrupt):
            run(sources, settings, out, write_report=stop if last == "write_model" else ignore)
    (weights,) = out.rglob("model.safetensors")
    before = weights.read_bytes()
    monkeypatch.setattr(runs, "_train_seed", None)
    figures = run(sources, settings, out, write_report=reports.append)
    assert figures["best_seed"] == 1
    assert _weights(out) == before
    (report,) = reports
    assert report.scores.all.micro.f1 == figures["dev"]["all"]["f1"]


def test_a_run_folder_has_one_writer(tmp_path):
    out = tmp_path / "run"
    with held(out), pytest.raises(DiscotagError, match="another process is writing it"):
        run(Sources(tmp_path / "a.jsonl", tmp_path / "b.jsonl"), Settings(), out)
