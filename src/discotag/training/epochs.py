"""The results of epochs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any, Final

from discotag.evaluation import SLICES

DISCONTINUOUS_SHARE: Final = 0.1
"""The weight of the F1 of discontinuous mentions in the choice of an epoch and a seed. About one
mention in ten is discontinuous where there are any."""

FIGURES: Final = ("precision", "recall", "f1", "gold", "predicted", "correct")
"""The figures that are logged for each slice of the development data."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """The result of an epoch.

    Attributes:
        number: The number of the epoch, from 1.
        step: The number of steps done after it.
        loss: The mean training loss.
        dev: The figures on the development data, by slice.
    """

    number: int
    step: int
    loss: float
    dev: dict[str, dict[str, float]]

    @property
    def f1(self) -> float:
        """Development F1 of all mentions."""
        return self.dev["all"]["f1"]

    @property
    def merit(self) -> float:
        """What the epoch to keep is chosen by; see `merit_of`."""
        return merit_of(self.dev)

    @property
    def standard_error(self) -> float:
        """The standard error of the merit, as if each F1 were a share of the gold mentions."""
        whole, part = self.dev["all"], self.dev["discontinuous"]
        return sqrt(_variance(whole) + DISCONTINUOUS_SHARE**2 * _variance(part))

    def to_dict(self) -> dict[str, Any]:
        """Return the epoch as plain data."""
        return asdict(self)


def merit_of(figures: Mapping[str, Mapping[str, float]]) -> float:
    """Return the F1 of all mentions plus a share of that of discontinuous ones.

    Discontinuous mentions are too few to change the F1 of all mentions, which varies from epoch to
    epoch by more.
    """
    return figures["all"]["f1"] + DISCONTINUOUS_SHARE * figures["discontinuous"]["f1"]


def _variance(figures: Mapping[str, float]) -> float:
    return figures["f1"] * (1 - figures["f1"]) / max(1.0, figures["gold"])


def best_of(epochs: Sequence[Epoch], tolerance: float) -> Epoch:
    """Return the epoch to keep: the last that is not clearly worse than the one of highest merit.

    Differences between late epochs are mostly chance where development data is small, and the
    learning rate falls to the end, so later epochs are preferred.

    Args:
        epochs: The epochs, in order.
        tolerance: An epoch is clearly worse if its merit is lower than the highest one by more than
            this many standard errors. With 0, the epoch with the highest merit is returned; of
            equal ones, the last.
    """
    highest = max(epochs, key=lambda epoch: epoch.merit)
    least = highest.merit - tolerance * highest.standard_error
    return next(epoch for epoch in reversed(epochs) if epoch.merit >= least)


def as_metrics(figures: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return figures of development data as the trainer logs them."""
    return {
        f"eval_{part}_{name}": value
        for part, values in figures.items()
        for name, value in values.items()
    }


def read_epochs(log: Iterable[Mapping[str, Any]]) -> list[Epoch]:
    """Return the epochs in the log of a trainer: an entry with the loss, then one with figures."""
    losses: dict[int, float] = {}
    epochs = []
    for entry in log:
        if "loss" in entry:
            losses[entry["step"]] = entry["loss"]
        elif "eval_all_f1" in entry:
            dev = {
                part: {name: entry[f"eval_{part}_{name}"] for name in FIGURES} for part in SLICES
            }
            epochs.append(Epoch(round(entry["epoch"]), entry["step"], losses[entry["step"]], dev))
    return epochs
