"""Seconds per step of training, beside those of the encoder alone.

    python benchmarks/training.py [CORPUS] [--size mpnet] [--device cuda] [--steps 200]

CORPUS is a file of JSON lines with mentions; without it, sentences are made up. The encoder has the
size that is asked for and random weights. In one process, epoch by epoch in turn and after an epoch
of warm-up:

encoder      the encoder's own forward pass, backward pass, clipping and AdamW update, on batches
             that are on the device already
training     an epoch of discotag's trainer, as `discotag train` runs it; with adversarial training,
             a step has two passes
evaluation   the evaluation on development data after the epoch, a fifth as many sentences
checkpoint   writing the checkpoint after the evaluation

Prints a table and writes benchmarks/results/training-DEVICE.json. With `--profile`, prints which
Python functions the time of the training steps goes to.
"""

from __future__ import annotations

import argparse
import copy
import cProfile
import json
import os
import pstats
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import (
    BertConfig,
    BertModel,
    MPNetConfig,
    MPNetModel,
    PreTrainedModel,
    TrainerCallback,
)

from discotag import Sentence
from discotag.model.config import ModelConfig
from discotag.model.encoder import speed_up, trainable_attention
from discotag.model.files import BUNDLED
from discotag.model.network import Network
from discotag.training.batching import encode_batch
from discotag.training.data import read_sentences
from discotag.training.examples import make_examples
from discotag.training.preparation import choose
from discotag.training.settings import PRESETS, Settings, make_settings
from discotag.training.trainer import TaggerTrainer, make_trainer, uses_bf16
from machine import machine
from made_up_posts import made_up_posts

RESULTS = Path(__file__).parent / "results"
DEV_SHARE = 0.2
"""The number of sentences of development data, as a share of those of training data, in CADEC."""


def make_encoder(size: str) -> PreTrainedModel:
    """Return an encoder of the size of a well-known one, with random weights."""
    torch.manual_seed(0)
    if size == "mpnet":  # all-mpnet-base-v2
        return MPNetModel(MPNetConfig(), add_pooling_layer=False)
    config = {  # all-MiniLM-L6-v2, and one so small that the host's time is all that counts
        "minilm": BertConfig(
            hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
        ),
        "tiny": BertConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
        ),
    }[size]
    return BertModel(config, add_pooling_layer=False)


