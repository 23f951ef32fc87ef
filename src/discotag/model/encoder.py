"""Load Hugging Face encoders, with limits on their size and checks of all their weights."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from math import prod
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules.module import register_module_parameter_registration_hook

from discotag.errors import one_line
from discotag.model.config import KEY
from discotag.model.files import (
    CONFIG,
    ENCODER_NAME,
    ModelError,
    check_weights,
    find_folder,
    read_json,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel

LARGEST_NUMBER: Final = 1 << 20
"""The largest integer in a configuration. In practice that is the vocabulary, about 260,000."""

MOST_TENSORS: Final = 5_000
"""The most tensors of an encoder. Those in use have up to 1,000: 48 layers with about 16 each."""

MOST_LISTED: Final = 5
"""The most names of weights in a message."""

POOLER: Final = "pooler"

TAKE_PAIR_MASKS: Final = frozenset({"bert", "electra", "mpnet", "roberta", "xlm-roberta"})
"""Encoders that are known to take masks of pairs of subwords, and positions."""

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
"""Modules that a file may hold besides the encoder: poolers and heads of other tasks."""

logger = logging.getLogger(__name__)


def count_weights(file: Path) -> int:
    """Return the number of weights in a safetensors file; only its header is read.

    Raises:
        ModelError: If it is not a safetensors file.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as weights:
            names = list(weights.keys())
            return sum(prod(weights.get_slice(name).get_shape()) for name in names)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{file}: is not a safetensors file: {one_line(error)}") from None


def build_encoder(folder: Path, data: dict[str, Any], weights: int) -> PreTrainedModel:
    """Build an encoder with random weights from its configuration.

    Args:
        folder: The folder of the model, for messages.
        data: The configuration.
        weights: The number of weights in the model's file; the encoder may not have more.

    Raises:
        ModelError: If the configuration is invalid or describes an encoder with more weights.
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
    except Exception as error:  # a bad configuration can raise anything
        raise ModelError(f"{folder}: cannot build its encoder: {one_line(error)}") from None


def load_encoder(name: str | Path) -> tuple[PreTrainedModel, str | Path]:
    """Load a pretrained encoder.

    Args:
        name: A folder, or a name on the Hugging Face hub.

    Returns:
        The encoder, and the folder or the name that it was loaded from.

    Raises:
        ModelError: If there is no such encoder, if it has only pickled weights or needs code of its
            own, or if its weights do not match its configuration.
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
    except Exception as error:  # hub, network, files and configurations can raise anything
        problem = "cannot be loaded as an encoder"
        if folder is None:
            problem = f"there is no such folder, and it {problem} from the hub"
        raise ModelError(f"{name}: {problem}: {one_line(error)}") from None
    _check_loaded(info, encoder.base_model_prefix, source)
    return encoder.float(), source


def speed_up(encoder: PreTrainedModel) -> None:
    """Replace parts of an encoder by faster ones with the same results; see `deberta`, `mpnet`."""
    # Imported here because they import the encoders of transformers.
    if encoder.config.model_type == "deberta-v2":
        from discotag.model import deberta

        deberta.speed_up(encoder)
    elif encoder.config.model_type == "mpnet" and takes_pair_masks(encoder):
        from discotag.model import mpnet

        mpnet.speed_up(encoder)


def replace_modules(encoder: PreTrainedModel, kinds: Mapping[type[Module], type[Module]]) -> None:
    """Replace the modules of some classes in an encoder by ones of subclasses, with their weights.

    Args:
        encoder: The encoder.
        kinds: The subclass for each class.
    """
    for parent in list(encoder.modules()):
        for name, child in parent.named_children():
            if kind := kinds.get(type(child)):
                faster = kind.__new__(kind)
                vars(faster).update(vars(child))
                setattr(parent, name, faster)


def takes_pair_masks(encoder: PreTrainedModel) -> bool:
    """Return whether an encoder takes masks that say which subwords attend to which.

    Other encoders, and those of older versions of transformers, take only masks of padding,
    (windows, subwords).
    """
    if encoder.config.model_type not in TAKE_PAIR_MASKS:
        return False
    names = (each.__module__ for each in type(encoder).__mro__)
    own = next((name for name in names if name.startswith("transformers.models.")), None)
    return own is not None and hasattr(import_module(own), "create_bidirectional_mask")


