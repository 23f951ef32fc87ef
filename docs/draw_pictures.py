"""Draw the pictures of the guides: `python docs/draw_pictures.py` writes them to docs/pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from discotag import Mention, Scheme, Sentence
from discotag.render import draw_layers_svg, draw_svg

FOLDER = Path(__file__).parent / "pictures"


def pictures() -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each picture."""
    words = ["pain", "in", "arms", "and", "shoulders"]
    scored = [
        Mention("ADR", [(0, 3)], score=0.99),
        Mention("ADR", [(0, 2), (4, 5)], score=0.93),
    ]
    yield "example.svg", draw_svg(Sentence(words, scored), width=420)
    yield "one-and-two.svg", tagged(words, [[(0, 3)], [(0, 2), (4, 5)]])
    yield (
        "two-and-two.svg",
        tagged(
            ["swollen", "and", "stiff", "knees", "and", "elbows"],
            [[(0, 1), (3, 4)], [(0, 1), (5, 6)], [(2, 4)], [(2, 3), (5, 6)]],
        ),
    )
    yield (
        "gap-mention.svg",
        tagged(
            ["Cramps", "and", "some", "nausea", "in", "my", "calves"],
            [[(0, 1), (4, 7)], [(2, 4)]],
            gaps=True,
        ),
    )


def tagged(
    words: Sequence[str], mentions: Sequence[Sequence[tuple[int, int]]], *, gaps: bool = False
) -> str:
    """Return a picture of the mention sets, slots and tags of a sentence."""
    scheme = Scheme(("ADR",), gap_mentions=gaps)
    layers = scheme.layers(len(words), [Mention("ADR", each) for each in mentions])
    return draw_layers_svg(words, layers, scheme.write(layers), width=420)


if __name__ == "__main__":
    for name, content in pictures():
        (FOLDER / name).write_text(content, encoding="utf-8")
