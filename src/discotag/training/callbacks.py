"""What happens beside a training: progress, checkpoints, and an end when the loss diverges."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, Final

from torch import Tensor
from transformers import TrainerCallback

from discotag.errors import DiscotagError
from discotag.training import checkpoints
from discotag.training.epochs import best_of, read_epochs
from discotag.training.progress import Listener, Progress

BETWEEN_LOSSES: Final = 0.5
"""Seconds between two looks at the loss: each makes a GPU wait."""


class DivergedError(DiscotagError):
    """A training whose loss is infinite or not a number."""


def check_loss(loss: float, args: Any, state: Any) -> None:
    """Raise `DivergedError` if a loss is infinite or not a number."""
    if not math.isfinite(loss):
        raise DivergedError(
            f"the loss is {loss} after {state.global_step} steps; a lower learning_rate than "
            f"{args.learning_rate} may help"
        )


class DivergenceCallback(TrainerCallback):
    """Ends a training when the mean loss of an epoch is infinite or not a number."""

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Check the loss that was logged."""
        check_loss(state.log_history[-1].get("loss", 0.0), args, state)


class ProgressCallback(TrainerCallback):
    """Tells a listener about the progress of a training.

    Args:
        listener: The listener.
        last_loss: Returns the loss of the last step; on a GPU it waits for the step.
    """

    def __init__(self, listener: Listener, last_loss: Callable[[], float]) -> None:
        self.listener = listener
        self.last_loss = last_loss
        self.known = 0.0
        self.asked = -BETWEEN_LOSSES

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell the listener that the training begins."""
        self._tell(args, state)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell the listener that a step is done."""
        if monotonic() - self.asked >= BETWEEN_LOSSES:
            self.known, self.asked = self.last_loss(), monotonic()
        self._tell(args, state, loss=self.known)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell the listener the result of an epoch."""
        epoch = read_epochs(state.log_history)[-1]
        self._tell(args, state, loss=epoch.loss, figures=epoch.dev)

    def _tell(self, args: Any, state: Any, **found: Any) -> None:
        if state.is_world_process_zero:
            done = len(read_epochs(state.log_history))
            self.listener(Progress(args.seed, state.max_steps, state.global_step, done, **found))


class CheckpointCallback(TrainerCallback):
    """Decides when to save a checkpoint, and keeps the last complete one with the best weights.

    Args:
        folder: The folder of the checkpoints.
        every: The number of epochs between checkpoints; the last epoch always has one.
        tolerance: As in `best_of`.
        best_weights: Returns the weights of the epoch to keep, or None if an earlier process has
            written them.
    """

    def __init__(
        self,
        folder: Path,
        every: int,
        tolerance: float,
        best_weights: Callable[[], Mapping[str, Tensor] | None],
    ) -> None:
        self.folder = folder
        self.every = every
        self.tolerance = tolerance
        self.best_weights = best_weights

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Save a checkpoint only if it is time for one."""
        epoch = round(state.epoch)
        due = epoch % self.every == 0 or epoch == state.num_train_epochs
        control.should_save = control.should_save and due

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the best weights, then make the checkpoint count, then remove older ones."""
        if not state.is_world_process_zero:
            return
        epochs = read_epochs(state.log_history)
        best = best_file(self.folder, best_of(epochs, self.tolerance).step)
        weights = self.best_weights()
        if weights is not None and not best.exists():
            checkpoints.write_weights(weights, best)
        newest = self.folder / f"checkpoint-{state.global_step}"
        checkpoints.complete(newest)
        checkpoints.remove_older(newest)
        for path in self.folder.glob("best-*.safetensors"):
            if path != best:
                path.unlink()


def best_file(folder: Path, step: int) -> Path:
    """Return the file of the best weights, which were reached after a number of steps."""
    return folder / f"best-{step}.safetensors"
