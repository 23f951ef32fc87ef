"""A training from files to a run folder: data, seeds, figures and the best model."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, Final

from discotag.corpora.jobs import locked
from discotag.errors import DiscotagError, InputError
from discotag.mentions import Sentence
from discotag.model.config import ModelConfig
from discotag.model.files import (
    CONFIG,
    ENCODER_NAME,
    TOKENIZER,
    find_folder,
    find_model,
    most_exact,
    read_config,
)
from discotag.scheme import Scheme
from discotag.training.augment import augment
from discotag.training.checkpoints import PART, flushed, write_json, write_text, writing
from discotag.training.data import (
    LeftOut,
    balanced,
    count,
    find_labels,
    fitting,
    read_lexicon,
    read_sentences,
    write_left_out,
)
from discotag.training.progress import Listener
from discotag.training.settings import Settings, check_continues

SETTINGS: Final = "settings.yaml"
SOURCES: Final = "data.json"
FIGURES: Final = "figures.json"
LEFT_OUT: Final = "left_out.jsonl"
CURVE: Final = "curve"
MODEL: Final = "model"
CHECKPOINTS: Final = "checkpoints"
LOGS: Final = "tensorboard"
RESULT: Final = "result.json"

WEIGHTS_IN_CHECKPOINT: Final = 3
"""Times the size of the weights: the weights, and two moments of each for AdamW."""

BYTES_OF_WEIGHT: Final = 4


class RunError(DiscotagError):
    """A run folder that cannot be used."""


@dataclass(frozen=True)
class Sources:
    """The files a training reads.

    Attributes:
        train, dev: The corpora.
        test: To evaluate on at the end.
        teachers: Models to learn from too.
        unlabelled: Text on which teachers alone say what is in it.
    """

    train: Path
    dev: Path
    test: Path | None = None
    teachers: tuple[str | Path, ...] = ()
    unlabelled: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Material:
    """What is trained on, after all choices.

    Attributes:
        scheme: For the labels of the training data.
        train: Sentences to train on.
        left_out: Those that do not fit the scheme.
        augmented: How many of the sentences to train on are new.
    """

    scheme: Scheme
    train: list[Sentence]
    left_out: list[LeftOut]
    augmented: int


def choose(
    sentences: Sequence[Sentence], settings: Settings, scheme: Scheme | None = None
) -> Material:
    """Choose the sentences to train on.

    Args:
        sentences: All that there are.
        settings: What to choose by.
        scheme: Of the model to continue from; else it is that of the settings, for the labels of
            the sentences.

    Raises:
        InputError: There is no mention to learn from, or no sentence fits.
    """
    labels = settings.labels or find_labels(sentences)
    if not any(each.mentions for each in sentences):
        wanted = f" of the labels {', '.join(labels)}" if labels else ""
        raise InputError(f"the training data has no mention{wanted}: nothing can be learned")
    if scheme is None:
        scheme = settings.scheme(labels)
    kept, left_out = fitting(sentences, scheme)
    if not any(each.mentions for each in kept):
        raise InputError("no sentence with a mention fits the scheme; use more slots")
    kept = balanced(kept, settings.without_mentions, settings.seed)
    new: list[Sentence] = []
    if settings.augment:
        lexicon = read_lexicon(settings.lexicon)
        new = augment(kept, scheme, settings.augment, settings.seed, lexicon)
    return Material(scheme, [*kept, *new], left_out, len(new))


def run(sources: Sources, settings: Settings, out: Path, listener: Listener) -> dict[str, Any]:
    """Train, and leave the best model with its figures in the folder `out`.

    A run that was interrupted goes on where it was. Under `torchrun` each process calls this; the
    first one writes.

    Returns:
        The figures, as in `figures.json`.

    Raises:
        RunError: The folder holds another run or a finished one, or cannot be written to.
        InputError: The data or the encoder cannot be used.
    """
    if os.environ.get("RANK", "0") != "0":
        return _run(sources, settings, out, listener, main=False)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{out}: cannot be written to: {error.strerror}") from None
    with locked(out):
        return _run(sources, settings, out, listener, main=True)


def _run(
    sources: Sources, settings: Settings, out: Path, listener: Listener, *, main: bool
) -> dict[str, Any]:
    config = find_continued(settings)
    if settings.lexicon:
        read_lexicon(settings.lexicon)  # also where it is not needed: it may be a slip
    claim(out, settings, find_digests(sources, settings), write=main)
    # Looked for at once: when all are done, the first process will soon remove their folders.
    folders = {
        seed: out / CHECKPOINTS / f"seed-{seed}"
        for seed in range(settings.seed, settings.seed + settings.num_seeds)
    }
    pending = {seed: each for seed, each in folders.items() if not (each / RESULT).exists()}
    known = () if config is None else config.scheme.labels
    train = read_sentences(sources.train, settings.labels, known)
    material = choose(train, settings, None if config is None else config.scheme)
    dev = read_sentences(sources.dev, settings.labels, known)
    learned = material.scheme.labels
    if not any(mention.label in learned for each in dev for mention in each.mentions):
        raise InputError(
            f"{sources.dev}: it has no mention of {', '.join(learned)} to choose the best epoch by"
        )
    test = None
    if sources.test is not None:
        test = read_sentences(sources.test, settings.labels, known)
    if main:
        write_left_out(material.left_out, out / LEFT_OUT)
    teacher, unlabelled = _taught(sources, settings, material) if pending else (None, [])
    try:
        for seed, folder in pending.items():
            _train_seed(
                seed, folder, settings, material, dev, test, teacher, unlabelled, listener,
                out, main,
            )  # fmt: skip
        if not main:
            return {}
        return _finish(out, list(folders.values()), sources, settings, material, dev, test)
    except OSError as error:
        raise RunError(f"{error.filename or out}: {error.strerror}; the run can go on") from error
    finally:
        listener.end()


def find_continued(settings: Settings) -> ModelConfig | None:
    """Return the configuration of the model to continue from, if there is one.

    Raises:
        InputError: There is no such model, or the settings contradict it.
    """
    if not settings.from_model:
        return None
    config = read_config(find_model(settings.from_model))[1]
    check_continues(settings, config)
    return config


def find_digests(sources: Sources, settings: Settings) -> dict[str, list[str]]:
    """Return hashes of all that a training reads: the same data may have moved.

    Raises:
        InputError: A file or a folder is missing.
    """
    named = {
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
    return {name: [_digest(path) for path in paths] for name, paths in named.items()} | {
        name: [_model_digest(path) for path in paths] for name, paths in models.items()
    }


def _taught(sources: Sources, settings: Settings, material: Material) -> tuple[Any, list[Sentence]]:
    """What teachers say of all sentences, and the sentences that only they know."""
    if not sources.teachers:
        if sources.unlabelled:
            raise InputError("unlabelled text needs a teacher: give --teachers too")
        return None, []
    if settings.arc_weights:
        raise InputError("a network with weights on arcs cannot learn from teachers")
    from discotag.training.teachers import teach

    texts = [each for path in sources.unlabelled for each in read_sentences(path)]
    unlabelled = [Sentence(each.words) for each in texts if each.words]
    every = [*material.train, *unlabelled]
    return teach(sources.teachers, every, material.scheme), unlabelled


def make_network(settings: Settings, scheme: Scheme, seed: int) -> Any:
    """Make a network on the pretrained encoder, or load the model to continue from.

    The seed decides new weights.
    """
    import torch
    from transformers.utils import logging

    from discotag.model.network import Network

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    config = ModelConfig(
        scheme,
        dropout=settings.dropout,
        window=settings.window,
        overlap=settings.overlap,
        arc_weights=settings.arc_weights,
    )
    torch.manual_seed(seed)
    if not settings.from_model:
        return Network.from_encoder(settings.encoder, config)
    folder = find_model(settings.from_model)
    before = read_config(folder)[1]
    return Network.from_pretrained(folder, _continued(settings.from_model, before, config))


def _continued(name: str, before: ModelConfig, now: ModelConfig) -> ModelConfig:
    """Return the configuration of a model that continues another, with its history for the card."""
    shown = Path(name).name if Path(name).exists() else name  # no path on the machine of training
    notes = (
        f"## Continued\n\nTraining began with the weights of `{shown}`. They were trained on: "
        f"{before.data or 'not stated'}; their licence: {before.licence or 'not stated'}.\n"
    )
    return replace(now, encoder=before.encoder, language=before.language, notes=notes)


def _train_seed(
    seed: int,
    folder: Path,
    settings: Settings,
    material: Material,
    dev: Sequence[Sentence],
    test: Sequence[Sentence] | None,
    teacher: Any,
    unlabelled: Sequence[Sentence],
    listener: Listener,
    out: Path,
    main: bool,
) -> None:
    from discotag.training.evaluation import as_data, evaluate
    from discotag.training.examples import make_examples
    from discotag.training.trainer import best_of, fit, uses_bf16

    started = monotonic()
    network = make_network(settings, material.scheme, seed)
    if main:
        check_room(out, sum(each.numel() for each in network.parameters()), settings.num_seeds)
        folder.mkdir(parents=True, exist_ok=True)
    examples = make_examples(
        network, material.train, settings, unlabelled=unlabelled, teacher=teacher
    )
    epochs = fit(
        network,
        examples,
        dev,
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
        "dev": best.dev,
        "test": None,
        "epochs": [epoch.as_data() for epoch in epochs],
        "seconds": round(monotonic() - started, 1),
    }
    if test is not None:
        result["test"] = as_data(evaluate(network, test, bf16=uses_bf16(settings)))
    with writing(folder / MODEL):
        network.save_pretrained(folder / MODEL)
    flushed(folder / MODEL)
    write_json(result, folder / RESULT)
    for path in folder.iterdir():  # there is room for the checkpoints of one seed
        if path.is_dir() and path.name != MODEL:
            shutil.rmtree(path)
        elif path.is_file() and path.name != RESULT:
            path.unlink()


def _finish(
    out: Path,
    folders: Sequence[Path],
    sources: Sources,
    settings: Settings,
    material: Material,
    dev: Sequence[Sentence],
    test: Sequence[Sentence] | None,
) -> dict[str, Any]:
    """Choose the best seed and write its model, the figures and the curve."""
    from discotag.model.network import Network

    seeds = [json.loads((each / RESULT).read_text(encoding="utf-8")) for each in folders]
    best = max(seeds, key=lambda result: float(result["dev"]["all"]["f1"]))
    figures = {
        "settings": settings.as_data(),
        "data": {
            "train": count(material.train),
            "augmented": material.augmented,
            "left_out": len(material.left_out),
            "reasons": Counter(r for each in material.left_out for r in each.reasons),
            "dev": count(dev),
            "test": None if test is None else count(test),
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
    network = Network.from_pretrained(folders[seeds.index(best)] / MODEL)
    measured = {
        f"{part} F1, {name.replace('_', ' ')}": round(100 * best[part][name]["f1"], 2)
        for part in ("dev", "test")
        if best[part] is not None
        for name in best[part]
    }
    network.config = replace(network.config, figures=measured, data=sources.train.name)
    part = out / f"{MODEL}{PART}"
    shutil.rmtree(part, ignore_errors=True)
    with writing(part):
        network.save_pretrained(part)
    flushed(part)
    shutil.rmtree(out / MODEL, ignore_errors=True)
    part.rename(out / MODEL)
    if find_spec("matplotlib") is not None:
        from discotag.training.plot import plot_curves

        curves = {
            result["seed"]: [(each["loss"], each["dev"]["all"]["f1"]) for each in result["epochs"]]
            for result in seeds
        }
        plot_curves(curves, out / CURVE)
    write_json(figures, out / FIGURES)
    shutil.rmtree(out / CHECKPOINTS)
    return figures


def over_seeds(figures: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, Any]:
    """Mean and standard deviation of F1 on each slice."""
    return {
        name: {
            "mean": statistics.fmean(values),
            "deviation": statistics.stdev(values) if len(values) > 1 else 0.0,
        }
        for name in figures[0]
        for values in [[each[name]["f1"] for each in figures]]
    }


def claim(
    out: Path, settings: Settings, digests: Mapping[str, Sequence[str]], *, write: bool
) -> None:
    """Make the folder of a run, or find the same run in it.

    Raises:
        RunError: It is finished, is another run, is no run at all, or cannot be written to.
    """
    import yaml

    if (out / FIGURES).exists():
        raise RunError(f"{out}: holds a finished run; give another folder with --out")
    begun = any((out / CHECKPOINTS).glob("*/*"))  # before that, nothing is lost by other settings
    if begun and (out / SOURCES).exists():
        before = yaml.safe_load((out / SETTINGS).read_text(encoding="utf-8"))
        now = settings.as_data()
        other = [name for name in now if before.get(name) != now[name]]
        if other:
            changes = ", ".join(f"{name} was {before.get(name)!r}" for name in other)
            raise RunError(
                f"{out}: holds a run with other settings ({changes}); give the same, or another "
                "folder with --out"
            )
        known = json.loads((out / SOURCES).read_text(encoding="utf-8"))
        changed = [name for name in digests if known.get(name) != list(digests[name])]
        if changed:
            raise RunError(
                f"{out}: holds a run with other data ({', '.join(changed)}); give the same, or "
                "another folder with --out"
            )
    elif write and out.is_dir() and not (out / SOURCES).exists():
        ours = {SETTINGS, f"{SETTINGS}{PART}", f"{SOURCES}{PART}"}
        if any(path.name not in ours for path in out.iterdir()):
            raise RunError(f"{out}: is not empty and holds no run; give another folder with --out")
    if not write:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump(settings.as_data(), sort_keys=False, allow_unicode=True)
        write_text(text, out / SETTINGS)
        write_json(digests, out / SOURCES)
    except OSError as error:
        raise RunError(f"{out}: cannot be written to: {error.strerror}") from None


def check_room(out: Path, weights: int, seeds: int) -> None:
    """Raise `RunError` if the disk will be full before the run is over."""
    # Two checkpoints and two bests at a time, a model for each seed, and the last one.
    times = 2 * WEIGHTS_IN_CHECKPOINT + 2 + seeds + 1
    needed = times * BYTES_OF_WEIGHT * weights
    there = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    free = shutil.disk_usage(out).free + there
    if free < needed:
        raise RunError(
            f"{out}: the run needs {needed / 1e9:.1f} GB of disk, and {free / 1e9:.1f} GB are free"
        )


def _model_digest(folder: Path) -> str:
    """Return a hash of the files of a model or encoder that decide what it computes."""
    found = hashlib.sha256()
    for file in (folder / CONFIG, folder / TOKENIZER, most_exact(folder)):
        if file.is_file():
            found.update(bytes.fromhex(_digest(file)))
    return found.hexdigest()


def _digest(path: Path) -> str:
    """Return a hash of a file, or of all files of a folder."""
    found = hashlib.sha256()
    if not path.exists():
        raise RunError(f"{path}: there is no such file or folder")
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "sha256").digest())
    return found.hexdigest()
