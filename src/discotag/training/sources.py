"""The files that a training reads, and hashes of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from discotag.errors import InputError
from discotag.model.files import (
    CONFIG,
    ENCODER_NAME,
    TOKENIZER,
    find_folder,
    find_model,
    most_exact,
)
from discotag.training.settings import Settings


@dataclass(frozen=True)
class Sources:
    """The files that a training reads.

    Attributes:
        train: The corpus to train on.
        dev: The corpus that the epoch and the seed to keep are chosen on.
        test: The corpus to evaluate on at the end.
        teachers: Models to learn from.
        unlabelled: Text on which the teachers alone are learned from.
    """

    train: Path
    dev: Path
    test: Path | None = None
    teachers: tuple[str | Path, ...] = ()
    unlabelled: tuple[Path, ...] = ()


def find_digests(sources: Sources, settings: Settings) -> dict[str, list[str]]:
    """Return hashes of everything that a training reads.

    They tell whether the data of a run have changed, also when files have been moved.

    Raises:
        InputError: A file or a folder is missing.
    """
    files = {
        "train": [sources.train],
        "dev": [sources.dev],
        "test": [] if sources.test is None else [sources.test],
        "unlabelled": list(sources.unlabelled),
        "lexicon": [Path(settings.lexicon)] if settings.lexicon else [],
    }
    models = {"teachers": [find_model(path) for path in sources.teachers]}
    if settings.from_model:
        models["from_model"] = [find_model(settings.from_model)]
    elif encoder := find_folder(settings.encoder, ENCODER_NAME):
        models["encoder"] = [encoder]
    return {name: [_digest(path) for path in paths] for name, paths in files.items()} | {
        name: [_model_digest(path) for path in paths] for name, paths in models.items()
    }


def _model_digest(folder: Path) -> str:
    """Return a hash of the files that decide what a model or an encoder computes."""
    found = hashlib.sha256()
    for file in (folder / CONFIG, folder / TOKENIZER, most_exact(folder)):
        if file.is_file():
            found.update(bytes.fromhex(_digest(file)))
    return found.hexdigest()


def _digest(path: Path) -> str:
    """Return a hash of a file, or of all files of a folder."""
    found = hashlib.sha256()
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "sha256").digest())
    return found.hexdigest()
