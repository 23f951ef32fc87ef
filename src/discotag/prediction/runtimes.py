"""Runtimes: from subwords to the scores of words, by onnxruntime or PyTorch.

Neither library is imported with this module.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from discotag.counts import counted
from discotag.errors import DiscotagError, one_line
from discotag.inference.backends import numpy_backend
from discotag.inference.toolbox import Array
from discotag.model.candidates import COUNTS, Bag, Candidates, features
from discotag.model.config import ModelConfig
from discotag.model.files import ONNX_SCORER
from discotag.model.onnx_session import (
    FEATURES,
    INPUTS,
    count_threads,
    open_scorer,
    open_session,
    read_arc_weights,
    read_vector_size,
)
from discotag.model.tokenizer import Batch, Chunk

if TYPE_CHECKING:
    from discotag.model.network import Network

Numbers = npt.NDArray[Any]

CPU_BUDGET: Final = 1024
"""The most subwords per call of the encoder on a CPU, padding included. More are not faster on two
cores and need more memory."""

ONNX_BUDGET: Final = 256
"""The same for a thread of onnxruntime. With fewer, operations are too short; with more there is
more padding, and memory goes back to the system after every operation."""

LEAST_SHARE: Final = 64
"""The fewest subwords that are worth a thread of their own."""

GPU_BUDGET: Final = 1 << 15
"""The most subwords per call of the encoder on a GPU. With fewer, the GPU waits for the host."""

CPU_BATCH: Final = 1 << 14
"""The most subwords of sentences that are decoded together on a CPU."""

GPU_BATCH: Final = 1 << 16
"""The same on a GPU, where a step of decoding takes as long for few sentences as for many."""

LARGE_GPU: Final = 24 << 30
"""A GPU with at least this many bytes of memory takes twice as many subwords at a time. This halves
the work of the host, which launches as many kernels for a small batch as for a large one."""

LOOK_AHEAD: Final = 2
"""The number of batches that are read ahead, at the most, to find sentences of similar length."""

GPU_DEPTH: Final = 6
"""The number of batches in progress on a GPU. For each batch, the host waits for the device three
times; with other batches to work on, it does not wait long (`benchmarks/throughput.py`)."""


class Encoded(NamedTuple):
    """What a runtime computes for a batch.

    Attributes:
        scores: The scores of words, (batch, words, tags) in float32.
        vectors: The vectors of words without padding, (all words, size); None if the model has no
            mention scorer, which reads them.
    """

    scores: Array
    vectors: Array | None


class Runtime(Protocol):
    """Computes scores for a `Tagger`.

    Attributes:
        name: `torch`, `onnx` or `onnx-int8`.
        device: The name of its device, as in PyTorch.
        budget: The most subwords per call of the encoder, padding included.
        batch: The most subwords of sentences that are decoded together.
        depth: The number of batches to work on at a time.
        backend: The module of `discotag.inference.backends` for its scores.
    """

    name: str
    device: str
    budget: int
    batch: int
    depth: int
    backend: ModuleType

    @property
    def arc_weights(self) -> Array | None:
        """The arc weights of the scheme's grammar, as an array of the backend, or None."""

    def encode(self, batch: Batch) -> Encoded:
        """Return the scores and the vectors of words, on the device."""

    def score_mentions(self, vectors: Array, candidates: Candidates) -> Array:
        """Return the log-odds of candidates by the mention scorer, on the device."""


