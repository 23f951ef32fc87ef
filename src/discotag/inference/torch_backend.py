"""Inference on tensors: NumPy on a CPU, Triton kernels on a GPU, PyTorch for all else.

The loop over words is many small operations, of which NumPy does one several times as fast as
PyTorch (`benchmarks/inference.py`); tensors on the CPU share their memory with arrays.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from discotag.automata import Automaton
from discotag.errors import DiscotagError
from discotag.inference import algorithms
from discotag.inference.arrays import Arrays, compile_grammar
from discotag.inference.numpy_tools import NumpyTools
from discotag.inference.tools import Toolbox
from discotag.inference.torch_tools import TorchTools, to_device

BACKENDS: Final = ("auto", "numpy", "torch", "triton")


def _quiet() -> np.errstate:
    """What stands under no mask may be anything, and NumPy would warn of it."""
    return np.errstate(invalid="ignore", over="ignore")


def _unrounded(scores: Tensor) -> torch.autocast:
    """Without autocast, which would compute sums that are matrix products in half precision."""
    return torch.autocast(scores.device.type, enabled=False)


def choose_backend(grammar: Automaton, scores: Tensor, weights: Tensor | None) -> str:
    """The fastest backend for these scores."""
    if scores.device.type == "cpu":
        return "numpy"
    supported = scores.dtype != torch.float64 and scores.numel() > 0
    if scores.is_cuda and weights is None and supported and triton_is_there():
        from discotag.inference import triton_backend

        if triton_backend.applies(grammar):
            return "triton"
    return "torch"


@lru_cache(maxsize=1)
def triton_is_there() -> bool:
    """Whether Triton is installed: not every PyTorch for GPUs comes with it."""
    return find_spec("triton") is not None


def best_tags(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None = None,
    weights: Tensor | None = None,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """As `algorithms.best_tags`."""
    backend = _chosen(backend, grammar, scores, weights)
    if backend == "triton":
        from discotag.inference import triton_backend

        return triton_backend.best_tags(grammar, scores, mask)
    with _quiet(), torch.no_grad():
        tags, best = algorithms.best_tags(*_arguments(backend, grammar, scores, mask, weights))
    return torch.as_tensor(tags), torch.as_tensor(best)


@_quiet()
@torch.no_grad()
def k_best(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None,
    weights: Tensor | None,
    k: int,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """As `algorithms.k_best`; there is no kernel for it."""
    backend = _chosen(backend, grammar, scores, weights).replace("triton", "torch")
    tags, best = algorithms.k_best(*_arguments(backend, grammar, scores, mask, weights), k)
    return torch.as_tensor(tags), torch.as_tensor(best)


@torch.no_grad()
def sample(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None,
    weights: Tensor | None,
    number: int,
    generator: torch.Generator | None,
) -> tuple[Tensor, Tensor]:
    """As `algorithms.sample`; always by PyTorch, whose generator is asked."""
    arguments = _arguments("torch", grammar, scores, mask, weights)
    return algorithms.sample(TorchTools(generator), *arguments[1:], number)


@_quiet()
@torch.no_grad()
def marginals(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None = None,
    weights: Tensor | None = None,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """Marginals and log-partition, as `algorithms.marginals`."""
    by_tag, total, _ = _all_marginals(grammar, scores, mask, weights, backend)
    return by_tag, total


def entropy(
    grammar: Automaton, scores: Tensor, mask: Tensor | None, weights: Tensor | None
) -> Tensor:
    """As `algorithms.entropy`; differentiable, because PyTorch records the sweep."""
    with _unrounded(scores):
        found: Tensor = algorithms.entropy(*_arguments("torch", grammar, scores, mask, weights))
    return found


@_quiet()
def log_partition(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None = None,
    weights: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """As `algorithms.log_partition`; differentiable once, in scores and weights."""
    found: Tensor = _LogPartition.apply(  # type: ignore[no-untyped-call]
        scores, weights, mask, grammar, backend
    )
    return found


class _LogPartition(torch.autograd.Function):
    """The gradient is the marginals, found by a sweep of their own, not by recording."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        weights: Tensor | None,
        mask: Tensor | None,
        grammar: Automaton,
        backend: str,
    ) -> Tensor:
        if any(ctx.needs_input_grad[:2]):
            by_tag, total, by_arc = _all_marginals(grammar, scores, mask, weights, backend)
            ctx.save_for_backward(by_tag, by_arc, scores, weights)
            return total
        backend = _chosen(backend, grammar, scores, weights)
        if backend == "triton":
            from discotag.inference import triton_backend

            return triton_backend.log_partition(grammar, scores, mask)
        arguments = _arguments(backend, grammar, scores, mask, weights)
        return torch.as_tensor(algorithms.log_partition(*arguments))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        by_tag, by_arc, scores, weights = ctx.saved_tensors
        of_scores = (gradient[:, None, None] * by_tag).to(scores.dtype)
        with _unrounded(scores):
            of_weights = None if by_arc is None else (gradient @ by_arc).to(weights.dtype)
        if torch.is_grad_enabled():  # a second gradient may be asked for, and would be wrong
            of_scores = _once(of_scores, scores, weights)
            if of_weights is not None:
                of_weights = _once(of_weights, scores, weights)
        return of_scores, of_weights, None, None, None