def pair_mask(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """Return what is added to the scores of attention: 0 for allowed pairs, -inf for others.

    Args:
        allowed: Whether a subword attends to another, (windows, 1, 1 or subwords, subwords).
        dtype: The dtype of the encoder's weights; with autocast, its dtype is used instead.
    """
    zeros = torch.zeros(allowed.shape, dtype=compute_dtype(allowed, dtype), device=allowed.device)
    return zeros.masked_fill_(~allowed, -torch.inf)


def compute_dtype(values: Tensor, dtype: torch.dtype) -> torch.dtype:
    """Return the dtype in which layers compute; with autocast, it is not that of their weights."""
    device = values.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else dtype


def trainable_attention() -> AbstractContextManager[None]:
    """Return a context in which fused attention has gradients for masks, as MPNet needs them.

    The kernel of cuDNN has none. The choice is that of the whole process, so this is for training.
    """
    return sdpa_kernel(
        [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    )


def first_position(encoder: PreTrainedModel) -> int:
    """Return the position of the first subword; RoBERTa and similar encoders do not begin at 0."""
    for name, module in encoder.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            return 0 if module.padding_idx is None else module.padding_idx + 1
    return 0


def _check_config(data: Any, source: str | Path) -> None:
    """Raise `ModelError` if this is not the configuration of an encoder."""
    if isinstance(data, dict) and KEY in data:
        raise ModelError(
            f"{source}: is a discotag model, not an encoder; to continue training it, use "
            f"--from-model {source}"
        )
    _check_numbers(data, Path(source) / CONFIG)


def _check_numbers(data: Any, path: Path) -> None:
    """Raise `ModelError` if an integer in a configuration is too large to be a size."""
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(name, each) for each in value]
        elif isinstance(value, int) and abs(value) > LARGEST_NUMBER:
            raise ModelError(f"{path}: {name} is {value:.3g}, but may be up to {LARGEST_NUMBER:,}")


def _check_size(config: Any, path: Path, weights: int | None) -> None:
    """Raise `ModelError` if a configuration describes an encoder of too many tensors or weights.

    The encoder is built on the `meta` device, without memory for its weights.
    """
    from transformers import AutoModel

    with _bounded(path), torch.device("meta"):
        encoder = AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
    asked = sum(
        each.numel() for name, each in encoder.named_parameters() if POOLER not in name.split(".")
    )
    if weights is not None and asked > weights:
        raise ModelError(
            f"{path}: describes an encoder with {asked:,} weights, but its weights file has "
            f"only {weights:,}"
        )


@contextmanager
def _bounded(path: Path) -> Iterator[None]:
    """Raise `ModelError` if this thread creates more than `MOST_TENSORS` parameters."""
    thread, number = get_ident(), 0

    def count(*_: Any) -> None:
        nonlocal number
        number += get_ident() == thread
        if number > MOST_TENSORS:
            raise ModelError(
                f"{path}: describes an encoder with more than {MOST_TENSORS:,} tensors"
            )

    handle = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()


def _check_loaded(info: dict[str, Any], prefix: str, source: str | Path) -> None:
    """Raise `ModelError` if weights are missing, unexpected, or of another size.

    Poolers may be missing; weights of poolers and heads are not used.
    """

    def part(name: str) -> str:
        return name.removeprefix(f"{prefix}.").split(".")[0]

    unused = sorted(info["unexpected_keys"])
    problems = {
        "are missing": [name for name in info["missing_keys"] if part(name) != POOLER],
        "are unexpected": [name for name in unused if part(name) not in HEADS],
        "have another size": [each[0] for each in info["mismatched_keys"]],
    }
    check_names(problems, f"{source}: its weights do not match its {CONFIG}")
    if unused:
        logger.info("%s: weights not used by the encoder: %s", source, _listed(unused))


def check_names(problems: dict[str, list[str]], message: str) -> None:
    """Raise `ModelError` with the first names of weights that have a problem, if there are any."""
    found = [
        f"{len(names)} {problem} ({_listed(sorted(names))})"
        for problem, names in problems.items()
        if names
    ]
    if found:
        raise ModelError(f"{message}: {', '.join(found)}")


def _listed(names: Sequence[str]) -> str:
    """Return the first names and the number of others, as text."""
    more = len(names) - MOST_LISTED
    return ", ".join(names[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the messages and progress bars of transformers; problems are checked here."""
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
