"""Inference by Triton kernels, of two kinds.

Small grammars are unrolled into the code of a kernel: each thread handles a sentence, holds the
values of all states in registers and reads each score once. Larger grammars are read from tables:
each program handles a sentence, and each of its threads a state.
"""

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
from discotag.inference.backends.triton_kernels import best_kernel, sum_kernel
from discotag.inference.backends.triton_table_kernels import (
    best_table_kernel,
    k_best_table_kernel,
    sum_table_kernel,
)

MOST_ARCS = {"best": 100, "sum": 100}
"""The most arcs of a grammar that is unrolled. With more, kernels take from 15 seconds to minutes
to compile; those that read tables take one second, and are as fast for best tags. On an H200, with
136 arcs, they take 0.7 instead of 0.15 ms for marginals, much less than the encoder."""

MOST_RANKS: Final = 32
"""The most tag sequences that `k_best` finds by a kernel; its work grows with their square."""

RANKED_CELLS: Final = 4096
"""The values that a program of `k_best` sorts together: 32 for each of its threads."""

TABLE_BLOCK: Final = 128
"""The number of lanes of a program that reads the grammar from tables."""

BLOCK: Final = 32
"""The sentences of a program: one warp, so that even a small batch uses many processors."""

GROUP: Final = 4
"""The number of words whose scores are loaded together, four values per access, while the group
before is computed: a single warp would otherwise wait for memory."""

GROUPED_TAGS: Final = 16
"""The most tags for which words are grouped: scores of more would not fit into registers."""

WITH_MARGINALS: Final = (True,)
"""The options of `sum_kernel` for marginals. It takes long to compile, so words are not grouped."""

GROUPED_ARCS: Final = {"best": 200, "sum": 64}
"""The most arcs for which words are grouped. With more, the code takes long to compile and is not
faster: computing one word takes as long as loading the next."""


class Unrolled(NamedTuple):
    """A grammar as the constants of a kernel.

    Attributes:
        first: For each state, the index of its first arc; then the number of arcs.
        tag, target: For each arc, sorted by source state, then by tag.
        final: For each state, 1 if a sequence may end there, else 0.
        width: The largest number of arcs that leave a state.
        bits: The number of bits for the place of an arc in its fan.
    """

    states: int
    tags: int
    start: int
    first: tuple[int, ...]
    tag: tuple[int, ...]
    target: tuple[int, ...]
    final: tuple[int, ...]
    width: int
    bits: int


@lru_cache(maxsize=64)
def unrolled(grammar: Automaton) -> Unrolled:
    """Return a grammar as the constants of an unrolled kernel."""
    arrays = compile_grammar(grammar)
    sizes = [int((arrays.source == state).sum()) for state in range(arrays.states)]
    first = [sum(sizes[:state]) for state in range(arrays.states + 1)]
    return Unrolled(
        arrays.states,
        arrays.tags,
        arrays.start,
        tuple(first),
        tuple(map(int, arrays.tag)),
        tuple(map(int, arrays.target)),
        tuple(map(int, arrays.final)),
        max(sizes),
        max(1, (max(sizes) - 1).bit_length()),
    )


def applies(grammar: Automaton) -> bool:
    """Return whether the kernels support this grammar."""
    # States without arcs, which only the empty language has, are not supported.
    return all(grammar.steps)


def _is_small(grammar: Automaton, work: str) -> bool:
    return len(grammar.arcs) <= MOST_ARCS[work]


class Tables(NamedTuple):
    """A grammar as the tables of `triton_table_kernels`.

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
    if not _is_small(grammar, "best"):
        return _best_by_tables(grammar, scores, mask)
    constants = unrolled(grammar)
    per_chunk = 32 // constants.bits
    chunks = -(-constants.states // per_chunk)
    pointers = scores.new_empty(words, chunks, batch, dtype=torch.int32)
    tags = scores.new_empty(words, batch, dtype=torch.int64)
    best = scores.new_empty(batch, dtype=torch.float32)
    outputs = (pointers, tags, best, *_fans(grammar, scores.device))
    _launch("best", constants, scores, mask, outputs, (constants.bits, per_chunk, chunks))
    return tags.T, best


def log_partition(grammar: Automaton, scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return the log-partition; see `algorithms.log_partition`."""
    if not _is_small(grammar, "sum"):
        return _sum_by_tables(grammar, scores, mask, marginals=False)[1]
    total = scores.new_empty(len(scores), dtype=torch.float32)
    outputs = (total, total, total)  # without marginals, only one of them is written
    _launch("sum", unrolled(grammar), scores, mask, outputs, (False,))
    return total