class OnnxRuntime:
    """Computes scores by onnxruntime from an exported model, without PyTorch.

    Args:
        path: The ONNX file.
        config: The configuration of the model.
        name: `onnx` or `onnx-int8`.
        device: `cpu`, or `cuda` if onnxruntime supports it.

    Raises:
        InputError: If the file cannot be used.
    """

    depth = 1
    backend: ModuleType = numpy_backend

    def __init__(
        self, path: Path, config: ModelConfig, name: str = "onnx", device: str | None = None
    ) -> None:
        self.session = open_session(path, len(config.scheme.tags), device)
        self.name = name
        self.device = device or "cpu"
        self.path = path
        self.tags = len(config.scheme.tags)
        self.threads = 1
        self.budget, self.batch = _sizes(self.device)
        if self.device == "cpu":
            self.budget, self.threads = ONNX_BUDGET, count_threads()
        self.arc_weights = read_arc_weights(self.session, path, config)
        self.labels = len(config.scheme.labels)
        self.scorer = None
        if config.mention_scorer:
            self.size = read_vector_size(self.session, path)
            features = len(Bag) * self.size + COUNTS + self.labels
            self.scorer = open_scorer(path.with_name(ONNX_SCORER), features)

    def encode(self, batch: Batch) -> Encoded:
        """Return scores and vectors; see `Runtime`."""
        words = len(batch.word_windows)
        found = np.zeros((*batch.mask.shape, self.tags), dtype=np.float32)
        flat = np.empty((words, self.tags), dtype=np.float32)
        vectors = None if self.scorer is None else np.empty((words, self.size), dtype=np.float32)
        mask = batch.attention_mask

        def score(chunk: Chunk) -> None:
            rows, width, words = chunk.windows, chunk.width, chunk.words
            scores, *more = self._run(batch.input_ids[rows, :width], mask[rows, :width])
            places = batch.word_windows[words] - rows.start, batch.word_positions[words]
            flat[words] = scores[places]
            if vectors is not None:
                vectors[words] = more[0][places]

        chunks = list(batch.chunks(self._share(int(batch.sizes.sum()))))
        if self.threads == 1 or len(chunks) == 1:
            for chunk in chunks:
                score(chunk)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(score, chunks))  # raises what one of them raised
        found[batch.mask] = flat
        return Encoded(found, vectors)

    def score_mentions(self, vectors: Array, candidates: Candidates) -> Numbers:
        """Return the log-odds of candidates; see `Runtime`."""
        assert self.scorer is not None
        given = features(vectors, candidates, self.labels)
        try:
            return np.asarray(self.scorer.run(None, {FEATURES: given})[0])[:, 0]
        except Exception as error:  # onnxruntime's exceptions are not public
            raise _not_scored(ONNX_SCORER, len(given), error) from None

    def _share(self, subwords: int) -> int:
        """Return the most subwords per call of a thread, so that all threads have similar work.

        Without threads, this is the budget.
        """
        if self.threads == 1:
            return self.budget
        rounds = math.ceil(subwords / (self.threads * self.budget))
        share = math.ceil(subwords / (self.threads * max(1, rounds)))
        return min(self.budget, max(LEAST_SHARE, share))

    def _run(self, input_ids: Numbers, attention_mask: Numbers) -> list[Numbers]:
        given = dict(zip(INPUTS, (input_ids, attention_mask), strict=True))
        try:
            return [np.asarray(each) for each in self.session.run(None, given)]
        except Exception as error:  # onnxruntime's exceptions are not public
            raise _failed(str(self.path), input_ids.shape, error) from None


