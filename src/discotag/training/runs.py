"""A run: from files to a folder with the best model of all seeds and its figures."""

from __future__ import annotations

import json
import shutil
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

from discotag.errors import DiscotagError
from discotag.model.network import Network
from discotag.training.checkpoints import PART, flushed, write_json, writing
from discotag.training.data import count, read_lexicon, write_left_out
from discotag.training.epochs import best_of, merit_of
from discotag.training.evaluation import evaluate, to_dict
from discotag.training.examples import make_examples
from discotag.training.initial_network import find_continued, is_on_hub, make_network
from discotag.training.plot import plot_curves
from discotag.training.preparation import Data, ask_teachers, prepare
from discotag.training.processes import (
    check_same,
    in_turns,
    is_first,
    is_first_here,
    joined,
    share,
    was_restarted,
)
from discotag.training.progress import Listener, ignore
from discotag.training.run_folder import (
    CHECKPOINTS,
    CURVE,
    FIGURES,
    LEFT_OUT,
    LOGS,
    MODEL,
    RESULT,
    check_apart,
    check_room,
    check_same_run,
    claim,
    locked_folder,
)
from discotag.training.settings import Settings
from discotag.training.sources import Sources, find_digests
from discotag.training.trainer import fit, uses_bf16


def run(
    sources: Sources, settings: Settings, out: Path, listener: Listener = ignore
) -> dict[str, Any]:
    """Train, and leave the best model with its figures in the folder `out`.

    A run that was interrupted is continued, also by another number of processes. A run that is
    refused leaves nothing behind. Each process that a launcher such as `torchrun` has started calls
    this; the first one writes the folder.

    Args:
        sources: The files to read.
        settings: The settings.
        out: The run folder.
        listener: Is told about the progress.

    Returns:
        The figures, as in `figures.json`; nothing in a process that is not the first.

    Raises:
        RunError: The folder contains another run or a finished one, is in a folder that is read,
            contains a file that is read, or cannot be written to.
        InputError: The data or the encoder cannot be used.
        ProcessError: Another process was lost, or has ended with an error.
    """
    with joined():
        if not is_first():
            return _run(sources, settings, out, ignore)
        check_apart(out, sources)
        with locked_folder(out):
            return _run(sources, settings, out, listener)


def _run(sources: Sources, settings: Settings, out: Path, listener: Listener) -> dict[str, Any]:
    continued = in_turns(lambda: find_continued(settings))
    if settings.lexicon:
        read_lexicon(settings.lexicon)  # raises also where it is not needed: it may be a mistake
    digests = in_turns(lambda: find_digests(sources, settings) if is_first_here() else {})
    check_same(digests)
    # What other machines see of a shared folder may be older, so only the first process looks.
    if was_restarted() and share((out / FIGURES).exists()):  # lost after the end of the run
        if is_first():
            check_same_run(out, settings, digests)
            return _read_json(out / FIGURES)
        return {}
    if is_first():
        claim(out, settings, digests)
    folders = {
        seed: out / CHECKPOINTS / f"seed-{seed}"
        for seed in range(settings.seed, settings.seed + settings.num_seeds)
    }
    pending = share([seed for seed, each in folders.items() if not (each / RESULT).exists()])
    data = prepare(sources, settings, continued)
    if is_first():
        write_left_out(data.chosen.left_out, out / LEFT_OUT)
    if pending:
        data = ask_teachers(data, sources, settings)
    try:
        for seed in pending:
            _train_seed(seed, folders[seed], settings, data, listener, out)
        if not is_first():
            return {}
        return _finish(out, list(folders.values()), sources, settings, data)
    except OSError as error:
        raise DiscotagError(  # not `RunError`: what the run has made is kept
            f"{error.filename or out}: {error.strerror}; the same command continues the run"
        ) from error


def _train_seed(
    seed: int,
    folder: Path,
    settings: Settings,
    data: Data,
    listener: Listener,
    out: Path,
) -> None:
    """Train with one seed, and leave its model and its result in a folder."""
    started = monotonic()
    make = partial(make_network, settings, data.chosen.scheme, seed)
    network = in_turns(make) if is_on_hub(settings) else make()
    if is_first():
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
    # Not the figures of the epoch: `bias` was set afterwards.
    dev, test = (
        None if each is None else to_dict(evaluate(network, each, bf16=uses_bf16(settings)))
        for each in (data.dev, data.test)
    )
    if not is_first():
        return
    result = {
        "seed": seed,
        "best_epoch": best_of(epochs, settings.epoch_tolerance).number,
        "dev": dev,
        "test": test,
        "epochs": [epoch.to_dict() for epoch in epochs],
        "seconds": round(monotonic() - started, 1),
    }
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
    seeds = [_read_json(each / RESULT) for each in folders]
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


def _read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


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
