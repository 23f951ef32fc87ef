"""Several processes train one model: the same one, also if some of them are lost."""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch

import disturbances
from discotag.training.checkpoints import last_complete
from discotag.training.progress import Silent
from discotag.training.runs import run
from discotag.training.settings import Settings
from discotag.training.sources import Sources
from launching import Machine, free_port, launch
from learnable import CROSSED, SENTENCES, learnable_encoder, sentence, write_jsonl

STEPS = 3
"""The number of steps of an epoch: ten sentences in batches of 4, 3 and 3."""

SETTINGS = {
    "num_train_epochs": 5,
    "learning_rate": 5e-3,
    "batch_size": 4,
    "dropout": 0.0,
    "fold": 0.0,
    "mention_scorer": 8,
}
"""With the default weight of discontinuous mentions, a mention scorer and a teacher."""

UNLABELLED = ["the arms hurt", "no pain", "stiff shoulders and knees", "my knees was bad"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("processes")
    learnable_encoder(folder / "encoder")
    write_jsonl([*SENTENCES, CROSSED], folder / "train.jsonl")
    write_jsonl([sentence(each) for each in UNLABELLED], folder / "unlabelled.jsonl")
    settings = Settings(encoder=str(folder / "encoder"), **SETTINGS | {"num_train_epochs": 2})
    run(Sources(*[folder / "train.jsonl"] * 2), settings, folder / "teacher", Silent())
    return folder


def sources(place):
    data, unlabelled = place / "train.jsonl", place / "unlabelled.jsonl"
    return Sources(data, data, None, (str(place / "teacher" / "model"),), (unlabelled,))


def arguments(place, out, **more):
    given = {
        "dev": place / "train.jsonl",
        "out": out,
        "encoder": place / "encoder",
        "teachers": place / "teacher" / "model",
        "unlabelled": place / "unlabelled.jsonl",
        **SETTINGS,
        **more,
    }
    options = [(f"--{name.replace('_', '-')}", value) for name, value in given.items()]
    return ["train", place / "train.jsonl", *(each for option in options for each in option)]


def figures(out):
    return json.loads((out / "figures.json").read_text())


def own_lines(log):
    return [line for line in log.splitlines() if line.startswith("discotag:")]


def assert_same(out, other):
    """Check that two runs had the same losses, figures and best epoch, up to rounding."""
    found, wanted = (figures(each)["seeds"][0] for each in (out, other))
    losses = [[epoch["loss"] for epoch in each["epochs"]] for each in (found, wanted)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    steps = [[epoch["step"] for epoch in each["epochs"]] for each in (found, wanted)]
    assert steps[0] == steps[1] == list(range(STEPS, 5 * STEPS + 1, STEPS))
    for name in ("dev", "best_epoch"):
        assert found[name] == wanted[name]


@pytest.fixture(scope="module")
def alone(place):
    """The run of one process."""
    from discotag.model.mention_scorer import MentionScorer
    from discotag.training import losses

    settings = Settings(encoder=str(place / "encoder"), **SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "ROUNDS", losses.ROUNDS)
        patch.setattr(MentionScorer.__init__, "__defaults__", MentionScorer.__init__.__defaults__)
        disturbances.steady()
        run(sources(place), settings, place / "alone", Silent())

        class Stopped(Silent):
            steps = 0

            def step(self, loss):
                self.steps += 1
                if self.steps == 2 * STEPS + 1:
                    raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(sources(place), settings, place / "stopped", Stopped())
    return place / "alone"


def test_two_processes_make_the_steps_of_one_and_the_first_writes(place, alone, tmp_path):
    before = partial(disturbances.steady_with_one_writer, str(tmp_path / "run"))
    status, log = launch(tmp_path / "log", arguments(place, tmp_path / "run"), before=before)
    assert status == 0, log
    assert_same(tmp_path / "run", alone)
    assert log.count("seed 1: epoch 5: ") == 1
    assert log.count("The model is in ") == 1
    assert "arning" not in log


@pytest.fixture(scope="module")
def lost(place):
    """A run of two processes that has ended because one of them was killed."""
    before = partial(disturbances.steady_until, 1, 2 * STEPS + 1, what=disturbances.kill_process)
    out = place / "lost"
    return out, *launch(place / "lost.log", arguments(place, out), before=before)


def test_a_lost_process_ends_all_in_one_line_and_leaves_a_checkpoint(lost):
    out, status, log = lost
    assert status == 1
    lines = own_lines(log)
    # The agent may end the first process before it can say anything.
    assert len(lines) <= 1, log
    assert all("another process of the training was lost; the same command" in x for x in lines)
    assert "Error: " not in "".join(re.findall(r"^\w.*", log)), log
    last = last_complete(out / "checkpoints" / "seed-1")
    assert last.name == f"checkpoint-{2 * STEPS}"
    assert not list(last.glob("rng_state*"))


@pytest.mark.parametrize("processes", [1, 3])
def test_a_run_of_two_is_continued_by_another_number(place, alone, lost, tmp_path, processes):
    shutil.copytree(lost[0], tmp_path / "run")
    given = arguments(place, tmp_path / "run")
    status, log = launch(tmp_path / "log", given, processes, before=disturbances.steady)
    assert status == 0, log
    assert f"continuing after step {2 * STEPS}" in log
    assert_same(tmp_path / "run", alone)


def test_a_run_of_one_is_continued_by_two(place, alone, tmp_path):
    given = arguments(place, place / "stopped")
    status, log = launch(tmp_path / "log", given, before=disturbances.steady)
    assert status == 0, log
    assert f"continuing after step {2 * STEPS}" in log
    assert_same(place / "stopped", alone)


def test_after_the_loss_of_a_process_all_are_restarted_and_continue(place, tmp_path):
    """With random numbers: those of an epoch are the same when it is repeated."""
    ways = {"undisturbed": None, "disturbed": partial(disturbances.lose_two, STEPS + 2)}
    for name, before in ways.items():
        given = arguments(place, tmp_path / name, dropout=0.3, num_train_epochs=3)
        status, log = launch(tmp_path / f"{name}.log", given, restarts=2, before=before)
        assert status == 0, log
        assert log.count("continuing after step") == (name == "disturbed")
        assert log.count("The model is in ") == 1
    found, wanted = (figures(tmp_path / name)["seeds"][0] for name in ("disturbed", "undisturbed"))
    assert found["epochs"] == wanted["epochs"]
    weights = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in ways]
    assert weights[0] == weights[1]


def test_after_the_loss_of_a_machine_the_others_continue(place, alone, tmp_path):
    given = arguments(place, tmp_path / "run")
    shared = {"port": free_port(), "machines": (1, 2), "restarts": 2}
    before = partial(disturbances.steady_until, 1, STEPS + 2, what=disturbances.kill_machine)
    first, second = (
        Machine(tmp_path / name, given, 1, before=before, **shared) for name in ("first", "second")
    )
    status, log = first.end()
    assert status == 0, log
    assert second.end()[0] == -9
    assert f"continuing after step {STEPS}" in log
    assert_same(tmp_path / "run", alone)


def test_an_error_that_all_processes_have_is_one_line(place, tmp_path):
    given = arguments(place, tmp_path / "run", labels="XYZ")
    status, log = launch(tmp_path / "log", given)
    assert status == 1
    (line,) = own_lines(log)
    assert "has no mention of the labels XYZ" in line


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (disturbances.fail_in_rank_1, "train.jsonl: cannot be read on this machine"),
        (disturbances.other_files_in_rank_1, "train: the data on .* are not those on "),
        (
            partial(disturbances.at_step, 1, 2, disturbances.use_up_memory),
            "the memory of the GPU is too small",
        ),
    ],
)
def test_an_error_of_one_process_ends_all_in_its_line(place, tmp_path, before, message):
    status, log = launch(tmp_path / "log", arguments(place, tmp_path / "run"), before=before)
    assert status == 1
    (line,) = own_lines(log)
    assert re.search(message, line)


