"""A model on disk: a folder in the layout of Hugging Face."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discotag.errors import DiscotagError
from discotag.model.card import card
from discotag.model.config import KEY, ModelConfig
from discotag.model.pieces import Pieces

if TYPE_CHECKING:
    from discotag.model.tagger import Tagger

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

RUNTIMES: Final = {"onnx-int8": ONNX_INT8, "onnx": ONNX, "torch": WEIGHTS}
"""Ways to get scores, the first that a model has the file of is the default."""

BUNDLED: Final = Path(__file__).parents[1] / "bundled"
"""The model that comes with the package."""

HUB_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+")


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
        inner = folder / "model"  # where a training leaves it
        hint = f"; the model is in {inner}" if (inner / CONFIG).is_file() else ""
        raise InvalidModel(f"{folder}: not a model: it has no {CONFIG}{hint}") from None
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


def load(
    name: str | Path | None = None, *, runtime: str | None = None, device: str | None = None
) -> Tagger:
    """Load a model.

    Args:
        name: A folder, or a name on the Hugging Face hub (`owner/name`). By default the model that
            comes with the package.
        runtime: `onnx-int8` or `onnx`, which need no PyTorch, or `torch`. By default the first of
            these that the model has, but `torch` for a device other than the CPU.
        device: `cpu` or `cuda`, or what else PyTorch knows.

    Raises:
        InvalidModel: There is no such model, or a file of it is missing or damaged.

    Example:
        >>> load("no/such/folder")
        Traceback (most recent call last):
        discotag.model.files.InvalidModel: no/such/folder: there is no such folder
    """
    from discotag.model.scorers import OnnxScorer
    from discotag.model.tagger import Tagger

    if runtime is not None and runtime not in RUNTIMES:
        raise InvalidModel(f"runtime must be one of {', '.join(RUNTIMES)}, got {runtime!r}")
    folder = _found(name)
    encoder, config = read_config(folder)
    chosen = _chosen(folder, runtime, device)
    if chosen == "torch":
        if find_spec("torch") is None or find_spec("transformers") is None:
            raise InvalidModel(
                f"{folder}: to use {WEIGHTS} needs PyTorch: pip install 'discotag[train]'; "
                "or export the model where it is: discotag export"
            )
        from discotag.model.network import Network

        tagger = Tagger.from_network(Network.from_pretrained(folder), device)
        tagger.folder = folder
        return tagger
    pieces = Pieces.from_file(folder / TOKENIZER, config)
    if type(encoder.get("pad_token_id")) is int:
        pieces.pad_id = encoder["pad_token_id"]
    scorer = OnnxScorer(folder / RUNTIMES[chosen], config, device)
    return Tagger(config, pieces, scorer, folder=folder)


def _found(name: str | Path | None) -> Path:
    """The folder of a model, fetched from the hub if need be."""
    if name is None:
        if not (BUNDLED / CONFIG).is_file():
            raise InvalidModel("this installation has no model of its own; give a folder")
        return BUNDLED
    folder = Path(name).expanduser()
    if folder.exists() or not HUB_NAME.fullmatch(str(name)) or str(name).startswith("."):
        return folder
    if find_spec("huggingface_hub") is None:
        raise InvalidModel(
            f"{name}: there is no such folder, and to look on the hub needs huggingface_hub: "
            "pip install huggingface_hub"
        )
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(str(name), allow_patterns=list(FILES)))
    except Exception as error:  # of the network, of the hub, of the disk
        raise InvalidModel(
            f"{name}: there is no such folder, and it could not be fetched from the hub "
            f"(offline?): {_first_line(error)}"
        ) from None


def _chosen(folder: Path, runtime: str | None, device: str | None) -> str:
    if runtime is None:
        there = [each for each, file in RUNTIMES.items() if (folder / file).is_file()]
        if device not in (None, "cpu") and "torch" in there:
            return "torch"
        if there:
            return there[0]
        check_weights(folder)
    elif not (folder / RUNTIMES[runtime]).is_file():
        if runtime == "torch":
            check_weights(folder)
        raise InvalidModel(
            f"{folder}: has no {RUNTIMES[runtime]} for runtime {runtime!r}; "
            "discotag export writes it"
        )
    return runtime or "torch"


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
        raise InvalidModel("push_to_hub needs huggingface_hub: pip install huggingface_hub")
    from huggingface_hub import HfApi

    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        try:
            api = HfApi()
            address = api.create_repo(name, private=private, exist_ok=True)
            api.upload_folder(repo_id=name, folder_path=folder)
        except Exception as error:  # of the network, of the hub, of the name
            raise InvalidModel(f"{name}: cannot be put on the hub: {_first_line(error)}") from None
    return str(address)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).split("\n")), "").strip() or type(error).__name__
