"""Inference by Triton kernels: one thread a sentence, the grammar unrolled into the code.

A kernel keeps the values of all states in registers and reads each score once. It is compiled for
the grammar, so there is a limit to what it unrolls: `applies`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import torch
import triton
from torch import Tensor

from discotag.automata import Automaton
from discotag.inference.arrays import compile_grammar
from discotag.inference.triton_kernels import best_kernel, flow_kernel, sweep_kernel

MOST_ARCS: Final = 320
"""Above this, compiling an unrolled kernel takes minutes and its registers spill."""

BLOCK: Final = 32
"""Sentences of a program: one warp, so that few sentences still fill many processors."""


class Unrolled(NamedTuple):
    """A grammar as the constants of a kernel.

    Attributes:
        first: For each state the number of its first arc, and at the end the number of arcs.
        tag, target: For each arc, sorted by state, then by tag.
        final: For each state whether a sequence may end there.
        bits: How many bits the place of an arc in its fan takes.
    """

    states: int
    tags: int
    start: int
    first: tuple[int, ...]
    tag: tuple[int, ...]
    target: tuple[int, ...]
    final: tuple[int, ...]
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
        max(1, (max(sizes) - 1).bit_length()),
    )


def applies(grammar: Automaton) -> bool:
    """Whether there are kernels for this grammar."""
    # A state without arcs, as the empty scheme would have, is not worth a kernel.
    return len(grammar.arcs) <= MOST_ARCS and all(grammar.steps)


def best_tags(grammar: Automaton, scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """As `algorithms.best_tags`."""
    batch, words, _ = scores.shape
    constants = unrolled(grammar)
    per_chunk = 32 // constants.bits
    chunks = triton.cdiv(constants.states, per_chunk)
    pointers = scores.new_empty(words, chunks, batch, dtype=torch.int32)
    tags = scores.new_empty(words, batch, dtype=torch.int64)
    best = scores.new_empty(batch, dtype=torch.float32)
    fan_tag, fan_target = _fans(grammar, scores.device)
    best_kernel[(triton.cdiv(batch, BLOCK),)](
        scores,
        *_mask_arguments(scores, mask),
        pointers,
        tags,
        best,
        fan_tag,
        fan_target,
        batch,
        words,
        *scores.stride(),
        *constants[:7],
        WIDTH=len(fan_tag),
        BITS=constants.bits,
        PER_CHUNK=per_chunk,
        CHUNKS=chunks,
        MASKED=mask is not None,
        BLOCK=BLOCK,
        num_warps=1,
    )
    return tags.T, best


def log_partition(grammar: Automaton, scores: Tensor, mask: Tensor | None) -> Tensor:
    """As `algorithms.log_partition`."""
    return _sweep(grammar, scores, mask, keep=False)[0]


def marginals(grammar: Automaton, scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """As `algorithms.marginals`, for arcs without weights."""
    batch, words, tags = scores.shape
    total, after = _sweep(grammar, scores, mask, keep=True)
    found = scores.new_empty(batch, words, tags, dtype=torch.float32)
    flow_kernel[(triton.cdiv(batch, BLOCK),)](
        scores,
        *_mask_arguments(scores, mask),
        after,
        found,
        batch,
        words,
        *scores.stride(),
        *unrolled(grammar)[:6],
        MASKED=mask is not None,
        BLOCK=BLOCK,
        num_warps=1,
    )
    return found, total


def _sweep(
    grammar: Automaton, scores: Tensor, mask: Tensor | None, *, keep: bool
) -> tuple[Tensor, Tensor]:
    """The log-partition, and with `keep` the values after each word, (words, states, batch)."""
    batch, words, _ = scores.shape
    constants = unrolled(grammar)
    total = scores.new_empty(batch, dtype=torch.float32)
    shape = (words, constants.states, batch) if keep else (0,)
    after = scores.new_empty(shape, dtype=torch.float32)
    sweep_kernel[(triton.cdiv(batch, BLOCK),)](
        scores,
        *_mask_arguments(scores, mask),
        after,
        total,
        batch,
        words,
        *scores.stride(),
        *constants[:7],
        MASKED=mask is not None,
        KEEP=keep,
        BLOCK=BLOCK,
        num_warps=1,
    )
    return total, after


def _mask_arguments(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, int, int]:
    """The mask and its strides; anything where there is none."""
    if mask is None:
        return scores, 0, 0
    row, word = mask.stride()
    return mask.view(torch.uint8), row, word


@lru_cache(maxsize=64)
def _fans(grammar: Automaton, device: torch.device) -> tuple[Tensor, Tensor]:
    """Tag and target by place and state, (places, states), padding 0."""
    arrays = compile_grammar(grammar)
    tag = arrays.fan_tag % arrays.tags
    return tuple(  # type: ignore[return-value]
        torch.from_numpy(table).to(device, torch.int32).contiguous()
        for table in (tag, arrays.fan_target)
    )
