"""The page to try a model, in a real browser, with the real server and the bundled model."""

import csv
import io
import json
import os
import re
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from contrasts import contrast
from discotag.model.files import BUNDLED
from services import TOKEN, serving

SHARED = "I had pain in arms and shoulders."
GAP = "The pain I was experiencing around the hipjoints was incredible."
EMOJI = "Day 3 😩😭 and I had pain in arms and shoulders."
VARIED = "My mouth was dry. My hands and feet tingle. I sleep badly, my head hurts."
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script> I had pain in my arms."
DEVICES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 800}}
MILLISECONDS = 10_000
"""The longest wait for something in a page."""
PICTURES = os.environ.get("DISCOTAG_PICTURES")
"""The folder for new pictures of the documentation, `docs/pictures`; by default, none are kept."""


@pytest.fixture(scope="module")
def server(browser, tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running.url


@pytest.fixture
def opened(browser, server):
    """Return a function that opens the page; at the end, fail if something was wrong in it.

    Anything on the console is wrong, such as an error or a violation of the page's policy, and so
    is a request to anywhere else.
    """
    contexts, wrong = [], []

    def open_page(
        *, at=None, device="desktop", scheme="light", expected=(), typed=None, fragment="", **more
    ):
        at = at or server
        context = browser.new_context(
            viewport=DEVICES[device], color_scheme=scheme, reduced_motion="reduce", **more
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(MILLISECONDS)

        def check(message):
            if not any(each in message for each in expected):
                wrong.append(message)

        page.on("console", lambda message: check(message.text))
        page.on("pageerror", lambda error: check(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((f"{at}/", "data:image", "blob:"))
                else wrong.append(request.url)
            ),
        )
        page.goto(f"{at}/{fragment}")
        if typed is not None:
            write(page, typed)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def write(page, text):
    """Replace the text, and wait until it is drawn."""
    page.locator("#text").fill(text)
    drawn(page)


def drawn(page):
    """Wait until what is drawn belongs to the text."""
    page.locator("body:not(.waiting)").wait_for()


def mentions(page):
    """Return the mentions of the table that are visible."""
    return page.locator("#table tbody tr:visible bdi").all_inner_texts()


def message(page, contains):
    """Wait for a message, and return it."""
    shown = page.locator("#message", has_text=contains)
    shown.wait_for()
    return page.locator("#message-text").inner_text()


def saved(page, start):
    """Return the name and the content of the file that a click or key downloads."""
    with page.expect_download(timeout=MILLISECONDS) as waiting:
        start()
    return waiting.value.suggested_filename, waiting.value.path().read_bytes()


def download(page, name):
    return saved(page, page.get_by_role("button", name=f"Download {name}").click)


def scores(page):
    """Return the scores of the mentions shown, which the table rounds."""
    (document,) = json.loads(download(page, "JSON")[1])["documents"]
    return [each["score"] for each in document["mentions"]]


def table(content):
    """Return the rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def held(page):
    """Keep back the calls for mentions, and return them as they come."""
    routes = []
    page.route("**/api/predict", lambda route: routes.append(route))
    return routes


@contextmanager
def unchanged_while(page, script):
    """Check that a condition holds at every change of the drawing."""
    page.evaluate(
        f"""() => {{
          window.broken = 0;
          new MutationObserver(() => {{ if (!({script})) window.broken += 1; }}).observe(
            document.getElementById("drawing"), {{childList: true, subtree: true}});
        }}"""
    )
    yield
    assert page.evaluate("window.broken") == 0


def test_a_first_visit_shows_an_example(opened):
    page = opened()
    drawn(page)
    assert page.locator("#text").input_value() == SHARED
    assert mentions(page) == ["pain in … shoulders", "pain in arms"]
    assert page.locator("#count").inner_text() == "2 mentions"
    assert page.locator("#drawing .bar").count() == 6
    page.locator("#finds", has_text="finds adverse drug reactions (ADR)").wait_for()
    assert page.locator("#only-model").inner_text() == "bundled"
    assert "goes to this server only" in page.locator("#privacy").inner_text()


def test_mentions_are_drawn_while_typing(opened):
    page = opened(typed=GAP)
    assert mentions(page) == ["pain … hipjoints"]
    assert page.locator("#drawing .gap").count() == 5
    calls = []
    page.on("request", lambda request: calls.append(request.url))
    with unchanged_while(page, "document.querySelector('#drawing .word')"):
        page.locator("#text").press("End")
        page.locator("#text").press_sequentially(" My head hurt.", delay=15)
        page.locator("#table", has_text="head hurt").wait_for()
        drawn(page)
    assert mentions(page) == ["pain … hipjoints", "head hurt"]
    assert len(calls) <= 5  # not one for each key
    page.locator("#text").fill("  ")
    page.locator("#nothing", has_text="as you type").wait_for()
    assert not page.locator("#shown").is_visible()
    write(page, "The weather is fine.")
    assert page.locator("#nothing").inner_text() == (
        "No mentions were found. This model finds adverse drug reactions (ADR)."
    )


def test_examples(opened):
    page = opened()
    names = page.locator("#examples button").all_inner_texts()
    assert len(names) >= 6
    for name in names:
        page.get_by_role("button", name=name).click()
        drawn(page)
        assert len(mentions(page)) >= 1, name
        assert page.locator("#examples [aria-pressed=true]").all_inner_texts() == [name]
    page.locator("#text").press("x")  # the text of an example is there to be replaced
    assert page.locator("#text").input_value() == "x"
    assert page.locator("#examples [aria-pressed=true]").count() == 0


def test_a_sentence_from_right_to_left_is_in_order_of_reading(opened):
    page = opened(typed="كتبت المريضة: swollen hands and feet. توقفت.")
    lefts = page.evaluate(
        """[...document.querySelectorAll("#drawing .word")].map(word =>
          [word.innerText.trim(), word.getBoundingClientRect().left])"""
    )
    places = dict(lefts)
    assert places["swollen"] < places["hands"] < places["feet"] < places["كتبت"]
    assert places["المريضة"] < places["كتبت"]


def test_the_slider_hides_mentions_without_a_call(opened):
    page = opened(typed=VARIED)
    found = scores(page)
    calls = []
    page.on("request", lambda request: calls.append(request.url))
    least = int(100 * max(found))
    kept = [score for score in found if score >= least / 100]
    assert 0 < len(kept) < len(found)
    page.locator("#least").press("End")
    for _ in range(100 - least):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#least-shown").inner_text() == f"{least}%"
    assert page.locator("#count").inner_text() == f"{len(kept)} of {len(found)} mentions"
    assert len(mentions(page)) == len(kept)
    assert page.locator("#drawing .first:visible:not(.low)").count() >= len(kept)
    assert page.locator("#drawing .low:visible").count() == 0
    _, content = download(page, "JSON")
    assert len(json.loads(content)["documents"][0]["mentions"]) == len(kept)
    assert calls == []
    page.locator("#least").press("End")
    page.locator("#nothing", has_text="lower score").wait_for()
    assert mentions(page) == []
    page.locator("#least").press("Home")
    assert len(mentions(page)) == len(found)


def test_alternatives(opened):
    page = opened(typed=f"I took it at night. {SHARED}")
    page.locator("#alternatives").check()
    page.locator(".readings", has_text="no mention").wait_for()  # it is drawn in several steps
    assert page.locator(".readings").count() == 2
    assert "no mention" in page.locator(".readings").first.inner_text()
    first = page.locator(".readings").nth(1)
    shares = first.locator(".figure").all_inner_texts()
    assert len(shares) == 5
    values = [float(share.strip("<>%")) for share in shares]
    assert values == sorted(values, reverse=True)
    best = first.locator("li").first
    assert best.locator("bdi").all_inner_texts() == ["pain in … shoulders", "pain in arms"]
    assert best.locator(".number").all_inner_texts() == ["1", "2"]
    assert first.locator(".other .number").first.inner_text() == "+"
    assert page.locator("#about-readings").is_visible()
    page.locator("#alternatives").uncheck()
    page.locator(".readings").first.wait_for(state="detached")


def test_tags(opened):
    page = opened(typed=SHARED)
    assert page.locator("#drawing .tag").count() == 0
    calls = []
    page.on("request", lambda request: calls.append(request.url))
    page.locator("#tags").check()
    tags = page.locator("#drawing .tag").all_inner_texts()
    assert tags == ["O", "O", "DB-Bx", "DI-Ix", "DI-By", "DI-O", "DI-By", "O"]
    word, tag = page.evaluate(
        """[...document.querySelectorAll("#drawing .word")].slice(2, 3).flatMap(cell =>
          [cell.querySelector("b"), cell.querySelector(".tag")].map(each =>
            each.getBoundingClientRect().toJSON()))"""
    )
    assert tag["top"] >= word["bottom"] - 1  # underneath
    legend = page.locator("#legend").inner_text()
    for explained in ("x, y, z are the slots", "DI-O", "in a gap", "“pain in” fills x"):
        assert explained in legend
    assert 'listitem: "pain: DB-Bx"' in page.locator("#drawing").aria_snapshot()
    page.locator("#tags").uncheck()
    assert page.locator("#drawing .tag").count() == 0
    assert not page.locator("#legend").is_visible()
    assert calls == []


def test_a_mention_can_be_pointed_out(opened):
    page = opened(typed=SHARED)
    row = page.get_by_role("button", name="pain in … shoulders")
    row.click()
    assert row.get_attribute("aria-pressed") == "true"
    assert page.locator("#drawing i.pointed.bar").count() == 3
    assert page.locator("#drawing i.pointed.gap").count() == 2
    faded = page.locator("#drawing i.bar:not(.pointed)").first
    assert float(faded.evaluate("bar => getComputedStyle(bar).opacity")) < 0.5
    page.keyboard.press("Escape")
    assert page.locator("#drawing i.pointed").count() == 0


def test_downloads(opened):
    page = opened(typed=EMOJI)
    name, content = download(page, "JSON")
    assert name == "mentions.json"
    found = json.loads(content)
    assert found["model"] == "bundled"
    (document,) = found["documents"]
    assert set(document) == {"text", "mentions", "sentences"}
    assert document["text"] == EMOJI
    spans = [[EMOJI[start:end] for start, end in each["spans"]] for each in document["mentions"]]
    assert spans == [["pain in", "shoulders"], ["pain in arms"]]

    name, content = download(page, "CSV")
    assert name == "mentions.csv"
    assert [(row["label"], row["text"], json.loads(row["spans"])) for row in table(content)] == [
        (each["label"], each["text"], each["spans"]) for each in document["mentions"]
    ]

    name, content = download(page, "brat")
    assert name == "mentions.zip"
    with ZipFile(io.BytesIO(content)) as archive:
        texts = {each: archive.read(each).decode() for each in archive.namelist()}
    (text,) = [value for key, value in texts.items() if key.endswith(".txt")]
    (marks,) = [value for key, value in texts.items() if key.endswith(".ann")]
    lines = [line.split("\t") for line in marks.splitlines() if line.startswith("T")]
    fragments = [
        [text[slice(*map(int, each.split()))] for each in place.partition(" ")[2].split(";")]
        for _, place, _ in lines
    ]
    assert sorted(fragments) == [["pain in", "shoulders"], ["pain in arms"]]
    page.locator("#done", has_text="Saved as mentions.zip").wait_for()


def test_downloads_have_what_is_shown(opened, server):
    page = opened(typed=VARIED)
    page.locator("#tags").check()
    page.locator("#alternatives").check()
    page.locator(".readings").first.wait_for()
    found = mentions(page)
    least = int(100 * max(scores(page)))
    page.locator("#least").fill(str(least))
    kept = [each.replace(" … ", " ") for each in mentions(page)]
    assert 0 < len(kept) < len(found)
    counted = "the mention" if len(kept) == 1 else f"the {len(kept)} mentions"
    assert counted in page.locator("#exports-note").inner_text()
    (document,) = json.loads(download(page, "JSON")[1])["documents"]
    assert [each["text"] for each in document["mentions"]] == kept
    assert [len(each) for each in document["alternatives"]] == [5, 5, 5]
    asked = {"text": VARIED, "min_score": least / 100, "tags": True}
    answer = httpx.post(f"{server}/api/predict", json=asked, timeout=60).json()
    assert document["tags"] == answer["documents"][0]["tags"]
    assert [row["text"] for row in table(download(page, "CSV")[1])] == kept


def test_copy(opened):
    page = opened(typed=SHARED, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy JSON").click()
    page.locator("#done", has_text="Copied").wait_for()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["documents"][0]["mentions"][1]["text"] == "pain in arms"


def test_by_keyboard_alone(opened):
    page = opened()
    drawn(page)
    keys = page.keyboard

    def tab_to(name):
        """Press Tab until an element has the focus; each on the way must show that it has."""
        for _ in range(40):
            keys.press("Tab")
            at, visible = page.evaluate(
                """(() => {
                  const at = document.activeElement, style = getComputedStyle(at);
                  const editor = at.closest(".editor");
                  return [at.id || at.innerText, style.outlineStyle !== "none" ||
                    (editor !== null && getComputedStyle(editor).boxShadow !== "none")];
                })()"""
            )
            assert visible, at
            if at == name:
                return
        raise AssertionError(name)

    tab_to("text")
    keys.type(GAP)
    page.locator("#count", has_text="1 mention").wait_for()
    drawn(page)
    assert page.locator("#text").input_value() == GAP  # no shortcut takes letters from the text
    keys.press("Escape")
    assert page.evaluate("document.activeElement.id") == "found"
    keys.press("t")
    page.locator("#drawing .tag").first.wait_for()
    keys.press("a")
    page.locator(".readings").first.wait_for()
    keys.press("j")
    assert page.evaluate("document.activeElement.textContent") == "1pain … hipjointsgap"
    keys.press("?")
    assert page.locator("#shortcuts").is_visible()
    keys.press("Escape")
    assert not page.locator("#shortcuts").is_visible()
    name, content = saved(page, lambda: keys.press("d"))
    assert (name, "alternatives" in json.loads(content)["documents"][0]) == ("mentions.json", True)
    tab_to("Download CSV")
    name, content = saved(page, lambda: keys.press("Enter"))
    assert name == "mentions.csv"
    assert b"hipjoints" in content
    keys.press("/")
    keys.press("ControlOrMeta+a")
    keys.type("My head hurt.")
    page.locator("#table", has_text="head hurt").wait_for()


def test_what_screen_readers_get(opened):
    page = opened(typed=SHARED)
    text = page.locator(".source").aria_snapshot()
    assert 'textbox "Text"' in text
    assert 'button "Clear"' in text
    results = page.locator(".results").aria_snapshot()
    for part in (
        "status: 2 mentions",
        'slider "Score at least"',
        'switch "Alternatives"',
        'switch "Tags"',
        'table "Mentions"',
    ):
        assert part in results
    assert re.search(r'row "1 pain in … shoulders ADR 6–13, 23–32 [\d.]+%"', results)
    assert "I had pain in arms and shoulders" in " ".join(results.split())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_screen(opened, scheme):
    page = opened(device="phone", scheme=scheme, has_touch=True)
    page.get_by_role("button", name="Longer report").tap()
    drawn(page)
    assert overflow(page) == 0
    page.locator("#tags").tap()
    page.locator("#alternatives").tap()
    page.locator(".readings").first.wait_for()
    assert overflow(page) == 0
    write(page, f"{'pneumonoultramicroscopic' * 20} {SHARED}")
    assert overflow(page) == 0
    small = page.evaluate(
        """[...document.querySelectorAll("button, select, .switch, a:not(.skip)")]
          .filter(each => each.checkVisibility() && each.getBoundingClientRect().height < 24)
          .map(each => each.outerHTML)"""
    )
    assert small == []
    page.get_by_role("button", name="Download brat").tap(trial=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(opened, scheme):
    page = opened(scheme=scheme, typed=GAP)
    page.locator("#tags").check()
    pairs = page.evaluate(
        """(() => {
          const solid = at => {
            for (; at; at = at.parentElement) {
              const colour = getComputedStyle(at).backgroundColor;
              if (!colour.endsWith(", 0)") && colour !== "transparent") return colour;
            }
            return "rgb(255, 255, 255)";
          };
          const names = ["#text", "#privacy", "#count", "#drawing b", ".tag", ".figure", "h1", "dd",
            ".name p", "#examples button", "#table .number", "#table bdi", "nav a", "code"];
          return names.map(name => {
            const at = document.querySelector(name);
            return [name, getComputedStyle(at).color, solid(at)];
          });
        })()"""
    )
    for name, *colours in pairs:
        ink, ground = (
            "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", colour)[:3])
            for colour in colours
        )
        assert contrast(ink, ground) >= 4.5, (name, ink, ground)
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == {"light": "rgb(251, 250, 248)", "dark": "rgb(22, 24, 29)"}[scheme]


def test_the_text_survives_a_reload_in_this_tab_only(opened):
    page = opened(typed=GAP)
    page.reload()
    drawn(page)
    assert page.locator("#text").input_value() == GAP
    assert mentions(page) == ["pain … hipjoints"]
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    page.get_by_role("button", name="Clear").click()
    page.reload()
    assert page.locator("#text").input_value() == ""


def test_text_that_is_too_long_is_not_cut(opened):
    page = opened(typed=SHARED, expected=["413"])
    long = "pain " * 40_001
    page.locator("#text").fill(long)
    assert message(page, "200,000") == (
        "A text may have up to 200,000 characters, got 200,005. Please shorten the text."
    )
    assert page.locator("#text").input_value() == long
    assert page.locator("#length").inner_text() == "200,005 characters"
    write(page, GAP)
    assert not page.locator("#message").is_visible()
    assert mentions(page) == ["pain … hipjoints"]


def test_half_a_character_is_no_obstacle(opened):
    page = opened()
    drawn(page)
    page.evaluate(
        """() => {
          const text = document.getElementById("text");
          text.value = "\\ud83d My head hurt.";
          text.dispatchEvent(new Event("input"));
        }"""
    )
    page.locator("#table", has_text="head hurt").wait_for()
    assert not page.locator("#message").is_visible()


def test_script_in_the_text_is_harmless(opened):
    page = opened(typed=HOSTILE)
    page.locator("#tags").check()
    page.locator("#alternatives").check()
    page.locator(".readings").first.wait_for()
    assert page.locator("#drawing img, #drawing script, #table img").count() == 0
    assert "<img src=x onerror=alert(1)></script>" in page.locator(
        "#drawing .words"
    ).first.inner_text().replace("\n", "").replace("O", "")
    _, content = download(page, "JSON")
    assert json.loads(content)["documents"][0]["text"] == HOSTILE


def test_answers_out_of_order_are_dropped(opened):
    page = opened(typed=GAP)
    waiting = held(page)
    page.locator("#text").fill("My head hurt.")
    page.locator("body.waiting").wait_for()
    page.wait_for_timeout(400)
    assert len(waiting) == 1
    # Meanwhile the older drawing stays, dimmed.
    assert mentions(page) == ["pain … hipjoints"]
    assert page.locator("#shown").evaluate("at => getComputedStyle(at).opacity") == "0.5"
    page.locator("#text").fill("My knee hurt.")
    page.wait_for_timeout(400)
    assert len(waiting) == 2
    waiting[1].continue_()
    page.locator("#table", has_text="knee hurt").wait_for()
    drawn(page)
    waiting[0].continue_()
    page.wait_for_timeout(300)
    assert mentions(page) == ["knee hurt"]
    page.locator("#text").fill("My toe hurt.")
    page.wait_for_timeout(400)
    page.locator("#text").fill("")
    waiting[2].continue_()
    page.wait_for_timeout(200)
    assert not page.locator("#shown").is_visible()


def test_after_an_answer_to_an_older_text_the_page_still_waits(opened):
    page = opened(typed=GAP)
    waiting = held(page)
    page.locator("#text").fill("My head hurt.")
    page.wait_for_timeout(400)
    (first,) = waiting
    page.evaluate("() => { window.setTimeout = later => { window.later = later; return 1; }; }")
    page.locator("#text").fill("My knee hurt.")  # its pause does not end
    first.continue_()
    page.locator("#table", has_text="head hurt").wait_for()
    assert page.locator("body.waiting").count() == 1
    page.unroute("**/api/predict")
    page.evaluate("() => window.later()")
    drawn(page)
    assert mentions(page) == ["knee hurt"]


def test_a_busy_server_is_asked_again(opened):
    page = opened(expected=["503"])
    drawn(page)
    tries = []

    def answer(route):
        tries.append(route)
        if len(tries) > 2:
            return route.continue_()
        error = {"error": {"code": "overloaded", "message": "too many requests at a time"}}
        return route.fulfill(status=503, json=error)

    page.route("**/api/predict", answer)
    page.locator("#text").fill(GAP)
    assert "tries again by itself" in message(page, "busy")
    drawn(page)
    assert len(tries) == 3
    assert mentions(page) == ["pain … hipjoints"]
    assert not page.locator("#message").is_visible()


def test_text_that_takes_too_long_is_not_sent_again_and_again(opened):
    page = opened(expected=["504"])
    drawn(page)
    tries = []

    def answer(route):
        tries.append(route)
        return route.fulfill(status=504, json={"error": {"code": "too_late", "message": "late"}})

    page.route("**/api/predict", answer)
    page.locator("#text").fill(GAP)
    assert "Shorten it" in message(page, "too long")
    page.wait_for_timeout(1_200)  # a busy server is asked again after 0.5 seconds
    assert len(tries) == 1
    page.unroute("**/api/predict")
    page.get_by_role("button", name="Try again").click()
    drawn(page)
    assert mentions(page) == ["pain … hipjoints"]


def test_single_keys_can_be_turned_off(opened):
    page = opened(typed=SHARED)
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    page.locator("#drawing .tag").first.wait_for()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    assert page.evaluate("document.activeElement.innerText") == "Close"
    page.get_by_role("switch", name="Use single keys").uncheck()
    page.keyboard.press("Escape")
    for _ in range(2):
        before = page.locator("#tags").is_checked()
        page.locator("#found").focus()
        page.keyboard.press("t")
        page.keyboard.press("?")
        assert page.locator("#tags").is_checked() == before
        assert not page.locator("#shortcuts").is_visible()
        page.reload()  # the choice is kept in this tab
        drawn(page)
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_role("switch", name="Use single keys").check()
    page.keyboard.press("Escape")
    page.locator("#found").focus()
    page.keyboard.press("?")
    assert page.locator("#shortcuts").is_visible()


@pytest.mark.parametrize(
    ("fragment", "token"),
    [
        ("a+b&c=d#e/f?g", "a+b&c=d#e/f?g"),
        ("100%-sure+", "100%-sure+"),
        ("a%2Bb%20c%25", "a+b c%"),
    ],
)
def test_tokens_in_addresses(opened, fragment, token):
    page = opened(fragment=f"#token={fragment}")
    drawn(page)
    assert page.evaluate('sessionStorage.getItem("discotag-token")') == token
    assert "token" not in page.url


def test_mentions_without_a_score_have_the_lowest(opened):
    """As in the API, whose `min_score` leaves them out."""
    page = opened()
    drawn(page)

    def answer(route):
        found = route.fetch().json()
        del found["documents"][0]["mentions"][0]["score"]
        route.fulfill(json=found)

    page.route("**/api/predict", answer)
    write(page, SHARED + " ")
    assert len(mentions(page)) == 2
    page.locator("#least").fill("1")
    assert len(mentions(page)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"body": "<html>hello</html>"},
        {"json": {"documents": []}},
        {"json": {"labels": ["ADR"], "documents": [{"text": GAP, "mentions": [], "drawings": 3}]}},
        {"status": 500, "body": "oops"},
    ],
)
def test_an_answer_that_cannot_be_read(opened, answer):
    page = opened(expected=["500"])
    drawn(page)
    page.route("**/api/predict", lambda route: route.fulfill(**answer))
    page.locator("#text").fill(GAP)
    assert "tell whoever runs the server" in message(page, "Try again")
    assert mentions(page) == ["pain in … shoulders", "pain in arms"]
    page.unroute("**/api/predict")
    page.get_by_role("button", name="Try again").click()
    drawn(page)
    assert mentions(page) == ["pain … hipjoints"]
    assert not page.locator("#message").is_visible()


def test_tokens_and_models(opened, tmp_path):
    other = tmp_path / "other"
    other.symlink_to(BUNDLED)
    with serving(tmp_path, "--model", "bundled", "--model", other, token=TOKEN) as guarded:
        page = opened(at=guarded.url, expected=["401"])
        field = page.get_by_label("Token", exact=True)
        field.fill("wrong")
        field.press("Enter")
        page.get_by_text("does not accept this token").wait_for()
        field.press("Escape")
        message(page, "needs a token")
        page.get_by_role("button", name="Enter the token").click()
        field.fill(TOKEN)
        page.get_by_role("button", name="Continue").click()
        drawn(page)
        assert mentions(page) == ["pain in … shoulders", "pain in arms"]
        assert not page.locator("#message").is_visible()
        page.locator("#finds", has_text="adverse drug reactions").wait_for()
        page.reload()  # the token is kept in this tab
        drawn(page)
        assert len(mentions(page)) == 2
        assert "mentions.csv" in download(page, "CSV")

        page = opened(at=guarded.url, fragment=f"#token={TOKEN}")
        drawn(page)
        assert page.url == f"{guarded.url}/"
        page.locator("#model").wait_for()
        assert page.locator("#model option").all_inner_texts() == ["bundled", "other"]
        with page.expect_request("**/api/predict") as asked:
            page.locator("#model").select_option("other")
        assert asked.value.post_data_json["model"] == "other"
        drawn(page)
        assert json.loads(download(page, "JSON")[1])["model"] == "other"


def test_a_server_that_stops_and_comes_back(opened, tmp_path):
    with serving(tmp_path) as first:
        page = opened(at=first.url, typed=GAP, expected=["ERR_"])
    page.locator("#text").fill("My head hurt.")
    assert "Your text is kept" in message(page, "does not answer")
    assert mentions(page) == ["pain … hipjoints"]
    page.locator("#text").press("End")
    page.locator("#text").press_sequentially(" My knee hurt.")
    with serving(tmp_path, "--port", first.address[1]):
        page.locator("#table", has_text="knee hurt").wait_for()
        assert page.locator("#text").input_value() == "My head hurt. My knee hurt."
        assert not page.locator("#message").is_visible()
        drawn(page)


@pytest.mark.parametrize(
    ("name", "device", "scheme", "example"),
    [
        ("try-light", "desktop", "light", "Longer report"),
        ("try-dark", "desktop", "dark", "Shared words"),
        ("try-phone", "phone", "light", "Shared words"),
    ],
)
def test_pictures_of_the_documentation(opened, tmp_path, name, device, scheme, example):
    page = opened(device=device, scheme=scheme)
    page.get_by_role("button", name=example).click()
    if scheme == "dark":
        page.locator("#tags").check()
        page.locator("#alternatives").check()
        page.locator(".readings").first.wait_for()
    drawn(page)
    page.mouse.move(0, 0)
    path = Path(PICTURES or tmp_path) / f"{name}.png"
    page.screenshot(path=path, full_page=device == "phone")
    assert path.stat().st_size < 150_000
