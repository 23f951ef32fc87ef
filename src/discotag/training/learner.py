"""A network with its loss: what the trainer trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor, nn

from discotag.mentions import Mention
from discotag.model.network import Network


class Learner(nn.Module):
    """Batches in, their loss out.

    The loss of a sentence is that of the objective. With teachers it is mixed with the
    cross-entropy of their distribution q and the network's p over tag sequences. As p is a product
    of scores of words over the partition, only q's marginals of tags are needed:

        H(q, p) = log Z - sum over words and tags of q(word, tag) * score(word, tag)

    Args:
        network: Gives the scores.
        objective: One of `discotag.model.objectives.OBJECTIVES`.
        distil_weight: The share of the teachers in the loss of a sentence that has gold mentions;
            of others it is all.
    """

    def __init__(self, network: Network, objective: str, distil_weight: float) -> None:
        super().__init__()
        self.network = network
        self.objective = objective
        self.distil_weight = distil_weight

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        windows: Tensor,
        positions: Tensor,
        mask: Tensor,
        mentions: Sequence[frozenset[Mention]],
        known_slots: Sequence[Mapping[int, int]],
        divisor: float,
        teacher: Tensor | None = None,
        labelled: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """The loss of a batch that `Batches` made, under the key the trainer looks for."""
        layer = self.network.layer
        scores = self.network(input_ids, attention_mask, windows, positions, mask).float()
        known = known_slots if self.objective.startswith("weakly") else None
        losses = layer.loss(
            scores, mentions, mask, objective=self.objective, reduction="none", known_slots=known
        )
        if teacher is not None and labelled is not None:
            expected = (teacher.float() * scores).sum((1, 2))
            cross_entropy = layer.log_partition(scores, mask) - expected
            losses = losses.where(labelled, cross_entropy).lerp(cross_entropy, self.distil_weight)
        return {"loss": losses.sum() / divisor}
