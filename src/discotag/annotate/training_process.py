"""Run the child process that trains, and read its log and its figures."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Final

LOOK: Final = 0.5
"""Seconds between two looks at the child process."""

MOST_LINE: Final = 300
"""The most characters of a line of the log that a message repeats."""

TAIL: Final = 4096
"""The number of bytes at the end of a log in which its last line is."""

FIGURES: Final = "figures.json"
"""The file of a run that has its figures; a run that is not finished has none."""


def run_child(arguments: Sequence[str], log: Path, stop: Event) -> int | None:
    """Run `discotag train` in a child process until it ends.

    Args:
        arguments: Its arguments; see `discotag.annotate.training_process`.
        log: The file for what it says.
        stop: Ends it early, when set.

    Returns:
        Its exit status, or None if it was ended early.
    """
    with log.open("ab") as stream:
        child = subprocess.Popen(
            # -P: no module of the current folder, which may be that of the texts, is imported.
            [sys.executable, "-P", "-m", "discotag.annotate.training_process", *arguments],
            stdin=subprocess.PIPE,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for this process, which then ends the child
        )
        assert child.stdin is not None
        try:
            while child.poll() is None:
                if stop.wait(LOOK):
                    return None
        finally:
            child.stdin.close()  # which ends it
            child.wait()
    return child.returncode


def last_line(log: Path, beginning: str = "") -> str:
    """Return the last line of a log that is not empty, among those with a beginning."""
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - TAIL))
            lines = stream.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    found = (line.strip() for line in reversed(lines) if line.startswith(beginning))
    return next((line[:MOST_LINE] for line in found if line), "")


def measured(folder: Path) -> str:
    """Return what a training has measured, as the end of a sentence."""
    try:
        figures = json.loads((folder / "run" / FIGURES).read_text("utf-8"))
        value = 100 * figures["dev"]["all"]["f1"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return f"; its F1 on the documents kept to measure it is {value:.1f}"


ENCODER_OF: Final = "--encoder-of"

POLITE: Final = 10
"""How much less urgent training is than the people who work in the meantime, as in `nice`."""


def main() -> None:
    """Train until standard input ends."""
    Thread(target=_watch, daemon=True).start()
    if hasattr(os, "nice"):  # not on Windows
        os.nice(POLITE)
    arguments = sys.argv[1:]
    if arguments[:1] == [ENCODER_OF]:
        _, model, folder, *arguments = arguments
        if not (Path(folder) / "tokenizer.json").exists():
            _write_encoder(model, Path(folder))
    sys.argv = ["discotag", "train", *arguments]
    runpy.run_module("discotag", run_name="__main__", alter_sys=True)


def _watch() -> None:
    # Not sys.stdin: a thread that waits in it would be in the way when the interpreter ends.
    while os.read(0, 1 << 10):
        pass
    os._exit(1)


def _write_encoder(model: str, folder: Path) -> None:
    from discotag.model.files import TOKENIZER, find_model
    from discotag.model.network import Network

    network = Network.from_pretrained(find_model(model))
    network.encoder.save_pretrained(folder)
    (folder / TOKENIZER).write_text(network.tokenizer.as_json(), "utf-8")


if __name__ == "__main__":
    main()
