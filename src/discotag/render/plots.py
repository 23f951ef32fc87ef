"""Small plots of numbers between 0 and 1, as SVG for pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Final

from discotag.render.html import safe

SIZE: Final = 240
LEFT, BOTTOM, TOP, RIGHT = 46, 42, 10, 12
TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
LARGEST: Final = 9.0
"""The radius of the largest dot."""

PLOT_STYLE: Final = """
.plots{display:flex;flex-wrap:wrap;gap:1rem 2rem}
figure{margin:1rem 0}figcaption{color:var(--soft);max-width:20rem}
.plot{display:block;max-width:100%;height:auto}
.plot text{fill:var(--soft);font:12px system-ui,sans-serif}
.plot .grid{stroke:var(--line)}.plot .even{stroke:var(--edge);stroke-dasharray:4 4}
.plot .curve{fill:none;stroke:var(--c0);stroke-width:2}
.plot circle{fill:var(--c0);fill-opacity:.75;stroke:var(--card)}
"""

Place = tuple[float, float]


def plot(
    title: str,
    across: str,
    up: str,
    *,
    curve: Sequence[Place] = (),
    dots: Iterable[tuple[float, float, int]] = (),
    diagonal: bool = False,
) -> str:
    """Return a plot in which both axes go from 0 to 1.

    Args:
        title: What it shows, for screen readers.
        across: The name of the axis from left to right.
        up: The name of the other axis.
        curve: Points to join by a line.
        dots: Points with a number that decides their size.
        diagonal: Whether to draw the line on which both axes are equal.
    """
    dots = list(dots)
    width, height = LEFT + SIZE + RIGHT, TOP + SIZE + BOTTOM
    parts = [
        f'<svg class="plot" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{safe(title)}">'
    ]
    for tick in TICKS:
        x, y = _place(tick, tick)
        parts += [
            f'<line class="grid" x1="{x}" y1="{TOP}" x2="{x}" y2="{TOP + SIZE}"/>',
            f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{LEFT + SIZE}" y2="{y}"/>',
            f'<text x="{x}" y="{TOP + SIZE + 16}" text-anchor="middle">{tick:g}</text>',
            f'<text x="{LEFT - 7}" y="{y + 4}" text-anchor="end">{tick:g}</text>',
        ]
    middle = TOP + SIZE / 2
    parts += [
        f'<text x="{LEFT + SIZE / 2}" y="{height - 7}" text-anchor="middle">{safe(across)}</text>',
        f'<text x="11" y="{middle}" text-anchor="middle" transform="rotate(-90 11 {middle})">'
        f"{safe(up)}</text>",
    ]
    if diagonal:
        (x1, y1), (x2, y2) = _place(0, 0), _place(1, 1)
        parts.append(f'<line class="even" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')
    if curve:
        line = " ".join(f"{x},{y}" for x, y in (_place(*point) for point in curve))
        parts.append(f'<polyline class="curve" points="{line}"/>')
    most = max((number for _, _, number in dots), default=1)
    for across_at, up_at, number in dots:
        x, y = _place(across_at, up_at)
        radius = max(2.0, LARGEST * sqrt(number / most))
        parts.append(f'<circle cx="{x}" cy="{y}" r="{radius:.1f}"/>')
    return "".join([*parts, "</svg>"])


def _place(across: float, up: float) -> Place:
    return round(LEFT + SIZE * across, 1), round(TOP + SIZE * (1 - up), 1)