class TorchRuntime:
    """Computes scores by PyTorch, on any device.

    Args:
        network: The network; it is moved to the device.
        device: The name of the device; by default, a GPU if there is one, else the CPU.
        own: Whether the network is used by this runtime only, so that the weights of its encoder
            can be converted to bfloat16. A network that is being trained keeps its weights.
        half: Whether to compute in bfloat16; by default, if the device is a GPU that supports it.

    Raises:
        DiscotagError: If PyTorch cannot use the device.
    """

    name = "torch"

    def __init__(
        self,
        network: Network,
        device: str | None = None,
        *,
        own: bool = False,
        half: bool | None = None,
    ) -> None:
        import torch

        from discotag.inference.backends import torch_backend
        from discotag.model.encoder import speed_up

        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        check_device(device)
        self._device = torch.device(device)
        self.device = device
        self.network = network.to(self._device)
        on_gpu = self._device.type == "cuda"
        if half is None:
            half = on_gpu and torch.cuda.is_bf16_supported()
        if own:
            network.eval()
            if half:
                network.encoder.bfloat16()
        speed_up(network.encoder)
        self._autocast = half and not own
        self.budget, self.batch = _sizes(self._device.type)
        if on_gpu and torch.cuda.get_device_properties(self._device).total_memory >= LARGE_GPU:
            self.budget *= 2
        self.depth = GPU_DEPTH if on_gpu else 1
        on_cpu = self._device.type == "cpu"
        self.backend: ModuleType = numpy_backend if on_cpu else torch_backend

    @property
    def arc_weights(self) -> Array | None:
        """The current arc weights, or None."""
        weights = self.network.layer.arc_weights
        if weights is None:
            return None
        fixed = weights.detach().float()
        return fixed.numpy() if self.backend is numpy_backend else fixed

    def encode(self, batch: Batch) -> Encoded:
        """Return scores and vectors; see `Runtime`."""
        import torch

        try:
            with (
                self._evaluating(),
                torch.inference_mode(),
                torch.autocast(self._device.type, torch.bfloat16, enabled=self._autocast),
            ):
                return self._encode(batch)
        except (RuntimeError, IndexError) as error:  # out of memory, or an id beyond an embedding
            raise _failed("PyTorch", batch.input_ids.shape, error) from None

    def score_mentions(self, vectors: Array, candidates: Candidates) -> Array:
        """Return the log-odds of candidates; see `Runtime`."""
        import torch

        scorer = self.network.scorer
        assert scorer is not None
        try:
            with self._evaluating(), torch.inference_mode():
                found = scorer(torch.as_tensor(vectors), candidates)
                return found.numpy() if self.backend is numpy_backend else found
        except RuntimeError as error:  # out of memory
            raise _not_scored("PyTorch", len(candidates.labels), error) from None

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        """Set the network to evaluation mode for a while, if it is being trained."""
        training = self.network.training
        if training:
            self.network.eval()
        try:
            yield
        finally:
            if training:
                self.network.train()

    def _encode(self, batch: Batch) -> Encoded:
        import torch

        from discotag.inference.backends.torch_tools import to_device

        # One copy for all arrays, because each copy would take as long.
        places = np.flatnonzero(batch.mask)
        arrays = (batch.input_ids, batch.sizes, batch.word_windows, batch.word_positions, places)
        packed = to_device(
            torch.from_numpy(np.concatenate([each.ravel() for each in arrays])), self._device
        )
        parts = torch.split(packed, [each.size for each in arrays])
        input_ids = parts[0].view(batch.input_ids.shape)
        sizes, windows, positions, places_there = parts[1:]
        attention_mask = torch.arange(input_ids.shape[1], device=self._device) < sizes[:, None]
        vectors = []
        for chunk in batch.chunks(self.budget):
            rows, width, words = chunk.windows, chunk.width, chunk.words
            hidden = self.network.encode(
                input_ids[rows, :width], attention_mask[rows, :width].long()
            )
            vectors.append(hidden[windows[words] - rows.start, positions[words]])
        joined = torch.cat(vectors)
        scores = self.network.score(joined)
        found = scores.new_zeros(batch.mask.size, scores.shape[1])
        found = found.index_copy_(0, places_there, scores).view(*batch.mask.shape, -1)
        kept = None if self.network.scorer is None else joined
        if self.backend is numpy_backend:
            return Encoded(found.numpy(), None if kept is None else kept.float().numpy())
        return Encoded(found, kept)


def _sizes(device: str) -> tuple[int, int]:
    """Return the most subwords per call of the encoder, and those that are decoded together."""
    return (CPU_BUDGET, CPU_BATCH) if device == "cpu" else (GPU_BUDGET, GPU_BATCH)


def check_device(device: str | None) -> None:
    """Raise `DiscotagError` if PyTorch cannot use a device; None is always accepted."""
    import torch

    if device is None:
        return
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        line = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        raise DiscotagError(
            f"device {device!r} cannot be used: {line}; leave it out to predict on the CPU"
        ) from None


def _not_scored(what: str, number: int, error: Exception) -> DiscotagError:
    return DiscotagError(f"{what}: cannot score {counted(number, 'candidate')}: {one_line(error)}")


def _failed(what: str, shape: tuple[int, ...], error: Exception) -> DiscotagError:
    windows, subwords = counted(shape[0], "window"), counted(shape[1], "subword")
    return DiscotagError(f"{what}: cannot score {windows} of {subwords}: {one_line(error)}")
