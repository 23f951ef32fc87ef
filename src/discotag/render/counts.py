"""Counts as text, for the terminal and for HTML pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from discotag.corpora.checks.analysis import Analysis

LAST_BAR: Final = 6
"""The largest number with a bar of its own; larger ones share a bar."""


def histogram(counts: Mapping[int, int]) -> str:
    """Return a histogram as one line of text.

    Example:
        >>> histogram({1: 20, 2: 3, 9: 1})
        '1: 20 · 2: 3 · 7 to 9: 1'
    """
    bars = [f"{key}: {counts[key]:,}" for key in sorted(counts) if key <= LAST_BAR]
    rest = {key: number for key, number in counts.items() if key > LAST_BAR}
    if rest:
        bars.append(f"{LAST_BAR + 1} to {max(rest)}: {sum(rest.values()):,}")
    return " · ".join(bars) or "–"


def shapes(analysis: Analysis) -> list[tuple[str, str]]:
    """Return histograms of fragments, gaps, groups and overlaps, each with a title."""
    overlaps = (f"{kind} {number:,}" for kind, number in analysis.overlaps.most_common())
    return [
        ("mentions by their fragments", histogram(analysis.fragments)),
        ("gaps by their words", histogram(analysis.gap_lengths)),
        ("groups that share words, by their mentions", histogram(analysis.mentions_per_group)),
        ("pairs that share words", " · ".join(overlaps) or "–"),
    ]
