"""Several processes train one model: the same one, also if some of them are lost."""

import json
import re
import shutil
import signal
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
import torch

import disturbances
from discotag.errors import InputError
from discotag.training import processes
from discotag.training.checkpoints import last_checkpoint
from discotag.training.initial_network import is_on_hub
from discotag.training.runs import run
from discotag.training.settings import Settings
from discotag.training.sources import Sources
from launching import Machine, free_port, launch, wait_for
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
    run(Sources(*[folder / "train.jsonl"] * 2), settings, folder / "teacher")
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


@contextmanager
def steady():
    """Make the training of this process the same as that of several ones."""
    from discotag.model.mention_scorer import MentionScorer
    from discotag.training import losses

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "ROUNDS", losses.ROUNDS)
        patch.setattr(MentionScorer.__init__, "__defaults__", MentionScorer.__init__.__defaults__)
        disturbances.steady()
        yield


def run_alone(place, out, listener=None):
    with steady():
        run(sources(place), Settings(encoder=str(place / "encoder"), **SETTINGS), out, listener)


@pytest.fixture(scope="module")
def alone(place):
    """The run of one process."""
    run_alone(place, place / "alone")
    return place / "alone"


def stop(now):
    """Stop a training in its third epoch."""
    if now.step == 2 * STEPS + 1:
        raise KeyboardInterrupt


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
    last = last_checkpoint(out / "checkpoints" / "seed-1")
    assert last.name == f"checkpoint-{2 * STEPS}.safetensors"


def test_a_run_of_two_is_continued_by_one(place, alone, lost, tmp_path):
    shutil.copytree(lost[0], tmp_path / "run")
    told = []
    run_alone(place, tmp_path / "run", told.append)
    assert told[0].step == 2 * STEPS
    assert_same(tmp_path / "run", alone)


def test_a_run_of_two_is_continued_by_three(place, alone, lost, tmp_path):
    shutil.copytree(lost[0], tmp_path / "run")
    given = arguments(place, tmp_path / "run")
    status, log = launch(tmp_path / "log", given, 3, before=disturbances.steady)
    assert status == 0, log
    assert f"continuing after step {2 * STEPS}" in log
    assert_same(tmp_path / "run", alone)


def test_a_run_of_one_is_continued_by_two(place, alone, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_alone(place, tmp_path / "run", stop)
    given = arguments(place, tmp_path / "run")
    status, log = launch(tmp_path / "log", given, before=disturbances.steady)
    assert status == 0, log
    assert f"continuing after step {2 * STEPS}" in log
    assert_same(tmp_path / "run", alone)


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


@pytest.mark.parametrize("least", [1, 2], ids=["goes on alone", "waits for another"])
def test_after_the_loss_of_a_machine_training_continues(place, alone, tmp_path, least):
    def start(name, before):
        given = arguments(place, tmp_path / "run")
        shared = {"port": port, "machines": (least, 2), "restarts": 2}
        return Machine(tmp_path / name, given, 1, before=before, **shared)

    port = free_port()
    loss = partial(disturbances.steady_until, None, STEPS + 2, what=disturbances.kill_machine)
    first = start("first", disturbances.steady)
    wait_for(port)  # the machines meet on the first one, which must not be lost
    second = start("second", loss)
    assert second.end()[0] == -signal.SIGKILL
    third = start("third", disturbances.steady) if least == 2 else None
    status, log = first.end()
    assert status == 0, log
    if third:
        status, more = third.end()
        assert status == 0, more
        log += more
    assert f"continuing after step {STEPS}" in log
    assert_same(tmp_path / "run", alone)


def test_an_error_that_all_processes_have_is_one_line(place, tmp_path):
    given = arguments(place, tmp_path / "run", labels="XYZ")
    status, log = launch(tmp_path / "log", given)
    assert status == 1
    (line,) = own_lines(log)
    assert "has no mention of XYZ, so nothing can be learned from it" in line


@pytest.mark.parametrize(
    ("before", "message"),
    [
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
    status, log = launch(tmp_path / "log", given, 1)
    assert status == 0, log


def guide(launcher):
    """Return the command of the guide that begins with a launcher, up to what it launches."""
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text("utf-8")
    return re.search(rf"^{launcher} .*-m discotag (?=train)", text, re.MULTILINE).group().split()


def test_accelerate_launches_as_in_the_guide(place, alone, tmp_path):
    from accelerate.commands.launch import launch_command_parser, prepare_multi_gpu_env

    _, _, *options = guide("accelerate launch")
    found = launch_command_parser().parse_args([*options, "train", "train.jsonl"])
    assert found.num_processes == 4
    assert found.module
    assert found.training_script == "discotag"
    assert found.training_script_args == ["train", "train.jsonl"]
    found.num_machines, found.mixed_precision, found.dynamo_backend = 1, "no", "no"
    before = partial(disturbances.steady_with, prepare_multi_gpu_env(found))
    status, log = launch(tmp_path / "log", arguments(place, tmp_path / "run"), before=before)
    assert status == 0, log
    assert_same(tmp_path / "run", alone)


def test_torchrun_launches_as_in_the_guide():
    from torch.distributed.run import config_from_args, parse_args

    _, *options = guide("torchrun")
    config, program, given = config_from_args(parse_args([*options, "train", "train.jsonl"]))
    assert config.nproc_per_node == 4
    assert program == sys.executable
    assert given == ["-u", "-m", "discotag", "train", "train.jsonl"]


@pytest.mark.parametrize(
    ("rank", "local_rank", "waits"), [("0", "0", 0), ("4", "0", 1), ("1", "1", 2), ("5", "1", 2)]
)
def test_downloads_are_made_in_turns(monkeypatch, rank, local_rank, waits):
    done = []
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("LOCAL_RANK", local_rank)
    monkeypatch.setattr(processes, "gather", done.append)  # waits for the others
    assert processes.in_turns(lambda: done.append("mine") or "made") == "made"
    assert done.index("mine") == waits
    assert len(done) == 4


def test_encoders_are_on_the_hub_unless_they_are_folders(place):
    assert is_on_hub(Settings())
    assert not is_on_hub(Settings(encoder=str(place / "encoder")))
    assert not is_on_hub(Settings(from_model="bundled"))


@pytest.mark.parametrize(("gpus", "refused"), [(0, False), (1, True), (2, False)])
def test_each_process_has_a_gpu(monkeypatch, gpus, refused):
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    if refused:
        with pytest.raises(InputError, match="2 or more processes were started, but the num"):
            processes._check_gpus()
    else:
        processes._check_gpus()
