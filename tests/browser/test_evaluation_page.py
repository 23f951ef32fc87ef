"""The report of `discotag evaluate --report` in a real browser, and by keyboard alone."""

import pytest

from any_pictures import random_sentence
from discotag import Mention
from discotag.evaluation import Pair, Report, intervals
from discotag.render.evaluation_page import evaluation_page

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
EVERYWHERE = [(device, scheme) for device in ("phone", "desktop") for scheme in ("light", "dark")]


def predictions(number, mentions):
    """Return all mentions of every third sentence, half of another third, the rest without gaps."""
    for place, mention in enumerate(mentions):
        score = 0.3 + place % 7 / 10
        if number % 3 == 2:
            yield Mention(mention.label, [(mention.start, mention.end)], score=score)
        elif number % 3 == 0 or place % 2:
            yield mention.with_score(score)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The report of 60 random sentences."""
    found = Report("gold.jsonl", HOSTILE)
    for number in range(60):
        sentence = random_sentence(number)
        predicted = tuple(predictions(number, sentence.mentions))
        name = HOSTILE if number == 1 else f"id-{number}"
        found.add(Pair(number, name, 1, sentence.words, sentence.mentions, predicted))
    found.intervals = intervals(found.tallies)
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(evaluation_page(found), encoding="utf-8")
    return path


def shown(page):
    """Return the number of sentences that are shown, and what the page says about it."""
    return page.locator("article:visible").count(), page.locator("output").inner_text()


@pytest.mark.parametrize(("device", "scheme"), EVERYWHERE)
def test_nothing_is_wider_than_the_screen(visit, path, device, scheme):
    page = visit(path, device=device, scheme=scheme)
    widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]
    assert page.locator("figure svg").count() == 2
    for plot in page.locator("figure svg").all():
        assert 200 < plot.bounding_box()["width"] <= widths[1]


def test_a_hostile_name_is_text(visit, path):
    page = visit(path)
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator("img").count() == 0


def test_kinds_and_search_filter_the_sentences(visit, path):
    page = visit(path)
    number, said = shown(page)
    assert said == f"{number} of {number}"
    boxes = page.get_by_role("checkbox")
    for place in range(boxes.count()):
        boxes.nth(place).uncheck()
    assert shown(page) == (0, f"0 of {number}")
    kind = boxes.nth(0).get_attribute("value")
    boxes.nth(0).check()
    assert 0 < page.locator("article:visible").count() < number
    assert page.locator(f"article:visible[data-kind~='{kind}']").count() == shown(page)[0]
    for place in range(1, boxes.count()):
        boxes.nth(place).check()
    page.get_by_role("searchbox").fill("ID-7,")
    assert shown(page) == (1, f"1 of {number}")


def test_by_keyboard_alone(visit, path):
    page = visit(path)
    number = shown(page)[0]
    for _ in range(50):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "kind":
            break
    page.keyboard.press("Space")
    assert 1 < shown(page)[0] < number
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") != first
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.textContent") == first
    assert page.evaluate("document.activeElement.tagName") == "ARTICLE"


def test_without_scripts_the_sentences_are_there(visit, path):
    page = visit(path, java_script_enabled=False)
    assert page.locator("article:visible").count() > 20
    assert page.locator("fieldset").is_hidden()
