"""The weights of an export, in floats or in eight bits, back into a network of PyTorch.

An exporter gives constants names of its own, and keeps the matrices of linear layers transposed. So
an export records which constant each weight became, `eight_bits.Constant`. In the end scores are
compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from discotag.errors import one_line
from discotag.model.eight_bits import ONE, Numbers, read_constants
from discotag.model.files import ONNX_SCORER, ModelError
from discotag.model.onnx_session import (
    INPUTS,
    WEIGHTS,
    open_scorer,
    open_session,
    read_arc_weights,
)

if TYPE_CHECKING:
    from discotag.model.network import Network

LARGEST_DIFFERENCE: Final = 1e-3
"""The largest allowed difference between the scores of the same weights in onnxruntime and in
PyTorch; rounding gives about 1e-5."""

LARGEST_ROUNDING: Final = 0.05
"""The same where products are computed in eight bits: the root mean square of the differences, as a
share of that of the scores. The bundled model has 0.010, and from 0.076 to 0.34 with two matrices
of a layer exchanged."""

SAMPLE: Final = (8, 64)
"""Windows and subwords that the two are compared on."""

SCORER: Final = "scorer."
"""Begins the names of weights of the mention scorer, which are in a file of their own."""


def restore(network: Network, path: Path) -> None:
    """Give a network the weights of an ONNX file that was exported from one like it.

    Raises:
        ModelError: The file does not hold all weights, or the network then gives other scores
            than the file does.
        InputError: onnxruntime cannot use the file.
    """
    session = open_session(path, len(network.config.scheme.tags))
    arrays, record = _read(path)
    try:
        constants = read_constants(record).items()
        values = {name: each and each.weight(arrays) for name, each in constants}
    except (ValueError, TypeError, AttributeError, LookupError):
        raise _not_restored(path, "it does not say which weights it has") from None
    weights = read_arc_weights(session, path, network.config)
    if weights is not None:
        values["layer.arc_weights"] = weights
    if network.scorer is not None:
        scorer = path.with_name(ONNX_SCORER)
        open_scorer(scorer, network.scorer.hidden.in_features)  # raises if it cannot be used
        values |= {f"{SCORER}{name}": value for name, value in _read(scorer)[0].items()}
    parameters = dict(network.named_parameters())
    for name in sorted(values.keys() ^ parameters.keys()):
        where = "config.json's encoder has no" if name in values else "it has no weights for"
        raise _not_restored(path, f"{where} {name}")
    for name, value in values.items():
        if value is None:  # nothing uses it
            continue
        if value.shape != parameters[name].shape:
            raise _not_restored(path, f"its {name} has another shape than config.json asks for")
        with torch.no_grad():
            parameters[name].copy_(torch.tensor(value))
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


def _read(path: Path) -> tuple[Mapping[str, Numbers], str]:
    """Return the constants of a file by name, and the record of the weights that they were."""
    import onnx
    from onnx import numpy_helper

    try:
        model = onnx.load(path, load_external_data=False)
        arrays = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    except Exception as error:  # of protobuf and of onnx, of many kinds
        raise ModelError(f"{path}: onnx cannot read it: {one_line(error)}") from None
    return arrays, next((each.value for each in model.metadata_props if each.key == WEIGHTS), "")
