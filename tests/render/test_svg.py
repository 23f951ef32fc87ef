"""Pictures as SVG: complete, escaped, and with texts that cannot leave their boxes."""

from itertools import combinations
from xml.etree import ElementTree

import pytest

from any_pictures import random_sentence
from discotag import Document, Mention, Sentence
from discotag.render import draw_svg
from discotag.render.svg import MARGIN, SIZE, measure

SVG = "{http://www.w3.org/2000/svg}"
WORDS = "pain in arms and legs".split()
MENTIONS = [Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)], score=0.93)]


def texts(picture):
    """Return each text with its left and right end and its height."""
    for text in ElementTree.fromstring(picture).iter(f"{SVG}text"):
        middle, width = float(text.get("x")), float(text.get("textLength"))
        yield text.text, middle - width / 2, middle + width / 2, float(text.get("y"))


def test_a_picture_is_one_file_with_a_title_and_a_description():
    picture = draw_svg(Sentence(WORDS, MENTIONS))
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "pain in arms and legs"
    assert root.find(f"{SVG}desc").text == "Mentions: ADR 93%: pain in … legs; ADR: pain in arms"
    assert "prefers-color-scheme:dark" in root.find(f"{SVG}style").text
    assert "url(" not in picture
    assert "href" not in picture
    assert len(list(root.iter(f"{SVG}line"))) == 1  # the gap
    assert [name for name, *_ in texts(picture)] == [*WORDS, "ADR", "ADR 93%"]


def test_text_and_labels_are_escaped():
    hostile = '<script>alert("1")</script>'
    picture = draw_svg(Document([Sentence([hostile], [Mention(hostile, [(0, 1)])])], id=hostile))
    root = ElementTree.fromstring(picture)
    assert list(root.iter(f"{SVG}script")) == []
    assert [name for name, *_ in texts(picture)] == [hostile, hostile]


def test_texts_of_random_sentences_do_not_overlap_and_stay_inside():
    for seed in range(500):
        picture = draw_svg(random_sentence(seed), width=300)
        width = float(ElementTree.fromstring(picture).get("width"))
        placed = list(texts(picture))
        for text, left, right, _ in placed:
            assert MARGIN - 0.1 <= left <= right <= width - MARGIN + 0.1, text
        for (_, left, right, y), (_, other_left, other_right, other_y) in combinations(placed, 2):
            assert y != other_y or right <= other_left + 0.1 or other_right <= left + 0.1


def test_a_document_without_words_is_an_empty_picture():
    for item in (Document([]), Sentence([])):
        root = ElementTree.fromstring(draw_svg(item))
        assert root.find(f"{SVG}desc").text == "No mentions."
        assert list(root.iter(f"{SVG}text")) == []


def test_right_to_left_sentences_begin_at_the_right():
    first, last = texts(draw_svg(Sentence(["ألم", "شديد"])))
    assert first[1] > last[2]
    first, last = texts(draw_svg(Sentence(["1", "pain"])))
    assert first[2] < last[1]


def test_labels_give_the_colours_of_several_pictures():
    picture = draw_svg(Sentence(WORDS, MENTIONS), labels=["Drug", "ADR"])
    assert picture.count('<g class="c1">') == 2


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("iii", 0.666),
        ("é", 0.556),
        ("漢", 1),
        ("👨‍👩‍👧", 1),
        ("👍🏽", 1),
        ("e\u0301", 0.556),
    ],
)
def test_widths(text, width):
    assert measure(text) == pytest.approx(width * SIZE)
