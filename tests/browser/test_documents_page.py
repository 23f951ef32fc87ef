"""The page of `discotag predict --out found.html` in a real browser, and by keyboard alone."""

from itertools import pairwise

import pytest

from any_pictures import random_sentence
from discotag import Document, Mention, Sentence
from discotag.render.documents_page import PAGE_DOCUMENTS, write_page

EVERYWHERE = [(device, scheme) for device in ("phone", "desktop") for scheme in ("light", "dark")]
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def documents():
    """Return 60 documents; every third has a Drug, every second an ADR of growing score."""
    for number in range(60):
        words = (
            f"post {number} : the pain I was experiencing around the hipjoints , aspirin".split()
        )
        mentions = []
        if number % 2:
            mentions.append(Mention("ADR", [(4, 5), (10, 11)], score=number / 60))
        if number % 3 == 0:
            mentions.append(Mention("Drug", [(12, 13)], score=0.95))
        sentence = Sentence(words, mentions)
        yield Document([sentence], id=HOSTILE if number == 2 else f"id-{number}")


def written(path, given, labels=("ADR", "Drug")):
    with path.open("w", encoding="utf-8") as stream:
        write_page(given, stream, title="Mentions in posts", about="", labels=labels)
    return path


@pytest.fixture(scope="module")
def posts(tmp_path_factory):
    return written(tmp_path_factory.mktemp("page") / "found.html", documents())


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A page of odd words and random mention sets."""
    labels = sorted({m.label for n in range(200) for m in random_sentence(n).mentions})
    given = [Document([random_sentence(n) for n in range(8 * k, 8 * k + 8)]) for k in range(25)]
    return written(tmp_path_factory.mktemp("page") / "odd.html", given, labels)


def names(page):
    return page.locator("article h2").all_inner_texts()


def counts(page):
    return page.locator("#counts").inner_text()


@pytest.mark.parametrize(("device", "scheme"), EVERYWHERE)
def test_nothing_is_wider_than_the_screen(visit, posts, odd, device, scheme):
    for path in (posts, odd):
        page = visit(path, device=device, scheme=scheme)
        widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1]
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(251, 250, 248)", "dark": "rgb(22, 24, 29)"}[scheme]


@pytest.mark.parametrize("device", ["phone", "desktop"])
def test_bars_are_in_rows_and_do_not_overlap(visit, odd, device):
    page = visit(odd, device=device)
    rows = page.evaluate(
        """[...document.querySelectorAll(".words")].map(words => {
          const found = [];
          for (const word of words.querySelectorAll(".word")) {
            const top = Math.round(word.getBoundingClientRect().top);
            [...word.querySelectorAll("i")].forEach((bar, lane) => {
              const box = bar.getBoundingClientRect();
              if (bar.className) found.push([top, lane, box.top, box.left, box.right,
                bar.scrollWidth > Math.ceil(box.width)]);
            });
          }
          return found;
        })"""
    )
    drawn = 0
    for sentence in rows:
        places = {}
        for top, lane, y, left, right, overflows in sentence:
            places.setdefault((top, lane), []).append((left, right, y))
            assert not overflows  # the number fits into its bar
        for boxes in places.values():
            boxes.sort()
            drawn += len(boxes)
            for (_, right, y), (left, _, other) in pairwise(boxes):
                assert right <= left + 0.5
                assert y == pytest.approx(other, abs=0.5)  # whatever fonts the words need
    assert drawn > 1000


def test_the_script_draws_as_python_does(visit, odd, posts):
    for path in (odd, posts):
        page = visit(path)
        same = page.evaluate(
            """text => {
              const given = new DOMParser().parseFromString(text, "text/html");
              const drawn = document.querySelectorAll("article");
              given.normalize();
              document.normalize();
              return [...given.querySelectorAll("article")].map((each, number) =>
                each.isEqualNode(drawn[number]));
            }""",
            path.read_text(),
        )
        assert same == [True] * PAGE_DOCUMENTS


def test_without_javascript_the_first_documents_are_a_plain_list(visit, posts):
    page = visit(posts, java_script_enabled=False)
    assert len(names(page)) == PAGE_DOCUMENTS
    assert "35 more need JavaScript" in page.locator("#note").inner_text()
    assert not page.locator("#filter").is_visible()
    assert "Without JavaScript" in page.locator("header").inner_text()


def test_pages(visit, posts):
    page = visit(posts, device="phone")
    assert page.locator("#note").count() == 0
    assert names(page)[:3] == ["id-0", "id-1", HOSTILE]
    assert page.locator("#previous").is_disabled()
    page.locator("#next").click()
    page.locator("#next").click()
    assert names(page) == [f"id-{n}" for n in range(50, 60)]
    assert page.locator("#place").inner_text() == "Page 3 of 3"
    assert page.locator("#next").is_disabled()


def test_search_and_filters(visit, posts):
    page = visit(posts)
    assert counts(page) == "60 of 60 documents, 50 of 50 mentions"
    page.locator("#search").fill("POST 17 : the")
    page.locator("text=1 of 60 documents").wait_for()
    assert names(page) == ["id-17"]
    assert page.locator("mark").all_inner_texts() == ["post", "17", ":", "the"]
    page.locator("#search").fill("adr pain hipjoints")  # a mention by its label and words
    page.locator("text=30 of 60 documents").wait_for()
    page.locator("#search").fill("<img src=x")
    page.locator("text=1 of 60 documents").wait_for()
    page.locator("#search").fill("")
    page.locator("text=60 of 60 documents").wait_for()
    page.locator("#only").check()
    assert counts(page) == "40 of 60 documents, 50 of 50 mentions"
    page.locator("#label").select_option("Drug")
    assert counts(page) == "20 of 60 documents, 20 of 50 mentions"
    assert {each.split()[1] for each in page.locator("li:visible").all_inner_texts()} == {"Drug"}
    page.locator("#search").fill("nowhere")
    page.locator("text=No document matches").wait_for()
    assert counts(page) == "0 of 60 documents, 0 of 50 mentions"


def test_the_slider_hides_mentions_and_their_bars(visit, posts):
    page = visit(posts)
    low = page.locator("article", has=page.locator("h2", has_text="id-3"))
    assert low.locator("li:visible").count() == 2
    page.locator("#least").focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert page.locator("#shown-score").inner_text() == "6%"
    assert (
        low.locator("li:visible").all_inner_texts() == ["2\nDrug aspirin 95%"]
        or low.locator("li:visible").count() == 1
    )
    assert low.locator(".bar:visible").count() == 1
    assert counts(page) == "60 of 60 documents, 48 of 50 mentions"
    page.keyboard.press("End")
    assert counts(page) == "60 of 60 documents, 0 of 50 mentions"
    assert page.locator("li:visible").count() == 0
    page.keyboard.press("Home")
    assert counts(page) == "60 of 60 documents, 50 of 50 mentions"


@pytest.mark.parametrize("device", ["phone", "desktop"])
def test_by_keyboard_alone(visit, posts, device):
    page = visit(posts, device=device)

    def focused():
        return page.evaluate("document.activeElement.querySelector('h2')?.textContent")

    for _ in range(3):
        page.keyboard.press("j")
    assert focused() == HOSTILE
    top = page.evaluate("document.activeElement.getBoundingClientRect().top")
    cover = page.evaluate("document.querySelector('#filter').getBoundingClientRect().bottom")
    assert cover <= top < 844 / 2 or device == "phone"
    page.keyboard.press("k")
    assert focused() == "id-1"
    for _ in range(PAGE_DOCUMENTS):
        page.keyboard.press("j")
    assert focused() == "id-26"
    assert page.locator("#place").inner_text() == "Page 2 of 3"
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert focused() == "id-24"
    page.keyboard.press("/")
    page.keyboard.type("post 5")
    page.keyboard.press("Enter")
    assert counts(page).startswith("11 of 60")
    assert focused() == "id-5"
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    assert counts(page).startswith("60 of 60")


def test_fields_are_reached_by_tab_and_show_it(visit, posts):
    page = visit(posts)
    for name in ("search", "least", "label", "only", "next"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == name
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_what_screen_readers_get(visit, posts):
    page = visit(posts)
    first = page.locator("article", has=page.locator("h2", has_text="id-3")).aria_snapshot()
    assert 'heading "id-3"' in first
    assert "listitem: 1 ADR pain … hipjoints 5%" in first
    assert "the pain I was experiencing" in " ".join(first.split())
    fields = page.locator("#filter").aria_snapshot()
    assert 'searchbox "Search documents"' in fields
    assert 'slider "Score at least' in fields


def test_print(visit, posts):
    page = visit(posts, scheme="dark")
    page.emulate_media(media="print")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == "rgb(251, 250, 248)"  # light
    assert not page.locator("#filter").is_visible()
    assert not page.locator("#pages").is_visible()
    assert page.locator("article").first.is_visible()


def test_no_scores_and_one_label_need_no_fields_for_them(visit, tmp_path):
    sentence = Sentence(["sore"], [Mention("ADR", [(0, 1)])])
    page = visit(written(tmp_path / "one.html", [Document([sentence])], ["ADR"]))
    assert not page.locator("#score").is_visible()
    assert not page.locator("#labels").is_visible()
    assert counts(page) == "1 of 1 documents, 1 of 1 mentions"
