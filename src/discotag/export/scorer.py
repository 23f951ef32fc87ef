"""The mention scorer as a small ONNX graph of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from discotag.model.mention_scorer import MentionScorer
from discotag.model.onnx_session import FEATURES, OPSET

IR_VERSION: Final = 9
"""The version of the file format that belongs to `OPSET`; later ones need a later onnxruntime."""


def write_scorer(scorer: MentionScorer, path: Path) -> None:
    """Write the layers of a mention scorer, from features to log-odds.

    The features are those of `discotag.model.candidates.features`, (candidates, size).
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = [
        numpy_helper.from_array(each.detach().float().cpu().numpy(), name)
        for name, each in scorer.named_parameters()
    ]
    given = helper.make_tensor_value_info(
        FEATURES, TensorProto.FLOAT, ["candidates", scorer.hidden.in_features]
    )
    found = helper.make_tensor_value_info("log_odds", TensorProto.FLOAT, ["candidates", 1])
    nodes = [
        helper.make_node("Gemm", [FEATURES, "hidden.weight", "hidden.bias"], ["sum"], transB=1),
        helper.make_node("Gelu", ["sum"], ["active"]),
        helper.make_node("Gemm", ["active", "out.weight", "out.bias"], ["log_odds"], transB=1),
    ]
    graph = helper.make_graph(nodes, "mention_scorer", [given], [found], weights)
    opsets = [helper.make_opsetid("", OPSET)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION), path)