def marginals(grammar: Automaton, scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the marginals and the log-partition; see `algorithms.marginals`."""
    if not _is_small(grammar, "sum"):
        return _sum_by_tables(grammar, scores, mask, marginals=True)
    batch, words, tags = scores.shape
    constants = unrolled(grammar)
    after = scores.new_empty(words, constants.states, batch, dtype=torch.float32)
    total = scores.new_empty(batch, dtype=torch.float32)
    found = scores.new_empty(batch, words, tags, dtype=torch.float32)
    _launch("sum", constants, scores, mask, (after, total, found), WITH_MARGINALS)
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
    scores = _packed(scores)
    sizes = (places, width, mask is not None, ranks, block)
    _run(
        k_best_table_kernel,
        ("k best", table[:3], scores.dtype, sizes),
        batch,
        TABLE_BLOCK // 32,
        (
            scores, *_mask_arguments(scores, mask), values, choices, tags,
            table.fan_tag, table.fan_target, table.final,
        ),
        (words, scores.stride(0)),
        (*table[:3], *sizes),
    )  # fmt: skip
    return tags[:, :k], values[:, 0, table.start, :k]


def _best_by_tables(
    grammar: Automaton, scores: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    batch, words, _ = scores.shape
    table = tables(grammar, scores.device)
    values = scores.new_empty(batch, words + 1, table.states, dtype=torch.float32)
    tags = scores.new_empty(batch, words, dtype=torch.int64)
    best = scores.new_empty(batch, dtype=torch.float32)
    scores = _packed(scores)
    places = len(table.fan_tag)
    sizes = (len(table.levels), places, triton.next_power_of_2(places), mask is not None)
    _run(
        best_table_kernel,
        ("best", table[:4], scores.dtype, sizes),
        batch,
        TABLE_BLOCK // 32,
        (scores, *_mask_arguments(scores, mask), values, tags, best, *table[4:]),
        (words, scores.stride(0)),
        (*table[:4], *sizes, TABLE_BLOCK),
    )
    return tags, best


def _sum_by_tables(
    grammar: Automaton, scores: Tensor, mask: Tensor | None, *, marginals: bool
) -> tuple[Tensor, Tensor]:
    batch, words, tags = scores.shape
    table = tables(grammar, scores.device)
    values = scores.new_empty(batch, words + 1, table.states, dtype=torch.float32)
    total = scores.new_empty(batch, dtype=torch.float32)
    pools = scores.new_empty((batch, 2, table.states) if marginals else 0, dtype=torch.float32)
    found = scores.new_zeros((batch, words, tags) if marginals else 0, dtype=torch.float32)
    scores = _packed(scores)
    sizes = (len(table.levels), marginals, mask is not None)
    _run(
        sum_table_kernel,
        ("sum", table[:4], scores.dtype, sizes),
        batch,
        TABLE_BLOCK // 32,
        (scores, *_mask_arguments(scores, mask), values, total, pools, found, *table[4:8]),
        (words, scores.stride(0)),
        (*table[:4], *sizes, TABLE_BLOCK),
    )
    return found, total


def _packed(scores: Tensor) -> Tensor:
    """Return scores of which those of each sentence are contiguous."""
    scores = scores.detach()
    return scores if scores.stride()[1:] == (scores.shape[2], 1) else scores.contiguous()


def _mask_arguments(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, int, int]:
    """Return the mask and its strides; without a mask, a tensor that the kernels do not read."""
    if mask is None:
        return scores, 0, 0
    row, word = mask.stride()
    return mask.view(torch.uint8), row, word


def _launch(
    work: str,
    constants: Unrolled,
    scores: Tensor,
    mask: Tensor | None,
    outputs: tuple[Tensor, ...],
    options: tuple[int, ...],
) -> None:
    """Run an unrolled kernel on every block of sentences."""
    batch, words, tags = scores.shape
    scores = _packed(scores)
    stride = scores.stride(0)
    aligned = stride % 4 == 0
    large = tags > GROUPED_TAGS or len(constants.tag) > GROUPED_ARCS[work]
    group = 1 if large or options == WITH_MARGINALS else GROUP
    flags = (group, aligned, mask is not None, words % group != 0)
    _run(
        best_kernel if work == "best" else sum_kernel,
        (work, constants, scores.dtype, flags, options),
        -(-batch // BLOCK),
        1,
        (scores, *_mask_arguments(scores, mask), *outputs),
        (batch, words, stride // 4 if aligned else stride),
        (*constants[:8], len(constants.tag), *flags, *options, BLOCK),
    )


def _run(
    kernel: Any,
    version: tuple[object, ...],
    programs: int,
    warps: int,
    tensors: tuple[Any, ...],
    numbers: tuple[int, ...],
    constants: tuple[Any, ...],
) -> None:
    """Launch a kernel; compiled ones are cached here, which is faster than Triton's own lookup."""
    # Triton compiles another version for addresses that are not multiples of 16. New tensors are
    # always aligned, so only the scores and the mask matter.
    scores, mask, *_ = tensors
    aligned = (scores.data_ptr() % 16 == 0, mask.data_ptr() % 16 == 0)
    key = (version, aligned, max(numbers) < 1 << 31, scores.device)
    compiled = _compiled.get(key)
    if compiled is not None:
        compiled[(programs, 1, 1)](*tensors, *numbers, *constants)
    else:
        # Triton's interpreter returns None, which is cached but never used.
        _compiled[key] = kernel[(programs,)](*tensors, *numbers, *constants, num_warps=warps)


_compiled: dict[tuple[object, ...], Any] = {}


@lru_cache(maxsize=64)
def _fans(grammar: Automaton, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the tags and the targets of arcs, each (places, states), padded with 0."""
    arrays = compile_grammar(grammar)
    tag = arrays.fan_tag % arrays.tags
    return tuple(  # type: ignore[return-value]
        torch.from_numpy(table).to(device, torch.int32).contiguous()
        for table in (tag, arrays.fan_target)
    )