def _once(gradient: Tensor, scores: Tensor, weights: Tensor | None) -> Tensor:
    found: Tensor = _Once.apply(gradient, scores, weights)  # type: ignore[no-untyped-call]
    return found


class _Once(torch.autograd.Function):
    """A gradient that depends on scores and weights, but cannot be differentiated."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, scores: Tensor, weights: Tensor | None) -> Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        raise DiscotagError(
            "the log-partition can be differentiated once only; "
            "leave out create_graph=True, or use entropy, which can be differentiated again"
        )


def _all_marginals(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None,
    weights: Tensor | None,
    backend: str,
) -> tuple[Tensor, Tensor, Tensor | None]:
    backend = _chosen(backend, grammar, scores, weights)
    if backend == "triton":
        from discotag.inference import triton_backend

        return (*triton_backend.marginals(grammar, scores, mask), None)
    arguments = _arguments(backend, grammar, scores, mask, weights)
    with _unrounded(scores):
        by_tag, total, by_arc = algorithms.marginals(*arguments)
    arcs = None if by_arc is None else torch.as_tensor(by_arc)
    return torch.as_tensor(by_tag), torch.as_tensor(total), arcs


def _chosen(backend: str, grammar: Automaton, scores: Tensor, weights: Tensor | None) -> str:
    if backend not in BACKENDS:
        raise DiscotagError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if backend == "triton" and weights is not None:
        raise DiscotagError("there are no Triton kernels for weights of arcs; use backend='torch'")
    return choose_backend(grammar, scores, weights) if backend == "auto" else backend


def _arguments(
    backend: str,
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None,
    weights: Tensor | None,
) -> tuple[Toolbox, Arrays, Any, Any, Any]:
    """Toolbox, grammar, scores, mask and weights in the library of a backend."""
    if backend == "torch":
        arrays = _arrays_on(scores.device, grammar, weights is not None)
        return TorchTools(), arrays, scores, mask, weights
    kind = torch.promote_types(scores.dtype, torch.float32)
    return (
        NumpyTools(),
        compile_grammar(grammar, weighted=weights is not None),
        scores.detach().to(kind).numpy(),
        None if mask is None else mask.numpy(),
        None if weights is None else weights.detach().to(kind).numpy(),
    )


@lru_cache(maxsize=64)
def _arrays_on(device: torch.device, grammar: Automaton, weighted: bool) -> Arrays:
    # Kept for all calls, so not to be made as tensors of inference mode alone.
    with torch.inference_mode(False):
        return to_device(compile_grammar(grammar, weighted=weighted), device)
