"""A training that `torchrun` starts on a GPU; the processes on CPUs are in tests/training."""

import json
import subprocess
import sys

import pytest
import torch

from learnable import SENTENCES, learnable_encoder, write_jsonl

if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)


def test_a_launched_training_is_that_of_a_single_process(tmp_path):
    learnable_encoder(tmp_path / "encoder")
    corpus = str(write_jsonl(SENTENCES, tmp_path / "corpus.jsonl"))
    options = "--num-train-epochs 3 --batch-size 2 --learning-rate 5e-3 --dropout 0 --fold 0"
    given = ["train", corpus, "--dev", corpus, "--encoder", str(tmp_path / "encoder")]
    # The candidates of the mention scorer are drawn at random, but by the same seed.
    launchers = {
        "launched": ["-m", "torch.distributed.run", "--nproc-per-node", "1", "-m", "discotag"],
        "alone": ["-m", "discotag"],
    }
    losses = []
    for name, launcher in launchers.items():
        out = tmp_path / name
        command = [sys.executable, *launcher, *given, "--out", str(out), *options.split()]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        epochs = json.loads((out / "figures.json").read_text())["seeds"][0]["epochs"]
        losses.append([epoch["loss"] for epoch in epochs])
    assert losses[0] == pytest.approx(losses[1], rel=0.05)
