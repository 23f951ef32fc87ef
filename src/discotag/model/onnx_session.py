"""Sessions of onnxruntime, which run exported models."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discotag.errors import DiscotagError, InputError, one_line
from discotag.model.config import ModelConfig

MAX_THREADS: Final = 8
"""The most threads; more of them only wait for memory."""

SLOW_OPTIMISERS: Final = ("SkipLayerNormFusion",)
"""Optimisers of onnxruntime that make models slower on a CPU: a sum and its normalisation as one
operation take several times as long as one after the other."""

CPU: Final = "CPUExecutionProvider"

ORT_OPT_OUT: Final = "ORT_DISABLE_TELEMETRY"
"""Set by `discotag` as it is imported."""

ARC_WEIGHTS: Final = "arc_weights"
"""The key of the arcs' weights in the metadata of an ONNX file."""

WEIGHTS: Final = "weights"
"""The key of the constants that weights became, by the names of weights; None for those that
nothing uses."""

OPSET: Final = 20
"""The ONNX opset of exports: the first with GELU as one operation, which is faster than its parts.
onnxruntime supports it since 1.17."""

FEATURES: Final = "features"
"""The input of an exported mention scorer, (candidates, features)."""

INPUTS: Final = ("input_ids", "attention_mask")
"""The inputs of an exported model, (windows, subwords) each."""


def make_session(model: Path | bytes, providers: Sequence[str] = (CPU,)) -> Any:
    """Return a session of onnxruntime for a file or its content; raises what onnxruntime raises.

    On a CPU, a run uses one thread. Several runs in parallel do not wait for each other after every
    operation, so they are faster than runs one after the other with all threads.
    """
    onnxruntime = _onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it never gives back what one long text needed
    options.enable_mem_pattern = False  # nor do patterns, one for every size of batch
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model,
        options,
        providers=[*providers],
        disabled_optimizers=[*SLOW_OPTIMISERS] if tuple(providers) == (CPU,) else None,
    )


def open_session(path: Path, tags: int, device: str | None = None) -> Any:
    """Return a session of onnxruntime for an exported model.

    Args:
        path: The ONNX file.
        tags: The number of tags that the model must have.
        device: `cpu`, or `cuda` where onnxruntime was built for it.

    Raises:
        InputError: The file or the device cannot be used.
    """
    providers = [CPU]
    if device is not None and device.startswith("cuda"):
        if "CUDAExecutionProvider" not in _onnxruntime().get_available_providers():
            raise DiscotagError(
                "this onnxruntime cannot use CUDA: that needs a GPU and onnxruntime-gpu; leave "
                "out the device to predict on the CPU"
            )
        providers.insert(0, "CUDAExecutionProvider")
    elif device not in (None, "cpu"):
        raise InputError(f"with onnxruntime the device is cpu or cuda, got {device!r}")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        session = make_session(path, providers)
    except Exception as error:  # of many kinds, none of them public
        raise InputError(f"{path}: onnxruntime cannot load it: {one_line(error)}") from None
    names = {each.name for each in session.get_inputs()}
    given = session.get_outputs()[0].shape[-1]
    if names != set(INPUTS) or given != tags:
        raise InputError(
            f"{path}: takes {', '.join(sorted(names))} and gives {given} tags; it is not an "
            f"export of a model with {tags} tags: discotag export writes one"
        )
    return session


def read_arc_weights(
    session: Any, path: Path, config: ModelConfig
) -> npt.NDArray[np.float32] | None:
    """Return the arc weights of an exported model, or None if it has none.

    Raises:
        InputError: They do not match the configuration.
    """
    kept = session.get_modelmeta().custom_metadata_map.get(ARC_WEIGHTS)
    arcs = len(config.scheme.grammar.arcs) if config.arc_weights else None
    try:
        weights = None if kept is None else np.array(json.loads(kept), np.float32)
    except (ValueError, TypeError, RecursionError):
        weights = np.zeros(0, np.float32)
    if (None if weights is None else weights.shape) != (None if arcs is None else (arcs,)):
        raise InputError(
            f"{path}: its arc weights do not match config.json, which asks for {arcs or 'none'}"
        )
    return weights


def read_vector_size(session: Any, path: Path) -> int:
    """Return the size of the vectors of words, which an export of a mention scorer's model gives.

    Raises:
        InputError: The export gives no vectors.
    """
    outputs = session.get_outputs()
    size = outputs[1].shape[-1] if len(outputs) > 1 else None
    if type(size) is not int:
        raise InputError(
            f"{path}: gives no vectors of words, which the mention scorer of config.json needs: "
            "discotag export writes them"
        )
    return size


def open_scorer(path: Path, features: int) -> Any:
    """Return a session of onnxruntime for an exported mention scorer.

    Args:
        path: The ONNX file.
        features: The number of features that it must read.

    Raises:
        InputError: The file cannot be used.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file, but config.json has a mention scorer")
    try:
        session = make_session(path)
    except Exception as error:  # of many kinds, none of them public
        raise InputError(f"{path}: onnxruntime cannot load it: {one_line(error)}") from None
    given, found = session.get_inputs(), session.get_outputs()
    shapes = [each.shape for each in (*given, *found)]
    free = len(shapes) == 2 and all(len(each) == 2 and type(each[0]) is str for each in shapes)
    if not free or given[0].name != FEATURES or [each[1] for each in shapes] != [features, 1]:
        raise InputError(
            f"{path}: it is not the mention scorer of this model, which reads {features} features"
        )
    return session


def count_threads() -> int:
    """Return the number of batches to encode in parallel: the cores of this process, up to a limit.

    `OMP_NUM_THREADS` sets another number.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return min(count_cores(), MAX_THREADS)


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _onnxruntime() -> Any:
    """Import onnxruntime, with telemetry off."""
    import onnxruntime  # type: ignore[import-untyped]

    if os.environ.get(ORT_OPT_OUT) == "1":  # imported before discotag has set it
        onnxruntime.disable_telemetry_events()
    return onnxruntime
