"""The objectives of training: the score of the gold mentions, to compare with the log-partition."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from discotag.inference.gold import GoldBatch

OBJECTIVES: Final = ("nll", "soft_em", "hard_em", "weakly_soft_em", "weakly_hard_em")
"""The losses of the paper. Weakly: what is known of slots leaves out namings."""


def gold_scores(
    batch: GoldBatch,
    order: Tensor | None,
    scores: Tensor,
    weights: Tensor | None,
    objective: str,
) -> Tensor:
    """The score that an objective gives to the gold mentions of each sentence, (batch,).

    `nll`: of the one tagging. Soft EM: the log-sum over all namings of the slots. Hard EM: of the
    best naming, which is held constant.

    Args:
        batch: The gold taggings.
        order: (batch, words): the position of each word, where a mask leaves some out.
        scores: (batch, words, tags).
        weights: Of arcs, or None.
        objective: One of `OBJECTIVES`.
    """
    kind = torch.promote_types(scores.dtype, torch.float32)
    row, gold, group_row = batch
    device = scores.device
    rows, words, tags, arcs, alternative, group, group_rows = (
        torch.from_numpy(indices).to(device, non_blocking=True)
        for indices in (row, gold.word, gold.tag, gold.arc, gold.alternative, gold.group, group_row)
    )
    positions = words if order is None else order[rows, words]
    entries = scores[rows, positions, tags].to(kind)
    if weights is not None:
        entries = entries + weights[arcs].to(kind)
    by_alternative = entries.new_zeros(len(group)).index_add(0, alternative, entries)
    if "hard" in objective:
        by_group = _highest(by_alternative, group, len(group_rows))
    else:
        by_group = _log_sums(by_alternative, group, len(group_rows))
    return by_group.new_zeros(len(scores)).index_add(0, group_rows, by_group)


def _highest(values: Tensor, group: Tensor, number: int) -> Tensor:
    """The highest value of each group; of equal ones the first, which alone gets the gradient."""
    fixed = values.detach()
    best = fixed.new_full((number,), -torch.inf).scatter_reduce(0, group, fixed, "amax")
    place = torch.arange(len(values), device=values.device)
    rivals = torch.where(fixed == best[group], place, len(values))
    first = rivals.new_full((number,), len(values)).scatter_reduce(0, group, rivals, "amin")
    return values[first.clamp_max(len(values) - 1)]  # NaN has no place


def _log_sums(values: Tensor, group: Tensor, number: int) -> Tensor:
    """The log-sum of the values of each group; -inf where all are."""
    fixed = values.detach()
    best = fixed.new_full((number,), -torch.inf).scatter_reduce(0, group, fixed, "amax")
    shift = torch.where(best == -torch.inf, 0.0, best)
    sums = values.new_zeros(number).index_add(0, group, (values - shift[group]).exp())
    # Where nothing is possible the loss is infinite, and its gradient nothing rather than NaN.
    return (
        torch.where(sums > 0, sums.clamp_min(torch.finfo(sums.dtype).tiny).log(), -torch.inf)
        + shift
    )
