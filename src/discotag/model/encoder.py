"""Encoders of Hugging Face: built within bounds, and with every weight accounted for."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook

from discotag.model.config import KEY
from discotag.model.files import (
    CONFIG,
    ENCODER_NAME,
    ModelError,
    check_weights,
    find_folder,
    one_line,
    read_json,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel

LARGEST_NUMBER: Final = 1 << 20
"""In a configuration. The largest in use, sizes of vocabularies, are some 260,000."""

MOST_TENSORS: Final = 5_000
"""Of an encoder. Those in use have up to 1,000: 48 layers of some 16 tensors."""

MOST_LISTED: Final = 5
"""Names of weights in a message."""

POOLER: Final = "pooler"

HEADS: Final = frozenset(
    {
        POOLER,
        *("cls", "lm_head", "predictions", "lm_predictions", "mask_predictions"),
        *("generator_predictions", "generator_lm_head", "discriminator_predictions"),
        *("vocab_transform", "vocab_layer_norm", "vocab_projector", "pred_layer"),
        *("head", "decoder", "sop_classifier", "seq_relationship"),
        *("classifier", "qa_outputs"),
    }
)
"""Parts beside an encoder in its file: poolers, and what predicts words, sentences or classes."""

logger = logging.getLogger(__name__)


def count_weights(file: Path) -> int:
    """Return how many numbers a safetensors file holds, by its header.

    Raises:
        ModelError: It is not a safetensors file.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as weights:
            names = list(weights.keys())
            return sum(prod(weights.get_slice(name).get_shape()) for name in names)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{file}: is not a safetensors file: {one_line(error)}") from None


def build_encoder(folder: Path, data: dict[str, Any], weights: int) -> PreTrainedModel:
    """Build the encoder of a configuration, with random weights.

    Args:
        folder: Of the model, for messages.
        data: The configuration.
        weights: How many numbers the file of weights holds: an encoder has no more.

    Raises:
        ModelError: The configuration cannot be, or asks for more than the file holds.
    """
    from transformers import AutoConfig, AutoModel

    path = folder / CONFIG
    _check_numbers(data, path)
    try:
        config = AutoConfig.for_model(**data)
        _check_size(config, path, weights)
        encoder = AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
        return encoder.float()  # type: ignore[no-any-return]
    except ModelError:
        raise
    except Exception as error:  # of many kinds: there is no list of what a configuration can break
        raise ModelError(f"{folder}: its encoder cannot be built: {one_line(error)}") from None


def load_encoder(name: str | Path) -> tuple[PreTrainedModel, str | Path]:
    """Load a pretrained encoder.

    Args:
        name: A folder, or a name on the Hugging Face hub.

    Returns:
        The encoder, and the folder or the name that it was loaded from.

    Raises:
        ModelError: There is no such encoder, it has only pickled weights, it runs code of its
            own, or its weights are not those that its configuration asks for.
    """
    from transformers import AutoConfig, AutoModel

    folder = find_folder(name, ENCODER_NAME)
    source = str(name) if folder is None else folder
    weights = None
    try:
        with quiet():
            if folder is not None:
                weights = count_weights(check_weights(folder))
                if (folder / CONFIG).is_file():
                    _check_config(read_json(folder), folder)
            config = AutoConfig.from_pretrained(source, trust_remote_code=False)
            _check_config(config.to_dict(), source)
            _check_size(config, Path(source) / CONFIG, weights)
            encoder, info = AutoModel.from_pretrained(
                source,
                trust_remote_code=False,
                use_safetensors=True,
                ignore_mismatched_sizes=True,  # they are reported below
                output_loading_info=True,
            )
    except ModelError:
        raise
    except Exception as error:  # of the hub, of the network, of files, of configurations
        missing = "" if folder is not None else "there is no such folder, and from the hub it "
        raise ModelError(
            f"{name}: {missing}cannot be loaded as an encoder: {one_line(error)}"
        ) from None
    _check_loaded(info, encoder.base_model_prefix, source)
    return encoder.float(), source


def _check_config(data: Any, source: str | Path) -> None:
    """Raise `ModelError` if this is not the configuration of an encoder."""
    if isinstance(data, dict) and KEY in data:
        raise ModelError(
            f"{source}: is a discotag model, not an encoder; to go on training it, use "
            f"--from-model {source}"
        )
    _check_numbers(data, Path(source) / CONFIG)


def _check_numbers(data: Any, path: Path) -> None:
    """Raise `ModelError` if a whole number in a configuration is too large to be one of size."""
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(name, each) for each in value]
        elif isinstance(value, int) and abs(value) > LARGEST_NUMBER:
            raise ModelError(f"{path}: {name} is {value:.3g}, but may be {LARGEST_NUMBER:,}")


def _check_size(config: Any, path: Path, weights: int | None) -> None:
    """Raise `ModelError` if a configuration asks for too many tensors or weights.

    The encoder is built without memory for its weights, and no further than the bound.
    """
    from transformers import AutoModel

    with _bounded(path), torch.device("meta"):
        encoder = AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
    asked = sum(
        each.numel() for name, each in encoder.named_parameters() if POOLER not in name.split(".")
    )
    if weights is not None and asked > weights:
        raise ModelError(
            f"{path}: asks for an encoder of {asked:,} weights, but the file of weights has "
            f"{weights:,}"
        )


@contextmanager
def _bounded(path: Path) -> Iterator[None]:
    """Stop this thread from making more tensors of weights than an encoder has."""
    thread, number = get_ident(), 0

    def count(*_: Any) -> None:
        nonlocal number
        number += get_ident() == thread
        if number > MOST_TENSORS:
            raise ModelError(f"{path}: asks for an encoder of more than {MOST_TENSORS:,} tensors")

    handle = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()


def _check_loaded(info: dict[str, Any], prefix: str, source: str | Path) -> None:
    """Raise `ModelError` if weights do not fit, are missing, or are left over.

    Poolers may be missing, and poolers and heads left over.
    """

    def part(name: str) -> str:
        return name.removeprefix(f"{prefix}.").split(".")[0]

    unused = sorted(info["unexpected_keys"])
    problems = {
        "are missing": [name for name in info["missing_keys"] if part(name) != POOLER],
        "are left over": [name for name in unused if part(name) not in HEADS],
        "have another size": [each[0] for each in info["mismatched_keys"]],
    }
    check_names(problems, f"{source}: its weights are not those of its {CONFIG}")
    if unused:
        logger.info("%s: not used, as they are no part of the encoder: %s", source, _listed(unused))


def check_names(problems: dict[str, list[str]], message: str) -> None:
    """Raise `ModelError` if there are weights with a problem, and list the first of them."""
    found = [
        f"{len(names)} {problem} ({_listed(sorted(names))})"
        for problem, names in problems.items()
        if names
    ]
    if found:
        raise ModelError(f"{message}: {', '.join(found)}")


def _listed(names: Sequence[str]) -> str:
    """Return some names, and how many more there are."""
    more = len(names) - MOST_LISTED
    return ", ".join(names[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


@contextmanager
def quiet() -> Iterator[None]:
    """Hide what transformers logs while it loads; what matters of it is checked here."""
    from transformers.utils import logging as transformers_logging

    before = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        transformers_logging.set_verbosity(before)
        if bars:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]
