"""Checkpoints: the state of a training after an epoch, in one file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.nn import Module
from torch.optim import Optimizer

from discotag.training.epochs import Epoch
from discotag.training.whole_files import PART, write_weights

EPOCHS: Final = "epochs"
LEARNER, OPTIMIZER, BEST = "learner", "optimizer", "best"
"""The three parts of a checkpoint: the names of their tensors begin with these."""


def save_checkpoint(
    folder: Path,
    epochs: Sequence[Epoch],
    learner: Module,
    optimizer: Optimizer,
    best: Mapping[str, Tensor],
) -> None:
    """Write a checkpoint, and remove older ones.

    Args:
        folder: The folder of the checkpoints.
        epochs: The results of the epochs that are done.
        learner: What is trained.
        optimizer: Its optimizer.
        best: The weights of the epoch to keep.
    """
    tensors = {f"{LEARNER}/{name}": each for name, each in _state_of(learner).items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"{OPTIMIZER}/{number}/{name}": each for name, each in state.items()}
    tensors |= {f"{BEST}/{name}": each for name, each in best.items()}
    path = folder / f"checkpoint-{epochs[-1].step}.safetensors"
    write_weights(tensors, path, {EPOCHS: json.dumps([each.to_dict() for each in epochs])})
    for other in folder.glob("checkpoint-*"):
        if other != path:
            other.unlink()


def load_checkpoint(
    path: Path, learner: Module, optimizer: Optimizer
) -> tuple[list[Epoch], dict[str, Tensor]]:
    """Set a learner and its optimizer to a checkpoint.

    Returns:
        The results of the epochs that are done, and the weights of the epoch to keep.
    """
    parts: dict[str, dict[str, Tensor]] = {LEARNER: {}, OPTIMIZER: {}, BEST: {}}
    with safe_open(path, "pt") as file:
        epochs = [Epoch(**each) for each in json.loads(file.metadata()[EPOCHS])]
        for key in file.keys():  # noqa: SIM118 it cannot be iterated over
            part, name = key.split("/", 1)
            parts[part][name] = file.get_tensor(key)
    learner.load_state_dict(parts[LEARNER], strict=False)  # without other names of tied weights
    states: dict[int, dict[str, Tensor]] = {}
    for key, tensor in parts[OPTIMIZER].items():
        number, name = key.split("/")
        states.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict(optimizer.state_dict() | {"state": states})
    return epochs, parts[BEST]


def last_checkpoint(folder: Path) -> Path | None:
    """Return the last checkpoint in a folder, or None.

    What cannot be continued is removed: what a killed process has left, files that are damaged, and
    checkpoints of earlier versions of discotag, which were folders.
    """
    for path in folder.glob(f"*{PART}"):
        path.unlink()
    found = []
    for path in folder.glob("checkpoint-*"):
        if path.is_dir():
            shutil.rmtree(path)
        elif _is_complete(path):
            found.append(path)
        else:
            path.unlink()
    return max(found, key=lambda path: int(path.stem.split("-")[1]), default=None)


def _is_complete(path: Path) -> bool:
    """Return whether a file has as many bytes as it says."""
    try:
        with safe_open(path, "pt"):
            return True
    except SafetensorError:
        return False


def _state_of(learner: Module) -> dict[str, Tensor]:
    """Return the state of a module, in which tied weights have one of their names."""
    state = {each.data_ptr(): (name, each) for name, each in learner.state_dict().items()}
    return {name: each.contiguous() for name, each in state.values()}
