"""What a training shows while it runs: a bar in a terminal, else a line an epoch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic
from typing import Any, Final, Protocol

BETWEEN_LOSSES: Final = 0.5
"""Seconds: asking a GPU for the loss makes it wait, so the bar asks seldom."""


class Listener(Protocol):
    """Is told how far a training is."""

    def begin(self, name: str, steps: int, done: int) -> None:
        """A training of so many steps begins, some of which are done."""

    def step(self, loss: Callable[[], float]) -> None:
        """A step is done; its loss can be asked for."""

    def epoch(self, number: int, loss: float, f1: float) -> None:
        """An epoch is done, with this mean loss and development F1."""

    def end(self) -> None:
        """The training is done."""


class Silent:
    """Shows nothing."""

    def begin(self, name: str, steps: int, done: int) -> None:
        """Nothing."""

    def step(self, loss: Callable[[], float]) -> None:
        """Nothing."""

    def epoch(self, number: int, loss: float, f1: float) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


class Lines(Silent):
    """A line on stderr for each epoch."""

    def begin(self, name: str, steps: int, done: int) -> None:
        """Say what begins."""
        self.name = name
        after = f", going on after step {done}" if done else ""
        print(f"{name}: {steps} steps{after}", file=sys.stderr, flush=True)

    def epoch(self, number: int, loss: float, f1: float) -> None:
        """Say what came out."""
        line = f"{self.name}: epoch {number}: loss {loss:.4f}, development F1 {100 * f1:.2f}"
        print(line, file=sys.stderr, flush=True)


class Bar:
    """A bar on a terminal with loss and development F1."""

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
        """Show a bar."""
        self.progress.start()
        self.task = self.progress.add_task(name, total=steps, completed=done, loss=0.0, f1=0.0)

    def step(self, loss: Callable[[], float]) -> None:
        """Move the bar on."""
        now = monotonic()
        if now - self.asked >= BETWEEN_LOSSES:
            self.asked = now
            self.progress.update(self.task, advance=1, loss=loss())
        else:
            self.progress.update(self.task, advance=1)

    def epoch(self, number: int, loss: float, f1: float) -> None:
        """Show the figures."""
        self.progress.update(self.task, loss=loss, f1=100 * f1)

    def end(self) -> None:
        """Leave the bar as it is."""
        self.progress.stop()


def listener() -> Listener:
    """A bar where stderr is a terminal, else lines."""
    return Bar() if sys.stderr.isatty() else Lines()
