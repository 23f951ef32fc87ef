"""The training with one seed: epochs of steps, each followed by a look at development data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from discotag.errors import DiscotagError, InputError
from discotag.evaluation import score
from discotag.mentions import Mention, Sentence
from discotag.model.encoder import trainable_attention
from discotag.model.network import Network
from discotag.training.adversarial import worse_embeddings
from discotag.training.batching import Batches, Examples, Packed
from discotag.training.checkpoints import last_checkpoint, load_checkpoint, save_checkpoint
from discotag.training.development import Tagged, calibrate, make_tagger, tag, to_dict
from discotag.training.epochs import Epoch, best_of
from discotag.training.losses import Learner, make_terms
from discotag.training.processes import gather, is_first, is_launched, rank, share, world
from discotag.training.progress import Listener, Progress, ignore
from discotag.training.reporting import reporting
from discotag.training.settings import Precision, Settings

BETWEEN_LOSSES: Final = 0.5
"""Seconds between two looks at the loss of a step: each makes a GPU wait."""


class DivergedError(DiscotagError):
    """A training whose loss is infinite or not a number."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """What a training leaves, beside the weights of the network and its configuration.

    Attributes:
        epochs: The results of all epochs.
        best: The epoch whose weights the network has.
        found: The mentions that the network finds in each sentence of the development data, with
            the calibration and the bias that were set on it.
    """

    epochs: list[Epoch]
    best: Epoch
    found: Sequence[Sequence[Mention]]


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
) -> Trained:
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

    Raises:
        DivergedError: The loss is infinite or not a number.
        InputError: There are too few sentences for the number of processes, or a place to report
            to is unknown.
        DiscotagError: The GPU has too little memory.
    """
    # The layer's checks of scores would make a GPU wait; `DivergedError` is raised instead.
    checked, network.layer.check = network.layer.check, False
    try:
        with trainable_attention(), reporting(settings, logs) as report:

            def tell(now: Progress) -> None:
                report(now)
                listener(now)

            return Trainer(network, examples, dev, settings, seed, tell).fit(folder)
    except torch.OutOfMemoryError:
        raise DiscotagError(
            "the memory of the GPU is too small for this training; use a smaller batch_size"
        ) from None
    finally:
        network.layer.check = checked


