"""Inference on tensors: by NumPy on a CPU, by Triton kernels on a GPU, else by PyTorch.

The loop over words consists of many small operations, each of which is several times faster in
NumPy than in PyTorch (`benchmarks/inference.py`). Tensors on the CPU share their memory with
arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from discotag.automata import Automaton
from discotag.errors import DiscotagError, InputError
from discotag.inference import algorithms, probability
from discotag.inference.arrays import Arrays, compile_grammar
from discotag.inference.backends import numpy_backend
from discotag.inference.backends.numpy_backend import quiet
from discotag.inference.backends.numpy_tools import NumpyTools
from discotag.inference.backends.torch_tools import TorchTools, moved, to_device
from discotag.inference.containment import Relation, containing_grammar, relation_table
from discotag.inference.toolbox import Toolbox
from discotag.mentions import Mention
from discotag.scheme import Scheme

BACKENDS: Final = ("auto", "numpy", "torch", "triton")
TOOLS: Final = TorchTools()

RELATED_CELLS: Final = 1 << 26
"""The most scores, mentions x words x relations x tags, that are held at a time."""


def _unrounded(scores: Tensor) -> torch.autocast:
    """Return a context without autocast, which would round matrix products to half precision."""
    return torch.autocast(scores.device.type, enabled=False)


def choose_backend(grammar: Automaton, scores: Tensor, weights: Tensor | None) -> str:
    """Return the name of the fastest backend for these scores."""
    if scores.device.type == "cpu":
        return "numpy"
    supported = scores.dtype != torch.float64 and scores.numel() > 0
    if scores.is_cuda and weights is None and supported and triton_is_installed():
        from discotag.inference.backends import triton_backend

        if triton_backend.applies(grammar):
            return "triton"
    return "torch"


@lru_cache(maxsize=1)
def triton_is_installed() -> bool:
    """Return whether Triton is installed; not every build of PyTorch for GPUs includes it."""
    return find_spec("triton") is not None


def best_tags(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None = None,
    weights: Tensor | None = None,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """Return the best tag sequences and their scores; see `algorithms.best_tags`."""
    backend = _chosen(backend, grammar, scores, weights)
    if backend == "triton":
        from discotag.inference.backends import triton_backend

        return triton_backend.best_tags(grammar, scores, mask)
    with quiet(), torch.no_grad():
        tags, best = algorithms.best_tags(*_arguments(backend, grammar, scores, mask, weights))
    return torch.as_tensor(tags), torch.as_tensor(best)


@quiet()
@torch.no_grad()
def k_best(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None,
    weights: Tensor | None,
    k: int,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """Return the k best tag sequences and their scores; see `algorithms.k_best`.

    There is no Triton kernel for a large k; PyTorch is used instead.
    """
    backend = _chosen(backend, grammar, scores, weights)
    if backend == "triton":
        from discotag.inference.backends import triton_backend

        if k <= triton_backend.MOST_RANKS:
            return triton_backend.k_best(grammar, scores, mask, k)
        backend = "torch"
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
    """Draw tag sequences by PyTorch's random numbers; see `algorithms.sample`."""
    arguments = _arguments("torch", grammar, scores, mask, weights)
    return algorithms.sample(TorchTools(generator), *arguments[1:], number)


