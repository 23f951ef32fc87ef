"""Runtimes: from subwords to the scores of words, by onnxruntime or PyTorch.

Neither library is imported with this module.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from discotag.errors import DiscotagError
from discotag.inference.backends import numpy_backend
from discotag.inference.toolbox import Array
from discotag.model.config import ModelConfig
from discotag.model.onnx_session import open_session, read_arc_weights
from discotag.model.tokenizer import Batch

if TYPE_CHECKING:
    from discotag.model.network import Network

Numbers = npt.NDArray[Any]

CPU_BUDGET: Final = 1024
"""Subwords at a time, padding included: on two cores more is no faster, and takes memory
(`benchmarks/prediction.py`)."""

GPU_BUDGET: Final = 65536
"""The same on a GPU: enough to keep one busy."""

CPU_LOOK_AHEAD: Final = 16
"""Batches' worth of words that are read at a time in the end, so that batches hold sentences of
like length: with more there is hardly less padding."""

GPU_LOOK_AHEAD: Final = 4
"""The same on a GPU, whose batches are large: reading more at a time would let it wait."""

GPU_DEPTH: Final = 4
"""Batches under way on a GPU: one is encoded, one decoded, one has its mentions read, and one its
probabilities computed."""

MAX_MESSAGE: Final = 300
"""Characters of what a library says of an error: some list the nodes of a graph."""


class Runtime(Protocol):
    """What a `Tagger` asks for scores.

    Attributes:
        name: `torch`, `onnx` or `onnx-int8`.
        device: Where it computes, as PyTorch names it.
        budget: Subwords that are scored at a time, padding included.
        depth: Batches that should be under way at a time.
        look_ahead: Batches' worth of words that should be read at a time.
        backend: The functions of `discotag.inference.backends` for its scores.
    """

    name: str
    device: str
    budget: int
    depth: int
    look_ahead: int
    backend: ModuleType

    @property
    def arc_weights(self) -> Array | None:
        """Return the weights of the arcs of the scheme's grammar, for the backend."""

    def scores(self, batch: Batch) -> Array:
        """Return the scores of words, (batch, words, tags) in float32, on the device."""


class OnnxRuntime:
    """Scores from an exported model; needs no PyTorch.

    Args:
        path: The ONNX file.
        config: The configuration of the model.
        name: `onnx` or `onnx-int8`.
        device: `cpu`, or `cuda` where onnxruntime was built for it.

    Raises:
        DiscotagError: The file cannot be used.
    """

    depth = 1
    look_ahead = CPU_LOOK_AHEAD
    backend: ModuleType = numpy_backend

    def __init__(
        self, path: Path, config: ModelConfig, name: str = "onnx", device: str | None = None
    ) -> None:
        self.session = open_session(path, len(config.scheme.tags), device)
        self.name = name
        self.device = device or "cpu"
        self.path = path
        self.tags = len(config.scheme.tags)
        self.budget = CPU_BUDGET if self.device == "cpu" else GPU_BUDGET
        self.arc_weights = read_arc_weights(self.session, path, config)

    def scores(self, batch: Batch) -> Numbers:
        """Return the scores of words; see `Runtime`."""
        given = batch.input_ids, batch.attention_mask
        return in_portions(batch, self.budget, self.tags, lambda rows: self._run(*given, rows))

    def _run(self, input_ids: Numbers, attention_mask: Numbers, rows: slice) -> Numbers:
        given = {"input_ids": input_ids[rows], "attention_mask": attention_mask[rows]}
        try:
            return np.asarray(self.session.run(None, given)[0])
        except Exception as error:  # of many kinds, none of them public
            raise _failed(str(self.path), given["input_ids"].shape, error) from None


def in_portions(batch: Batch, budget: int, tags: int, score: Callable[[slice], Numbers]) -> Numbers:
    """Return the scores of words from those of all subwords, some windows at a time."""
    rows, width = batch.input_ids.shape
    step = max(1, budget // max(1, width))
    if rows <= step:
        return score(slice(0, rows))[batch.windows, batch.positions]
    found = np.zeros((*batch.mask.shape, tags), dtype=np.float32)
    for first in range(0, rows, step):
        scores = score(slice(first, first + step))
        here = batch.mask & (batch.windows >= first) & (batch.windows < first + step)
        found[here] = scores[batch.windows[here] - first, batch.positions[here]]
    return found


class TorchRuntime:
    """Scores from a network, on any device.

    On a GPU the encoder computes in bfloat16, if the GPU has it.

    Args:
        network: The network; it is moved to the device.
        device: As PyTorch names it; None for a GPU if there is one.
        own: Whether nothing else uses the network: its encoder then keeps its weights in bfloat16
            as well. A network that is being trained is left as it is.
        half: Whether to compute in bfloat16; by default on a GPU that has it.
        compile: Compile the encoder, which takes a minute at the first batch and is worth it for
            many thousand sentences.

    Raises:
        DiscotagError: PyTorch cannot use the device.
    """

    name = "torch"

    def __init__(
        self,
        network: Network,
        device: str | None = None,
        *,
        own: bool = False,
        half: bool | None = None,
        compile: bool = False,
    ) -> None:
        import torch

        from discotag.inference.backends import torch_backend

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
        if compile:
            network.encoder.compile(dynamic=True)
        self._autocast = half and not own
        self.budget = GPU_BUDGET if on_gpu else CPU_BUDGET
        self.depth = GPU_DEPTH if on_gpu else 1
        self.look_ahead = GPU_LOOK_AHEAD if on_gpu else CPU_LOOK_AHEAD
        on_cpu = self._device.type == "cpu"
        self.backend: ModuleType = numpy_backend if on_cpu else torch_backend

    @property
    def arc_weights(self) -> Array | None:
        """Return the weights of arcs as they are now."""
        weights = self.network.layer.arc_weights
        if weights is None:
            return None
        fixed = weights.detach().float()
        return fixed.numpy() if self.backend is numpy_backend else fixed

    def scores(self, batch: Batch) -> Array:
        """Return the scores of words; see `Runtime`."""
        import torch

        from discotag.inference.backends.torch_tools import to_device

        rows, width = batch.input_ids.shape
        step = max(1, self.budget // max(1, width))
        training = self.network.training
        if training:
            self.network.eval()
        try:
            with (
                torch.inference_mode(),
                torch.autocast(self._device.type, torch.bfloat16, enabled=self._autocast),
            ):
                given = {
                    name: to_device(torch.from_numpy(each), self._device)
                    for name, each in batch.arguments().items()
                }
                scores = self.network(**given, windows_at_once=None if rows <= step else step)
                return scores.numpy() if self.backend is numpy_backend else scores
        except (RuntimeError, IndexError) as error:  # out of memory, beyond a table of the encoder
            raise _failed("PyTorch", (rows, width), error) from None
        finally:
            if training:
                self.network.train()


def check_device(device: str | None) -> None:
    """Raise `DiscotagError` if PyTorch cannot compute on a device; None is never refused."""
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


def _failed(what: str, shape: tuple[int, ...], error: Exception) -> DiscotagError:
    line = " ".join(str(error).split()) or type(error).__name__
    windows, subwords = shape
    return DiscotagError(
        f"{what}: cannot score {windows} windows of {subwords} subwords: {line[:MAX_MESSAGE]}"
    )