class Trainer:
    """A training with one seed.

    Args:
        network: The network.
        examples: The sentences to learn from.
        dev: The sentences to evaluate on after each epoch.
        settings: The settings.
        seed: Decides all that is random.
        listener: Is told about the progress.

    Attributes:
        epochs: The results of the epochs that are done.
        step: The number of steps that are done.
        best: The weights of the epoch to keep, in the memory of the host.
        tagged: What the network finds with them in the development data; None if an earlier
            process has trained them.

    Raises:
        InputError: There are too few sentences for the number of processes.
    """

    def __init__(
        self,
        network: Network,
        examples: Examples,
        dev: Sequence[Sentence],
        settings: Settings,
        seed: int,
        listener: Listener = ignore,
    ) -> None:
        on_gpu = torch.cuda.is_available()
        self.device = torch.device(f"cuda:{torch.cuda.current_device()}" if on_gpu else "cpu")
        self.network = network.to(self.device)
        self.dev = dev
        self.settings = settings
        self.seed = seed
        self.listener = listener
        self.bf16 = uses_bf16(settings)
        self.batches = Batches(
            examples,
            settings.batch_size,
            seed,
            rank=rank(),
            world=world(),
            pin=on_gpu,
            share_rows=on_gpu and network.shares_rows,
        )
        if len(examples) < world() * len(self.batches):
            raise InputError(
                f"{world()} processes cannot share {len(examples)} sentences in batches of "
                f"{settings.batch_size}; use larger batches or fewer processes"
            )
        self.steps = len(self.batches) * settings.num_train_epochs
        self.warmup = round(settings.warmup_ratio * self.steps)
        # The change of n sentences, each moved by a distance, has a norm of √n times that distance.
        self.adversarial = settings.adversarial * (len(examples) / len(self.batches)) ** 0.5
        torch.manual_seed(seed)  # for the weights of terms
        terms = make_terms(settings, network, taught=examples.teacher is not None)
        self.learner = Learner(network, terms).to(self.device)
        self.parameters = list(self.learner.parameters())
        self.model = self._model()
        # All parameters decay, as in the paper.
        self.optimizer = torch.optim.AdamW(
            [
                {"params": list(network.encoder.parameters()), "peak": settings.learning_rate},
                {"params": self.learner.heads(), "peak": settings.head_learning_rate},
            ],
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True,
        )
        self.tagger = make_tagger(network, bf16=self.bf16)
        self.epochs: list[Epoch] = []
        self.step = 0
        self.best: dict[str, Tensor] = {}
        self.tagged: Tagged | None = None
        self._recent, self._asked = 0.0, -BETWEEN_LOSSES

    def fit(self, folder: Path | None) -> Trained:
        """Train from the start or from the last checkpoint in a folder."""
        if folder is not None:
            # Other machines may not see yet what is new in a shared folder.
            last = share(last_checkpoint(folder) if is_first() else None)
            if last is not None:
                self.epochs, self.best = load_checkpoint(last, self.learner, self.optimizer)
                self.step = self.epochs[-1].step
        if len(self.epochs) < self.settings.num_train_epochs:
            self._tell()
        while len(self.epochs) < self.settings.num_train_epochs:
            self.evaluate(self.train())
            done = len(self.epochs)
            due = done % self.settings.checkpoint_every == 0 or self.step == self.steps
            if folder is not None and due and is_first():
                save_checkpoint(folder, self.epochs, self.learner, self.optimizer, self.best)
        self.network.load_state_dict(self.best)
        self.network.eval()
        calibrated = calibrate(self.tagged or tag(self.tagger, self.dev))
        self.network.config = calibrated.config
        kept = best_of(self.epochs, self.settings.epoch_tolerance)
        return Trained(self.epochs, kept, calibrated.mentions)

    def train(self) -> float:
        """Train for an epoch, and return its mean loss.

        Raises:
            DivergedError: The loss is infinite or not a number. On a GPU this is noticed at the end
                of the epoch, because looking at each loss would make the GPU wait.
        """
        self.learner.train()
        total = torch.zeros((), device=self.device)
        for batch in self.batches.epoch(len(self.epochs)):
            loss = self.train_step(batch)
            total += loss
            self.step += 1
            if monotonic() - self._asked >= BETWEEN_LOSSES:
                self._recent, self._asked = float(loss), monotonic()
            self._tell(self._recent)
        losses = gather(float(total) / len(self.batches))
        return self._checked(sum(losses) / len(losses))

    def train_step(self, batch: Packed) -> Tensor:
        """Do a step, and return its loss.

        With adversarial training, the gradients are the sum of those of two passes, and the loss is
        that of the first.

        Raises:
            DivergedError: On a CPU, the loss is infinite or not a number.
        """
        rate = self.rate(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["peak"]
        arguments = batch.to(self.device)
        loss = self._backward(arguments)
        if self.device.type == "cpu":
            self._checked(float(loss))
        if self.adversarial:
            with (
                worse_embeddings(self.network.encoder, self.adversarial),
                self.learner.second_pass(),
            ):
                self._backward(arguments)
        nn.utils.clip_grad_norm_(self.parameters, self.settings.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss

    def _backward(self, arguments: Mapping[str, Any]) -> Tensor:
        """Add to the gradients those of a batch, and return its loss."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            loss: Tensor = self.model(**arguments)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def rate(self, step: int) -> float:
        """Return the learning rate of a step, as a share of its peak.

        It rises linearly in the first steps, then it falls to 0 along a cosine.
        """
        if step < self.warmup:
            return step / self.warmup
        return 0.5 * (1 + math.cos(math.pi * (step - self.warmup) / (self.steps - self.warmup)))

    def evaluate(self, loss: float) -> None:
        """Evaluate on the development data, and keep the weights if they are the best.

        Args:
            loss: The mean loss of the epoch that is done.
        """
        self.network.eval()
        tagged = tag(self.tagger, self.dev)
        figures = to_dict(score(self.dev, tagged.mentions))
        epoch = Epoch(len(self.epochs) + 1, self.step, loss, figures)
        self.epochs.append(epoch)
        if best_of(self.epochs, self.settings.epoch_tolerance) is epoch:
            self.tagged = tagged
            self._keep_weights()
        self._tell(loss, figures)

    def _keep_weights(self) -> None:
        """Copy the weights to the host, into the same page-locked memory each time."""
        for name, each in self.network.state_dict().items():
            if name not in self.best:
                self.best[name] = torch.empty(each.shape, dtype=each.dtype, pin_memory=each.is_cuda)
            self.best[name].copy_(each)

    def _model(self) -> nn.Module:
        """Return the learner, or what averages its gradients over the processes of a launcher.

        Processes find out once which parameters are used, not in each step: encoders may have some
        that are not used, such as those for the global attention of Longformer.
        """
        if not is_launched():
            return self.learner
        return DistributedDataParallel(self.learner, static_graph=True)

    def _checked(self, loss: float) -> float:
        """Return a loss; raise `DivergedError` if it is infinite or not a number."""
        if not math.isfinite(loss):
            raise DivergedError(
                f"the loss is {loss} after {self.step} steps; a lower learning_rate than "
                f"{self.settings.learning_rate} may help"
            )
        return loss

    def _tell(
        self, loss: float | None = None, figures: Mapping[str, Mapping[str, float]] | None = None
    ) -> None:
        self.listener(Progress(self.seed, self.steps, self.step, len(self.epochs), loss, figures))