@quiet()
@torch.no_grad()
def marginals(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None = None,
    weights: Tensor | None = None,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """Return the marginals and the log-partition; see `algorithms.marginals`."""
    by_tag, total, _ = _all_marginals(grammar, scores, mask, weights, backend)
    return by_tag, total


def mention_probabilities(
    scheme: Scheme,
    scores: Tensor,
    lengths: Sequence[int],
    mentions: Sequence[Sequence[Mention]],
    weights: Tensor | None = None,
) -> Tensor:
    """Return the probability of each mention; see `probability.mention_probabilities`.

    If gradients are required, PyTorch records the sweeps, so the result can be differentiated.
    """
    recorded = torch.is_grad_enabled() and any(
        each is not None and each.requires_grad for each in (scores, weights)
    )
    if scores.device.type == "cpu" and not recorded:
        _, _, given, _, other = _arguments("numpy", scheme.grammar, scores, None, weights)
        found = numpy_backend.mention_probabilities(scheme, given, lengths, mentions, other)
        return torch.from_numpy(found)
    longest = max((lengths[row] for row, each in enumerate(mentions) if each), default=0)
    if (
        not recorded
        and 0 < longest <= probability.LONG
        and choose_backend(scheme.grammar, scores, weights) == "triton"
    ):
        return _probabilities_by_kernels(scheme, scores[:, :longest], lengths, mentions)
    with _unrounded(scores):
        total: Tensor = probability.mention_probabilities(
            TorchTools(), scheme, scores, lengths, mentions, weights
        )
    return total


@torch.no_grad()
def _probabilities_by_kernels(
    scheme: Scheme,
    scores: Tensor,
    lengths: Sequence[int],
    mentions: Sequence[Sequence[Mention]],
) -> Tensor:
    """Return the probability of each mention, by one kernel over whole sentences.

    Unlike `probability`, this sweeps all words of a sentence for each of its mentions. For
    sentences of usual length that is faster than the hundreds of small kernels needed to share
    the work between mentions.
    """
    from discotag.inference.backends import triton_backend

    scores = TOOLS.levelled(scores)
    words = scores.shape[1]
    sizes = place(np.array(lengths), scores)
    there = torch.arange(words, device=scores.device) < sizes[:, None]
    total = triton_backend.log_partition(scheme.grammar, scores, there)
    listed = [(row, mention) for row, each in enumerate(mentions) for mention in each]
    found = scores.new_empty(len(listed))
    most = max(1, RELATED_CELLS // (words * len(Relation) * scores.shape[2]))
    for label in {mention.label for _, mention in listed}:
        grammar = containing_grammar(scheme, label)
        mine = [n for n, (_, mention) in enumerate(listed) if mention.label == label]
        for first in range(0, len(mine), most):
            numbers = mine[first : first + most]
            table = relation_table([(listed[n][1], 0) for n in numbers], words)
            row_of = np.array([listed[n][0] for n in numbers])
            packed = np.concatenate([np.array(numbers), row_of, table.ravel()])
            number, rows, relation = torch.split(
                place(packed, scores), [len(numbers), len(numbers), table.size]
            )
            # Only symbols with the word's own relation are allowed:
            # (mentions, words, relations * tags).
            same = relation.view(*table.shape, 1, 1) == torch.arange(
                len(Relation), device=scores.device
            ).view(-1, 1)
            related = torch.where(same, scores[rows][:, :, None], -torch.inf).flatten(2)
            inside = triton_backend.log_partition(grammar, related, there[rows])
            found[number] = (inside - total[rows]).exp()
    return found


def entropy(
    grammar: Automaton, scores: Tensor, mask: Tensor | None, weights: Tensor | None
) -> Tensor:
    """Return the entropy over tag sequences; see `algorithms.entropy`.

    PyTorch records the sweep, so the result can be differentiated any number of times.
    """
    with _unrounded(scores):
        found: Tensor = algorithms.entropy(*_arguments("torch", grammar, scores, mask, weights))
    return found


@quiet()
def log_partition(
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None = None,
    weights: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """Return the log-partition; see `algorithms.log_partition`.

    It can be differentiated once, with respect to scores and weights.
    """
    found: Tensor = _LogPartition.apply(  # type: ignore[no-untyped-call]
        scores, weights, mask, grammar, backend
    )
    return found


class _LogPartition(torch.autograd.Function):
    """The log-partition; its gradient, the marginals, is computed by a sweep of its own."""

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
            from discotag.inference.backends import triton_backend

            return triton_backend.log_partition(grammar, scores, mask)
        arguments = _arguments(backend, grammar, scores, mask, weights)
        return torch.as_tensor(algorithms.log_partition(*arguments))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        by_tag, by_arc, scores, weights = ctx.saved_tensors
        of_scores = (gradient[:, None, None] * by_tag).to(scores.dtype)
        with _unrounded(scores):
            of_weights = None if by_arc is None else (gradient @ by_arc).to(weights.dtype)
        if torch.is_grad_enabled():  # create_graph=True: a second gradient must raise
            of_scores = _once(of_scores, scores, weights)
            if of_weights is not None:
                of_weights = _once(of_weights, scores, weights)
        return of_scores, of_weights, None, None, None


def _once(gradient: Tensor, scores: Tensor, weights: Tensor | None) -> Tensor:
    found: Tensor = _Once.apply(gradient, scores, weights)  # type: ignore[no-untyped-call]
    return found


class _Once(torch.autograd.Function):
    """A gradient that depends on scores and weights and raises when it is differentiated."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, scores: Tensor, weights: Tensor | None) -> Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        raise DiscotagError(
            "the log-partition can only be differentiated once; "
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
        from discotag.inference.backends import triton_backend

        return (*triton_backend.marginals(grammar, scores, mask), None)
    arguments = _arguments(backend, grammar, scores, mask, weights)
    with _unrounded(scores):
        by_tag, total, by_arc = algorithms.marginals(*arguments)
    arcs = None if by_arc is None else torch.as_tensor(by_arc)
    return torch.as_tensor(by_tag), torch.as_tensor(total), arcs


class Fetched:
    """Tensors that are being copied to the host."""

    def __init__(self, *tensors: Tensor) -> None:
        self._there = [
            torch.empty(each.shape, dtype=each.dtype, pin_memory=each.is_cuda) for each in tensors
        ]
        for there, each in zip(self._there, tensors, strict=True):
            there.copy_(each.detach(), non_blocking=True)
        self._done = None
        if any(each.is_cuda for each in tensors):
            self._done = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._done.record()

    def wait(self) -> tuple[npt.NDArray[Any], ...]:
        """Wait until the copies are complete, and return them as arrays."""
        if self._done is not None:
            self._done.synchronize()
        return tuple(each.numpy() for each in self._there)


def fetch(*tensors: Tensor) -> Fetched:
    """Start copying tensors to the host, without waiting for the copies."""
    return Fetched(*tensors)


def place(values: npt.NDArray[Any], like: Tensor) -> Tensor:
    """Return an array as a tensor on the device of `like`."""
    return to_device(torch.from_numpy(values), like.device)


def take(values: Tensor, rows: npt.NDArray[np.int64]) -> Tensor:
    """Return these rows of a tensor."""
    return values[to_device(torch.from_numpy(rows), values.device)]


def _chosen(backend: str, grammar: Automaton, scores: Tensor, weights: Tensor | None) -> str:
    if backend not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if backend == "triton" and weights is not None:
        raise InputError("Triton kernels do not support arc weights; use backend='torch'")
    return choose_backend(grammar, scores, weights) if backend == "auto" else backend


def _arguments(
    backend: str,
    grammar: Automaton,
    scores: Tensor,
    mask: Tensor | None,
    weights: Tensor | None,
) -> tuple[Toolbox, Arrays, Any, Any, Any]:
    """Return the arguments of an algorithm, as arrays of the backend's library."""
    if backend == "torch":
        arrays = moved(compile_grammar(grammar, weighted=weights is not None), scores.device)
        return TorchTools(), arrays, scores, mask, weights
    kind = torch.promote_types(scores.dtype, torch.float32)
    return (
        NumpyTools(),
        compile_grammar(grammar, weighted=weights is not None),
        scores.detach().to(kind).numpy(),
        None if mask is None else mask.numpy(),
        None if weights is None else weights.detach().to(kind).numpy(),
    )
