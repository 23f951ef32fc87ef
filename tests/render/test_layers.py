"""The two layers as HTML and SVG: slots above the words, tags below."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from contrasts import contrast, mixed
from discotag import Mention, Scheme
from discotag.errors import InputError
from discotag.render import draw_layers_html, draw_layers_svg
from discotag.render.colours import DARK, LIGHT
from discotag.render.html_drawing import DRAWING_STYLE
from discotag.render.html_layers import SHADES
from discotag.render.layers import column_lines, columns
from page_parser import Page

SCHEME = Scheme(("ADR",))
WORDS = "I had pain in arms and shoulders".split()
LAYERS = SCHEME.layers(7, [Mention("ADR", [(2, 5)]), Mention("ADR", [(2, 4), (6, 7)])])
TAGS = SCHEME.write(LAYERS)
SVG = "{http://www.w3.org/2000/svg}"


def test_columns():
    found = columns(WORDS, LAYERS, TAGS)
    assert [each.sign for each in found] == ["", "", "x", "·", "y", "", "y"]
    assert [each.label for each in found] == [None, None, *["ADR"] * 5]
    assert [each.opens for each in found].index(True) == 2
    assert [each.closes for each in found].index(True) == 6
    assert list(column_lines(found, measure=len, width=20)) == [(0, 4), (4, 7)]


def test_html():
    page = Page(draw_layers_html(WORDS, LAYERS, TAGS))
    assert [each["aria-hidden"] for each in page.all("p")] == ["true"]
    assert len(page.all("td")) == 3 * len(WORDS)  # the table for screen readers
    assert [each["class"] for each in page.all("i") if "roof" in each["class"]] == [
        "roof", "roof", "roof set open", *["roof set"] * 3, "roof set close",
    ]  # fmt: skip
    assert "roof" not in draw_layers_html(["a"], SCHEME.layers(1, []), ["O"]).split("</style>")[1]


def test_marginals_are_shown_as_numbers_and_shades():
    marginals = [[0.0] * len(SCHEME.tags) for _ in WORDS]
    for row, tag in zip(marginals, TAGS, strict=True):
        row[SCHEME.tags.index(tag)] = 0.75
        row[SCHEME.tags.index("CB")] += 0.25
    drawn = draw_layers_html(WORDS, LAYERS, TAGS, marginals=marginals, tagset=SCHEME.tags)
    shown = re.findall(r'<i class="sure p(\d)" title="([^"]*)">([^<]*)</i>', drawn)
    assert shown[0] == ("4", "O 75%, CB 25%, CI 0%", "75%")
    assert len(shown) == len(WORDS)
    assert len(Page(drawn).all("td")) == 4 * len(WORDS)
    with pytest.raises(InputError, match="marginals need 7 rows, one for each word, of 9 numbers"):
        draw_layers_html(WORDS, LAYERS, TAGS, marginals=marginals[1:], tagset=SCHEME.tags)


def test_shades_leave_text_readable():
    shares = [int(share) / 100 for share in re.findall(r"var\(--mark\) (\d+)%", DRAWING_STYLE)]
    assert len(shares) == SHADES
    for colours in (LIGHT, DARK):
        for share in shares:
            shade = mixed(colours["mark"], colours["card"], share)
            assert contrast(colours["ink"], shade) >= 4.5


@pytest.mark.parametrize("width", [120, 300, 900])
def test_svg(width):
    root = ElementTree.fromstring(draw_layers_svg(WORDS, LAYERS, TAGS, width=width))
    assert root.find(f"{SVG}title").text == " ".join(WORDS)
    assert root.find(f"{SVG}desc").text.startswith("Tags: I O, had O, pain DB-Bx")
    placed = []
    for text in root.iter(f"{SVG}text"):
        middle, size = float(text.get("x")), float(text.get("textLength"))
        placed.append((text.get("y"), middle - size / 2, middle + size / 2))
    assert len(placed) >= 2 * len(WORDS) + 4
    for (y, left, right), (other, other_left, other_right) in combinations(placed, 2):
        assert y != other or right <= other_left or other_right <= left
    assert len(list(root.iter(f"{SVG}path"))) == {120: 4, 300: 2, 900: 1}[width]


def test_text_is_escaped():
    hostile = "<script>"
    scheme = Scheme((hostile,))
    layers = scheme.layers(3, [Mention(hostile, [(0, 1), (2, 3)])])
    words = [hostile, "b", "c"]
    assert Page(draw_layers_html(words, layers, scheme.write(layers))).all("script") == []
    picture = draw_layers_svg(words, layers, scheme.write(layers))
    assert list(ElementTree.fromstring(picture).iter(f"{SVG}script")) == []


def test_a_sentence_without_words():
    layers = SCHEME.layers(0, [])
    assert "<td>" not in draw_layers_html([], layers, [])
    ElementTree.fromstring(draw_layers_svg([], layers, []))
