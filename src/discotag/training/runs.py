"""A run: from files to a folder with the best model of all seeds and its figures."""

from __future__ import annotations

import json
import os
import shutil
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

from discotag.model.network import Network
from discotag.training.checkpoints import PART, flushed, write_json, writing
from discotag.training.data import count, read_lexicon, write_left_out
from discotag.training.epochs import best_of, merit_of
from discotag.training.evaluation import evaluate, to_dict
from discotag.training.examples import make_examples
from discotag.training.initial_network import find_continued, make_network
from discotag.training.plot import plot_curves
from discotag.training.preparation import Data, ask_teachers, prepare
from discotag.training.progress import Listener
from discotag.training.run_folder import (
    CHECKPOINTS,
    CURVE,
    FIGURES,
    LEFT_OUT,
    LOGS,
    MODEL,
    RESULT,
    RunError,
    check_room,
    claim,
    locked_folder,
)
from discotag.training.settings import Settings
from discotag.training.sources import Sources, find_digests
from discotag.training.trainer import fit, uses_bf16


def run(sources: Sources, settings: Settings, out: Path, listener: Listener) -> dict[str, Any]:
    """Train, and leave the best model with its figures in the folder `out`.

    A run that was interrupted is continued. Under `torchrun` each process calls this; the first
    one writes.

    Args:
        sources: The files to read.
        settings: The settings.
        out: The run folder.
        listener: Is told about the progress.

    Returns:
        The figures, as in `figures.json`; nothing in a process that is not the first.

    Raises:
        RunError: The folder contains another run or a finished one, or cannot be written to.
        InputError: The data or the encoder cannot be used.
    """
    if os.environ.get("RANK", "0") != "0":
        return _run(sources, settings, out, listener, main=False)
    with locked_folder(out):
        return _run(sources, settings, out, listener, main=True)


def _run(
    sources: Sources, settings: Settings, out: Path, listener: Listener, *, main: bool
) -> dict[str, Any]:
    continued = find_continued(settings)
    if settings.lexicon:
        read_lexicon(settings.lexicon)  # raises also where it is not needed: it may be a mistake
    claim(out, settings, find_digests(sources, settings), write=main)
    # Looked for at once: the first process removes these folders when all seeds are done.
    folders = {
        seed: out / CHECKPOINTS / f"seed-{seed}"
        for seed in range(settings.seed, settings.seed + settings.num_seeds)
    }
    pending = {seed: each for seed, each in folders.items() if not (each / RESULT).exists()}
    data = prepare(sources, settings, continued)
    if main:
        write_left_out(data.chosen.left_out, out / LEFT_OUT)
    if pending:
        data = ask_teachers(data, sources, settings)
    try:
        for seed, folder in pending.items():
            _train_seed(seed, folder, settings, data, listener, out, main)
        if not main:
            return {}
        return _finish(out, list(folders.values()), sources, settings, data)
    except OSError as error:
        raise RunError(
            f"{error.filename or out}: {error.strerror}; the same command continues the run"
        ) from error
    finally:
        listener.end()


def _train_seed(
    seed: int,
    folder: Path,
    settings: Settings,
    data: Data,
    listener: Listener,
    out: Path,
    main: bool,
) -> None:
    """Train with one seed, and leave its model and its result in a folder."""
    started = monotonic()
    network = make_network(settings, data.chosen.scheme, seed)
    if main:
        check_room(out, sum(each.numel() for each in network.parameters()), settings.num_seeds)
        folder.mkdir(parents=True, exist_ok=True)
    examples = make_examples(
        network, data.chosen.train, settings, unlabelled=data.unlabelled, teacher=data.teacher
    )
    epochs = fit(
        network,
        examples,
        data.dev,
        settings,
        seed=seed,
        folder=folder,
        logs=out / LOGS / folder.name,
        listener=listener,
    )
    if not main:
        return
    best = best_of(epochs)
    result = {
        "seed": seed,
        "best_epoch": best.number,
        # Not those of the epoch: `recall` was set afterwards.
        "dev": to_dict(evaluate(network, data.dev, bf16=uses_bf16(settings))),
        "test": None,
        "epochs": [epoch.to_dict() for epoch in epochs],
        "seconds": round(monotonic() - started, 1),
    }
    if data.test is not None:
        result["test"] = to_dict(evaluate(network, data.test, bf16=uses_bf16(settings)))
    with writing(folder / MODEL):
        network.save_pretrained(folder / MODEL)
    flushed(folder / MODEL)
    write_json(result, folder / RESULT)
    for path in folder.iterdir():  # there is disk space for the checkpoints of one seed only
        if path.is_dir() and path.name != MODEL:
            shutil.rmtree(path)
        elif path.is_file() and path.name != RESULT:
            path.unlink()


def _finish(
    out: Path, folders: Sequence[Path], sources: Sources, settings: Settings, data: Data
) -> dict[str, Any]:
    """Choose the best seed, write its model, the curve and the figures, and return the figures."""
    seeds = [json.loads((each / RESULT).read_text(encoding="utf-8")) for each in folders]
    best = max(seeds, key=lambda result: merit_of(result["dev"]))
    left_out = data.chosen.left_out
    figures = {
        "settings": settings.to_dict(),
        "data": {
            "train": count(data.chosen.train),
            "augmented": data.chosen.augmented,
            "left_out": len(left_out),
            "reasons": Counter(reason for each in left_out for reason in each.reasons),
            "dev": count(data.dev),
            "test": None if data.test is None else count(data.test),
        },
        "best_seed": best["seed"],
        "best_epoch": best["best_epoch"],
        "dev": best["dev"],
        "test": best["test"],
        "over_seeds": {
            part: over_seeds([result[part] for result in seeds])
            for part in ("dev", "test")
            if best[part] is not None
        },
        "seeds": seeds,
    }
    _write_model(folders[seeds.index(best)] / MODEL, out / MODEL, best, sources.train.name)
    if find_spec("matplotlib") is not None:
        curves = {
            result["seed"]: [(each["loss"], each["dev"]["all"]["f1"]) for each in result["epochs"]]
            for result in seeds
        }
        plot_curves(curves, out / CURVE)
    write_json(figures, out / FIGURES)
    shutil.rmtree(out / CHECKPOINTS)
    return figures


def _write_model(source: Path, target: Path, result: Mapping[str, Any], data: str) -> None:
    """Write the model of the best seed, with its figures on the card, completely or not at all."""
    network = Network.from_pretrained(source)
    measured = {
        f"{part} F1, {name.replace('_', ' ')}": round(100 * result[part][name]["f1"], 2)
        for part in ("dev", "test")
        if result[part] is not None
        for name in result[part]
    }
    network.config = replace(network.config, figures=measured, data=data)
    part = target.with_name(f"{MODEL}{PART}")
    shutil.rmtree(part, ignore_errors=True)
    with writing(part):
        network.save_pretrained(part)
    flushed(part)
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)


def over_seeds(figures: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, Any]:
    """Return the mean and standard deviation of F1 on each slice."""
    return {
        name: {
            "mean": statistics.fmean(values),
            "deviation": statistics.stdev(values) if len(values) > 1 else 0.0,
        }
        for name in figures[0]
        for values in [[each[name]["f1"] for each in figures]]
    }
