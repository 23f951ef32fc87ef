"""Training in a process of its own, so that people can work in the meantime.

The process is told what to do by a line of JSON on its standard input. It ends as soon as that is
closed, so that it never outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from discotag.errors import DiscotagError, one_line
from discotag.training.settings import Settings, make_settings

if TYPE_CHECKING:
    from discotag.evaluation import Report
    from discotag.training.progress import Progress

LOOK: Final = 0.5
"""Seconds between two looks at the process."""

MOST_MESSAGE: Final = 300
"""The most characters of a message of the process."""

POLITE: Final = 10
"""How much less urgent training is than the people who work in the meantime, as in `nice`."""

LOG: Final = "log.txt"
"""The file of a training's folder with what libraries say."""

MESSAGE: Final = "message.txt"
"""The file of a training's folder with its last message: how far it is, or why it failed."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train.

    Attributes:
        settings: Settings by name, as `discotag.training.settings.make_settings` takes them.
        preset: Likewise.
        config: Likewise.
        teachers: Models to learn from.
        unlabelled: Text to learn from the teachers only.
        encoder_of: A model whose encoder is written to the folder `encoder` first, to begin with
            it; None: none.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    preset: str | None = None
    config: str | None = None
    teachers: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    encoder_of: str | None = None

    def make_settings(self) -> Settings:
        """Return the settings.

        Raises:
            SettingsError: A setting is wrong.
        """
        config = None if self.config is None else Path(self.config)
        return make_settings(config, self.settings, self.preset)


def run_process(folder: Path, recipe: Recipe, stop: Event) -> int | None:
    """Train in a process of its own until it ends.

    Args:
        folder: The folder with `train.jsonl` and `dev.jsonl`; it gets the run folder `run`.
        recipe: How to train.
        stop: Ends it early, when set.

    Returns:
        Its exit status, or None if it was ended early.
    """
    with (folder / LOG).open("ab") as log:
        child = subprocess.Popen(
            # -P: no module of the current folder, which may be that of the texts, is imported.
            [sys.executable, "-P", "-m", "discotag.annotate.training_process"],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for this process, which then ends the child
        )
        assert child.stdin is not None
        try:
            child.stdin.write(json.dumps([str(folder), asdict(recipe)]).encode() + b"\n")
            child.stdin.flush()
            while child.poll() is None:
                if stop.wait(LOOK):
                    return None
        finally:
            child.stdin.close()  # which ends it
            child.wait()
    return child.returncode


def last_message(folder: Path) -> str:
    """Return the last message of a training; empty if there is none."""
    try:
        return (folder / MESSAGE).read_text("utf-8")
    except OSError:
        return ""


def main() -> None:
    """Train what standard input says, until it ends."""
    where, given = json.loads(sys.stdin.buffer.readline())
    folder = Path(where)
    Thread(target=_watch, daemon=True).start()
    if hasattr(os, "nice"):  # not on Windows
        os.nice(POLITE)
    try:
        _train(folder, Recipe(**given))
    except DiscotagError as error:
        _say(folder, one_line(error))
        sys.exit(1)
    except Exception as error:
        _say(folder, f"{type(error).__name__}: {one_line(error)}")
        raise


def _watch() -> None:
    # Not sys.stdin: a thread that waits in it would be in the way when the interpreter ends.
    while os.read(0, 1 << 10):
        pass
    os._exit(1)


def _train(folder: Path, recipe: Recipe) -> None:
    from discotag.corpora.parsing.files import created
    from discotag.render.evaluation_page import evaluation_page
    from discotag.training.runs import run
    from discotag.training.sources import Sources

    if recipe.encoder_of is not None and not (folder / "encoder" / "tokenizer.json").exists():
        write_encoder(recipe.encoder_of, folder / "encoder")
    sources = Sources(
        folder / "train.jsonl",
        folder / "dev.jsonl",
        teachers=tuple(recipe.teachers),
        unlabelled=tuple(map(Path, recipe.unlabelled)),
    )

    def listen(progress: Progress) -> None:
        if progress.loss is None:
            _say(folder, f"seed {progress.seed}: {progress.steps} steps")
        elif progress.figures is not None:
            f1 = 100 * progress.figures["all"]["f1"]
            figures = f"loss {progress.loss:.4f}, development F1 {f1:.2f}"
            _say(folder, f"seed {progress.seed}: epoch {progress.epoch}: {figures}")

    def write_report(report: Report) -> None:
        with created(folder / "run" / "report.html") as stream:
            stream.write(evaluation_page(report))

    run(sources, recipe.make_settings(), folder / "run", listen, write_report=write_report)


def _say(folder: Path, message: str) -> None:
    """Write the last message, completely or not at all."""
    part = folder / f"{MESSAGE}.part"
    part.write_text(message[:MOST_MESSAGE], "utf-8")
    part.replace(part.with_name(MESSAGE))


def write_encoder(model: str, folder: Path) -> None:
    """Write the encoder of a model to a folder, to train other labels from."""
    from discotag.model.files import TOKENIZER, find_model
    from discotag.model.network import Network

    network = Network.from_pretrained(find_model(model))
    network.encoder.save_pretrained(folder)
    (folder / TOKENIZER).write_text(network.tokenizer.as_json(), "utf-8")


if __name__ == "__main__":
    main()
