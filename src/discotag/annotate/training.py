"""Training in the background: when enough documents are finished, the next model is made."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from logging import INFO, WARNING
from pathlib import Path
from threading import Event, Lock, Thread
from time import time
from typing import Any, Final

from discotag.annotate.journal import Journal
from discotag.annotate.models import (
    NO_MODEL,
    keep_model,
    last_model,
    load_version,
    models_folder,
)
from discotag.annotate.proposals import Model, Proposer
from discotag.annotate.training_data import has_enough, share_documents, write_share
from discotag.annotate.training_process import LOG, Recipe, last_message, run_process
from discotag.errors import DiscotagError
from discotag.extras import check_installed
from discotag.web.errors import ServiceError

NEEDED: Final = ("torch", "transformers", "accelerate", "safetensors", "yaml")
"""Packages of the extra `train`."""

LOOK: Final = 1.0
"""Seconds between two looks at whether enough is finished, and at the child process."""

PRIVATE: Final = 0o700
"""The mode of the folder of a training, which has texts."""

FIGURES: Final = "figures.json"
"""The file of a run that has its figures; a run that is not finished has none."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How to train.

    Attributes:
        after: The number of documents that must be finished since the last training.
        recipe: How to train.
    """

    after: int = 30
    recipe: Recipe = field(default_factory=Recipe)


class Trainer:
    """Trains models of the finished documents, one at a time, in a child process.

    Args:
        journal: The journal.
        plan: When and how to train.
        labels: The labels of the project.
        proposer: Has the model that training continues from, and gets the next one.

    Raises:
        DiscotagError: Training is not possible with this installation or these labels.
    """

    def __init__(
        self, journal: Journal, plan: TrainingPlan, labels: Sequence[str], proposer: Proposer
    ) -> None:
        check_installed("training", "train", *NEEDED)
        plan.recipe.make_settings()  # raises if one of them is wrong
        if proposer.model is None and not plan.recipe.settings.get("encoder"):
            raise DiscotagError(
                "training without a model needs an encoder to begin with: "
                "--train-options '--encoder FOLDER'"
            )
        self._journal = journal
        self._plan = plan
        self._labels = tuple(labels)
        self._proposer = proposer
        self._lock = Lock()
        self._stop, self._asked = Event(), Event()
        self._thread: Thread | None = None
        self._folder: Path | None = None
        self._problem: str | None = None

    def start(self) -> None:
        """Begin to watch the journal."""
        self._thread = Thread(target=self._work, name="training", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End a training that is running; it is continued when the project is opened again."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def ask(self) -> None:
        """Begin a training now.

        Raises:
            ServiceError: One is running, or too little is finished.
        """
        with self._lock:
            if self._asked.is_set() or self._state()[0] == "running":
                raise ServiceError(409, "training_runs", "a training is running already")
            with self._journal.reading() as db:
                if not has_enough(db):
                    raise ServiceError(
                        409,
                        "too_little",
                        "too little is finished: training needs two finished documents with "
                        "mentions, one to learn from and one to measure on",
                    )
            self._asked.set()

    def progress(self) -> dict[str, Any]:
        """Return the state of the training as plain data."""
        state, message, since = self._state()
        if self._problem is not None:
            state, message = "failed", self._problem
        if self._asked.is_set():
            state = "running"
        if state == "running" and self._folder is not None:
            message = last_message(self._folder) or message
        return {
            "state": state,
            "message": message,
            "finished_since": since,
            "needed": self._plan.after,
        }

    def _state(self) -> tuple[str, str, int]:
        """Return the state and the message of the last training, and what is finished since."""
        with self._journal.reading() as db:
            last = db.execute(
                "SELECT state, message, sequence FROM trainings ORDER BY number DESC LIMIT 1"
            ).fetchone()
            state, message, sequence = last or ("waiting", "", 0)
            ((since,),) = db.execute(
                "SELECT count(*) FROM documents WHERE status IN ('finished', 'decided') "
                "AND settled > ?",
                (sequence,),
            )
        return state, message, since

    def _work(self) -> None:
        while not self._stop.is_set():
            asked = self._asked.is_set()
            try:
                state, _, since = self._state()
                if state != "running" and (asked or since >= self._plan.after):
                    state = "running" if self._begin() else state
                if asked:
                    self._asked.clear()
                if state == "running":  # also if the project was closed while it ran
                    self._run()
                self._problem = None
            except (DiscotagError, OSError) as error:  # such as a full disk
                if str(error) != self._problem:
                    _logger.warning("training: %s", error)
                self._problem = str(error)
                self._asked.clear()
            self._stop.wait(LOOK)

    def _begin(self) -> bool:
        """Choose the documents, write them to files and note that a training runs.

        Returns:
            Whether there are enough documents.
        """
        with self._journal.writing() as db:
            if not has_enough(db):
                return False
            share_documents(db)
            ((number,),) = db.execute("SELECT coalesce(max(number), 0) + 1 FROM trainings")
        folder = self._folder_of(number)
        try:
            folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        except OSError as error:
            raise DiscotagError(f"{folder}: {(error.strerror or '').lower()}") from None
        with self._journal.reading() as db:
            ((sequence,),) = db.execute("SELECT coalesce(max(sequence), 0) FROM actions")
            write_share(db, "train", folder / "train.jsonl")
            write_share(db, "dev", folder / "dev.jsonl")
        last = last_model(self._journal) if self._proposer.model is not None else None
        base = NO_MODEL if last is None else last[1]
        with self._journal.writing() as db:
            db.execute(
                "INSERT INTO trainings (number, sequence, state, message, base, at) "
                "VALUES (?, ?, 'running', 'starting', ?, ?)",
                (number, sequence, base, time()),
            )
        return True

    def _run(self) -> None:
        """Train, or continue a training, and use its model."""
        with self._journal.reading() as db:
            number, base = db.execute(
                "SELECT number, base FROM trainings ORDER BY number DESC LIMIT 1"
            ).fetchone()
        self._folder = folder = self._folder_of(number)
        # A run that ended just before the project was closed is not run again.
        status: int | None = 0
        if not (folder / "run" / FIGURES).exists():
            status = run_process(folder, self.recipe(folder), self._stop)
        if status is None:  # the project is closed
            return
        if status:
            said = last_message(folder) if status == 1 else ""
            reason = said or f"it ended with status {status}"
            self._end(number, "failed", f"training failed: {reason}; see {folder / LOG}")
            return
        inside = f"{folder.name}/run/model"
        try:
            with self._journal.reading() as db:
                ((version,),) = db.execute("SELECT coalesce(max(version), 0) + 1 FROM models")
            model = load_version(self._journal, version, base, inside)
        except DiscotagError as error:
            self._end(number, "failed", str(error))
            return
        keep_model(self._journal, version, base, inside)
        self._proposer.use(model)
        self._end(number, "done", f"version {version} of the model is in use{_measured(folder)}")

    def recipe(self, folder: Path) -> Recipe:
        """Return how to train in a folder, from the model that is in use."""
        given = self._plan.recipe
        changed: dict[str, Any] = {"labels": self._labels}
        model, encoder_of = self._proposer.model, None
        if model is not None and (not given.settings.get("encoder") or self._is_own(model)):
            source = str(model.tagger.folder)
            changed["encoder"] = None  # only the first training begins with a given one
            if set(model.tagger.scheme.labels) == set(self._labels):
                changed["from_model"] = source
            else:  # other labels need another layer on top of the encoder
                changed["encoder"], encoder_of = str(folder / "encoder"), source
        return replace(given, settings={**given.settings, **changed}, encoder_of=encoder_of)

    def _is_own(self, model: Model) -> bool:
        """Return whether a model was trained in this project."""
        folder = model.tagger.folder
        return folder is not None and folder.is_relative_to(models_folder(self._journal.path))

    def _folder_of(self, number: int) -> Path:
        return models_folder(self._journal.path) / f"training-{number}"

    def _end(self, number: int, state: str, message: str) -> None:
        with self._journal.writing() as db:
            db.execute(
                "UPDATE trainings SET state = ?, message = ? WHERE number = ?",
                (state, message, number),
            )
        _logger.log(WARNING if state == "failed" else INFO, "training: %s", message)


def _measured(folder: Path) -> str:
    """Return what a training has measured, as the end of a sentence."""
    try:
        figures = json.loads((folder / "run" / FIGURES).read_text("utf-8"))
        value = 100 * figures["dev"]["all"]["f1"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return f"; its F1 on the documents kept to measure it is {value:.1f}"
