"""How good a network is on sentences whose mentions are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import numpy as np
import torch
from torch import Tensor

from discotag.evaluation import Scores, score
from discotag.mentions import Mention, Sentence
from discotag.model.decoding import read_mentions
from discotag.model.network import Network
from discotag.model.pieces import Encoded, collate

SUBWORDS_AT_ONCE: Final = 1 << 14
"""Of a batch without gradients: enough to fill a GPU, and 1 GB at most in a base encoder."""

Batch = tuple[list[int], dict[str, Tensor]]
T = TypeVar("T")


class Examined:
    """Sentences made ready once, to be looked at after each epoch.

    Args:
        network: Whose subwords they are cut into.
        sentences: With their gold mentions.
    """

    def __init__(self, network: Network, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        encoded = network.pieces.encode([each.words for each in sentences])
        self.batches = list(_batches(encoded, network.pieces.pad_id))

    def predict(self, network: Network, *, bf16: bool = False) -> list[frozenset[Mention]]:
        """The most probable mentions of each sentence, as a `Tagger` gives them."""
        found: list[frozenset[Mention]] = [frozenset()] * len(self.sentences)
        for numbers, rows in self.over_scores(network, network.layer.decode, bf16):
            for number, tags in zip(numbers, rows.tolist(), strict=True):
                words = len(self.sentences[number].words)
                found[number] = frozenset(read_mentions(network.layer.scheme, tags[:words]))
        return found

    def score(self, network: Network, *, bf16: bool = False) -> Scores:
        """Predict and compare with the gold mentions."""
        return score(self.sentences, self.predict(network, bf16=bf16))

    def over_scores(
        self, network: Network, work: Callable[[Tensor, Tensor], T], bf16: bool
    ) -> Iterator[tuple[list[int], T]]:
        """What `work` gives for scores and mask of each batch, with its sentences' numbers."""
        device = next(network.parameters()).device
        before = network.training
        network.eval()
        for numbers, arrays in self.batches:
            batch = {name: each.to(device, non_blocking=True) for name, each in arrays.items()}
            with (
                torch.inference_mode(),
                torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16),
            ):
                done = work(network(**batch), batch["mask"])
            yield numbers, done
        network.train(before)


def _batches(encoded: Sequence[Encoded], pad_id: int) -> Iterator[Batch]:
    """Sentences of like length together, in batches of bounded size; those without words not."""
    sizes = np.array([each.size for each in encoded])
    order = [int(n) for n in np.argsort(sizes, kind="stable") if len(encoded[n].places)]
    start = 0
    while start < len(order):
        end = start + 1
        # Sorted upwards, so the sentence at hand is the longest of its batch.
        while end < len(order) and sizes[order[end]] * (end + 1 - start) <= SUBWORDS_AT_ONCE:
            end += 1
        numbers = order[start:end]
        arrays = collate([encoded[number] for number in numbers], pad_id)
        yield numbers, {name: torch.from_numpy(each) for name, each in arrays.items()}
        start = end


def as_data(scores: Scores) -> dict[str, dict[str, float]]:
    """The figures of the three slices, labels counted together."""
    return {
        name: {
            "precision": each.micro.precision,
            "recall": each.micro.recall,
            "f1": each.micro.f1,
            "gold": each.micro.gold,
            "predicted": each.micro.predicted,
            "correct": each.micro.correct,
        }
        for name, each in scores.slices()
    }
