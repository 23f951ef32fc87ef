"""The colours of pages and pictures, in light and dark.

The tests compute the contrast of every pair that is used: text has at least 4.5 to 1, as level AA
of the Web Content Accessibility Guidelines asks.
"""

from __future__ import annotations

from typing import Final

COLOURS: Final = 6
"""The number of colours of mentions, `c0` to `c5`; further ones reuse them."""

LIGHT: Final = {
    "back": "#fbfaf8",
    "card": "#ffffff",
    "ink": "#22242a",
    "soft": "#5c606a",
    "line": "#e4e1da",
    "edge": "#83868f",
    "mark": "#3b5bdb",
    "bad": "#b42318",
    "hit": "#ffe58f",
    "c0": "#1f5fcf",
    "c1": "#c2410c",
    "c2": "#237a35",
    "c3": "#9130aa",
    "c4": "#8a6100",
    "c5": "#0a7280",
}
DARK: Final = {
    "back": "#16181d",
    "card": "#1e2128",
    "ink": "#e6e6e3",
    "soft": "#a4aab6",
    "line": "#31353f",
    "edge": "#7d828e",
    "mark": "#91a7ff",
    "bad": "#ff8f80",
    "hit": "#5c4a00",
    "c0": "#74a9ff",
    "c1": "#ff9f68",
    "c2": "#69db7c",
    "c3": "#da77f2",
    "c4": "#e8c547",
    "c5": "#4fd1de",
}


def variables(selector: str, *, dark: str = "") -> str:
    """Return a style sheet that defines the colours as variables such as `--ink`.

    Paper is always light.

    Args:
        selector: The elements that get the variables.
        dark: A selector of elements that are dark whatever the system's setting is, such as those
            of a notebook with a dark theme.
    """

    def block(colours: dict[str, str]) -> str:
        return "".join(f"--{name}:{colour};" for name, colour in colours.items())

    forced = f"{dark}{{{block(DARK)}}}\n" if dark else ""
    return (
        f"{selector}{{color-scheme:light dark;{block(LIGHT)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{{selector}{{{block(DARK)}}}}}\n{forced}"
    )


CLASSES: Final = "".join(f".c{number}{{--c:var(--c{number})}}" for number in range(COLOURS))
"""The classes of mentions, each of which sets the variable `--c`."""
