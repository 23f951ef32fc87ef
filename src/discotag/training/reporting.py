"""Logs of a training in TensorBoard, and wherever else `report_to` says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from discotag.errors import InputError
from discotag.training.processes import is_first
from discotag.training.progress import Listener, Progress
from discotag.training.settings import Settings

PROJECT: Final = "discotag"


@contextmanager
def reporting(settings: Settings, logs: Path | None) -> Iterator[Listener]:
    """Report the losses and figures of epochs while the context lasts, as a listener.

    Args:
        settings: The settings, which name places to report to.
        logs: The folder of TensorBoard's log, if it is installed; None: there is none.

    Raises:
        InputError: A place to report to is unknown or not installed.
    """
    reports: list[Listener] = []
    with ExitStack() as opened:
        if logs is not None and is_first() and find_spec("tensorboard"):
            from torch.utils.tensorboard import SummaryWriter

            writer = opened.enter_context(SummaryWriter(logs))

            def write(now: Progress) -> None:
                for name, value in _values(now).items():
                    writer.add_scalar(name, value, now.step)

            reports.append(write)
        if settings.report_to:
            accelerator = _accelerator(settings, logs)
            opened.callback(accelerator.end_training)
            reports.append(lambda now: accelerator.log(_values(now), now.step))

        def report(now: Progress) -> None:
            for each in reports if now.figures is not None else ():
                each(now)

        yield report


def _accelerator(settings: Settings, logs: Path | None) -> Any:
    from accelerate import Accelerator
    from accelerate.tracking import get_available_trackers

    known = [str(each) for each in get_available_trackers()]
    for name in settings.report_to:
        if name not in known:
            others = f"use one of {', '.join(known)}" if known else "install it, or leave it out"
            raise InputError(f"report_to: {name} is unknown or not installed; {others}")
    accelerator = Accelerator(log_with=list(settings.report_to), project_dir=logs)
    accelerator.init_trackers(PROJECT, {k: str(v) for k, v in settings.to_dict().items()})
    return accelerator


def _values(now: Progress) -> dict[str, float]:
    """Return the loss and the figures of an epoch by name."""
    figures = now.figures or {}
    return {"train/loss": now.loss or 0.0} | {
        f"eval/{part}_{name}": value
        for part, values in figures.items()
        for name, value in values.items()
    }
