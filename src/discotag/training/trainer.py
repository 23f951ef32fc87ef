"""One training: the Hugging Face trainer with our batches, losses, figures and checkpoints."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments
from transformers.integrations.integration_utils import (
    TensorBoardCallback,
    get_available_reporting_integrations,
)

from discotag.errors import DiscotagError, InputError
from discotag.evaluation import SLICES
from discotag.mentions import Sentence
from discotag.model.network import Network
from discotag.training import checkpoints
from discotag.training.batching import Examples, Loader
from discotag.training.evaluation import as_data, evaluate
from discotag.training.losses import GoldTerm, Learner, TeacherTerm, Term
from discotag.training.progress import Listener, Silent
from discotag.training.settings import Settings

FIGURES: Final = ("precision", "recall", "f1", "gold", "predicted", "correct")
"""What is logged of each slice of the development data."""


class DivergedError(DiscotagError):
    """A training whose loss is infinite or not a number."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """What came out of an epoch.

    Attributes:
        number: From 1.
        step: The number of steps done after it.
        loss: Its mean training loss.
        dev: The figures on the development data, by slice.
    """

    number: int
    step: int
    loss: float
    dev: dict[str, dict[str, float]]

    @property
    def f1(self) -> float:
        """Development F1 of all mentions."""
        return self.dev["all"]["f1"]

    def as_data(self) -> dict[str, Any]:
        """The epoch as plain data."""
        return asdict(self)


def best_of(epochs: Sequence[Epoch]) -> Epoch:
    """The epoch with the highest development F1; of equal ones the first."""
    return max(epochs, key=lambda epoch: epoch.f1)


def uses_bf16(settings: Settings) -> bool:
    """Whether to compute in bf16: where it is asked for, or a GPU has it."""
    if settings.precision == "auto":
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    return settings.precision == "bf16"


def make_terms(settings: Settings, *, taught: bool) -> list[Term]:
    """Return the terms of the loss that the settings ask for.

    Args:
        settings: The settings.
        taught: Whether there are teachers to learn from.
    """
    objective = settings.objective
    if not taught:
        return [GoldTerm(objective)]
    share = settings.teacher_weight
    return [GoldTerm(objective, 1 - share), TeacherTerm(share)]


def fit(
    network: Network,
    examples: Examples,
    dev: Sequence[Sentence],
    settings: Settings,
    *,
    seed: int,
    folder: Path | None = None,
    logs: Path | None = None,
    listener: Listener | None = None,
) -> list[Epoch]:
    """Train a network; it is left with the weights of its best epoch.

    Args:
        network: Its linear layer new, its encoder pretrained.
        examples: What to learn from.
        dev: To choose the best epoch by.
        settings: The settings.
        seed: Decides order and dropout.
        folder: For checkpoints; a training that was interrupted goes on from there. None: no
            checkpoints are written.
        logs: For TensorBoard, where it is installed; None: nothing is logged.
        listener: Is told how far the training is.

    Returns:
        All epochs.

    Raises:
        DivergedError: The loss is infinite or no number.
        InputError: There are too few sentences for so many processes, or too little memory.
    """
    with tempfile.TemporaryDirectory() as nowhere:
        arguments = _arguments(settings, seed, folder or Path(nowhere), folder is not None)
        loader = Loader(
            examples,
            settings.batch_size,
            seed,
            rank=arguments.process_index,
            world=arguments.world_size,
        )
        if len(examples) < arguments.world_size * len(loader):
            raise InputError(
                f"{arguments.world_size} processes cannot share {len(examples)} sentences in "
                f"batches of {settings.batch_size}; use larger batches or fewer processes"
            )
        arguments.warmup_steps = round(
            settings.warmup_ratio * len(loader) * settings.num_train_epochs
        )
        trainer = TaggerTrainer(
            model=Learner(network, make_terms(settings, taught=examples.teacher is not None)),
            args=arguments,
            train_dataset=loader.dataset,
            eval_dataset=loader.dataset,  # the trainer wants one; `evaluate` has the real one
        )
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(Companion(trainer, listener or Silent(), settings))
        if logs is not None and find_spec("tensorboard") and trainer.is_world_process_zero():
            from torch.utils.tensorboard import SummaryWriter

            trainer.add_callback(TensorBoardCallback(SummaryWriter(logs)))  # type: ignore[no-untyped-call]
        trainer.loader = loader
        trainer.dev = dev
        trainer.folder = folder
        checked, network.layer.check = network.layer.check, False  # it would make a GPU wait
        try:
            return trainer.fit(settings.num_train_epochs)
        except torch.OutOfMemoryError:
            raise DiscotagError(
                "the memory of the GPU is too small for this training; use smaller batches"
            ) from None
        finally:
            network.layer.check = checked


def _arguments(settings: Settings, seed: int, folder: Path, resumable: bool) -> TrainingArguments:
    known = get_available_reporting_integrations()  # type: ignore[no-untyped-call]
    for name in settings.report_to:
        if name not in known:
            raise InputError(
                f"report_to: {name} is unknown or not installed; there are {', '.join(known)}"
            )
    on_cpu = not torch.cuda.is_available()
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1  # set by torchrun
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=settings.num_train_epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        optim="adamw_torch" if on_cpu else "adamw_torch_fused",
        bf16=uses_bf16(settings),
        use_cpu=on_cpu,
        ddp_backend="gloo" if on_cpu and several else None,
        seed=seed,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="epoch" if resumable else "no",
        logging_nan_inf_filter=False,
        report_to=list(settings.report_to),
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
    )
    if arguments.n_gpu > 1:
        # Several GPUs are used by a process each (torchrun), never by threads of one.
        arguments._n_gpu = 1
    return arguments


class TaggerTrainer(Trainer):
    """The trainer of Hugging Face, which does schedules, precision, processes and logging."""

    loader: Loader
    dev: Sequence[Sentence]
    folder: Path | None
    last_loss: Tensor
    best_weights: dict[str, Tensor] | None = None
    """Of the best epoch, if this process saw it."""

    @property
    def network(self) -> Network:
        """What is trained."""
        assert isinstance(self.model, Learner)
        return self.model.network

    def fit(self, epochs: int) -> list[Epoch]:
        """Train from the start or from the last checkpoint, and take the best weights."""
        last = None
        if self.folder is not None:
            if self.is_world_process_zero():
                checkpoints.remove_torn(self.folder)
            self.accelerator.wait_for_everyone()
            last = checkpoints.last_complete(self.folder)
        done = [] if last is None else _epochs(checkpoints.history(last))
        if len(done) < epochs:
            self.train(resume_from_checkpoint=None if last is None else str(last))
            done = _epochs(self.state.log_history)
        else:
            self.network.to(self.args.device)
        self._take_best(best_of(done))
        self.accelerator.wait_for_everyone()
        return done

    def _take_best(self, best: Epoch) -> None:
        weights = self.best_weights
        if weights is None:
            from safetensors.torch import load_file

            assert self.folder is not None
            weights = load_file(best_file(self.folder, best.step))
        self.network.load_state_dict(weights)

    def get_train_dataloader(self) -> Any:
        """Our batches."""
        return self.loader

    def get_decay_parameter_names(self, model: nn.Module) -> list[str]:
        """All parameters decay, as the paper says."""
        return [name for name, _ in model.named_parameters()]

    def _save_checkpoint(self, *arguments: Any, **named: Any) -> None:
        with checkpoints.writing(self.folder or Path()):
            super()._save_checkpoint(*arguments, **named)

    def training_step(self, *arguments: Any, **named: Any) -> Tensor:
        """Make a step, and keep its loss to show it.

        Raises:
            DivergedError: The loss is not a number. On a GPU this is noticed when the epoch ends:
                looking at each loss would make it wait.
        """
        self.last_loss = super().training_step(*arguments, **named)
        if self.last_loss.device.type == "cpu":
            check_loss(float(self.last_loss), self.args, self.state)
        return self.last_loss

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """The figures on the development data; keeps the weights if they are the best so far."""
        figures = as_data(evaluate(self.network, self.dev, bf16=self.args.bf16))
        before = [each.f1 for each in _epochs(self.state.log_history)]
        if figures["all"]["f1"] > max(before, default=-1.0):
            state = self.network.state_dict()
            self.best_weights = {name: each.detach().cpu().clone() for name, each in state.items()}
        metrics: dict[str, Any] = {
            f"eval_{part}_{name}": value
            for part, values in figures.items()
            for name, value in values.items()
        }
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics


class Companion(TrainerCallback):
    """Tells a listener how far the training is, and keeps what is saved whole."""

    def __init__(self, trainer: TaggerTrainer, listener: Listener, settings: Settings) -> None:
        self.trainer = trainer
        self.listener = listener
        self.settings = settings

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell the listener that the training begins."""
        if state.is_world_process_zero:
            self.listener.begin(f"seed {args.seed}", state.max_steps, state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell the listener of a step."""
        if state.is_world_process_zero:
            self.listener.step(lambda: float(self.trainer.last_loss))

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Save only now and then, if so set."""
        epoch = round(state.epoch)
        due = epoch % self.settings.checkpoint_every == 0 or epoch == self.settings.num_train_epochs
        control.should_save = control.should_save and due

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Raise `DivergedError` if the loss of the epoch is not a number."""
        check_loss(state.log_history[-1].get("loss", 0.0), args, state)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Say what came out of the epoch."""
        if state.is_world_process_zero:
            epoch = _epochs(state.log_history)[-1]
            self.listener.epoch(epoch.number, epoch.loss, epoch.f1)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the best weights, then make the checkpoint count, then remove older ones."""
        folder = self.trainer.folder
        if folder is None or not state.is_world_process_zero:
            return
        best = best_file(folder, best_of(_epochs(state.log_history)).step)
        if self.trainer.best_weights is not None:
            checkpoints.write_weights(self.trainer.best_weights, best)
        newest = folder / f"checkpoint-{state.global_step}"
        checkpoints.complete(newest)
        checkpoints.remove_older(newest)
        for path in folder.glob("best-*.safetensors"):
            if path != best:
                path.unlink()

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell the listener that the training is over."""
        if state.is_world_process_zero:
            self.listener.end()


def check_loss(loss: float, args: Any, state: Any) -> None:
    """Raise `DivergedError` if a loss is infinite or not a number."""
    if not math.isfinite(loss):
        raise DivergedError(
            f"the loss is {loss} after {state.global_step} steps; a lower learning_rate than "
            f"{args.learning_rate} may help"
        )


def best_file(folder: Path, step: int) -> Path:
    """Where the best weights are, which were reached after so many steps."""
    return folder / f"best-{step}.safetensors"


def _epochs(log: Iterable[Mapping[str, Any]]) -> list[Epoch]:
    """The epochs that the trainer logged, each as losses and as figures."""
    losses: dict[int, float] = {}
    epochs = []
    for entry in log:
        if "loss" in entry:
            losses[entry["step"]] = entry["loss"]
        elif "eval_all_f1" in entry:
            dev = {
                part: {name: entry[f"eval_{part}_{name}"] for name in FIGURES} for part in SLICES
            }
            epochs.append(Epoch(round(entry["epoch"]), entry["step"], losses[entry["step"]], dev))
    return epochs
