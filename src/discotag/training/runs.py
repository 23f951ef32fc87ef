"""A run: from files to a folder with the best model of all seeds and its figures."""

from __future__ import annotations

import shutil
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from discotag.errors import DiscotagError
from discotag.evaluation import Report, align, score
from discotag.mentions import Document, Mention
from discotag.training.data import count, read_lexicon, sentences_of, write_left_out
from discotag.training.development import find, make_tagger, to_dict
from discotag.training.epochs import combined_f1
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
    FOUND,
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
from discotag.training.whole_files import flush, read_json, write_json, writing

if TYPE_CHECKING:
    from discotag.corpora import Problem

WriteReport = Callable[[Report], None]


def run(
    sources: Sources,
    settings: Settings,
    out: Path,
    listener: Listener = ignore,
    *,
    report_problem: Callable[[Problem], None] | None = None,
    write_report: WriteReport = lambda _: None,
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
        report_problem: Is called with each problem in a corpus, as in `corpora.read`; by default,
            errors are raised and warnings ignored.
        write_report: Is called, before the figures are written, with the comparison of the
            development data with what the best model finds in it.

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
            return _run(sources, settings, out, ignore, report_problem, write_report)
        check_apart(out, sources)
        with locked_folder(out):
            return _run(sources, settings, out, listener, report_problem, write_report)


def _run(
    sources: Sources,
    settings: Settings,
    out: Path,
    listener: Listener,
    report_problem: Callable[[Problem], None] | None,
    write_report: WriteReport,
) -> dict[str, Any]:
    continued = in_turns(lambda: find_continued(settings))
    if settings.lexicon:
        read_lexicon(settings.lexicon)  # raises also where it is not needed: it may be a mistake
    digests = in_turns(lambda: find_digests(sources, settings) if is_first_here() else {})
    check_same(digests)
    # What other machines see of a shared folder may be older, so only the first process looks.
    if was_restarted() and share((out / FIGURES).exists()):  # lost after the end of the run
        if is_first():
            check_same_run(out, settings, digests)
            found: dict[str, Any] = read_json(out / FIGURES)
            return found
        return {}
    if is_first():
        claim(out, settings, digests)
    folders = {
        seed: out / CHECKPOINTS / f"seed-{seed}"
        for seed in range(settings.seed, settings.seed + settings.num_seeds)
    }
    pending = share([seed for seed, each in folders.items() if not _is_finished(each)])
    data = prepare(sources, settings, continued, report_problem)
    if is_first():
        write_left_out(data.chosen.left_out, out / LEFT_OUT)
    if pending:
        data = ask_teachers(data, sources, settings, report_problem)
    try:
        for seed in pending:
            _train_seed(seed, folders[seed], sources, settings, data, listener)
        if not is_first():
            return {}
        return _finish(out, list(folders.values()), sources, settings, data, write_report)
    except OSError as error:
        raise DiscotagError(  # not `RunError`: what the run has made is kept
            f"{error.filename or out}: {error.strerror}; the same command continues the run"
        ) from error


def _is_finished(folder: Path) -> bool:
    """Return whether a seed is finished; earlier versions of discotag did not write all of it."""
    return (folder / RESULT).exists() and (folder / FOUND).exists()


def _train_seed(
    seed: int,
    folder: Path,
    sources: Sources,
    settings: Settings,
    data: Data,
    listener: Listener,
) -> None:
    """Train with one seed, and leave its model and its results in a folder of the run."""
    started = monotonic()
    out = folder.parents[1]
    make = partial(make_network, settings, data.chosen.scheme, seed)
    network = in_turns(make) if is_on_hub(settings) else make()
    if is_first():
        check_room(out, sum(each.numel() for each in network.parameters()), settings.num_seeds)
        folder.mkdir(parents=True, exist_ok=True)
    examples = make_examples(
        network, data.chosen.train, settings, unlabelled=data.unlabelled, teacher=data.teacher
    )
    dev = sentences_of(data.dev)
    trained = fit(
        network,
        examples,
        dev,
        settings,
        seed=seed,
        folder=folder,
        logs=out / LOGS / folder.name,
        listener=listener,
    )
    figures = {"dev": to_dict(score(dev, trained.found)), "test": None}
    if data.test is not None:
        tagger = make_tagger(network, bf16=uses_bf16(settings))
        figures["test"] = to_dict(score(data.test, find(tagger, data.test)))
    if not is_first():
        return
    result = {
        "seed": seed,
        "best_epoch": trained.best.number,
        **figures,
        "epochs": [epoch.to_dict() for epoch in trained.epochs],
        "seconds": round(monotonic() - started, 1),
    }
    measured = {
        f"{part} F1, {name.replace('_', ' ')}": round(100 * each["f1"], 2)
        for part, slices in figures.items()
        for name, each in (slices or {}).items()
    }
    network.config = replace(network.config, figures=measured, data=sources.train.name)
    with writing(folder / MODEL):
        network.save_pretrained(folder / MODEL)
    for path in (folder / MODEL).iterdir():
        flush(path)
    write_json(
        [[each.to_dict() for each in mentions] for mentions in trained.found], folder / FOUND
    )
    write_json(result, folder / RESULT)
    for path in folder.iterdir():  # there is disk space for the checkpoints of one seed only
        if path.name not in {MODEL, FOUND, RESULT}:
            path.unlink()


def _finish(
    out: Path,
    folders: Sequence[Path],
    sources: Sources,
    settings: Settings,
    data: Data,
    write_report: WriteReport,
) -> dict[str, Any]:
    """Choose the best seed, write its model, the curve and the figures, and return the figures."""
    seeds = [read_json(each / RESULT) for each in folders]
    best = max(seeds, key=lambda result: combined_f1(result["dev"]))
    folder = folders[seeds.index(best)]
    left_out = data.chosen.left_out
    figures = {
        "settings": settings.to_dict(),
        "data": {
            "train": count(data.chosen.train),
            "augmented": data.chosen.augmented,
            "left_out": len(left_out),
            "reasons": Counter(reason for each in left_out for reason in each.reasons),
            "dev": count(sentences_of(data.dev)),
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
    report = Report(str(sources.dev), str(out / MODEL))
    for pair in align(data.dev, _documents(data.dev, read_json(folder / FOUND))):
        report.add(pair)
    write_report(report)
    if (folder / MODEL).exists():  # it was not moved before the process was lost
        (folder / MODEL).rename(out / MODEL)
    if find_spec("matplotlib") is not None:
        curves = {
            result["seed"]: [(each["loss"], each["dev"]["all"]["f1"]) for each in result["epochs"]]
            for result in seeds
        }
        plot_curves(curves, out / CURVE)
    write_json(figures, out / FIGURES)
    shutil.rmtree(out / CHECKPOINTS)
    return figures


def _documents(gold: Sequence[Document], found: Iterable[Iterable[Any]]) -> Iterator[Document]:
    """Yield documents with the mentions that were found in each of their sentences."""
    listed = iter(found)
    for document in gold:
        yield document.with_mentions(
            [Mention.from_dict(each) for each in next(listed)] for _ in document.sentences
        )


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
