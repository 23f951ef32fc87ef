"""The models of a project: the one it began with, and those trained from it, by version."""

from __future__ import annotations

import logging
from pathlib import Path
from time import time
from typing import Final

from discotag.annotate.journal import Journal
from discotag.annotate.proposals import Model
from discotag.model.files import BUNDLED_NAME

ENDING: Final = ".models"
"""What the name of the folder of models adds to that of the journal."""

NO_MODEL: Final = "none"
"""The base of models that were trained in a project without a model to begin with."""

_logger = logging.getLogger(__name__)


def models_folder(journal: Path) -> Path:
    """Return the folder beside a journal that has the models trained from it."""
    return journal.with_name(journal.name + ENDING)


def load_model(journal: Journal, name: str | None, *, use_model: bool = True) -> Model | None:
    """Load the last model of a project.

    That is the last one that was trained from `name`, if there is one; otherwise `name` itself. It
    becomes a new version if it is not the one that was used last, so that proposals are renewed.

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
    folder = _last_trained(journal, base)
    if folder is None and not use_model:
        return None
    same = last is not None and last[1:] == (base, folder)
    version = 0 if last is None else last[0]
    version += not same
    if folder is not None:
        model = load_version(journal, version, base, folder)
    else:
        model = _load(name, version, base)
    if not same:
        keep_model(journal, version, base, folder)
    return model


def keep_model(journal: Journal, version: int, base: str, folder: str | None) -> None:
    """Note that a model is used from now on.

    Args:
        journal: The journal.
        version: Its version.
        base: The model that it was trained from, or its own name.
        folder: Its folder, in the folder of models; None if it was not trained in this project.
    """
    with journal.writing() as db:
        db.execute(
            "INSERT INTO models (version, base, folder, at) VALUES (?, ?, ?, ?)",
            (version, base, folder, time()),
        )


def load_version(journal: Journal, version: int, base: str, folder: str) -> Model:
    """Load a model that was trained in this project.

    Args:
        journal: The journal.
        version: Its version.
        base: The model that the project began with.
        folder: Its folder, in the folder of models.
    """
    return _load(str(models_folder(journal.path) / folder), version, base)


def last_model(journal: Journal) -> tuple[int, str, str | None] | None:
    """Return the version, base and folder of the last model; None if there is none."""
    with journal.reading() as db:
        row = db.execute(
            "SELECT version, base, folder FROM models ORDER BY version DESC LIMIT 1"
        ).fetchone()
    return None if row is None else (row[0], row[1], row[2])


def _last_trained(journal: Journal, base: str) -> str | None:
    """Return the folder of the last model that was trained from another, None if there is none.

    Models whose folder is missing, as in a backup of the journal alone, are passed over.
    """
    with journal.reading() as db:
        rows = db.execute(
            "SELECT folder FROM models WHERE base = ? AND folder IS NOT NULL ORDER BY version DESC",
            (base,),
        ).fetchall()
    folders = list(dict.fromkeys(folder for (folder,) in rows))
    there = [each for each in folders if (models_folder(journal.path) / each).is_dir()]
    if folders and folders[:1] != there[:1]:
        missing = models_folder(journal.path) / folders[0]
        used = models_folder(journal.path) / there[0] if there else base
        instead = "no model" if used == NO_MODEL else used
        _logger.warning(
            "%s: the last model of this project is missing; it goes on with %s; to have it back, "
            "stop, restore this folder, and start again",
            missing,
            instead,
        )
    return there[0] if there else None


def _load(name: str | None, version: int, base: str) -> Model:
    from discotag.prediction.loading import load

    return Model(load(name), version, Path(base).name or base)
