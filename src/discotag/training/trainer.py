"""Hugging Face's `Trainer` with our batches, losses, evaluation and checkpoints.

Everything that configures that trainer, or works around how it does something, is in this file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import PrinterCallback, Trainer, TrainingArguments
from transformers.integrations.integration_utils import (
    TensorBoardCallback,
    get_available_reporting_integrations,
)

from discotag.errors import DiscotagError, InputError
from discotag.mentions import Sentence
from discotag.model.encoder import trainable_attention
from discotag.model.network import Network
from discotag.training import checkpoints
from discotag.training.adversarial import worse_embeddings
from discotag.training.batching import Examples, Loader
from discotag.training.calibration import calibrated
from discotag.training.callbacks import (
    CheckpointCallback,
    DivergenceCallback,
    ProgressCallback,
    best_file,
    check_loss,
)
from discotag.training.epochs import Epoch, as_metrics, best_of, read_epochs
from discotag.training.evaluation import evaluate, to_dict
from discotag.training.losses import Learner, make_terms
from discotag.training.processes import is_launched, share
from discotag.training.progress import Listener, ignore
from discotag.training.settings import Precision, Settings


def uses_bf16(settings: Settings) -> bool:
    """Return whether to compute in bf16: if it is asked for, or if a GPU supports it."""
    if settings.precision is Precision.AUTO:
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    return settings.precision is Precision.BF16


def fit(
    network: Network,
    examples: Examples,
    dev: Sequence[Sentence],
    settings: Settings,
    *,
    seed: int,
    folder: Path | None = None,
    logs: Path | None = None,
    listener: Listener = ignore,
) -> list[Epoch]:
    """Train a network; afterwards it has the weights of the epoch that is kept, see `best_of`.

    Args:
        network: The network, with a pretrained encoder.
        examples: The sentences to learn from.
        dev: The sentences that the epoch to keep is chosen on.
        settings: The settings.
        seed: Decides the order of sentences, dropout, and the weights of training-only heads.
        folder: The folder of checkpoints; an interrupted training is continued from there. None:
            no checkpoints are written.
        logs: The folder of TensorBoard's log, if it is installed; None: no log is written.
        listener: Is told about the progress.

    Returns:
        The results of all epochs.

    Raises:
        DivergedError: The loss is infinite or not a number.
        InputError: There are too few sentences for the number of processes.
        DiscotagError: The GPU has too little memory.
    """
    with tempfile.TemporaryDirectory() as temporary:
        trainer = make_trainer(
            network,
            examples,
            dev,
            settings,
            seed,
            folder=folder or Path(temporary),
            resumable=folder is not None,
            listener=listener,
        )
        if logs is not None and find_spec("tensorboard") and trainer.is_world_process_zero():
            from torch.utils.tensorboard import SummaryWriter

            trainer.add_callback(TensorBoardCallback(SummaryWriter(logs)))  # type: ignore[no-untyped-call]
        # The layer's checks of scores would make a GPU wait; `DivergedError` is raised instead.
        checked, network.layer.check = network.layer.check, False
        try:
            with trainable_attention():
                return trainer.fit()
        except torch.OutOfMemoryError:
            raise DiscotagError(
                "the memory of the GPU is too small for this training; use a smaller batch_size"
            ) from None
        finally:
            network.layer.check = checked


def make_trainer(
    network: Network,
    examples: Examples,
    dev: Sequence[Sentence],
    settings: Settings,
    seed: int,
    *,
    folder: Path,
    resumable: bool,
    listener: Listener = ignore,
) -> TaggerTrainer:
    """Make a trainer with its batches, loss and callbacks.

    The arguments are those of `fit`; checkpoints are written to the folder if it is `resumable`.

    Raises:
        InputError: There are too few sentences for the number of processes.
    """
    arguments = _arguments(settings, seed, folder, resumable)
    on_gpu = arguments.device.type == "cuda"
    loader = Loader(
        examples,
        settings.batch_size,
        seed,
        rank=arguments.process_index,
        world=arguments.world_size,
        pin=on_gpu,
        share_rows=on_gpu and network.shares_rows,
    )
    if len(examples) < arguments.world_size * len(loader):
        raise InputError(
            f"{arguments.world_size} processes cannot share {len(examples)} sentences in "
            f"batches of {settings.batch_size}; use larger batches or fewer processes"
        )
    arguments.warmup_steps = round(settings.warmup_ratio * len(loader) * settings.num_train_epochs)
    torch.manual_seed(seed)  # for the weights of terms
    terms = make_terms(settings, network, taught=examples.teacher is not None)
    learner = Learner(network, terms)
    trainer = TaggerTrainer(
        learner,
        arguments,
        loader,
        dev,
        folder if resumable else None,
        head_learning_rate=settings.head_learning_rate,
        # The change of n sentences, each moved by a distance, has a norm of √n times that distance.
        adversarial=settings.adversarial * (len(examples) / len(loader)) ** 0.5,
        epoch_tolerance=settings.epoch_tolerance,
    )
    trainer.add_callback(ProgressCallback(listener, lambda: float(trainer.last_loss)))
    if resumable:
        trainer.add_callback(
            CheckpointCallback(
                folder,
                settings.checkpoint_every,
                settings.epoch_tolerance,
                lambda: trainer.best_weights,
            )
        )
    return trainer


def _arguments(settings: Settings, seed: int, folder: Path, resumable: bool) -> TrainingArguments:
    """Return the arguments of Hugging Face's trainer for settings.

    Raises:
        InputError: A place to log to is unknown.
    """
    known = get_available_reporting_integrations()  # type: ignore[no-untyped-call]
    for name in settings.report_to:
        if name not in known:
            others = f"use one of {', '.join(known)}" if known else "install it, or leave it out"
            raise InputError(f"report_to: {name} is unknown or not installed; {others}")
    on_cpu = not torch.cuda.is_available()
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=settings.num_train_epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        optim="adamw_torch_fused",
        bf16=uses_bf16(settings),
        use_cpu=on_cpu,
        ddp_backend="gloo" if on_cpu and is_launched() else None,
        ddp_find_unused_parameters=False,
        seed=seed,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="epoch" if resumable else "no",
        logging_nan_inf_filter=False,  # it would look at the loss of each step
        report_to=list(settings.report_to),
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
    )
    if arguments.n_gpu > 1:
        # Several GPUs are used by one process each (torchrun), not by threads of one process.
        arguments._n_gpu = 1
    return arguments


class TaggerTrainer(Trainer):
    """Hugging Face's trainer, which does schedules, precision, processes and logging.

    Args:
        learner: The network with its loss.
        arguments: The arguments of the trainer.
        loader: The batches.
        dev: The sentences to evaluate on after each epoch.
        folder: The folder of checkpoints, or None.
        head_learning_rate: The peak learning rate of all layers but the encoder's.
        adversarial: How far the embeddings of a batch are moved in the second pass of a step; 0:
            there is no second pass.
        epoch_tolerance: As in `best_of`.

    Attributes:
        last_loss: The loss of the last step.
        best_weights: The weights of the epoch to keep, or None if an earlier process has written
            them to the folder.
    """

    last_loss: Tensor
    best_weights: dict[str, Tensor] | None = None

    def __init__(
        self,
        learner: Learner,
        arguments: TrainingArguments,
        loader: Loader,
        dev: Sequence[Sentence],
        folder: Path | None = None,
        *,
        head_learning_rate: float,
        adversarial: float = 0.0,
        epoch_tolerance: float = 0.0,
    ) -> None:
        self.head_learning_rate = head_learning_rate
        self.adversarial = adversarial
        self.epoch_tolerance = epoch_tolerance
        super().__init__(
            model=learner,
            args=arguments,
            train_dataset=loader.dataset,
            eval_dataset=loader.dataset,  # the trainer wants one; `evaluate` uses `dev`
        )
        self.learner = learner
        self.network = learner.network
        self.loader = loader
        self.dev = dev
        self.folder = folder
        self.remove_callback(PrinterCallback)
        self.add_callback(DivergenceCallback())

    def fit(self) -> list[Epoch]:
        """Train from the start or from the last checkpoint, and load the best weights."""
        last, done = None, list[Epoch]()
        if self.folder is not None:
            if self.is_world_process_zero():
                checkpoints.remove_incomplete(self.folder)
                last = checkpoints.last_complete(self.folder)
                done = [] if last is None else read_epochs(checkpoints.history(last))
            # Other machines may not see yet what is new in a shared folder.
            last, done = share((last, done))
        if len(done) < self.args.num_train_epochs:
            self.train(resume_from_checkpoint=None if last is None else str(last))
            done = read_epochs(self.state.log_history)
        else:
            self.network.to(self.args.device)
        self._load_best(best_of(done, self.epoch_tolerance))
        self.network.config = calibrated(self.network, self.dev, bf16=self.args.bf16)
        return done

    def _load_best(self, best: Epoch) -> None:
        weights = self.best_weights
        if weights is None:
            assert self.folder is not None
            weights = load_file(best_file(self.folder, best.step))
        self.network.load_state_dict(weights)

    def _keep_weights(self) -> None:
        """Copy the weights to the host, into the same page-locked memory each time."""
        state = self.network.state_dict()
        if self.best_weights is None:
            self.best_weights = {
                name: torch.empty(each.shape, dtype=each.dtype, pin_memory=each.is_cuda)
                for name, each in state.items()
            }
        for name, each in state.items():
            self.best_weights[name].copy_(each)

    def get_train_dataloader(self) -> Any:
        """Return our batches."""
        return self.loader

    def _prepare_inputs(self, inputs: Any) -> dict[str, Any]:
        """Return a batch on the device: one copy that nothing waits for, not one per tensor."""
        found: dict[str, Any] = inputs.to(self.args.device)
        return found

    def create_optimizer(self, *_: Any) -> torch.optim.Optimizer:
        """Return an optimiser with a learning rate for the encoder, and another for the rest.

        All parameters decay, as in the paper.
        """
        if self.optimizer is None:
            encoder = list(self.network.encoder.parameters())
            heads = self.learner.heads()
            kind, options = self.get_optimizer_cls_and_kwargs(self.args)
            options["weight_decay"] = self.args.weight_decay
            groups = [{"params": encoder}, {"params": heads, "lr": self.head_learning_rate}]
            self.optimizer = kind(groups, **options)
        return self.optimizer

    def _wrap_model(self, *arguments: Any, **named: Any) -> Any:
        """Let processes find out once which parameters are used, not in each step.

        Encoders may have parameters that are not used, such as those for the global attention of
        Longformer.
        """
        model = super()._wrap_model(*arguments, **named)
        if self.accelerator.ddp_handler is not None:
            self.accelerator.ddp_handler.static_graph = True
        return model

    def _save_rng_state(self, output_dir: str) -> None:
        """Save nothing: `Loader` sets the random state of each epoch, for any number of processes.

        Each process would write a file here, and the first one would not wait for the others.
        """

    def _save_checkpoint(self, *arguments: Any, **named: Any) -> None:
        with checkpoints.writing(self.folder or Path()):
            super()._save_checkpoint(*arguments, **named)

    def training_step(self, *arguments: Any, **named: Any) -> Tensor:
        """Find the gradients of a step, and keep its loss.

        With adversarial training, the gradients are the sum of those of two passes, and the loss is
        that of the first.

        Raises:
            DivergedError: The loss is infinite or not a number. On a GPU this is noticed at the end
                of the epoch, because looking at each loss would make the GPU wait.
        """
        self.last_loss = super().training_step(*arguments, **named)
        if self.last_loss.device.type == "cpu":
            check_loss(float(self.last_loss), self.args, self.state)
        if self.adversarial:
            with (
                worse_embeddings(self.network.encoder, self.adversarial),
                self.learner.second_pass(),
            ):
                super().training_step(*arguments, **named)
        return self.last_loss

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Return the figures on the development data; keep the weights if they are the best."""
        figures = to_dict(evaluate(self.network, self.dev, bf16=self.args.bf16))
        metrics = as_metrics(figures)
        self.log(metrics)
        done = read_epochs(self.state.log_history)
        if best_of(done, self.epoch_tolerance) is done[-1]:
            self._keep_weights()
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics
