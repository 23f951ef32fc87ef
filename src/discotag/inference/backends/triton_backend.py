"""Inference by Triton kernels that read the grammar from tables."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import triton
from torch import Tensor

from discotag.automata import Automaton
from discotag.inference.arrays import compile_grammar
from discotag.inference.backends.triton_kernels import best_kernel, k_best_kernel, sum_kernel

MOST_RANKS: Final = 32
"""The most tag sequences that `k_best` finds by a kernel; its work grows with their square."""

RANKED_CELLS: Final = 4096
"""The values that a program of `k_best` sorts together: 32 for each of its threads."""

BLOCK: Final = 128
"""The number of lanes of a program, each of which computes a state."""

WARP: Final = 32
"""The number of lanes of a warp."""


def applies(grammar: Automaton) -> bool:
    """Return whether the kernels support this grammar."""
    # States without arcs, which only the empty language has, are not supported.
    return all(grammar.steps)


class Tables(NamedTuple):
    """A grammar as the tables of `triton_kernels`.

    Attributes:
        levels: For each level, its first entry, its first state, and its number of places and of
            states.
        source, tag, state, final: The tables.
        fan_tag, fan_target: For each place and state, as in `Arrays`.
    """

    states: int
    tags: int
    start: int
    levels: tuple[tuple[int, int, int, int], ...]
    source: Tensor
    tag: Tensor
    state: Tensor
    final: Tensor
    fan_tag: Tensor
    fan_target: Tensor


@lru_cache(maxsize=64)
def tables(grammar: Automaton, device: torch.device) -> Tables:
    """Return the tables of a grammar, on a device."""
    arrays = compile_grammar(grammar)
    plan = arrays.plan
    # Rows, numbered through old values and levels, to states.
    state_of_row = np.empty(arrays.states + len(plan.result), dtype=np.int64)
    state_of_row[: arrays.states] = np.arange(arrays.states)
    state_of_row[plan.result] = arrays.states + np.arange(arrays.states)
    levels, entry, row = [], 0, arrays.states
    for level in plan.levels:
        places, states = level.tag.shape
        levels.append((entry, row - arrays.states, places, states))
        entry += places * states
        row += states

    def table(values: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(values.astype(np.int32)).to(device)

    return Tables(
        arrays.states,
        arrays.tags,
        arrays.start,
        tuple(levels),
        table(np.concatenate([state_of_row[level.source].ravel() for level in plan.levels])),
        table(np.concatenate([level.tag.ravel() for level in plan.levels])),
        table(state_of_row[arrays.states :] - arrays.states),
        table(arrays.final),
        table(arrays.fan_tag),
        table(arrays.fan_target),
    )


def best_tags(grammar: Automaton, scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the best tag sequences and their scores; see `algorithms.best_tags`."""
    batch, words, _ = scores.shape
    table = tables(grammar, scores.device)
    values = scores.new_empty(batch, words + 1, table.states, dtype=torch.float32)
    tags = scores.new_empty(batch, words, dtype=torch.int64)
    best = scores.new_empty(batch, dtype=torch.float32)
    places = len(table.fan_tag)
    sizes = (len(table.levels), places, triton.next_power_of_2(places), mask is not None, BLOCK)
    _launch(best_kernel, scores, mask, (values, tags, best, *table[4:]), (*table[:4], *sizes))
    return tags, best


def log_partition(grammar: Automaton, scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return the log-partition; see `algorithms.log_partition`."""
    return _sums(grammar, scores, mask, marginals=False)[1]


def marginals(grammar: Automaton, scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the marginals and the log-partition; see `algorithms.marginals`."""
    return _sums(grammar, scores, mask, marginals=True)


def _sums(
    grammar: Automaton, scores: Tensor, mask: Tensor | None, *, marginals: bool
) -> tuple[Tensor, Tensor]:
    """Return the marginals, or an empty tensor, and the log-partition."""
    batch, words, tags = scores.shape
    table = tables(grammar, scores.device)
    values = scores.new_empty(batch, words + 1, table.states, dtype=torch.float32)
    total = scores.new_empty(batch, dtype=torch.float32)
    pools = scores.new_empty((batch, 2, table.states) if marginals else 0, dtype=torch.float32)
    found = scores.new_zeros((batch, words, tags) if marginals else 0, dtype=torch.float32)
    outputs = (values, total, pools, found, *table[4:8])
    sizes = (len(table.levels), marginals, mask is not None, BLOCK)
    _launch(sum_kernel, scores, mask, outputs, (*table[:4], *sizes))
    return found, total


def k_best(
    grammar: Automaton, scores: Tensor, mask: Tensor | None, k: int
) -> tuple[Tensor, Tensor]:
    """Return the k best tag sequences and their scores; see `algorithms.k_best`."""
    batch, words, _ = scores.shape
    table = tables(grammar, scores.device)
    ranks = triton.next_power_of_2(k)
    places = len(table.fan_tag)
    width = triton.next_power_of_2(places)
    block = min(triton.next_power_of_2(table.states), max(1, RANKED_CELLS // (width * ranks)))
    values = scores.new_empty(batch, words + 1, table.states, ranks, dtype=torch.float32)
    choices = scores.new_empty(batch, words, table.states, ranks, dtype=torch.int32)
    tags = scores.new_empty(batch, ranks, words, dtype=torch.int64)
    outputs = (values, choices, tags, table.fan_tag, table.fan_target, table.final)
    sizes = (places, width, mask is not None, ranks, block)
    _launch(k_best_kernel, scores, mask, outputs, (*table[:3], *sizes))
    return tags[:, :k], values[:, 0, table.start, :k]


def _launch(
    kernel: Any,
    scores: Tensor,
    mask: Tensor | None,
    tensors: tuple[Tensor, ...],
    constants: tuple[Any, ...],
) -> None:
    """Run a kernel, one program for each sentence.

    Compiled kernels are cached here, which is faster than Triton's own lookup.

    Args:
        kernel: The kernel.
        scores: (batch, words, tags).
        mask: (batch, words), or None.
        tensors: The other tensors that it reads and writes.
        constants: Its constants.
    """
    batch, words, tags = scores.shape
    scores = scores.detach()
    if scores.stride()[1:] != (tags, 1):
        scores = scores.contiguous()
    # Without a mask, kernels do not read the tensor that takes its place.
    shown, steps = (scores, (0, 0)) if mask is None else (mask.view(torch.uint8), mask.stride())
    numbers = (words, scores.stride(0))
    # Triton compiles another version for addresses that are not multiples of 16. New tensors are
    # always aligned, so only the scores and the mask matter.
    aligned = (scores.data_ptr() % 16 == 0, shown.data_ptr() % 16 == 0)
    short = max(numbers) < 1 << 31
    version = (kernel.__name__, scores.dtype, constants, aligned, short, scores.device)
    given = (scores, shown, *steps, *tensors, *numbers, *constants)
    compiled = _compiled.get(version)
    if compiled is not None:
        compiled[(batch, 1, 1)](*given)
    else:
        # Triton's interpreter returns None, which is cached but never used.
        _compiled[version] = kernel[(batch,)](*given, num_warps=BLOCK // WARP)


_compiled: dict[tuple[object, ...], Any] = {}
