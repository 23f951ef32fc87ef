"""Models on disk: folders in the layout of Hugging Face."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from discotag.errors import DiscotagError, InputError, one_line
from discotag.model.config import KEY, ModelConfig
from discotag.model.model_card import card
from discotag.model.tokenizer import WordTokenizer

CONFIG: Final = "config.json"
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
CARD: Final = "README.md"
ONNX: Final = "model.onnx"
ONNX_INT8: Final = "model_int8.onnx"
ONNX_SCORER: Final = "mention_scorer.onnx"

PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
"""Suffixes of weights that may run code when they are read."""

FILES: Final = (CONFIG, WEIGHTS, TOKENIZER, CARD, ONNX, ONNX_INT8, ONNX_SCORER)
"""All files that a model may have; no others are copied or downloaded."""

RUNTIMES: Final = {"torch": WEIGHTS, "onnx": ONNX, "onnx-int8": ONNX_INT8}
"""The runtimes and the file that each needs, the most exact first. Each export is made from a file
before it, so adding an export to a folder does not change the default."""

BUNDLED: Final = Path(__file__).parents[1] / "bundled"
"""The folder of the model that is part of the package."""

BUNDLED_NAME: Final = "bundled"
"""The name of that model; for a folder of the same name, use `./bundled`."""

HUB_NAME: Final = re.compile(r"(?!\.)[\w.-]+/[\w.-]+")
ENCODER_NAME: Final = re.compile(r"(?!\.)[\w.-]+(/[\w.-]+)?")
"""Names on the hub; some encoders have no owner."""

MOST_CONFIG_BYTES: Final = 1 << 24
"""The largest size of a `config.json`; those in use have a few thousand bytes."""


class ModelError(InputError):
    """Raised if a model does not exist or cannot be used."""


def read_json(folder: Path) -> Any:
    """Return the content of the `config.json` in a folder.

    Raises:
        ModelError: If the file cannot be read or is not JSON.
    """
    path = folder / CONFIG
    if not folder.is_dir():
        raise ModelError(f"{folder}: there is no such folder")
    try:
        if path.stat().st_size > MOST_CONFIG_BYTES:
            raise ModelError(f"{path}: is larger than {MOST_CONFIG_BYTES >> 20} MB")
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        inner = folder / "model"  # the folder may be that of a training run
        hint = f"; the model is in {inner}" if (inner / CONFIG).is_file() else ""
        raise ModelError(f"{folder}: not a model: it has no {CONFIG}{hint}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: cannot be read: {error}") from None


def read_config(folder: Path) -> tuple[dict[str, Any], ModelConfig]:
    """Return the configurations of the encoder and of the model, from a folder's `config.json`.

    Raises:
        ModelError: If the file is missing, is not JSON, or does not have a valid configuration.
    """
    data = read_json(folder)
    path = folder / CONFIG
    if not isinstance(data, dict) or KEY not in data:
        raise ModelError(
            f"{path}: not a discotag model: it has no key {KEY!r}; "
            f"to train a model from an encoder, use discotag train --encoder {folder}"
        )
    try:
        config = ModelConfig.from_dict(data.pop(KEY))
    except DiscotagError as error:
        raise ModelError(f"{path}: {error}") from None
    positions = data.get("max_position_embeddings")
    if type(positions) is int and 0 < positions < config.window:
        raise ModelError(
            f"{path}: the window of {config.window} subwords is longer than the encoder's "
            f"max_position_embeddings, {positions}"
        )
    return data, config


def write_texts(
    folder: Path, encoder_config: dict[str, Any], config: ModelConfig, tokenizer: WordTokenizer
) -> None:
    """Write the files of a model except its weights: configuration, tokenizer and card."""
    folder.mkdir(parents=True, exist_ok=True)
    data = encoder_config | {KEY: config.to_dict()}
    (folder / CONFIG).write_text(json.dumps(data, indent=2) + "\n", "utf-8")
    (folder / TOKENIZER).write_text(tokenizer.as_json(), "utf-8")
    (folder / CARD).write_text(card(config), "utf-8")


def check_weights(folder: Path) -> Path:
    """Return the path of a model's weights.

    Raises:
        ModelError: If the model has no weights, or only pickled ones.
    """
    path = folder / WEIGHTS
    if path.is_file():
        return path
    pickled = sorted(each.name for each in folder.iterdir() if each.suffix in PICKLES)
    if pickled:
        raise ModelError(
            f"{folder}: has {pickled[0]}, which may run code when read, and no {WEIGHTS}; "
            "save the model as safetensors"
        )
    raise ModelError(f"{folder}: has no {WEIGHTS}")


def most_exact(folder: Path) -> Path:
    """Return the path of a model's most exact weights.

    Raises:
        ModelError: If the model has neither an export nor weights that can be used.
    """
    files = (folder / file for file in RUNTIMES.values())
    return next((each for each in files if each.is_file()), None) or check_weights(folder)


def find_model(name: str | Path | None) -> Path:
    """Return the folder of a model, which is downloaded from the hub if necessary.

    Args:
        name: A folder or a name on the hub; None or `bundled` for the bundled model.

    Raises:
        ModelError: If there is no such folder, and no such model on the hub.
    """
    if name is None or str(name) == BUNDLED_NAME:
        if not (BUNDLED / CONFIG).is_file():
            raise ModelError("this installation has no bundled model; give the folder of a model")
        return BUNDLED
    folder = find_folder(name, HUB_NAME)
    if folder is not None:
        return folder
    if find_spec("huggingface_hub") is None:
        raise ModelError(
            f"{name}: there is no such folder, and downloads from the hub need huggingface_hub: "
            "pip install huggingface_hub"
        )
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(str(name), allow_patterns=list(FILES)))
    except Exception as error:  # network, hub and disk can raise anything
        raise ModelError(
            f"{name}: there is no such folder, and it cannot be downloaded from the hub "
            f"(are you offline?): {one_line(error)}"
        ) from None


def find_folder(name: str | Path, hub_name: re.Pattern[str]) -> Path | None:
    """Return the folder with this name, or None if it is a name on the hub.

    A `Path` is never a name on the hub.

    Raises:
        ModelError: If there is no such folder and it cannot be a name on the hub.
    """
    try:
        folder = Path(name).expanduser()
        if folder.is_dir():
            return folder
        is_file = folder.exists()
        inside = folder.parent != Path() and folder.parent.is_dir()
    except (OSError, ValueError, RuntimeError):  # too long, with a NUL, or ~ of an unknown user
        is_file, inside = False, True
    if is_file:
        raise ModelError(f"{name}: is a file; give the folder of a model")
    if inside or isinstance(name, Path) or not hub_name.fullmatch(name):
        raise ModelError(f"{name}: there is no such folder")
    return None


def digest(folder: Path | None) -> str:
    """Return a digest of the files of a model, except its card."""
    found = hashlib.sha256()
    for name in FILES:
        path = (folder or Path()) / name
        if name != CARD and path.is_file():
            with path.open("rb") as stream:
                found.update(f"{name} {hashlib.file_digest(stream, 'sha256').hexdigest()}".encode())
    return found.hexdigest()[:16]


def copy_model(source: Path, target: Path, config: ModelConfig | None = None) -> None:
    """Copy the files of a model to a folder, which is created if necessary.

    Args:
        source: The folder of the model.
        target: The folder to write.
        config: A configuration with the same scheme, to replace the model's own.
    """
    target.mkdir(parents=True, exist_ok=True)
    if source.resolve() != target.resolve():
        for name in FILES:
            if (source / name).is_file():
                shutil.copyfile(source / name, target / name)
    if config is not None and config != read_config(target)[1]:
        write_config(target, config)


def write_config(folder: Path, config: ModelConfig) -> None:
    """Replace the configuration of a model, and its card unless somebody has changed it."""
    encoder, before = read_config(folder)
    data = encoder | {KEY: config.to_dict()}
    (folder / CONFIG).write_text(json.dumps(data, indent=2) + "\n", "utf-8")
    path = folder / CARD
    if not path.exists() or path.read_text("utf-8", "replace") == card(before):
        path.write_text(card(config), "utf-8")


def push(save: Callable[[Path], None], name: str, *, private: bool) -> str:
    """Upload the folder that `save` writes to the Hugging Face hub, and return its URL.

    Raises:
        ModelError: If huggingface_hub is not installed, or the upload fails.
    """
    if find_spec("huggingface_hub") is None:
        raise ModelError("push_to_hub needs huggingface_hub: pip install huggingface_hub")
    from huggingface_hub import HfApi

    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        try:
            api = HfApi()
            address = api.create_repo(name, private=private, exist_ok=True)
            api.upload_folder(repo_id=name, folder_path=folder)
        except Exception as error:  # network and hub can raise anything
            raise ModelError(f"{name}: cannot be uploaded to the hub: {one_line(error)}") from None
    return str(address)
