"""Eight bits for a model in ONNX, in a way that keeps a sentence's scores its own.

Weights get a scale for each column, activations one for each subword, found as they come. The
usual dynamic quantisation of onnxruntime has one scale for a whole batch: the scores of a sentence
then depend on what else is in the batch, padding included, and by as much as scores differ from
tag to tag. Tables of embeddings get a scale for each row and are unpacked row by row as needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

LEAST_WEIGHTS: Final = 1 << 14
"""Smaller matrices, and tables, stay as they are: nothing would be won. The last layer, from
which scores come directly, is one of them."""

TINY: Final = 1e-12
"""A scale is never below: a row of zeros has none of its own."""

STEPS: Final = 127
"""Above and below zero."""

MIDDLE: Final = 128
"""Stands for zero in activations: processors multiply unsigned by signed bytes."""


def quantise(source: Path, target: Path, samples: Sequence[Mapping[str, Numbers]] = ()) -> None:
    """Write an ONNX model with the large matrices and tables of another in eight bits.

    Args:
        source: The model to read.
        target: The model to write.
        samples: Inputs of the model. On them is seen which numbers of a subword are always large:
            part of their size is moved to the weights, so that the others keep more digits.
    """
    import onnx
    from onnx import numpy_helper

    model = onnx.load(source)
    graph = model.graph
    tables = {each.name: each for each in graph.initializer}
    chosen: dict[str, Numbers] = {}  # by the output of the node that has it
    inputs: dict[str, list[Numbers]] = {}  # of matrix products, with the matrices
    for node in graph.node:
        place = {"MatMul": 1, "Gather": 0}.get(node.op_type)
        table = None if place is None else tables.get(node.input[place])
        if table is None or table.data_type != onnx.TensorProto.FLOAT or len(table.dims) != 2:
            continue
        if table.dims[0] * table.dims[1] < LEAST_WEIGHTS or not _by_row(node):
            continue
        chosen[node.output[0]] = numpy_helper.to_array(table)
        if node.op_type == "MatMul":
            inputs.setdefault(node.input[0], []).append(chosen[node.output[0]])
    rewriter = _Rewriter(_smoothing(model, inputs, samples) if inputs and samples else {})
    for node in graph.node:
        if node.output[0] not in chosen:
            rewriter.nodes.append(node)
        elif node.op_type == "MatMul":
            rewriter.matmul(node, chosen[node.output[0]])
        else:
            rewriter.gather(node, chosen[node.output[0]])
    del graph.node[:]
    graph.node.extend(rewriter.nodes)
    used = {name for node in graph.node for name in node.input}
    kept = [each for each in (*graph.initializer, *rewriter.tables) if each.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    onnx.checker.check_model(model)
    onnx.save(model, target)


def _smoothing(
    model: Any, inputs: Mapping[str, Sequence[Numbers]], samples: Sequence[Mapping[str, Numbers]]
) -> dict[str, npt.NDArray[np.float32]]:
    """For each input of matrix products what its columns are divided by.

    Half of how much larger a column is, in logarithms, goes to the weights, as in SmoothQuant (Xiao
    et al. 2023).
    """
    import onnxruntime  # type: ignore[import-untyped]
    from onnx import helper

    watched = type(model)()
    watched.CopyFrom(model)
    watched.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in inputs)
    session = onnxruntime.InferenceSession(watched.SerializeToString())
    largest = {name: np.float32(TINY) for name in inputs}
    for sample in samples:
        for name, found in zip(inputs, session.run(list(inputs), sample), strict=True):
            columns = np.abs(found).reshape(-1, found.shape[-1]).max(0)
            largest[name] = np.maximum(largest[name], columns)
    smoothing = {}
    for name, weights in inputs.items():
        rows = np.maximum(np.max([np.abs(each).max(1) for each in weights], axis=0), TINY)
        scale = np.sqrt(largest[name] / rows)
        smoothing[name] = (scale / np.exp(np.log(scale).mean())).astype(np.float32)
    return smoothing


def _by_row(node: Any) -> bool:
    return all(each.i == 0 for each in node.attribute)  # the only one there may be is the axis


class _Rewriter:
    """Collects the nodes and tables of the new graph."""

    def __init__(self, smoothing: Mapping[str, npt.NDArray[np.float32]]) -> None:
        self.smoothing = smoothing
        self.nodes: list[Any] = []
        self.tables: list[Any] = []
        self._rows: dict[str, tuple[str, str]] = {}
        self._table("discotag_steps", np.float32(STEPS))
        self._table("discotag_tiny", np.float32(TINY))
        self._table("discotag_middle_float", np.float32(MIDDLE))
        self._table("discotag_middle", np.uint8(MIDDLE))
        self._table("discotag_last_axis", np.array([-1], np.int64))

    def matmul(self, node: Any, weights: npt.NDArray[np.float32]) -> None:
        """Whole numbers times whole numbers, then the scales of row and column."""
        name = node.output[0]
        rows, scales = self._quantised_rows(node.input[0])
        if node.input[0] in self.smoothing:
            weights = weights * self.smoothing[node.input[0]][:, None]
        column_scales = np.maximum(np.abs(weights).max(0), TINY) / STEPS
        whole = np.rint(weights / column_scales).astype(np.int8)
        table = self._table(f"{name}_weights", whole)
        column = self._table(f"{name}_columns", column_scales.astype(np.float32))
        middle = "discotag_middle"
        product = self._node("MatMulInteger", [rows, table, middle], f"{name}_whole")
        floats = self._node("Cast", [product], f"{name}_float", to=1)
        by_column = self._node("Mul", [floats, column], f"{name}_by_column")
        self._node("Mul", [by_column, scales], name)

    def gather(self, node: Any, weights: npt.NDArray[np.float32]) -> None:
        """Rows of whole numbers, times the scale of each."""
        name = node.output[0]
        row_scales = np.maximum(np.abs(weights).max(1, keepdims=True), TINY) / STEPS
        whole = np.rint(weights / row_scales).astype(np.int8)
        table = self._table(f"{name}_table", whole)
        row = self._table(f"{name}_table_scales", row_scales.astype(np.float32))
        rows = self._node("Gather", [table, node.input[1]], f"{name}_whole")
        floats = self._node("Cast", [rows], f"{name}_float", to=1)
        scales = self._node("Gather", [row, node.input[1]], f"{name}_scales")
        self._node("Mul", [floats, scales], name)

    def _quantised_rows(self, name: str) -> tuple[str, str]:
        """What a matrix product takes, as whole numbers with a scale for each row; made once."""
        if name not in self._rows:
            given = name
            if name in self.smoothing:
                factors = self._table(f"{name}_factors", 1 / self.smoothing[name])
                given = self._node("Mul", [name, factors], f"{name}_smooth")
            sizes = self._node("Abs", [given], f"{name}_sizes")
            last = "discotag_last_axis"
            largest = self._node("ReduceMax", [sizes, last], f"{name}_largest", keepdims=1)
            above = self._node("Max", [largest, "discotag_tiny"], f"{name}_above")
            scale = self._node("Div", [above, "discotag_steps"], f"{name}_scale")
            steps = self._node("Div", [given, scale], f"{name}_in_steps")
            rounded = self._node("Round", [steps], f"{name}_rounded")
            raised = self._node("Add", [rounded, "discotag_middle_float"], f"{name}_raised")
            self._rows[name] = (self._node("Cast", [raised], f"{name}_rows", to=2), scale)
        return self._rows[name]

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _table(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self.tables.append(numpy_helper.from_array(np.asarray(values), name))
        return name
