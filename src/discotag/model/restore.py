"""The weights of an export, in floats or in eight bits, back into a network of PyTorch.

An ONNX file keeps the names of many weights, but not of all: matrices of linear layers are kept
transposed, those in eight bits in blocks, and equal weights once. The operations that use them are
in the order in which the network computes, so the two sequences are matched, and in the end the
scores are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from discotag.errors import one_line
from discotag.model.eight_bits import (
    MATRIX,
    ONE,
    PRODUCT,
    ROUNDED,
    SCALES,
    SMOOTHING,
    WHOLE,
    Numbers,
    unquantised,
)
from discotag.model.files import ONNX_SCORER, ModelError
from discotag.model.onnx_session import INPUTS, open_scorer, open_session, read_arc_weights

if TYPE_CHECKING:
    from discotag.model.network import Network

LARGEST_DIFFERENCE: Final = 1e-3
"""Between scores of the same weights in onnxruntime and in PyTorch; rounding gives some 1e-5."""

LARGEST_ROUNDING: Final = 0.05
"""The same where products are computed in eight bits: the root mean square of the differences, as a
share of that of the scores. The bundled model has 0.010, and from 0.076 to 0.34 with two matrices
of a layer exchanged."""

SAMPLE: Final = (8, 64)
"""Windows and subwords that the two are compared on."""

PREFIX: Final = "network."
"""Of the names of weights in an export."""

SCORER: Final = "scorer."
"""Of the names of weights of the mention scorer, which are in a file of their own."""

OUTSIDE: Final = ("layer.", SCORER)
"""Of the names of weights that the encoder and the linear layer do not have."""


OPERATIONS: Final = {
    "MatMul": "linear",
    "MatMulIntegerToFloat": "linear",
    "Gemm": "linear",
    "Gather": "embedding",
    "LayerNormalization": "layer_norm",
}
"""The operations of ONNX that have weights, and the PyTorch function that each comes from."""

FUNCTIONS: Final = {functional.linear: 1, functional.embedding: 1, functional.layer_norm: 2}
"""Those functions, and which argument is the weight; the bias, if there is one, is the next."""

Weights = tuple[Numbers, Numbers | None]
"""What an operation uses, as PyTorch keeps it: the weight and the bias."""


def restore(network: Network, path: Path) -> None:
    """Give a network the weights of an ONNX file that was exported from one like it.

    Raises:
        ModelError: The file does not hold all weights, or the network then gives other scores
            than the file does.
        InputError: onnxruntime cannot use the file.
    """
    session = open_session(path, len(network.config.scheme.tags))
    arrays, operations = _read(path)
    uses = _Uses(network)
    if [kind for kind, _ in uses.operations] != [kind for kind, _ in operations]:
        raise _not_restored(
            path,
            f"it has {len(operations)} layers, and config.json's encoder {len(uses.operations)}",
        )
    values = {
        name: value
        for (_, names), (_, found) in zip(uses.operations, operations, strict=True)
        for name, value in zip(names, found, strict=True)
        if name is not None and value is not None
    }
    values |= {name: arrays[PREFIX + name] for name in uses.names if PREFIX + name in arrays}
    weights = read_arc_weights(session, path, network.config)
    if weights is not None:
        values["layer.arc_weights"] = weights
    if network.scorer is not None:
        scorer = path.with_name(ONNX_SCORER)
        open_scorer(scorer, network.scorer.hidden.in_features)  # raises if it cannot be used
        values |= {f"{SCORER}{name}": value for name, value in _read(scorer)[0].items()}
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            value = values.get(name)
            if value is not None and value.shape == parameter.shape:
                parameter.copy_(torch.tensor(value))
            elif value is not None or name in uses.names or name.startswith(OUTSIDE):
                raise _not_restored(path, f"it has no weights for {name}")
    largest, relative = _differences(network.eval(), session)
    if not (relative <= LARGEST_ROUNDING if ONE in arrays else largest <= LARGEST_DIFFERENCE):
        raise _not_restored(path, f"scores would differ by up to {largest:.2g}")


def _differences(network: Network, session: Any) -> tuple[float, float]:
    """Compare the scores of a network with those of an exported model.

    Returns:
        The largest difference, and the root mean square of the differences as a share of that of
        the scores.
    """
    windows, subwords = SAMPLE
    known = int(network.encoder.get_input_embeddings().num_embeddings)  # type: ignore[arg-type]
    random = np.random.default_rng(0)
    ids = random.integers(known, size=(windows, min(subwords, network.config.window)))
    mask = np.ones_like(ids)
    mask[0, ids.shape[1] // 2 :] = 0
    (theirs, *_) = session.run(None, dict(zip(INPUTS, (ids, mask), strict=True)))
    with torch.no_grad():
        ours = network.score_subwords(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()
    wanted, differences = theirs[mask == 1], (ours - theirs)[mask == 1]
    share = np.sqrt(np.square(differences).mean() / np.square(wanted).mean())
    return float(np.abs(differences).max(initial=0)), float(share)


def _not_restored(path: Path, reason: str) -> ModelError:
    return ModelError(
        f"{path}: its weights cannot be brought back to PyTorch: {reason}; use runtime 'onnx' or "
        "'onnx-int8', or the model.safetensors that it was exported from"
    )


def _read(path: Path) -> tuple[Mapping[str, Numbers], list[tuple[str, Weights]]]:
    """Return the constants of a file by name, and the operations with weights in their order."""
    import onnx
    from onnx import numpy_helper

    try:
        graph = onnx.load(path, load_external_data=False).graph
        arrays = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    except Exception as error:  # of protobuf and of onnx, of many kinds
        raise ModelError(f"{path}: onnx cannot read it: {one_line(error)}") from None
    added = {
        name: node.input[1 - place]
        for node in graph.node
        if node.op_type == "Add"
        for place, name in enumerate(node.input)
    }
    found: list[tuple[str, Weights]] = []
    for node in graph.node:
        kind = OPERATIONS.get(node.op_type)
        weight = None if kind is None else _weight(node, kind, arrays)
        if kind is None or weight is None:
            continue
        with_bias = kind != "linear" or node.op_type == "Gemm"
        output = node.output[0].removesuffix(PRODUCT)
        bias = node.input[2] if with_bias and len(node.input) > 2 else added.get(output, "")
        found.append((kind, (weight, arrays.get(bias))))
    return arrays, found


def _weight(node: Any, kind: str, arrays: Mapping[str, Numbers]) -> Numbers | None:
    """Return the weight that an operation uses, or None if it uses none."""
    linear = kind == "linear"
    name = node.input[0 if kind == "embedding" else 1]
    product = node.op_type == "MatMulIntegerToFloat"
    stem = name.removesuffix(MATRIX if linear and not product else WHOLE)
    if stem != name and stem + WHOLE in arrays and stem + SCALES in arrays:
        whole, scales = arrays[stem + WHOLE], arrays[stem + SCALES]
        if product:
            factors = arrays.get(node.input[0].removesuffix(ROUNDED) + SMOOTHING)
            weight = whole * scales if factors is None else whole * scales * factors[:, None]
        else:
            weight = unquantised(whole, scales, 0 if linear else 1)
    elif name in arrays:
        weight = arrays[name]
    else:  # computed, such as a product in attention
        return None
    if weight.dtype != np.float32 or weight.ndim != (1 if kind == "layer_norm" else 2):
        return None
    as_kept = any(each.name == "transB" and each.i for each in node.attribute)
    return weight.T if linear and not as_kept else weight


class _Uses(TorchFunctionMode):
    """Watches which parameters a network uses in one forward pass.

    Attributes:
        names: Of all that are used.
        operations: Linear layers, embeddings and normalisations in order, each with the names of
            its weight and its bias.
    """

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.known = {id(each): name for name, each in network.named_parameters()}
        self.names: set[str] = set()
        self.operations: list[tuple[str, tuple[str | None, str | None]]] = []
        ids = torch.zeros(2, 7, dtype=torch.int64)
        with torch.no_grad(), self:
            network.eval().score_subwords(ids, torch.ones_like(ids))

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Note the parameters among the arguments of a function, and call it."""
        named = kwargs or {}
        self.names.update(
            self.known[id(each)] for each in (*args, *named.values()) if id(each) in self.known
        )
        place = FUNCTIONS.get(func)
        if place is not None:
            given = dict(zip(("weight", "bias"), args[place : place + 2], strict=False)) | named
            weight, bias = (self.known.get(id(given.get(name))) for name in ("weight", "bias"))
            self.operations.append((func.__name__, (weight, bias)))
        return func(*args, **named)
