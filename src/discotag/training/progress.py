"""Progress of a training: a bar on a terminal, otherwise a line for each epoch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic
from typing import Any, Final, Protocol

BETWEEN_LOSSES: Final = 0.5
"""Seconds between two looks at the loss: each makes a GPU wait."""


class Listener(Protocol):
    """An object that is told about the progress of a training."""

    def begin(self, name: str, steps: int, done: int) -> None:
        """Begin a training of `steps` steps, of which some are done."""

    def step(self, loss: Callable[[], float]) -> None:
        """Note that a step is done; `loss` returns its loss."""

    def epoch(self, number: int, loss: float, f1: float) -> None:
        """Note that an epoch is done, with its mean loss and development F1."""

    def end(self) -> None:
        """Note that the training is done."""


class Silent:
    """Shows nothing."""

    def begin(self, name: str, steps: int, done: int) -> None:
        """Do nothing."""

    def step(self, loss: Callable[[], float]) -> None:
        """Do nothing."""

    def epoch(self, number: int, loss: float, f1: float) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


class Lines(Silent):
    """Prints a line on stderr for each epoch."""

    def begin(self, name: str, steps: int, done: int) -> None:
        """Print the name and the number of steps."""
        self.name = name
        after = f", continuing after step {done}" if done else ""
        print(f"{name}: {steps} steps{after}", file=sys.stderr, flush=True)

    def epoch(self, number: int, loss: float, f1: float) -> None:
        """Print the figures of the epoch."""
        line = f"{self.name}: epoch {number}: loss {loss:.4f}, development F1 {100 * f1:.2f}"
        print(line, file=sys.stderr, flush=True)


class Bar:
    """Shows a bar on a terminal, with loss and development F1."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("loss {task.fields[loss]:.3f}  F1 {task.fields[f1]:.2f}"),
            console=Console(stderr=True),
        )
        self.task: Any = None
        self.asked = 0.0

    def begin(self, name: str, steps: int, done: int) -> None:
        """Show the bar."""
        self.progress.start()
        self.task = self.progress.add_task(name, total=steps, completed=done, loss=0.0, f1=0.0)

    def step(self, loss: Callable[[], float]) -> None:
        """Advance the bar."""
        now = monotonic()
        if now - self.asked >= BETWEEN_LOSSES:
            self.asked = now
            self.progress.update(self.task, advance=1, loss=loss())
        else:
            self.progress.update(self.task, advance=1)

    def epoch(self, number: int, loss: float, f1: float) -> None:
        """Show the figures of the epoch."""
        self.progress.update(self.task, loss=loss, f1=100 * f1)

    def end(self) -> None:
        """Stop updating the bar."""
        self.progress.stop()


def listener() -> Listener:
    """Return a bar if stderr is a terminal, otherwise lines."""
    return Bar() if sys.stderr.isatty() else Lines()
