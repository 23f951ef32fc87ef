"""Quantise the large matrices and tables of an ONNX model to eight bits.

Tables of embeddings are kept as integers with a scale for each block of a row, and become floats
row by row as they are looked up. For matrices there are two ways, `EightBits`:

- `products`: a matrix is kept as integers with a scale for each column. The vectors that it is
  multiplied with, one for each subword, are rounded to integers too, each by its own range, and the
  integers are multiplied. So the answers for a sentence do not depend on the rest of its batch.
  Attention, normalisation, activation functions and the last layer are computed in floats.
- `weights`: a matrix is kept as integers with a scale for each block of a column, and becomes
  floats again as the model is loaded. Everything is computed in floats.

`benchmarks/prediction.py` measures the speed of both, and how far their answers are from those of
floats. One range for the vectors of all subwords, from calibration, would be some 10% faster than a
range for each, but moves scores half as far again. onnxruntime's own `quantize_dynamic` takes one
range for all vectors of a batch, so that answers depend on the batch, and its `MatMulNBits` is
slower than floats on processors without AVX-512.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from discotag.model.eight_bits import (
    ONE,
    SCALES,
    WHOLE,
    Constant,
    Numbers,
    quantised,
    quantised_columns,
    read_constants,
)
from discotag.model.onnx_session import INPUTS, WEIGHTS, make_session
from discotag.model.precision import EightBits

LEAST_WEIGHTS: Final = 1 << 14
"""Smaller matrices and tables are not quantised, because little would be saved. The last layer,
which computes the scores, is one of them."""

MICROSOFT: Final = "com.microsoft"
"""The domain of operations that onnxruntime adds to those of ONNX."""

LEVELS: Final = 255
"""The largest integer of a rounded vector; the least is 0."""

MIDDLE: Final = 128
"""The integer that means zero in a rounded vector."""

LOW: Final = 24
"""The same where an activation function gives the vector, which is hardly ever below zero."""

ACTIVATIONS: Final = ("Gelu", "Relu")

LEAST_SCALE: Final = 1e-30
"""The least scale of a vector: one of zeros has none of its own."""

STRENGTH: Final = 0.6
"""How much of the differences in range between the components of a vector is moved to the weights:
1 is all of it, 0 makes the rows of the matrix alike."""

LEAST_RANGE: Final = 1e-3
"""The least range of a component, and of a row of a matrix: smaller ones count as this."""

MASK: Final = INPUTS[1]

Feed = Mapping[str, Numbers]
"""The inputs of an exported model by name."""


def quantise(
    source: Path,
    target: Path,
    kind: EightBits = EightBits.PRODUCTS,
    samples: Iterable[Feed] = (),
) -> None:
    """Write an ONNX model with the large matrices and tables of another in eight bits.

    Args:
        source: The model in floats.
        target: The file to write.
        kind: What is computed in eight bits.
        samples: Inputs that show how large the components of vectors are; see `_smoothing`.
    """
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load(source)
    graph = model.graph
    tables = {each.name: each for each in graph.initializer}
    chosen: dict[str, tuple[str, Numbers]] = {}
    for node in graph.node:
        place = {"MatMul": 1, "Gather": 0}.get(node.op_type)
        table = None if place is None else tables.get(node.input[place])
        if (
            table is not None
            and table.data_type == onnx.TensorProto.FLOAT
            and len(table.dims) == 2
            and table.dims[0] * table.dims[1] >= LEAST_WEIGHTS
            and all(each.i == 0 for each in node.attribute)  # the axis, if there is one
        ):
            chosen[node.output[0]] = (table.name, numpy_helper.to_array(table))
    if kind == EightBits.WEIGHTS:
        rewriter = _Rewriter()
    else:
        matrices: dict[str, list[Numbers]] = {}
        for node in graph.node:
            if node.op_type == "MatMul" and node.output[0] in chosen:
                matrices.setdefault(node.input[0], []).append(chosen[node.output[0]][1])
        rewriter = _ProductRewriter(graph, _smoothing(model, matrices, samples))
    constants: dict[str, Constant] = {}
    for node in graph.node:
        if node.output[0] not in chosen:
            rewriter.nodes.append(node)
            continue
        name, weights = chosen[node.output[0]]
        write = rewriter.matmul if node.op_type == "MatMul" else rewriter.gather
        constants[name] = write(node, weights)
    del graph.node[:]
    graph.node.extend(rewriter.nodes)
    used = {name for node in graph.node for name in node.input}
    kept = [each for each in (*graph.initializer, *rewriter.tables) if each.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    if all(each.domain != MICROSOFT for each in model.opset_import):
        model.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    _record(model, constants)
    onnx.checker.check_model(model)
    onnx.save(model, target)


def _record(model: Any, constants: Mapping[str, Constant]) -> None:
    """Say where the weights are that were in constants by these names; see `WEIGHTS`."""
    for entry in model.metadata_props:
        if entry.key == WEIGHTS:
            kept = read_constants(entry.value)
            for name, each in kept.items():
                if each is not None and each.name in constants:
                    kept[name] = constants[each.name]._replace(transposed=each.transposed)
            entry.value = json.dumps(kept)


class _Rewriter:
    """Collects the nodes and tables of the new graph."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.tables: list[Any] = []
        self._known: set[str] = set()

    def matmul(self, node: Any, weights: Numbers) -> Constant:
        """Multiply with a matrix of floats that is unpacked when the model is loaded.

        All that goes into the matrix is constant, so onnxruntime computes it once.
        """
        name = node.output[0]
        blocks = self._unpacked(name, *quantised(weights, 0))
        shape = self._table(f"{name}_shape", np.array(weights.shape))
        matrix = self._node("Reshape", [blocks, shape], f"{name}_matrix")
        self._node("MatMul", [node.input[0], matrix], name)
        return Constant(name, transposed=False, axis=0)

    def gather(self, node: Any, weights: Numbers) -> Constant:
        """Look up rows of integers, and multiply them with their scales."""
        name, indices = node.output[0], node.input[1]
        rows = self._unpacked(name, *quantised(weights, 1), indices)
        shape = self._node("Shape", [indices], f"{name}_indices")
        self._reshape(rows, shape, weights.shape[1], name)
        return Constant(name, transposed=False, axis=1)

    def _unpacked(
        self, name: str, whole: Numbers, scales: Numbers, indices: str | None = None
    ) -> str:
        """Multiply integers with their scales, in blocks; of a table, the rows asked for."""
        parts = [self._table(f"{name}{WHOLE}", whole), self._table(f"{name}{SCALES}", scales)]
        if indices is not None:
            parts = [self._node("Gather", [each, indices], f"{each}_rows") for each in parts]
        floats = [self._node("Cast", [each], f"{each}_float", to=1) for each in parts]
        return self._node("Mul", floats, f"{name}_unpacked")

    def _reshape(self, rows: str, leading: str, width: int, name: str) -> None:
        """Give vectors the shape (*leading, width)."""
        last = self._table(f"{name}_width", np.array([width]))
        shape = self._node("Concat", [leading, last], f"{name}_shape", axis=0)
        self._node("Reshape", [rows, shape], name)

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        self._known.add(output)
        return output

    def _table(self, name: str, values: Any) -> str:
        """Add a constant, unless there is one of this name."""
        from onnx import numpy_helper

        if name not in self._known:
            self.tables.append(numpy_helper.from_array(np.asarray(values), name))
            self._known.add(name)
        return name


