"""The models of a project: the one it began with, and those trained from it, by version."""

from __future__ import annotations

from pathlib import Path
from time import time
from typing import Final

from discotag.errors import DiscotagError
from discotag.model.files import BUNDLED_NAME
from discotag.serve.annotation.journal import Journal
from discotag.serve.annotation.proposals import Model

ENDING: Final = ".models"
"""What the name of the folder of models adds to that of the journal."""

NO_MODEL: Final = "none"
"""The base of models that were trained in a project without a model to begin with."""


def models_folder(journal: Path) -> Path:
    """Return the folder beside a journal that has the models trained from it."""
    return journal.with_name(journal.name + ENDING)


def load_model(journal: Journal, name: str | None, *, use_model: bool = True) -> Model | None:
    """Load the last model of a project.

    That is the last one that was trained from `name`, if there is one; otherwise `name` itself,
    which becomes a new version of the project's model.

    Args:
        journal: The journal.
        name: A folder or a name on the hub; None for the bundled model.
        use_model: Whether the project began with a model; if not, only one that was trained in it
            is loaded.

    Raises:
        DiscotagError: The model cannot be loaded.
    """
    if name is not None and Path(name).is_dir():
        name = str(Path(name).resolve())  # the same model, wherever the command is started
    base = (name or BUNDLED_NAME) if use_model else NO_MODEL
    last = last_model(journal)
    if last is not None and last[1] == base:
        version, _, folder = last
        if folder is not None:
            return load_version(journal, version, base, folder)
        return _load(name, version, base)
    if not use_model:
        return None
    version = 1 if last is None else last[0] + 1
    model = _load(name, version, base)
    with journal.writing() as db:
        db.execute(
            "INSERT INTO models (version, base, folder, at) VALUES (?, ?, NULL, ?)",
            (version, base, time()),
        )
    return model


def load_version(journal: Journal, version: int, base: str, folder: str) -> Model:
    """Load a model that was trained in this project.

    Args:
        journal: The journal.
        version: Its version.
        base: The model that the project began with.
        folder: Its folder, in the folder of models.
    """
    path = models_folder(journal.path) / folder
    if not path.is_dir():
        raise DiscotagError(
            f"{path}: the model of version {version} is missing; restore this folder, or give "
            "another model with --model"
        )
    return _load(str(path), version, base)


def last_model(journal: Journal) -> tuple[int, str, str | None] | None:
    """Return the version, base and folder of the last model; None if there is none."""
    with journal.reading() as db:
        row = db.execute(
            "SELECT version, base, folder FROM models ORDER BY version DESC LIMIT 1"
        ).fetchone()
    return None if row is None else (row[0], row[1], row[2])


def _load(name: str | None, version: int, base: str) -> Model:
    from discotag.prediction.loading import load

    return Model(load(name), version, Path(base).name or base)
