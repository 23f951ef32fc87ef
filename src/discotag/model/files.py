"""A model on disk: a folder in the layout of Hugging Face."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from discotag.errors import DiscotagError
from discotag.model.card import card
from discotag.model.config import KEY, ModelConfig
from discotag.model.pieces import Pieces

CONFIG: Final = "config.json"
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
CARD: Final = "README.md"
ONNX: Final = "model.onnx"
ONNX_INT8: Final = "model_int8.onnx"

PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
"""Names of weights that end so may run code when they are read."""


class InvalidModel(DiscotagError):
    """A folder that holds no model, or one that cannot be used."""


def read_config(folder: Path) -> tuple[dict[str, Any], ModelConfig]:
    """The encoder's configuration and discotag's, from the `config.json` of a folder.

    Raises:
        InvalidModel: It is not there, not JSON, or not discotag's.
    """
    path = folder / CONFIG
    if not folder.is_dir():
        raise InvalidModel(f"{folder}: there is no such folder")
    try:
        data = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidModel(f"{folder}: not a model: it has no {CONFIG}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidModel(f"{path}: cannot be read: {error}") from None
    if not isinstance(data, dict) or KEY not in data:
        raise InvalidModel(
            f"{path}: not a discotag model: it has no key {KEY!r}; "
            "an encoder becomes one by training: discotag train"
        )
    try:
        return data, ModelConfig.from_data(data.pop(KEY))
    except DiscotagError as error:
        raise InvalidModel(f"{path}: {error}") from None


def write_texts(
    folder: Path, encoder_config: dict[str, Any], config: ModelConfig, pieces: Pieces
) -> None:
    """Write all of a model but its weights: `config.json`, `tokenizer.json` and the card."""
    folder.mkdir(parents=True, exist_ok=True)
    data = encoder_config | {KEY: config.as_data()}
    (folder / CONFIG).write_text(json.dumps(data, indent=2) + "\n", "utf-8")
    (folder / TOKENIZER).write_text(pieces.as_json(), "utf-8")
    (folder / CARD).write_text(card(config), "utf-8")


def check_weights(folder: Path) -> Path:
    """Where the weights are; raises `InvalidModel` where they are missing or pickled."""
    path = folder / WEIGHTS
    if path.is_file():
        return path
    pickled = sorted(each.name for each in folder.iterdir() if each.suffix in PICKLES)
    if pickled:
        raise InvalidModel(
            f"{folder}: has {pickled[0]}, which may run code when read, and no {WEIGHTS}; "
            "save the model as safetensors"
        )
    raise InvalidModel(f"{folder}: has no {WEIGHTS}")
