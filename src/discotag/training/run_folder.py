"""The folder of a run: the names of its files, the lock, and the checks before a run begins."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import yaml

from discotag.corpora.jobs import locked
from discotag.errors import DiscotagError, InputError
from discotag.training.processes import is_launched
from discotag.training.settings import Settings
from discotag.training.sources import Sources
from discotag.training.whole_files import PART, read_json, write_json, write_text

SETTINGS: Final = "settings.yaml"
SOURCES: Final = "data.json"
FIGURES: Final = "figures.json"
LEFT_OUT: Final = "left_out.jsonl"
CURVE: Final = "curve"
MODEL: Final = "model"
CHECKPOINTS: Final = "checkpoints"
LOGS: Final = "tensorboard"
FOUND: Final = "found.json"
"""What the model of a seed finds in each sentence of the development data."""

RESULT: Final = "result.json"
"""Written into the folder of a seed when the seed is finished."""

MADE_BEFORE_TRAINING: Final = frozenset(
    {SETTINGS, f"{SETTINGS}{PART}", SOURCES, f"{SOURCES}{PART}", LEFT_OUT, CHECKPOINTS, LOGS}
)
"""What a run makes before its first epoch is done; there is no checkpoint then."""

WEIGHTS_IN_CHECKPOINT: Final = 4
"""The size of a checkpoint, in times the size of the weights: AdamW has two moments of each, and
the best weights are there too."""

BYTES_OF_WEIGHT: Final = 4

LEASE: Final = 120.0
"""Seconds that a process waits for the lock of a folder if it may replace another one. A file
server keeps the locks of a lost machine for a while; by default, those for NFS do so for 90."""


class RunError(DiscotagError):
    """A run folder that cannot be used."""


@contextmanager
def locked_folder(out: Path) -> Iterator[None]:
    """Keep other processes from using the folder of a run; its parents are made.

    If the run is refused before it trains, what it has made is removed: files, folder and parents.

    Raises:
        RunError: The folder cannot be made.
        JobError: Another process uses it.
    """
    patience = LEASE if is_launched() else 0
    with _parents_of(out), locked(out, patience=patience), _removed_if_refused(out):
        yield


@contextmanager
def _parents_of(out: Path) -> Iterator[None]:
    """Make the parents of a folder, and remove those that were made and are empty on an error."""
    made: list[Path] = []
    try:
        try:
            for each in (out, *out.parents):
                if each.exists() and not each.is_dir():
                    raise RunError(f"{each}: is not a folder; give another one with --out")
            made = [each for each in out.parents if not each.exists()]
            out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{out}: cannot be written to: {error.strerror}") from None
        yield
    except DiscotagError:
        for each in made:
            with suppress(OSError):  # not empty, or another process has removed it
                each.rmdir()
        raise


@contextmanager
def _removed_if_refused(out: Path) -> Iterator[None]:
    """Remove what a run has made in its folder if it raises `InputError` or `RunError`.

    What existed before is kept. Everything is kept if the run has begun to train, or if there are
    files of others.
    """
    existed = out.is_dir()
    before = _names_in(out)
    try:
        yield
    except (InputError, RunError):
        new = _names_in(out) - before
        if new <= MADE_BEFORE_TRAINING and not _has_checkpoint(out):
            _remove(out, new, folder_too=not existed)
        raise


def _names_in(folder: Path) -> set[str]:
    """Return the names of what is in a folder, which may not exist."""
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def _has_checkpoint(out: Path) -> bool:
    """Return whether a run has written a part of a checkpoint; before that, nothing is lost."""
    return any((out / CHECKPOINTS).glob("*/*"))


def _remove(out: Path, names: Collection[str], *, folder_too: bool) -> None:
    """Remove files and folders from a run folder, and the run folder too if it is then empty."""
    with suppress(OSError):  # the error that the run was refused with is more important
        for name in names:
            path = out / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        if folder_too:
            out.rmdir()


def check_apart(out: Path, sources: Sources) -> None:
    """Raise `RunError` if the run folder is in a folder that is read, or contains what is read.

    Its files would be read as a part of the corpus, or replace it.
    """
    folder = out.resolve()
    for path in (sources.train, sources.dev, sources.test, *sources.unlabelled):
        if path is None:
            continue
        if path.resolve() in folder.parents:
            raise RunError(f"{out}: is in {path}, which is read; give another folder with --out")
        if folder in (path.resolve(), *path.resolve().parents):
            raise RunError(f"{out}: contains {path}, which is read; give another folder with --out")


def claim(out: Path, settings: Settings, digests: Mapping[str, Sequence[str]]) -> None:
    """Make the folder of a run, or check that the same run was begun in it.

    Args:
        out: The folder.
        settings: The settings of the run.
        digests: The hashes of its data.

    Raises:
        RunError: The folder contains a finished run, another run or other files, or cannot be
            written to.
    """
    if (out / FIGURES).exists():
        raise RunError(f"{out}: contains a finished run; give another folder with --out")
    if _has_checkpoint(out) and (out / SOURCES).exists():
        check_same_run(out, settings, digests)
    elif not _is_free(out):
        raise RunError(
            f"{out}: contains files that are not of a run; give another folder with --out"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump(settings.to_dict(), sort_keys=False, allow_unicode=True)
        write_json(digests, out / SOURCES)  # first: settings without it are those of a user
        write_text(text, out / SETTINGS)
    except OSError as error:
        raise RunError(f"{out}: cannot be written to: {error.strerror}") from None


def _is_free(out: Path) -> bool:
    """Return whether a folder has no files but those of a run that was begun."""
    names = _names_in(out)
    if SOURCES not in names:
        return names <= {f"{SOURCES}{PART}"}
    if not names <= MADE_BEFORE_TRAINING:
        return False
    try:
        known = read_json(out / SOURCES)
    except (OSError, ValueError):
        return False
    return isinstance(known, dict) and {"train", "dev"} <= known.keys()


def check_same_run(out: Path, settings: Settings, digests: Mapping[str, Sequence[str]]) -> None:
    """Raise `RunError` if a run was begun with other settings or other data."""
    before = yaml.safe_load((out / SETTINGS).read_text(encoding="utf-8"))
    now = settings.to_dict()
    other = [name for name in now if before.get(name) != now[name]]
    if other:
        changes = ", ".join(f"{name} was {before.get(name)!r}" for name in other)
        raise RunError(
            f"{out}: contains a run with other settings ({changes}); give the same settings, or "
            "another folder with --out"
        )
    known = read_json(out / SOURCES)
    changed = [name for name in digests if known.get(name) != list(digests[name])]
    if changed:
        raise RunError(
            f"{out}: contains a run with other data ({', '.join(changed)}); give the same data, or "
            "another folder with --out"
        )


def check_room(out: Path, weights: int, seeds: int) -> None:
    """Raise `RunError` if the disk is too small for a run.

    Args:
        out: The folder of the run.
        weights: The number of weights of the network.
        seeds: The number of seeds.
    """
    times = 2 * WEIGHTS_IN_CHECKPOINT + seeds  # two checkpoints at a time, a model per seed
    needed = times * BYTES_OF_WEIGHT * weights
    used = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    free = shutil.disk_usage(out).free + used
    if free < needed:
        raise RunError(
            f"{out}: the run needs {needed / 1e9:.1f} GB of disk space, but only {free / 1e9:.1f} "
            "GB are free"
        )