def read(corpus: Path | None, number: int) -> list[Sentence]:
    """Return a number of sentences of a corpus, repeated if there are too few, or made-up ones."""
    if corpus is None:
        documents = made_up_posts(number, seed=1)
        sentences = [each for document in documents for each in document.sentences]
        sentences = [Sentence(each.words, each.mentions) for each in sentences]
    else:
        sentences = read_sentences(corpus)
    return (sentences * -(-number // len(sentences)))[:number]


class EncoderAlone:
    """The least that a step of training can be: one pass of the encoder, without tags and a loss.

    Args:
        network: A network whose encoder is trained.
        trainer: The trainer whose batches and precision are used.
    """

    def __init__(self, network: Network, trainer: TaggerTrainer) -> None:
        arguments = trainer.args
        self.device = arguments.device
        self.network = network.to(self.device).train()
        self.norm = arguments.max_grad_norm
        self.bf16 = arguments.bf16
        self.parameters = list(network.encoder.parameters())
        self.optimizer = torch.optim.AdamW(self.parameters, lr=1e-6, fused=True)
        self.batches: list[dict[str, Any]] = [batch.to(self.device) for batch in trainer.loader]

    def epoch(self) -> None:
        """Train on all batches once, with one pass for each."""
        for batch in self.batches:
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
                found = encode_batch(self.network, batch)
            found.float().square().mean().backward()
            nn.utils.clip_grad_norm_(self.parameters, self.norm)
            self.optimizer.step()
            self.optimizer.zero_grad()


class Stopwatch(TrainerCallback):
    """Measures the parts of each epoch, and runs the encoder alone before it.

    Args:
        alone: The encoder alone.
        profile: Is on during training steps, or None.
    """

    def __init__(self, alone: EncoderAlone, profile: cProfile.Profile | None) -> None:
        self.alone = alone
        self.profile = profile
        self.seconds: list[dict[str, float]] = []
        self.last = 0.0

    def lap(self, name: str | None = None) -> None:
        """Wait for the device, and keep the seconds since the last lap under a name."""
        if self.alone.device.type == "cuda":
            torch.cuda.synchronize()
        now = time.perf_counter()
        if name is not None:
            self.seconds[-1][name] = now - self.last
        self.last = now

    def on_epoch_begin(self, *_: Any, **__: Any) -> None:
        """Measure the encoder alone, and begin to measure the training."""
        self.seconds.append({})
        self.lap()
        self.alone.epoch()
        self.lap("encoder")
        if self.profile is not None and len(self.seconds) > 1:
            self.profile.enable()

    def on_epoch_end(self, *_: Any, **__: Any) -> None:
        """Measure the training."""
        if self.profile is not None:
            self.profile.disable()
        self.lap("training")

    def on_evaluate(self, *_: Any, **__: Any) -> None:
        """Measure the evaluation."""
        self.lap("evaluation")

    def on_save(self, *_: Any, **__: Any) -> None:
        """Measure the checkpoint."""
        self.lap("checkpoint")


def measure(
    size: str, sentences: Sequence[Sentence], dev: Sequence[Sentence], given: argparse.Namespace
) -> tuple[Stopwatch, Settings]:
    """Train, and return the stopwatch."""
    labels = sorted({mention.label for each in sentences for mention in each.mentions})
    options = {
        "objective": given.objective,
        "batch_size": given.batch_size,
        "num_train_epochs": given.epochs + 1,
        "learning_rate": 1e-5,
        "labels": tuple(labels),
    }
    settings = make_settings(None, options, given.preset)
    chosen = choose(sentences, settings)
    tokenizer = (BUNDLED / "tokenizer.json").read_text("utf-8")
    config = ModelConfig(chosen.scheme, mention_scorer=settings.mention_scorer)
    encoder = make_encoder(size)
    speed_up(encoder)
    network, other = (
        Network(each, config, tokenizer) for each in (encoder, copy.deepcopy(encoder))
    )
    examples = make_examples(network, chosen.train, settings)
    with tempfile.TemporaryDirectory() as folder:
        trainer = make_trainer(
            network,
            examples,
            dev,
            settings,
            seed=1,
            folder=Path(folder),
            resumable=given.checkpoints,
        )
        network.layer.check = False  # as `fit` does it
        profile = cProfile.Profile() if given.profile else None
        stopwatch = Stopwatch(EncoderAlone(other, trainer), profile)
        trainer.add_callback(stopwatch)
        with trainable_attention():  # as in `fit`
            trainer.train()
        if profile is not None:
            pstats.Stats(profile).sort_stats("tottime").print_stats(45)
    return stopwatch, settings


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path, nargs="?", help="JSON lines with mentions")
    parser.add_argument("--made-up", action="store_true", help="the default without a corpus")
    parser.add_argument("--size", choices=("mpnet", "minilm", "tiny"), default="mpnet")
    parser.add_argument("--device", choices=("cpu", "cuda"))
    parser.add_argument("--steps", type=int, default=200, help="per epoch")
    parser.add_argument("--epochs", type=int, default=5, help="beside one for warm-up")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--objective", default="nll")
    parser.add_argument("--preset", choices=PRESETS, default="best")
    parser.add_argument("--checkpoints", action="store_true", help="also write checkpoints")
    parser.add_argument("--profile", action="store_true", help="print where the host's time goes")
    given = parser.parse_args()
    if given.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the trainer takes a GPU if there is one
    available = "cuda" if torch.cuda.is_available() else "cpu"
    if given.device not in (None, available):
        parser.error("PyTorch finds no GPU")
    number = given.steps * given.batch_size
    sentences = read(None if given.made_up else given.corpus, round(number * (1 + DEV_SHARE)))
    stopwatch, settings = measure(given.size, sentences[:number], sentences[number:], given)
    steps = len(stopwatch.alone.batches)
    epochs = stopwatch.seconds[1:]  # the first is warm-up
    median = {name: statistics.median(each[name] for each in epochs) for name in epochs[0]}
    step = {name: 1000 * seconds / steps for name, seconds in median.items()}
    rows = {"encoder": step["encoder"], "training": step["training"]}
    rows["training, evaluation"] = rows["training"] + step["evaluation"]
    if "checkpoint" in step:
        rows["training, evaluation, checkpoint"] = rows["training, evaluation"] + step["checkpoint"]
    device = torch.cuda.get_device_name() if available == "cuda" else machine()
    print(f"{f'{given.size} on {device}':36} {'ms per step':>12} {'times the encoder':>18}")
    for name, value in rows.items():
        print(f"{name:36} {value:12.2f} {value / rows['encoder']:18.3f}")
    ratios = [each["training"] / each["encoder"] for each in epochs]
    print(f"training over encoder, by epoch: {' '.join(f'{each:.3f}' for each in ratios)}")
    results = {
        "device": device,
        "torch": torch.__version__,
        "size": given.size,
        "bf16": uses_bf16(settings),
        "corpus": "made up" if given.corpus is None or given.made_up else given.corpus.name,
        "objective": given.objective,
        "batch_size": given.batch_size,
        "steps": steps,
        "dev_sentences": len(sentences) - number,
        "milliseconds_per_step": rows,
        "times_the_encoder": {name: value / rows["encoder"] for name, value in rows.items()},
        "ratio_by_epoch": ratios,
        "seconds_by_epoch": epochs,
    }
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"training-{available}.json"
    file.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