def test_ctrl_c_ends_all_in_one_line(place, tmp_path):
    before = partial(disturbances.at_step, 0, STEPS + 1, disturbances.interrupt_agent)
    given = arguments(place, tmp_path / "run", num_train_epochs=1000)
    status, log = launch(tmp_path / "log", given, before=before)
    assert status != 0
    (line,) = own_lines(log)
    assert line == (
        "discotag: stopped; the same command continues from the last checkpoint in "
        f"{tmp_path / 'run'}"
    )


def test_more_processes_than_sentences_of_a_batch_are_refused(place, tmp_path):
    given = arguments(place, tmp_path / "run", batch_size=2)
    status, log = launch(tmp_path / "log", given, 3)
    assert status == 1
    (line,) = own_lines(log)
    assert "3 processes cannot share 10 sentences in batches of 2; use larger batches" in line


def test_parameters_that_an_encoder_does_not_use_are_left_alone(place, tmp_path):
    from transformers import XLNetConfig, XLNetModel

    encoder = tmp_path / "encoder"
    vocabulary = json.loads((place / "encoder" / "tokenizer.json").read_text())["model"]["vocab"]
    config = XLNetConfig(
        vocab_size=len(vocabulary), d_model=16, n_layer=1, n_head=2, d_inner=16, pad_token_id=0
    )
    XLNetModel(config).save_pretrained(encoder)  # it has an embedding of masks
    shutil.copyfile(place / "encoder" / "tokenizer.json", encoder / "tokenizer.json")
    given = arguments(place, tmp_path / "run", encoder=encoder, num_train_epochs=1)
    status, log = launch(tmp_path / "log", given)
    assert status == 0, log


@pytest.mark.parametrize(
    "launcher",
    ["torchrun --nproc-per-node 2", "accelerate launch --multi_gpu --num_processes 2"],
    ids=lambda text: text.split()[0],
)
def test_the_launchers_of_the_guide(place, tmp_path, launcher):
    program, *options = launcher.split()
    command = [Path(sys.executable).parent / program, *options, "-m", "discotag"]
    done = subprocess.run(
        [*map(str, command), *map(str, arguments(place, tmp_path / "run", num_train_epochs=1))],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("The model is in ") == 1
    assert len(figures(tmp_path / "run")["seeds"][0]["epochs"]) == 1
    guide = Path(__file__).parents[2] / "docs" / "training.md"
    assert launcher.replace("2", "4") in guide.read_text("utf-8")
