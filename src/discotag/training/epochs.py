"""The results of epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any, Final

DISCONTINUOUS_SHARE: Final = 0.1
"""The weight of the F1 of discontinuous mentions in the choice of an epoch and a seed. About one
mention in ten is discontinuous where there are any."""


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
    def combined_f1(self) -> float:
        """What the epoch to keep is chosen by."""
        return combined_f1(self.dev)

    @property
    def standard_error(self) -> float:
        """The standard error of the combined F1, as if F1 were a share of the gold mentions."""
        whole, part = self.dev["all"], self.dev["discontinuous"]
        return sqrt(_variance(whole) + DISCONTINUOUS_SHARE**2 * _variance(part))

    def to_dict(self) -> dict[str, Any]:
        """Return the epoch as plain data."""
        return asdict(self)


def combined_f1(figures: Mapping[str, Mapping[str, float]]) -> float:
    """Return the F1 of all mentions plus a share of that of discontinuous ones.

    Discontinuous mentions are too few to change the F1 of all mentions, which varies from epoch to
    epoch by more.
    """
    return figures["all"]["f1"] + DISCONTINUOUS_SHARE * figures["discontinuous"]["f1"]


def _variance(figures: Mapping[str, float]) -> float:
    return figures["f1"] * (1 - figures["f1"]) / max(1.0, figures["gold"])


def best_of(epochs: Sequence[Epoch], tolerance: float) -> Epoch:
    """Return the epoch to keep: the last that is not clearly worse than the best one.

    Differences between late epochs are mostly chance where development data is small, and the
    learning rate falls to the end, so later epochs are preferred.

    Args:
        epochs: The epochs, in order.
        tolerance: An epoch is clearly worse if its combined F1 is lower than the highest one by
            more than this many standard errors. With 0, the epoch with the highest one is
            returned; of equal ones, the last.
    """
    highest = max(epochs, key=lambda epoch: epoch.combined_f1)
    least = highest.combined_f1 - tolerance * highest.standard_error
    return next(epoch for epoch in reversed(epochs) if epoch.combined_f1 >= least)
