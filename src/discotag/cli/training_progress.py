"""Progress of `discotag train`: a bar on a terminal, otherwise a line for each epoch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

if TYPE_CHECKING:
    from rich.progress import TaskID

    from discotag.training.progress import Listener, Progress


@contextmanager
def shown_progress() -> Iterator[Listener]:
    """Show the progress of a training on standard error; what is yielded is its listener."""
    if not sys.stderr.isatty():
        yield _print_line
        return
    with Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("loss {task.fields[loss]:.3f}  F1 {task.fields[f1]:.2f}"),
        console=Console(stderr=True),
    ) as bar:
        tasks: dict[int, TaskID] = {}

        def show(now: Progress) -> None:
            if now.seed not in tasks:
                tasks[now.seed] = bar.add_task(
                    f"seed {now.seed}", total=now.steps, completed=now.step, loss=0.0, f1=0.0
                )
            task = tasks[now.seed]
            bar.update(task, completed=now.step)
            if now.loss is not None:
                bar.update(task, loss=now.loss)
            if now.figures is not None:
                bar.update(task, f1=100 * now.figures["all"]["f1"])

        yield show


def _print_line(now: Progress) -> None:
    """Print a line when a training begins, and one after each epoch."""
    if now.loss is None:
        after = f", continuing after step {now.step}" if now.step else ""
        line = f"{now.steps} steps{after}"
    elif now.figures is not None:
        f1 = 100 * now.figures["all"]["f1"]
        line = f"epoch {now.epoch}: loss {now.loss:.4f}, development F1 {f1:.2f}"
    else:
        return
    print(f"seed {now.seed}: {line}", file=sys.stderr, flush=True)
