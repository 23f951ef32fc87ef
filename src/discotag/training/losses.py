"""The loss of a training: a sum of terms, each a number for each sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from discotag.inference.gold import Gold, GoldBatch
from discotag.model.network import Network
from discotag.model.objectives import Objective


@dataclass(eq=False)
class Step:
    """What the terms of a loss have to work with.

    Attributes:
        network: The network.
        scores: (batch, words, tags).
        mask: (batch, words).
        batch: All that `Batches` gave.
    """

    network: Network
    scores: Tensor
    mask: Tensor
    batch: Mapping[str, Any]

    @cached_property
    def log_partition(self) -> Tensor:
        """The log-partition of each sentence, (batch,), computed once for all terms."""
        return self.network.layer.log_partition(self.scores, self.mask)

    @cached_property
    def labelled(self) -> Tensor:
        """Whether each sentence has gold mentions, (batch,)."""
        found: Tensor | None = self.batch.get("labelled")
        return self.mask.new_ones(len(self.mask)) if found is None else found


class Term(Protocol):
    """A part of the loss."""

    def __call__(self, step: Step) -> Tensor:
        """Return what it adds to the loss of each sentence, (batch,)."""


class GoldTerm:
    """The loss of an objective, on sentences that have gold mentions.

    Args:
        objective: The objective.
        weight: Its share in the loss.
    """

    def __init__(self, objective: Objective, weight: float = 1.0) -> None:
        self.objective = objective
        self.weight = weight

    def __call__(self, step: Step) -> Tensor:
        """Return the log-partition minus the score of the gold mentions."""
        entries = dict(step.batch["gold"])
        row, group_row = entries.pop("row"), entries.pop("group_row")
        gold = GoldBatch(row, Gold(**entries), group_row)
        scored = step.network.layer.gold_scores(step.scores, gold, self.objective)
        losses = step.log_partition - scored
        return self.weight * torch.where(step.labelled, losses, 0.0)


class TeacherTerm:
    """The cross-entropy of the teachers' distribution q and the network's p over tag sequences.

    As p is a product of scores of words over the partition, only q's marginals of tags are needed:

        H(q, p) = log Z - sum over words and tags of q(word, tag) * score(word, tag)

    Args:
        weight: Its share in the loss of a sentence that has gold mentions; of others it is all.
    """

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def __call__(self, step: Step) -> Tensor:
        """Return the weighted cross-entropy."""
        teacher: Tensor = step.batch["teacher"]
        expected = (teacher.float() * step.scores).sum((1, 2))
        share = torch.where(step.labelled, self.weight, 1.0)
        return share * (step.log_partition - expected)


class Learner(nn.Module):
    """A network with its loss: what the trainer trains.

    Args:
        network: Gives the scores.
        terms: The terms of the loss.
    """

    def __init__(self, network: Network, terms: Sequence[Term]) -> None:
        super().__init__()
        self.network = network
        self.terms = tuple(terms)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        windows: Tensor,
        positions: Tensor,
        mask: Tensor,
        divisor: float,
        **batch: Any,
    ) -> dict[str, Tensor]:
        """Return the loss of a batch that `Batches` made, under the key the trainer looks for."""
        scores = self.network(input_ids, attention_mask, windows, positions, mask)
        # Levelled scores change no difference of log-sums, and leave more digits for it.
        scores = self.network.layer.levelled(scores)
        step = Step(self.network, scores, mask, batch)
        losses: Tensor = sum((term(step) for term in self.terms), scores.new_zeros(len(scores)))
        return {"loss": losses.sum() / divisor}
