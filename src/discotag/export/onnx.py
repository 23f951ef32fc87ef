"""A model of PyTorch to ONNX: as it is, and in eight bits."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from discotag.errors import DiscotagError, InputError
from discotag.export.agreement import SAMPLE, Agreement, measure_agreement
from discotag.export.quantise import quantise
from discotag.export.scorer import write_scorer
from discotag.model.eight_bits import Constant, Numbers
from discotag.model.files import (
    CARD,
    CONFIG,
    ONNX,
    ONNX_INT8,
    ONNX_SCORER,
    TOKENIZER,
    ModelError,
    check_weights,
    write_config,
)
from discotag.model.network import Network
from discotag.model.onnx_session import ARC_WEIGHTS, INPUTS, OPSET, WEIGHTS
from discotag.model.precision import EightBits
from discotag.model.restore import LARGEST_DIFFERENCE
from discotag.prediction.batching import plan_batches
from discotag.prediction.loading import load
from discotag.prediction.tagger import Tagger

REWRITTEN: Final = ("onnx", "onnx-int8")
"""The runtimes whose files an export writes."""

ELSEWHERE: Final = ("layer.", "scorer.")
"""Begins the names of weights that are not constants of the exported graph: those of arcs, and of
the mention scorer."""

MAX_SAMPLE: Final = 1 << 15
"""The most subwords of the texts that show how large the components of vectors are."""


def export(
    source: str | Path,
    target: str | Path,
    texts: Sequence[str] = SAMPLE,
    eight_bits: EightBits = EightBits.PRODUCTS,
) -> tuple[Agreement, ...]:
    """Export a model to ONNX, in floats and in eight bits, to a folder that `load` reads.

    The folder gets `model.onnx`, `model_int8.onnx`, `mention_scorer.onnx` if the model has a
    mention scorer, and copies of the configuration, the tokenizer and the card: all that is needed
    to predict without PyTorch. If it also has `model.safetensors`,
    `load` continues to use that unless a runtime is given.

    Args:
        source: The folder of a model.
        target: The folder to write to; may be the same.
        texts: The texts to compare results on. For products in eight bits, they also show how large
            the numbers inside the encoder are, so texts like those to be tagged are best.
        eight_bits: What the export in eight bits computes with.

    Returns:
        How the export in floats and that in eight bits compare with PyTorch.

    Raises:
        ModelError: The model cannot be read or exported.
        InputError: There is no text to compare results on.
        DiscotagError: The scores of the export in floats differ from PyTorch's, or it cannot be
            written; the target is unchanged.
    """
    source, target = Path(source), Path(target)
    if not any(text.strip() for text in texts):
        raise InputError("there is no text to compare the answers on")
    check_weights(source)
    network = Network.from_pretrained(source)
    if hasattr(network.encoder, "set_attn_implementation"):
        # As plain products and sums attention becomes half as many nodes as the fused one does,
        # which on long windows take half the time and a third of the memory.
        network.encoder.set_attn_implementation("eager")
    try:
        target.mkdir(parents=True, exist_ok=True)
        # Files appear in the target when all are written and compared.
        with tempfile.TemporaryDirectory(dir=target, prefix=".export-") as name:
            found = _export(network, source, Path(name), texts, eight_bits)
            bound = network.config.guarantee
            if bound is not None and (
                source.resolve() != target.resolve() or bound.runtime in REWRITTEN
            ):
                write_config(Path(name), replace(network.config, guarantee=None))
            for path in Path(name).iterdir():
                path.replace(target / path.name)
    except OSError as error:
        raise DiscotagError(f"{target}: cannot be written: {error.strerror}") from None
    return found


def _export(
    network: Network, source: Path, folder: Path, texts: Sequence[str], eight_bits: EightBits
) -> tuple[Agreement, ...]:
    for name in (CONFIG, TOKENIZER, CARD):
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)
    _write(network, folder / ONNX)
    if network.scorer is not None:
        write_scorer(network.scorer, folder / ONNX_SCORER)
    reference = Tagger.from_network(network, "cpu")
    quantise(folder / ONNX, folder / ONNX_INT8, eight_bits, _samples(reference, texts))
    found = tuple(
        measure_agreement(reference, load(folder, runtime=runtime), runtime, folder / name, texts)
        for runtime, name in (("onnx", ONNX), ("onnx-int8", ONNX_INT8))
    )
    if not found[0].score_difference <= LARGEST_DIFFERENCE:
        raise DiscotagError(
            f"{source}: the export gives other scores than PyTorch, by up to "
            f"{found[0].score_difference:.2g}; nothing was written"
        )
    return found


def _samples(tagger: Tagger, texts: Sequence[str]) -> Iterator[dict[str, Numbers]]:
    """Yield texts as the inputs of an exported model, up to `MAX_SAMPLE` subwords."""
    documents = map(tagger.splitter.document, texts)
    words = [sentence.words for document in documents for sentence in document.sentences]
    encoded = tagger.tokenizer.encode(words)
    seen = 0
    for numbers in plan_batches(encoded, tagger.runtime.budget):
        batch = encoded.batch(numbers)
        yield dict(zip(INPUTS, (batch.input_ids, batch.attention_mask), strict=True))
        seen += batch.input_ids.size
        if seen >= MAX_SAMPLE:
            return


class _Scores(nn.Module):
    """What is exported: from subwords to the scores of each, and to vectors if they are needed."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
        vectors = self.network.encode(input_ids, attention_mask)
        scores = self.network.score(vectors)
        return (scores,) if self.network.scorer is None else (scores, vectors)


