"""The operations of `Toolbox` on PyTorch tensors, on any device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from discotag.inference.arrays import Arrays, Level, Plan

T = TypeVar("T")

MATRIX_LIMIT: Final = 1 << 14
"""Up to this many rows x groups, rows are summed by a matrix product, which is faster."""


class TorchTools:
    """The operations of `Toolbox` on PyTorch tensors; see there."""

    def __init__(self, generator: torch.Generator | None = None) -> None:
        self.generator = generator

    def where(self, condition: Tensor, values: Any, others: Any) -> Tensor:
        return torch.where(condition, values, others)

    def join(self, parts: list[Tensor], axis: int = 0) -> Tensor:
        return torch.cat(parts, axis)

    def move_axis(self, values: Tensor, source: int, target: int) -> Tensor:
        return values.movedim(source, target)

    def exp(self, values: Tensor) -> Tensor:
        return values.exp()

    def max_down(self, values: Tensor) -> Tensor:
        return values.amax(0)

    def argmax_down(self, values: Tensor) -> Tensor:
        return values.argmax(0)

    def take_down(self, values: Tensor, order: Tensor) -> Tensor:
        return values.gather(0, order)

    def order_down(self, values: Tensor) -> Tensor:
        return values.sort(dim=0, descending=True, stable=True).indices

    def log_sum(self, values: Tensor, axis: int) -> Tensor:
        return values.logsumexp(axis)

    def softmax_down(self, values: Tensor) -> tuple[Tensor, Tensor]:
        logs = values.log_softmax(0)
        return logs.exp(), logs

    def shares(self, values: Tensor, axis: int) -> Tensor:
        return values.softmax(axis).nan_to_num_(0.0)

    def adder(self, groups: Tensor, number: int) -> Callable[[Tensor], Tensor]:
        groups = groups.reshape(-1)
        if len(groups) * number <= MATRIX_LIMIT:
            member = torch.nn.functional.one_hot(groups, number).T
            return lambda values: member.to(values.dtype) @ values

        def add(values: Tensor) -> Tensor:
            sums = values.new_zeros(*values.shape[:-2], number, values.shape[-1])
            return sums.index_add_(-2, groups, values)

        return add

    def placed(self, values: Tensor, rows: Tensor, number: int) -> Tensor:
        zeros = values.new_zeros(number, *values.shape[1:])
        zeros[rows] = values
        return zeros

    def picked(self, scores: Tensor, rows: Tensor, words: Tensor, tags: Tensor) -> Tensor:
        # The gradient of indexing sorts the indices first; that of `index_select` is one sum.
        _, most, kinds = scores.shape
        return scores.flatten().index_select(0, (rows * most + words) * kinds + tags)

    def grouped_sum(self, values: Tensor, group: Tensor, number: int) -> Tensor:
        return values.new_zeros(number).index_add(0, group, values)

    def grouped_log_sum(self, values: Tensor, group: Tensor, number: int) -> Tensor:
        fixed = values.detach()
        best = fixed.new_full((number,), -torch.inf).scatter_reduce(0, group, fixed, "amax")
        shift = torch.where(best == -torch.inf, 0.0, best)
        sums = values.new_zeros(number).index_add(0, group, (values - shift[group]).exp())
        # If no alternative is possible, the loss is infinite; its gradient is 0 rather than NaN.
        logs = sums.clamp_min(torch.finfo(sums.dtype).tiny).log()
        return torch.where(sums > 0, logs, -torch.inf) + shift

    def grouped_highest(self, values: Tensor, group: Tensor, number: int) -> Tensor:
        fixed = values.detach()
        best = fixed.new_full((number,), -torch.inf).scatter_reduce(0, group, fixed, "amax")
        place = torch.arange(len(values), device=values.device)
        rivals = torch.where(fixed == best[group], place, len(values))
        first = rivals.new_full((number,), len(values)).scatter_reduce(0, group, rivals, "amin")
        return values[first.clamp_max(len(values) - 1)]  # NaN equals no value

    def counting(self, number: int, like: Tensor) -> Tensor:
        return torch.arange(number, device=like.device)

    def repeated(self, values: Tensor, times: int) -> Tensor:
        return values.repeat_interleave(times, 0)

    def indices(self, values: npt.NDArray[Any] | Tensor, like: Tensor) -> Tensor:
        if not isinstance(values, Tensor):
            values = torch.from_numpy(values)
        return to_device(values, like.device)

    def local(self, compiled: T, like: Tensor) -> T:
        return cast(T, moved(compiled, like.device))

    def filled(self, shape: tuple[int, ...], value: float, like: Tensor) -> Tensor:
        return like.new_full(shape, value)

    def levelled(self, scores: Tensor, *, double: bool = False) -> Tensor:
        kind = torch.promote_types(scores.dtype, torch.float64 if double else torch.float32)
        if not scores.numel():
            return scores.to(kind)
        highest = scores.detach().amax(2, keepdim=True)
        return scores.to(kind) - torch.where(highest.isfinite(), highest, 0.0)

    def prepared(self, scores: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor | None]:
        kind = torch.promote_types(scores.dtype, torch.float32)
        columns = scores.to(kind).permute(1, 2, 0)
        words, _, batch = columns.shape
        extra = columns.new_zeros(words, 2, batch)
        extra[:, 0] = -torch.inf
        ready = torch.cat([columns, extra], 1)
        if weights is None:
            return ready, None
        return ready, torch.cat([weights.to(kind), weights.new_zeros(1, dtype=kind)])

    def ends(self, arrays: Arrays, ready: Tensor) -> Tensor:
        return self._columns(arrays.final, ready)

    def beginnings(self, arrays: Arrays, ready: Tensor) -> Tensor:
        return self._columns(self.counting(arrays.states, ready) == arrays.start, ready)

    def _columns(self, allowed: Any, ready: Tensor) -> Tensor:
        column = torch.zeros(len(allowed), dtype=ready.dtype, device=ready.device)
        return column.masked_fill(~allowed, -torch.inf)[:, None].repeat(1, ready.shape[2])

    def padded_ranks(self, values: Tensor, k: int) -> Tensor:
        padded = values.new_full((*values.shape, k), -torch.inf)
        padded[..., 0] = values
        return padded

    def stacked(self, rows: list[Tensor], like: Tensor) -> Tensor:
        return torch.stack(rows, 1) if rows else like.new_empty(len(like), 0)

    def stacked_words(self, values: list[Tensor]) -> Tensor:
        return torch.stack(values)

    def noise(self, like: Tensor) -> Tensor:
        drawn = torch.empty_like(like).exponential_(generator=self.generator)
        return -drawn.log()


def to_device(values: Tensor, device: torch.device) -> Tensor:
    """Copy a tensor to a device without waiting for the device."""
    if device.type != "cuda" or values.is_cuda:
        return values.to(device)
    pinned = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    pinned.numpy()[...] = values.numpy()  # `pin_memory` wakes all threads of PyTorch, for little
    return pinned.to(device, non_blocking=True)


@lru_cache(maxsize=256)
def moved(compiled: T, device: torch.device) -> T:
    """Return a compiled grammar with its arrays as tensors on a device."""
    # The result is cached, so it must be usable outside inference mode too.
    with torch.inference_mode(False):
        return cast(T, _moved(compiled, device))


def _moved(value: Any, device: torch.device) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value).to(device)
    if is_dataclass(value) and not isinstance(value, type):
        changes = {each.name: _moved(getattr(value, each.name), device) for each in fields(value)}
        return replace(value, **changes)
    if isinstance(value, Level | Plan):
        return type(value)(*(_moved(each, device) for each in value))
    if isinstance(value, tuple):
        return tuple(_moved(each, device) for each in value)
    return value
