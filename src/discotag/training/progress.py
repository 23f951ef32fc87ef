"""The progress of a training, as a listener is told about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the training with one seed is.

    A listener gets one when the training begins or is continued, one after each step, and one after
    each epoch.

    Attributes:
        seed: The seed.
        steps: The number of steps of the training.
        step: The number of steps that are done.
        epoch: The number of epochs that are done.
        loss: None when the training begins; after an epoch, its mean loss; otherwise the loss of a
            recent step.
        figures: After an epoch, the figures on the development data by slice, as in `figures.json`;
            otherwise None.
    """

    seed: int
    steps: int
    step: int
    epoch: int
    loss: float | None = None
    figures: Mapping[str, Mapping[str, float]] | None = None


Listener = Callable[[Progress], None]
"""A function that is told about the progress of a training."""


def ignore(progress: Progress) -> None:
    """Do nothing: the listener of trainings that nobody watches."""
