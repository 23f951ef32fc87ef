"""Runtimes: from subwords to the scores of words, by onnxruntime or PyTorch.

Neither library is imported with this module.
"""

from __future__ import annotations

import json
import os
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

MAX_THREADS: Final = 8
"""With more threads, the matrices of such a batch are too small to share."""

ORT_OPT_OUT: Final = "ORT_DISABLE_TELEMETRY"
"""Set by `discotag` as it is imported."""

MAX_MESSAGE: Final = 300
"""Characters of what a library says of an error: some list the nodes of a graph."""

ARC_WEIGHTS: Final = "arc_weights"
"""The key of the arcs' weights in the metadata of an ONNX file."""


class Runtime(Protocol):
    """What a `Tagger` asks for scores.

    Attributes:
        name: `torch`, `onnx` or `onnx-int8`.
        device: Where it computes, as PyTorch names it.
        budget: Subwords that are scored at a time, padding included.
        depth: Batches that should be under way at a time.
        look_ahead: Batches' worth of words that should be read at a time.
        backend: The functions of `discotag.inference.backends` for its scores.
        arc_weights: The weights of the arcs of the scheme's grammar, for the backend.
    """

    name: str
    device: str
    budget: int
    depth: int
    look_ahead: int
    backend: ModuleType
    arc_weights: Array | None

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
    backend = numpy_backend

    def __init__(
        self, path: Path, config: ModelConfig, name: str = "onnx", device: str | None = None
    ) -> None:
        import onnxruntime  # type: ignore[import-untyped]

        if os.environ.get(ORT_OPT_OUT) == "1":  # imported before discotag has set it
            onnxruntime.disable_telemetry_events()
        providers = ["CPUExecutionProvider"]
        if device is not None and device.startswith("cuda"):
            if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
                raise DiscotagError(
                    "this onnxruntime cannot use CUDA: that needs a GPU and onnxruntime-gpu; leave "
                    "out the device to predict on the CPU"
                )
            providers.insert(0, "CUDAExecutionProvider")
        elif device not in (None, "cpu"):
            raise DiscotagError(f"with onnxruntime the device is cpu or cuda, got {device!r}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads()
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # it never gives back what one long text needed
        options.enable_mem_pattern = False  # nor do patterns, one for every size of batch
        options.log_severity_level = 3
        if not path.is_file():
            raise DiscotagError(f"{path}: there is no such file")
        try:
            session = onnxruntime.InferenceSession(path, options, providers=providers)
        except Exception as error:  # of many kinds, none of them public
            line = " ".join(str(error).split())
            raise DiscotagError(f"{path}: onnxruntime cannot load it: {line}") from None
        names = {each.name for each in session.get_inputs()}
        tags = session.get_outputs()[0].shape[-1]
        if names != {"input_ids", "attention_mask"} or tags != len(config.scheme.tags):
            raise DiscotagError(
                f"{path}: takes {', '.join(sorted(names))} and gives {tags} tags; it is not an "
                f"export of a model with {len(config.scheme.tags)} tags: discotag export writes one"
            )
        self.name = name
        self.device = device or "cpu"
        self.session = session
        self.path = path
        self.tags = len(config.scheme.tags)
        self.budget = CPU_BUDGET if len(providers) == 1 else GPU_BUDGET
        weights = session.get_modelmeta().custom_metadata_map.get(ARC_WEIGHTS)
        self.arc_weights = None if weights is None else np.array(json.loads(weights), np.float32)

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


def in_portions(
    batch: Batch, budget: int, tags: int, score: Callable[[slice], Numbers]
) -> Numbers:
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

    Raises:
        DiscotagError: PyTorch cannot use the device.
    """

    name = "torch"

    def __init__(self, network: Network, device: str | None = None, *, own: bool = False) -> None:
        import torch

        from discotag.inference.backends import torch_backend

        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        check_device(device)
        self._device = torch.device(device)
        self.device = device
        self.network = network.to(self._device)
        on_gpu = self._device.type == "cuda"
        half = on_gpu and torch.cuda.is_bf16_supported()
        self.own = own
        if own:
            network.eval()
            if half:
                network.encoder.to(torch.bfloat16)
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


def threads() -> int:
    """Return how many threads the encoder uses: the cores this process may run on, up to a bound.

    `OMP_NUM_THREADS` sets it.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(cores, MAX_THREADS)