class _ProductRewriter(_Rewriter):
    """A `_Rewriter` that also computes matrix products in eight bits.

    Args:
        graph: The graph that is rewritten.
        smoothing: For vectors by name, factors for their components: see `_smoothing`.
    """

    def __init__(self, graph: Any, smoothing: Mapping[str, Numbers]) -> None:
        super().__init__()
        self._smoothing = smoothing
        self._activated = {
            name for node in graph.node if node.op_type in ACTIVATIONS for name in node.output
        }

    def matmul(self, node: Any, weights: Numbers) -> Constant:
        """Multiply vectors x, rounded to `scale * (whole - zero)`, with a matrix W.

        x W = scale * ((whole - zero) W)
        """
        given, name = node.input[0], node.output[0]
        zero = self._round(given, len(weights))
        factors = self._smoothing.get(given)
        whole, scales = quantised_columns(
            weights if factors is None else weights / factors[:, None]
        )
        inputs = [
            f"{given}_rounded",
            self._table(f"{name}{WHOLE}", whole),
            self._table(ONE, np.float32(1)),
            self._table(f"{name}{SCALES}", scales),
            zero,
        ]
        product = f"{name}_product"
        self._node("MatMulIntegerToFloat", inputs, product, domain=MICROSOFT)
        rows = self._node("Mul", [product, f"{given}_scale"], f"{name}_rows")
        self._reshape(rows, f"{given}_leading", weights.shape[1], name)
        scaled = None if factors is None else f"{given}_smoothing"
        return Constant(name, transposed=False, factors=scaled)

    def _round(self, name: str, length: int) -> str:
        """Round vectors to eight bits, each by its own range; return the integer that means zero.

        Several products may use the same vectors.
        """
        zero = LOW if name in self._activated else MIDDLE
        zero_name = self._table(f"eight_bits.zero_{zero}", np.uint8(zero))
        if f"{name}_rounded" in self._known:
            return zero_name
        self._node("Shape", [name], f"{name}_leading", end=-1)
        vectors = name
        if name in self._smoothing:
            factors = self._table(f"{name}_smoothing", self._smoothing[name])
            vectors = self._node("Mul", [name, factors], f"{name}_smooth")
        shape = self._table(f"eight_bits.rows_of_{length}", np.array([-1, length]))
        rows = self._node("Reshape", [vectors, shape], f"{name}_vectors")
        last = self._table("eight_bits.last_axis", np.array([-1]))
        ends = []
        for kind, steps in (("Max", LEVELS - zero), ("Min", -zero)):
            end = self._node(f"Reduce{kind}", [rows, last], f"{name}_{kind}", keepdims=1)
            step = self._table(f"eight_bits.step_{steps}", np.float32(1 / steps))
            ends.append(self._node("Mul", [end, step], f"{end}_scale"))
        least = self._table("eight_bits.least_scale", np.float32(LEAST_SCALE))
        scale = self._node("Max", [*ends, least], f"{name}_scale")
        scales = self._node("Reshape", [scale, last], f"{name}_scale_list")
        number = self._node("Shape", [scales], f"{name}_number")
        zeros = self._table(f"eight_bits.zeros_{zero}", np.array([zero], np.uint8))
        zeros = self._node("Expand", [zeros, number], f"{name}_zeros")
        self._node("QuantizeLinear", [rows, scales, zeros], f"{name}_rounded", axis=0)
        return zero_name


