"""Load a model: choose its runtime and return a tagger."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from discotag.extras import how_to_install
from discotag.model.files import (
    CONFIG,
    RUNTIMES,
    TOKENIZER,
    WEIGHTS,
    ModelError,
    find_model,
    most_exact,
    read_config,
)
from discotag.model.tokenizer import TokenizerError, WordTokenizer
from discotag.prediction.runtimes import OnnxRuntime, TorchRuntime, check_device
from discotag.prediction.tagger import Origin, Tagger
from discotag.scheme import SchemeError
from discotag.words import Splitter

logger = logging.getLogger(__name__)


class Choice(NamedTuple):
    """The runtime and the file of weights that were chosen for a model, and the reason."""

    runtime: str
    file: str
    reason: str


def load(
    name: str | Path | None = None,
    *,
    runtime: str | None = None,
    device: str | None = None,
    splitter: Splitter | None = None,
) -> Tagger:
    """Load a model.

    By default, the most exact weights in the folder are used: `model.safetensors` (on PyTorch)
    before `model.onnx` before `model_int8.onnx`. The choice does not depend on what is installed,
    and exporting a model does not change it. `repr(tagger)` shows it with its reason, which is also
    logged at level INFO.

    Args:
        name: A folder, or a name on the Hugging Face hub (`owner/name`). By default, or as
            `bundled`, the model that is part of the package.
        runtime: `torch`, or `onnx` or `onnx-int8`, which do not need PyTorch. With `torch`, a
            folder without `model.safetensors` works too: the weights are read from its ONNX file.
            The default is as above, but `torch` for devices other than the CPU.
        device: `cpu`, `cuda`, or another device of PyTorch.
        splitter: The splitter of texts into sentences and words; by default, the model's.

    Raises:
        ModelError: If there is no such model, or one of its files is missing or damaged.

    Example:
        >>> load("no/such/folder")
        Traceback (most recent call last):
        discotag.model.files.ModelError: no/such/folder: there is no such folder
    """
    if runtime is not None and runtime not in RUNTIMES:
        raise ModelError(f"runtime must be one of {', '.join(RUNTIMES)}, got {runtime!r}")
    folder = find_model(name)
    encoder, config = read_config(folder)
    try:
        _ = config.scheme.grammar  # raises if it is too large
    except SchemeError as error:
        raise ModelError(f"{folder / CONFIG}: {error}") from None
    choice = choose_runtime(folder, runtime, device)
    logger.info("%s: runtime %s: %s", folder, choice.runtime, choice.reason)
    # Absolute, because processes that unpickle the tagger may run in another folder.
    origin = Origin(folder.absolute(), choice.runtime, device, choice.reason)
    if choice.runtime == "torch":
        _check_installed(folder, choice, device)
        check_device(device)  # before anything is built
        from discotag.model.network import Network

        network = Network.from_pretrained(folder)
        own = TorchRuntime(network, device, own=True)
        return Tagger(network.config, network.tokenizer, own, splitter=splitter, origin=origin)
    tokenizer = WordTokenizer.from_file(folder / TOKENIZER, config)
    try:
        tokenizer.fit_encoder(encoder.get("vocab_size"), encoder.get("pad_token_id"))
    except TokenizerError as error:
        raise ModelError(f"{folder / TOKENIZER}: {error}") from None
    onnx = OnnxRuntime(folder / choice.file, config, choice.runtime, device)
    return Tagger(config, tokenizer, onnx, splitter=splitter, origin=origin)


def choose_runtime(folder: Path, runtime: str | None, device: str | None) -> Choice:
    """Choose the runtime of a model by the rules that `load` describes.

    Raises:
        ModelError: If the folder does not have the file that the runtime needs.
    """
    if runtime is None and device not in (None, "cpu"):
        file = most_exact(folder).name
        return Choice("torch", file, f"device {device} is for PyTorch; weights from {file}")
    if runtime is None:
        file = most_exact(folder).name
        (chosen,) = (each for each, name in RUNTIMES.items() if name == file)
        there = [name for name in RUNTIMES.values() if (folder / name).is_file() and name != file]
        reason = f"more exact than {' and '.join(there)}" if there else "its only file of weights"
        return Choice(chosen, file, f"{file} is {reason}")
    file = most_exact(folder).name if runtime == "torch" else RUNTIMES[runtime]
    if not (folder / file).is_file():
        best = most_exact(folder).name
        advice = "discotag export writes it" if best == WEIGHTS else f"it has {best}"
        raise ModelError(f"{folder}: has no {file} for runtime {runtime!r}; {advice}")
    return Choice(runtime, file, f"it was asked for; weights from {file}")


def _check_installed(folder: Path, choice: Choice, device: str | None) -> None:
    """Raise `ModelError` if a library that PyTorch models need is not installed."""
    needed = ["torch", "transformers", *([] if choice.file == WEIGHTS else ["onnx"])]
    missing = [name for name in needed if find_spec(name) is None]
    if not missing:
        return
    exports = [each for each in ("onnx", "onnx-int8") if (folder / RUNTIMES[each]).is_file()]
    if exports and device in (None, "cpu"):
        hint = f"or use the export: runtime {exports[0]!r}"
    elif exports:
        hint = "or leave out the device to predict on the CPU"
    else:
        hint = "or export the model where PyTorch is installed: discotag export"
    raise ModelError(
        f"{folder}: runtime 'torch' ({choice.reason}) needs {', '.join(missing)}: "
        f"{how_to_install('train')}; {hint}"
    )
