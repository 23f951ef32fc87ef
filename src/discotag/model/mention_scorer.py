"""The mention scorer: a small network that judges one candidate at a time."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from discotag.inference.backends.torch_tools import to_device
from discotag.model.candidates import COUNTS, Bag, Candidates


class MentionScorer(nn.Module):
    """Scores candidates for mentions by the encoder's vectors of the words in and around them.

    A tag depends on its neighbours only through the grammar; the scorer sees a whole mention, its
    gaps included. It has one hidden layer.

    Args:
        size: The size of the encoder's vectors.
        labels: The number of labels.
        hidden: The size of the hidden layer.
        dropout: Dropout of its inputs and of the hidden layer.
    """

    def __init__(self, size: int, labels: int, hidden: int, dropout: float = 0.3) -> None:
        super().__init__()
        self.labels = labels
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Linear(len(Bag) * size + COUNTS + labels, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, vectors: Tensor, candidates: Candidates) -> Tensor:
        """Return the log-odds that each candidate is a mention, (candidates,), in float32.

        Args:
            vectors: The encoder's vectors of all words of a batch, (words, size).
            candidates: The candidates, whose words are indices into them.
        """
        words, offsets, counts, labels = _on_device(candidates, vectors.device)
        with torch.autocast(vectors.device.type, enabled=False):
            pooled = nn.functional.embedding_bag(words, vectors.float(), offsets, mode="mean")
            kinds = nn.functional.one_hot(labels, self.labels).float()
            given = torch.cat(
                [pooled.view(len(kinds), len(Bag) * vectors.shape[-1]), counts, kinds], 1
            )
            hidden = nn.functional.gelu(self.hidden(self.dropout(given)))
            scores: Tensor = self.out(self.dropout(hidden)).squeeze(1)
        return scores


def _on_device(candidates: Candidates, device: torch.device) -> tuple[Tensor, ...]:
    """Return the arrays of candidates as tensors on a device, by few copies.

    The host does not wait for them, as it would if the arrays were copied without `to_device`.
    """
    words, offsets, counts, labels = candidates
    indices = to_device(torch.from_numpy(np.concatenate([words, offsets, labels])), device)
    parts = torch.split(indices, [len(words), len(offsets), len(labels)])
    return parts[0], parts[1], to_device(torch.from_numpy(counts), device), parts[2]