def _smoothing(
    model: Any, matrices: Mapping[str, list[Numbers]], samples: Iterable[Feed]
) -> dict[str, Numbers]:
    """Return factors for the components of normalised vectors, by the name of the vectors.

    A few components are much larger than the others, and would leave few steps for these. They are
    made smaller, and the rows of the matrices larger by the same factor, as SmoothQuant does
    (Xiao et al. 2023).

    Args:
        model: The model in floats.
        matrices: The matrices that vectors are multiplied with, by the name of the vectors.
        samples: Inputs of the model; without any, no factors are returned.
    """
    normalised = [
        node.output[0]
        for node in model.graph.node
        if node.op_type == "LayerNormalization" and node.output[0] in matrices
    ]
    found = {}
    for name, largest in _ranges(model, normalised, samples).items():
        rows = np.max([np.abs(each).max(1) for each in matrices[name]], axis=0)
        ranges, sizes = (np.maximum(each, LEAST_RANGE) for each in (largest, rows))
        factors = sizes ** (1 - STRENGTH) / ranges**STRENGTH
        found[name] = (factors / factors.mean()).astype(np.float32)
    return found


def _ranges(model: Any, names: list[str], samples: Iterable[Feed]) -> dict[str, Numbers]:
    """Return the largest absolute value of each component of vectors, over all samples."""
    import onnx

    if not names:  # of no names, a session returns all outputs
        return {}
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    watched.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    session = make_session(watched.SerializeToString())
    found: dict[str, Numbers] = {}
    for feed in samples:
        shown = feed[MASK] == 1
        for name, vectors in zip(names, session.run(names, feed), strict=True):
            largest = np.abs(vectors[shown]).max(0)
            found[name] = np.maximum(largest, found.get(name, largest))
    return found
