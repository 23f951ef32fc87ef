"""A process that trains, which `discotag.annotate.training` starts.

It runs `discotag train` with the arguments that it is given, and ends as soon as its standard input
does, so that it never outlives the process that started it. With `--encoder-of MODEL FOLDER` before
them, it first writes the encoder of a model to a folder, to train other labels from.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from threading import Thread
from typing import Final

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
