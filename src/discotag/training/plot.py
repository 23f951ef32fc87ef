"""A plot of learning curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def plot_curves(curves: Mapping[int, Sequence[tuple[float, float]]], path: Path) -> None:
    """Draw loss and development F1 by epoch, a line for each seed.

    Args:
        curves: For each seed, the loss and F1 (0 to 1) of each epoch.
        path: The path without its ending; a PNG and an SVG file are written.
    """
    from matplotlib.figure import Figure  # not pyplot, which may need a display

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for seed, points in curves.items():
        epochs = range(1, len(points) + 1)
        left.plot(epochs, [loss for loss, _ in points], marker=".", label=f"seed {seed}")
        right.plot(epochs, [100 * f1 for _, f1 in points], marker=".", label=f"seed {seed}")
    left.set(xlabel="epoch", ylabel="training loss")
    right.set(xlabel="epoch", ylabel="development F1", ylim=(0, 100))
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.xaxis.get_major_locator().set_params(integer=True)
    right.legend(fontsize="small")
    for ending in ("png", "svg"):
        figure.savefig(path.with_suffix(f".{ending}"), dpi=150)
