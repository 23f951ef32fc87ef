"""Two ways from subwords to scores of tags: onnxruntime, and PyTorch. Neither is imported here."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from discotag.errors import DiscotagError
from discotag.model.config import ModelConfig
from discotag.model.files import one_line

if TYPE_CHECKING:
    from discotag.model.network import Network

Numbers = npt.NDArray[Any]

CPU_BUDGET: Final = 1024
"""Subwords at a time, padding included: on two cores more is no faster, and takes memory
(`benchmarks/prediction.py`)."""

GPU_BUDGET: Final = 65536
"""The same on a GPU: enough to keep one busy."""

MOST_THREADS: Final = 8
"""Beyond these, the matrices of such a batch are too small to share."""

ORT_OPT_OUT: Final = "ORT_DISABLE_TELEMETRY"
"""Set by `discotag` as it is imported."""

ARC_WEIGHTS: Final = "arc_weights"
"""Where an ONNX file keeps the weights of arcs, among its metadata."""


class Scorer(Protocol):
    """What a `Tagger` asks for scores."""

    budget: int
    """Subwords that are scored at a time, padding included."""

    arc_weights: Numbers | None
    """Of the arcs of the scheme's grammar."""

    @property
    def device(self) -> Any:
        """Where it computes."""

    def __call__(self, input_ids: Numbers, attention_mask: Numbers) -> Numbers:
        """Scores, (windows, subwords, tags) in float32, from (windows, subwords)."""


class OnnxScorer:
    """Scores from an exported model; needs no PyTorch.

    Args:
        path: The ONNX file.
        config: Of the model.
        device: `cpu`, or `cuda` where onnxruntime was built for it.

    Raises:
        DiscotagError: The file cannot be used.
    """

    def __init__(self, path: Path, config: ModelConfig, device: str | None = None) -> None:
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
            raise DiscotagError(f"{path}: onnxruntime cannot load it: {one_line(error)}") from None
        names = {each.name for each in session.get_inputs()}
        tags = session.get_outputs()[0].shape[-1]
        if names != {"input_ids", "attention_mask"} or tags != len(config.scheme.tags):
            raise DiscotagError(
                f"{path}: takes {', '.join(sorted(names))} and gives {tags} tags; it is not an "
                f"export of a model with {len(config.scheme.tags)} tags: discotag export writes one"
            )
        self.session = session
        self.path = path
        self.device = device or "cpu"
        self.budget = CPU_BUDGET if len(providers) == 1 else GPU_BUDGET
        self.arc_weights = _arc_weights(session, path, config)

    def __call__(self, input_ids: Numbers, attention_mask: Numbers) -> Numbers:
        """As `Scorer`."""
        given = {"input_ids": input_ids, "attention_mask": attention_mask}
        try:
            return np.asarray(self.session.run(None, given)[0])
        except Exception as error:  # of many kinds, none of them public
            raise _failed(str(self.path), input_ids, error) from None


def _arc_weights(session: Any, path: Path, config: ModelConfig) -> Numbers | None:
    """Return the weights of arcs that a file keeps; raise if they are not those of the model."""
    kept = session.get_modelmeta().custom_metadata_map.get(ARC_WEIGHTS)
    arcs = len(config.scheme.grammar.arcs) if config.arc_weights else None
    try:
        weights = None if kept is None else np.array(json.loads(kept), np.float32)
    except (ValueError, TypeError, RecursionError):
        weights = np.zeros(0, np.float32)
    if (None if weights is None else weights.shape) != (None if arcs is None else (arcs,)):
        raise DiscotagError(
            f"{path}: its weights on arcs are not those of config.json, which wants "
            f"{arcs or 'none'}"
        )
    return weights


class TorchScorer:
    """Scores from a network, on any device; in bfloat16 on a GPU that has it.

    Args:
        network: The network; it is moved to the device.
        device: As PyTorch names it; None for a GPU if there is one.
    """

    def __init__(self, network: Network, device: str | None = None) -> None:
        import torch

        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        check_device(device)
        self.device = torch.device(device)
        self.network = network.to(self.device)
        self.half = self.device.type == "cuda" and torch.cuda.is_bf16_supported()
        self.budget = CPU_BUDGET if self.device.type == "cpu" else GPU_BUDGET
        weights = network.layer.arc_weights
        self.arc_weights = None if weights is None else weights.detach().float().cpu().numpy()

    def __call__(self, input_ids: Numbers, attention_mask: Numbers) -> Numbers:
        """As `Scorer`."""
        import torch

        ids, mask = (torch.from_numpy(a).to(self.device) for a in (input_ids, attention_mask))
        training = self.network.training
        self.network.eval()
        try:
            with (
                torch.inference_mode(),
                torch.autocast(self.device.type, torch.bfloat16, enabled=self.half),
            ):
                scores = self.network.score_subwords(ids, mask)
            found: Numbers = scores.cpu().numpy()
        except Exception as error:  # of memory, of a configuration that is wrong: of many kinds
            raise _failed("PyTorch", input_ids, error) from None
        finally:
            self.network.train(training)
        return found


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


def _failed(what: str, input_ids: Numbers, error: Exception) -> DiscotagError:
    windows, subwords = input_ids.shape
    return DiscotagError(
        f"{what}: cannot score {windows} windows of {subwords} subwords: {one_line(error)}"
    )


def threads() -> int:
    """How many threads the encoder uses: the cores this process may run on, up to a bound.

    `OMP_NUM_THREADS` sets it.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(cores, MOST_THREADS)
