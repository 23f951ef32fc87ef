"""A model on disk: a folder in the layout of Hugging Face."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from discotag.errors import DiscotagError, InputError
from discotag.model.config import KEY, ModelConfig
from discotag.model.model_card import card
from discotag.model.tokenizer import WordTokenizer

CONFIG: Final = "config.json"
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
CARD: Final = "README.md"
ONNX: Final = "model.onnx"
ONNX_INT8: Final = "model_int8.onnx"

PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
"""Names of weights that end so may run code when they are read."""


FILES: Final = (CONFIG, WEIGHTS, TOKENIZER, CARD, ONNX, ONNX_INT8)
"""All that a model may consist of; nothing else is copied or fetched."""

RUNTIMES: Final = {"torch": WEIGHTS, "onnx": ONNX, "onnx-int8": ONNX_INT8}
"""Ways to get scores, with the file that each needs, from the most exact to the least. What comes
later is made from what comes before, so adding an export to a folder changes no default."""

BUNDLED: Final = Path(__file__).parents[1] / "bundled"
"""The model that comes with the package."""

BUNDLED_NAME: Final = "bundled"
"""What it is called; a folder of this name is `./bundled`."""

HUB_NAME: Final = re.compile(r"(?!\.)[\w.-]+/[\w.-]+")
ENCODER_NAME: Final = re.compile(r"(?!\.)[\w.-]+(/[\w.-]+)?")
"""Names on the hub; those of some encoders have no owner."""

MOST_CONFIG_BYTES: Final = 1 << 24
"""Of a `config.json`; those in use have some thousand."""

MOST_OF_MESSAGE: Final = 300
"""Characters of what a library says of an error: some list all that they know."""


class ModelError(InputError):
    """A folder that holds no model, or one that cannot be used."""


def read_json(folder: Path) -> Any:
    """Return what the `config.json` of a folder holds.

    Raises:
        ModelError: It cannot be read, or is not JSON.
    """
    path = folder / CONFIG
    if not folder.is_dir():
        raise ModelError(f"{folder}: there is no such folder")
    try:
        if path.stat().st_size > MOST_CONFIG_BYTES:
            raise ModelError(f"{path}: is larger than {MOST_CONFIG_BYTES >> 20} MB")
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        inner = folder / "model"  # where a training leaves it
        hint = f"; the model is in {inner}" if (inner / CONFIG).is_file() else ""
        raise ModelError(f"{folder}: not a model: it has no {CONFIG}{hint}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: cannot be read: {error}") from None


def read_config(folder: Path) -> tuple[dict[str, Any], ModelConfig]:
    """Return the encoder's configuration and discotag's, from the `config.json` of a folder.

    Raises:
        ModelError: It is missing, not JSON, not discotag's, or asks for what cannot be.
    """
    data = read_json(folder)
    path = folder / CONFIG
    if not isinstance(data, dict) or KEY not in data:
        raise ModelError(
            f"{path}: not a discotag model: it has no key {KEY!r}; "
            "an encoder becomes one by training: discotag train"
        )
    try:
        config = ModelConfig.from_data(data.pop(KEY))
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
    """Write all of a model but its weights: `config.json`, `tokenizer.json` and the card."""
    folder.mkdir(parents=True, exist_ok=True)
    data = encoder_config | {KEY: config.as_data()}
    (folder / CONFIG).write_text(json.dumps(data, indent=2) + "\n", "utf-8")
    (folder / TOKENIZER).write_text(tokenizer.as_json(), "utf-8")
    (folder / CARD).write_text(card(config), "utf-8")


def check_weights(folder: Path) -> Path:
    """Return the file of weights; raise `ModelError` if there is none, or only a pickled one."""
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
    """Return the most exact file of weights that a model has; raises as `check_weights`."""
    files = (folder / file for file in RUNTIMES.values())
    return next((each for each in files if each.is_file()), None) or check_weights(folder)


def find_model(name: str | Path | None) -> Path:
    """Return the folder of a model, which is fetched from the hub if need be.

    Raises:
        ModelError: There is no such folder, and no such model on the hub.
    """
    if name is None or str(name) == BUNDLED_NAME:
        if not (BUNDLED / CONFIG).is_file():
            raise ModelError("this installation has no model of its own; give a folder")
        return BUNDLED
    folder = find_folder(name, HUB_NAME)
    if folder is not None:
        return folder
    if find_spec("huggingface_hub") is None:
        raise ModelError(
            f"{name}: there is no such folder, and to look on the hub needs huggingface_hub: "
            "pip install huggingface_hub"
        )
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(str(name), allow_patterns=list(FILES)))
    except Exception as error:  # of the network, of the hub, of the disk
        raise ModelError(
            f"{name}: there is no such folder, and it could not be fetched from the hub "
            f"(offline?): {one_line(error)}"
        ) from None


def find_folder(name: str | Path, hub_name: re.Pattern[str]) -> Path | None:
    """Return the folder that a name means, or None if it can only be a name on the hub.

    A `Path` is always a folder.

    Raises:
        ModelError: It is a path, and there is no folder there.
    """
    try:
        folder = Path(name).expanduser()
        if folder.is_dir():
            return folder
        is_file = folder.exists()
        inside = folder.parent != Path() and folder.parent.is_dir()
    except (OSError, ValueError, RuntimeError):  # too long for a name, NUL in it, ~nobody
        is_file, inside = False, True
    if is_file:
        raise ModelError(f"{name}: is a file; give the folder of a model")
    if inside or isinstance(name, Path) or not hub_name.fullmatch(name):
        raise ModelError(f"{name}: there is no such folder")
    return None


def copy_model(source: Path, target: Path) -> None:
    """Copy the files of a model to a folder, which is made if need be."""
    target.mkdir(parents=True, exist_ok=True)
    if source.resolve() == target.resolve():
        return
    for name in FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, target / name)


def push(save: Callable[[Path], None], name: str, *, private: bool) -> str:
    """Put what `save` writes to a folder on the Hugging Face hub, and return its address."""
    if find_spec("huggingface_hub") is None:
        raise ModelError("push_to_hub needs huggingface_hub: pip install huggingface_hub")
    from huggingface_hub import HfApi

    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        try:
            api = HfApi()
            address = api.create_repo(name, private=private, exist_ok=True)
            api.upload_folder(repo_id=name, folder_path=folder)
        except Exception as error:  # of the network, of the hub, of the name
            raise ModelError(f"{name}: cannot be put on the hub: {one_line(error)}") from None
    return str(address)


def one_line(error: Exception) -> str:
    """Return what an error of a library says, in one line of bounded length."""
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= MOST_OF_MESSAGE else f"{line[:MOST_OF_MESSAGE]} …"
