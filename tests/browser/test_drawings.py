"""Pictures, notebook cells and the page of a corpus check in a real browser."""

from itertools import combinations

import pytest

from any_pictures import random_sentence
from discotag import Document, Mention, Sentence
from discotag.corpora import write
from discotag.corpora.checks import check
from discotag.render import draw_html, draw_svg
from discotag.render.corpus_page import corpus_page
from discotag.render.html import json_block
from discotag.render.html_drawing import (
    DRAWING_SCRIPT,
    DRAWING_STYLE,
    draw_sentence,
    drawing_data,
)

HEAD = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">'


def test_texts_of_pictures_do_not_overlap_in_any_font(visit, tmp_path):
    pictures = "".join(draw_svg(random_sentence(seed), width=360) for seed in range(100))
    font = "<style>.discotag-picture{font-family:monospace!important}</style>"
    path = tmp_path / "pictures.html"
    path.write_text(HEAD + font + pictures, encoding="utf-8")
    page = visit(path)
    found = page.evaluate(
        """[...document.querySelectorAll("svg")].map(picture =>
          [...picture.querySelectorAll("text")].map(text => {
            const box = text.getBoundingClientRect(), y = text.getAttribute("y");
            return [Number(y), box.left, box.right];
          }))"""
    )
    assert sum(map(len, found)) > 1000
    for picture in found:
        for (y, left, right), (other_y, other_left, other_right) in combinations(picture, 2):
            assert y != other_y or right <= other_left + 1 or other_right <= left + 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_is_light_or_dark(visit, tmp_path, scheme):
    path = tmp_path / "picture.svg"
    path.write_text(draw_svg(Sentence(["sore"], [Mention("ADR", [(0, 1)])])), encoding="utf-8")
    page = visit(path, scheme=scheme)
    fill = page.evaluate("getComputedStyle(document.querySelector('.card')).fill")
    assert fill == {"light": "rgb(255, 255, 255)", "dark": "rgb(30, 33, 40)"}[scheme]


def test_a_drawing_follows_the_theme_of_the_notebook(visit, tmp_path):
    drawing = draw_html(Sentence(["sore"], [Mention("ADR", [(0, 1)])]))
    path = tmp_path / "notebook.html"
    colours = []
    for attribute in ('data-jp-theme-light="true"', 'data-jp-theme-light="false"'):
        path.write_text(f"{HEAD}<body {attribute}>{drawing}", encoding="utf-8")
        page = visit(path)
        colours.append(
            page.evaluate("getComputedStyle(document.querySelector('.discotag')).backgroundColor")
        )
    assert colours == ["rgb(255, 255, 255)", "rgb(30, 33, 40)"]


@pytest.mark.parametrize("device", ["phone", "desktop"])
def test_the_page_of_a_check(visit, tmp_path, device):
    three = Mention("ADR", [(0, 1), (2, 3), (4, 5)])
    sentences = [
        Sentence(["pain", "in", "arms", "and", f"legs{n}"], [three, Mention("ADR", [(1, 2)])])
        for n in range(5)
    ]
    corpus, path = tmp_path / "corpus.jsonl", tmp_path / "check.html"
    write([Document(sentences)], corpus)
    path.write_text(corpus_page(check(corpus)), encoding="utf-8")
    page = visit(path, device=device)
    widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]
    assert page.locator("text=too_many_slots").first.bounding_box()["height"] < 40  # not broken
    assert page.locator("fieldset output").inner_text() == "15 of 15"
    page.locator("[type=search]").fill("and legs3")
    assert page.locator("fieldset output").inner_text() == "3 of 15"
    page.locator("[type=search]").blur()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.tagName") == "ARTICLE"


MIXED = ["He", "wrote", "כאב", "ראש", "2", "ימים", "and", "went", "home", "."]
BACKWARD = ["כאב", "ראש", "(", "severe", "headache", ")", "אתמול"]


@pytest.mark.parametrize("words", [MIXED, BACKWARD])
def test_words_of_mixed_scripts_are_in_the_order_of_plain_text(visit, tmp_path, words):
    sentence = Sentence(words, [Mention("ADR", [(2, 4)])])
    drawn, data = draw_sentence(sentence), json_block(drawing_data(sentence, ["ADR"]))
    plain = "".join(f"<span>{word}</span> " for word in words)
    script = f'{DRAWING_SCRIPT}document.getElementById("by-script").append(drawWords(unpacked('
    script += 'JSON.parse(document.querySelector("script").textContent))));'
    path = tmp_path / "mixed.html"
    path.write_text(
        f"{HEAD}<style>{DRAWING_STYLE}</style>{data}<p dir=auto id=plain>{plain}</p>"
        f"<div class=discotag id=by-python>{drawn}</div><div class=discotag id=by-script></div>"
        f"<script>{script}</script>",
        encoding="utf-8",
    )
    page = visit(path)

    def order(selector):
        lefts = page.eval_on_selector_all(
            selector, "all => all.map(each => each.getBoundingClientRect().left)"
        )
        return sorted(range(len(words)), key=lefts.__getitem__)

    assert order("#by-python .word") == order("#plain span") == order("#by-script .word")