def _write(network: Network, path: Path) -> None:
    import onnx

    most = network.config.window
    dims = {
        0: torch.export.Dim("windows", min=1, max=1 << 20),
        1: torch.export.Dim("subwords", min=1, max=most),
    }
    example = torch.ones(2, 7, dtype=torch.int64)
    mask = torch.ones_like(example)
    mask[1, 5:] = 0
    try:
        with _quiet(), torch.no_grad():
            torch.onnx.export(
                _Scores(network).eval(),
                (example, mask),
                str(path),
                input_names=["input_ids", "attention_mask"],
                output_names=["scores"] if network.scorer is None else ["scores", "vectors"],
                dynamic_shapes={"input_ids": dims, "attention_mask": dims},
                opset_version=OPSET,
                dynamo=True,
                external_data=False,
                verbose=False,
            )
    except Exception as error:  # of many kinds: there is no list of what cannot be exported
        line = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelError(f"this encoder cannot be exported: {line}") from None
    model = onnx.load(path)
    records: dict[str, Any] = {WEIGHTS: _constants(network, model.graph)}
    if network.layer.arc_weights is not None:
        records[ARC_WEIGHTS] = network.layer.arc_weights.tolist()
    for key, value in records.items():
        model.metadata_props.add(key=key, value=json.dumps(value))
    onnx.save(model, path)


def _constants(network: Network, graph: Any) -> dict[str, Constant | None]:
    """Return which constant each weight of the encoder and the linear layer became."""
    from onnx import numpy_helper

    known: dict[tuple[tuple[int, ...], bytes], str] = {}
    for each in graph.initializer:
        array = numpy_helper.to_array(each)
        known.setdefault((array.shape, array.tobytes()), each.name)
    found: dict[str, Constant | None] = {}
    for name, parameter in network.named_parameters():
        if name.startswith(ELSEWHERE):
            continue
        weight = parameter.detach().numpy()
        plain = known.get((weight.shape, weight.tobytes()))
        turned = known.get((weight.T.shape, weight.T.tobytes()))
        kept = turned if plain is None else plain
        found[name] = None if kept is None else Constant(kept, transposed=plain is None)
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide what exporters log and warn of: users can do nothing about it."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
