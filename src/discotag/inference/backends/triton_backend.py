"""Inference by Triton kernels, of two kinds.

Small grammars are unrolled into the code: one thread a sentence, the values of all states in
registers, each score read once. Larger ones are read from tables: one program a sentence, one
thread a state.
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
from discotag.inference.backends.triton_table_kernels import best_table_kernel, sum_table_kernel

MOST_ARCS = {"best": 320, "sum": 150}
"""Up to so many arcs a kernel is unrolled; beyond, it takes minutes to compile and spills."""

TABLE_BLOCK: Final = 128
"""Lanes of a program that reads the grammar from tables."""

BLOCK: Final = 32
"""Sentences of a program: one warp, so that few sentences still fill many processors."""

GROUP: Final = 4
"""Words whose scores are fetched together, four numbers an access, while those before are worked
on; the time to fetch them is what a lone warp would wait for."""

GROUPED_TAGS: Final = 16
"""With more tags, the scores of a group of words would not fit into registers."""

WITH_MARGINALS: Final = (True,)
"""The option of `sum_kernel`; it takes long to compile, so its words are not grouped."""

GROUPED_ARCS: Final = {"best": 200, "sum": 64}
"""With more arcs, the code for a group of words takes long to compile and gains nothing: the work
on one word is as long as the wait for the next."""


class Unrolled(NamedTuple):
    """A grammar as the constants of a kernel.

    Attributes:
        first: For each state the number of its first arc, and at the end the number of arcs.
        tag, target: For each arc, sorted by state, then by tag.
        final: For each state whether a sequence may end there.
        width: The arcs of the fullest state.
        bits: How many bits the place of an arc in its fan takes.
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
    """The constants of a grammar."""
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
    """Whether there are kernels for this grammar."""
    # A state without arcs, as only an empty language has, is not worth a kernel.
    return all(grammar.steps)


def _is_small(grammar: Automaton, work: str) -> bool:
    return len(grammar.arcs) <= MOST_ARCS[work]


class Tables(NamedTuple):
    """A grammar as the tables of `triton_table_kernels`.

    Attributes:
        levels: For each level its first entry, its first state, its places and its states.
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
    """The tables of a grammar on a device."""
    arrays = compile_grammar(grammar)
    plan = arrays.plan
    # From rows counted through old values and levels to states.
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
    """As `algorithms.best_tags`."""
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
    """As `algorithms.log_partition`."""
    if not _is_small(grammar, "sum"):
        return _sum_by_tables(grammar, scores, mask, marginals=False)[1]
    total = scores.new_empty(len(scores), dtype=torch.float32)
    outputs = (total, total, total)  # nothing is written to the other two
    _launch("sum", unrolled(grammar), scores, mask, outputs, (False,))
    return total


def marginals(grammar: Automaton, scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """As `algorithms.marginals`, for arcs without weights."""
    if not _is_small(grammar, "sum"):
        return _sum_by_tables(grammar, scores, mask, marginals=True)
    batch, words, tags = scores.shape
    constants = unrolled(grammar)
    after = scores.new_empty(words, constants.states, batch, dtype=torch.float32)
    total = scores.new_empty(batch, dtype=torch.float32)
    found = scores.new_empty(batch, words, tags, dtype=torch.float32)
    _launch("sum", constants, scores, mask, (after, total, found), WITH_MARGINALS)
    return found, total


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
    """The scores with those of a sentence in one run of memory."""
    scores = scores.detach()
    return scores if scores.stride()[1:] == (scores.shape[2], 1) else scores.contiguous()


def _mask_arguments(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, int, int]:
    """The mask and its strides; without one, anything will do in its place."""
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
    """Launch a kernel; one compiled before is found without the search that Triton makes."""
    # Triton compiles anew for addresses that are no multiples of 16; what is newly made has none.
    scores, mask, *_ = tensors
    aligned = (scores.data_ptr() % 16 == 0, mask.data_ptr() % 16 == 0)
    key = (version, aligned, max(numbers) < 1 << 31, scores.device)
    compiled = _compiled.get(key)
    if compiled is not None:
        compiled[(programs, 1, 1)](*tensors, *numbers, *constants)
    else:
        # The interpreter compiles nothing and returns nothing.
        _compiled[key] = kernel[(programs,)](*tensors, *numbers, *constants, num_warps=warps)


_compiled: dict[tuple[object, ...], Any] = {}


@lru_cache(maxsize=64)
def _fans(grammar: Automaton, device: torch.device) -> tuple[Tensor, Tensor]:
    """Tag and target by place and state, (places, states), padding 0."""
    arrays = compile_grammar(grammar)
    tag = arrays.fan_tag % arrays.tags
    return tuple(  # type: ignore[return-value]
        torch.from_numpy(table).to(device, torch.int32).contiguous()
        for table in (tag, arrays.fan_target)
    )
