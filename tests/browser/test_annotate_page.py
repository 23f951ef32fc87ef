"""The annotator's page in a real browser, against a real server."""

import json
import re
from time import monotonic
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from annotating import Client, running
from discotag import Document, Mention, Sentence
from discotag.corpora import read, write

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}
SECONDS = 20
"""The most seconds to wait for anything."""
NASTY = "<img src=x onerror=document.title='hit'>"
LOST = re.compile(r"Failed to load resource: (net::ERR_|the server responded with a status of 409)")
"""What browsers say about a server that is away, and about refused actions."""

WORDS = "I had pain in arms , legs and my left knee today .".split()
REPORTS = {
    "mouse": [WORDS],
    "keys": [WORDS],
    "touch": [WORDS],
    "problem": [WORDS],
    "lost": [WORDS],
    "windows": [WORDS],
    "conflict": [WORDS],
    "same": [["Nothing", "new"]],
    "two": [WORDS, "It went away .".split()],
    "model": ["I had pain in arms and shoulders .".split()],
    "export": ["The pain I was experiencing around the hipjoints was incredible .".split()],
    f"{NASTY}.txt": [[NASTY, "hurts", '"><script>document.title="hit"</script>']],
    "drug": [["Stopped", "Lipitor"]],
    "undo": [WORDS],
    "broken": [WORDS],
    "again": [WORDS],
    "equal": [WORDS],
}
NUMBERS = {name: number for number, name in enumerate(REPORTS, 1)}


def write_corpus(path):
    """Write the reports; one has a mention already, so that there are two labels."""
    found = []
    for name, sentences in REPORTS.items():
        mentions = [Mention("Drug", [(1, 2)])] if name == "drug" else []
        found.append(Document([Sentence(words, mentions) for words in sentences], id=name))
    write(found, path)
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Serve the reports with the bundled model."""
    folder = tmp_path_factory.mktemp("annotate")
    with running(write_corpus(folder / "reports.jsonl")) as server:
        yield server.url


@pytest.fixture
def enter(browser):
    """Return a function that opens a document under a name; at the end, fail on any error."""
    contexts, wrong = [], []

    def opened(address, name, report=None, *, view="", lost=False, fails=None, **options):
        options = {"viewport": DESKTOP, "reduced_motion": "reduce", **options}
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(SECONDS * 1000)
        origin = address.partition("/#")[0]

        def heard(message):
            if not (lost and LOST.match(message.text)):
                wrong.append(f"{message.text} {message.location['url']}")

        page.on("console", heard)
        page.on("pageerror", lambda error: error.message == fails or wrong.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((origin, f"blob:{origin}", "data:"))
                else wrong.append(request.url)
            ),
        )
        page.goto(address if report is None else f"{address}/#{NUMBERS[report]}{view}")
        page.fill("#name", name)
        page.press("#name", "Enter")
        if not view:
            page.wait_for_selector(".sentence")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def client(server):
    """Return a client of the API."""
    with Client(base_url=server, timeout=SECONDS) as client:
        yield client


def finish(client, report, name, *wanted, done=True):
    """Give somebody a version with some mentions, and finish it unless told otherwise."""
    number = NUMBERS[report]
    client.enter(name)
    state = client.state(number, name)
    if state["finished"]:
        state = client.act(number, "reopen", name)
    there = [
        {"label": each["label"], "fragments": each["fragments"]}
        for each in state["sentences"][0]["mentions"]
    ]
    wanted = [
        {"label": label, "fragments": [list(each) for each in fragments]}
        for _, label, fragments in wanted
    ]
    for kind, mentions, others in (("remove", there, wanted), ("add", wanted, there)):
        for mention in mentions:
            if mention not in others:
                client.act(number, kind, name, sentence=0, mention=mention)
    if done:
        client.act(number, "finish", name)


def decided(client, report):
    """Return who decided, and the mentions that were decided on."""
    decision = client.ok("GET", f"/api/documents/{NUMBERS[report]}/versions")["decision"]
    return decision["by"], {
        (place, mention["label"], tuple(map(tuple, mention["fragments"])))
        for place, sentence in enumerate(decision["sentences"])
        for mention in sentence["mentions"]
    }


def held(address, report, name, status="accepted"):
    """Return the mentions of somebody's version, as the server has it."""
    query = f"{address}/api/documents/{NUMBERS[report]}?annotator={quote(name)}"
    with urlopen(query, timeout=SECONDS) as answer:
        state = json.load(answer)
    return {
        (place, mention["label"], tuple(map(tuple, mention["fragments"])))
        for place, sentence in enumerate(state["sentences"])
        for mention in sentence["mentions"]
        if mention["status"] == status
    }


def words(page, sentence=0):
    """Return the words of a sentence."""
    return page.locator("#work .sentence").nth(sentence).locator(".word")


def drag(page, first, last, sentence=0):
    """Drag the mouse from word to word."""
    words(page, sentence).nth(first).locator("b").hover()
    page.mouse.down()
    words(page, sentence).nth(last).locator("b").hover()
    page.mouse.up()


def saved(page):
    """Wait until the page says that everything is saved."""
    page.locator("#saved", has_text="All saved").wait_for()


def until(page, condition):
    """Wait until an expression is true; the page's policy forbids Playwright's own way to wait."""
    end = monotonic() + SECONDS
    while not page.evaluate(condition):
        assert monotonic() < end, condition
        page.wait_for_timeout(20)


def look(page):
    """Come back to a window, which then asks what others did."""
    page.evaluate("dispatchEvent(new Event('focus'))")


def fits(page):
    """Return whether the page is not wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


PAIN_LEGS = (0, "ADR", ((2, 4), (6, 7)))
PAIN_ARMS = (0, "ADR", ((2, 5),))
THREE = (0, "ADR", ((2, 3), (6, 7), (9, 11)))
PAIN = (0, "ADR", ((2, 3),))
KNEE = (0, "ADR", ((9, 11),))


def clear(page):
    """Remove all mentions, so that a test begins with none."""
    while page.locator(".chip").count():
        before = page.locator(".chip").count()
        page.locator(".chip .remove").first.click()
        until(page, f"document.querySelectorAll('.chip').length < {before}")
    saved(page)


def test_the_mouse_draws_mentions_of_several_fragments(server, enter):
    page = enter(server, "Ann", "mouse")
    clear(page)
    words(page).nth(2).click()
    words(page).nth(5).click()
    words(page).nth(5).click()  # takes it out again
    drag(page, 6, 6)
    words(page).nth(6).click()
    words(page).nth(6).click()
    drag(page, 10, 9)
    assert page.locator("#bar .quoted").inner_text() == "pain … legs … left knee"
    page.locator("#bar").get_by_text("Add ADR").click()
    page.locator(".chip").wait_for()
    saved(page)
    assert held(server, "mouse", "Ann") == {THREE}

    drag(page, 2, 3)  # shares a word with the first
    words(page).nth(6).click()
    page.locator("#bar").get_by_text("Add ADR").click()
    page.locator(".chip").nth(1).wait_for()
    saved(page)
    assert held(server, "mouse", "Ann") == {THREE, PAIN_LEGS}

    page.locator("[data-tool=undo]").click()
    until(page, "document.querySelectorAll('.chip').length === 1")
    saved(page)
    assert held(server, "mouse", "Ann") == {THREE}
    page.keyboard.press("Control+Shift+Z")
    page.locator(".chip").nth(1).wait_for()
    saved(page)
    assert held(server, "mouse", "Ann") == {THREE, PAIN_LEGS}


def test_keys_alone(server, enter):
    page = enter(server, "Ann", "keys")
    press = page.keyboard.press
    for _ in range(page.locator(".chip").count()):
        press("n")
        press("x")
        saved(page)
    page.locator(".chip").first.wait_for(state="detached")
    press("Home") if page.locator(".word:focus").count() else press("ArrowRight")
    press("Home")
    for _ in range(2):
        press("ArrowRight")
    press("Space")
    for _ in range(4):
        press("ArrowRight")
    press("Space")
    for _ in range(3):
        press("ArrowRight")
    press("Shift+ArrowRight")
    assert page.locator("#bar .quoted").inner_text() == "pain … legs … left knee"
    press("2")
    press("Enter")
    page.locator(".chip").wait_for()
    saved(page)
    assert held(server, "keys", "Ann") == {(0, "Drug", THREE[2])}

    press("Tab")
    assert page.locator(".chip.chosen").count() == 1
    press("1")  # changes the label
    page.locator(".chip", has_text="ADR").wait_for()
    saved(page)
    assert held(server, "keys", "Ann") == {THREE}
    assert page.locator(".chip-main:focus").count() == 1

    press("e")
    press("Space")  # takes the first word out
    press("ArrowRight")
    press("Space")
    press("Enter")
    page.locator(".chip", has_text="in … legs").wait_for()
    saved(page)
    assert held(server, "keys", "Ann") == {(0, "ADR", ((3, 4), (6, 7), (9, 11)))}
    press("u")
    page.locator(".chip", has_text="pain … legs").wait_for()
    press("Shift+U")
    page.locator(".chip", has_text="in … legs … left").wait_for()
    press("Control+z")
    page.locator(".chip", has_text="pain … legs").wait_for()
    press("n")
    press("Tab")
    press("?")
    page.locator("#keys[open]").wait_for()
    press("Escape")
    press("Shift+ArrowLeft")
    press("f")  # would lose the selection
    page.locator(".notice", has_text="Some words are selected").wait_for()
    press("Escape")
    assert page.locator("[aria-selected=true]").count() == 0
    press("f")
    until(page, f"location.hash !== '#{NUMBERS['keys']}'")
    saved(page)
    page.locator(f".document.mine-finished[data-number='{NUMBERS['keys']}']").wait_for()


def test_a_finger_taps_words_and_holds_for_ranges(server, enter):
    page = enter(server, "Ann", "touch", viewport=PHONE, has_touch=True, is_mobile=True)
    clear(page)
    for word in (2, 6, 9):
        words(page).nth(word).locator("b").tap()
    box = words(page).nth(10).locator("b").bounding_box()
    at = {"x": box["x"] + 8, "y": box["y"] + 8}
    remote = page.context.new_cdp_session(page)
    remote.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at]})
    page.locator("#bar .quoted", has_text="pain … legs … left knee").wait_for()
    remote.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.locator("#bar").get_by_text("Add ADR").tap()
    page.locator(".chip").wait_for()
    saved(page)
    assert held(server, "touch", "Ann") == {THREE}
    assert fits(page)
    page.locator(".chip .remove").tap()
    page.locator(".chip").wait_for(state="detached")
    page.locator("[data-tool=undo]").tap()
    page.locator(".chip").wait_for()
    page.locator("#show-list").tap()
    page.locator(f"[data-number='{NUMBERS['drug']}']").tap()
    page.locator("#document-name", has_text="drug").wait_for()
    assert fits(page)


def test_proposals_are_accepted_removed_and_changed(server, enter):
    page = enter(server, "Ann", "model")
    page.locator(".chip.proposed").nth(1).wait_for()
    assert page.locator(".chip.proposed .score").count() == 2
    assert page.locator(".bars .proposed").count() > 0
    assert held(server, "model", "Ann", "proposed") == {
        (0, "ADR", ((2, 5),)),
        (0, "ADR", ((2, 4), (6, 7))),
    }
    page.locator(".chip", has_text="pain in arms").locator(".accept").click()
    page.locator(".chip.proposed").nth(1).wait_for(state="detached")
    saved(page)
    assert held(server, "model", "Ann") == {(0, "ADR", ((2, 5),))}
    page.locator(".chip.proposed .chip-main").click()
    page.locator("#bar").get_by_text("Drug").click()
    page.locator(".chip", has_text="Drug").wait_for()
    saved(page)
    page.locator("[data-tool=edit]").click()
    words(page).nth(2).click()  # also where the bars are
    assert page.locator("#bar .quoted").inner_text() == "in … shoulders"
    page.locator("#bar").get_by_text("Save words").click()
    page.locator(".chip", has_text="in … shoulders").wait_for()
    saved(page)
    assert held(server, "model", "Ann") == {
        (0, "ADR", ((2, 5),)),
        (0, "Drug", ((3, 4), (6, 7))),
    }
    page.locator(".chip", has_text="Drug").locator(".remove").click()
    page.locator(".chip", has_text="Drug").wait_for(state="detached")
    saved(page)
    assert held(server, "model", "Ann") == {(0, "ADR", ((2, 5),))}


def test_what_does_not_fit_is_said_at_once(server, enter):
    page = enter(server, "Ann", "problem")
    clear(page)
    for first, last in ((2, 2), (2, 4)):  # one has a component that the other lacks
        drag(page, first, last)
        page.locator("#bar").get_by_text("Add ADR").click()
        page.locator(".chip", has_text=WORDS[last]).wait_for()
    page.locator(".does-not-fit").wait_for()
    assert page.locator(".chip.wrong").count() == 2
    assert page.locator(".badge.bad").inner_text() == "1 problem"
    page.locator(".does-not-fit .number").first.click()
    assert page.locator(".chip.chosen").count() == 1
    page.keyboard.press("x")
    page.locator(".does-not-fit").wait_for(state="detached")


def test_a_killed_server_loses_nothing(tmp_path, enter):
    corpus = write_corpus(tmp_path / "reports.jsonl")
    options = ["--no-model", "--labels", "ADR"]
    with running(corpus, *options) as server:
        address = server.url
        options += ["--port", address.rpartition(":")[2]]
        page = enter(address, "Ann", "mouse", lost=True)
        words(page).nth(2).click()
        page.keyboard.press("Enter")
        page.locator(".chip").wait_for()
        saved(page)
        server.kill()
        drag(page, 2, 3)
        words(page).nth(6).click()
        page.keyboard.press("Enter")
        page.locator(".chip.waiting").wait_for()  # drawn although nobody has it
        page.locator("#saved", has_text="Not saved yet: 1").wait_for()
        words(page).nth(9).click()
        page.keyboard.press("Enter")
        page.locator("#saved", has_text="Not saved yet: 2").wait_for()
        page.locator(".chip.waiting").nth(1).wait_for()
        assert page.locator(".chip").count() == 3
    with running(corpus, *options) as server:
        saved(page)
        assert page.locator(".chip.waiting").count() == 0
        wanted = {(0, "ADR", ((2, 3),)), PAIN_LEGS, (0, "ADR", ((9, 10),))}
        assert held(address, "mouse", "Ann") == wanted
        server.kill()
        words(page).nth(10).click()
        page.keyboard.press("Enter")
        page.locator("#saved", has_text="Not saved yet: 1").wait_for()
        page.route("**/actions", lambda route: route.abort())
    with running(corpus, *options) as server:
        assert server.url == address  # it is ready
        asked = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
        page.reload()  # the new page in the same tab still has what waits
        page.locator(".chip.waiting").wait_for()
        assert asked == ["beforeunload"]
        page.unroute("**/actions")
        saved(page)
        assert page.locator(".chip").count() == 4
        assert held(address, "mouse", "Ann") == wanted | {(0, "ADR", ((10, 11),))}


def lose_one_answer(page, pattern):
    """Lose the first answer to a request; return where its status is put."""
    lost = []

    def lose(route):
        if lost:
            return route.continue_()
        lost.append(route.fetch().status)  # the server has it, the page never hears of it
        return route.abort()

    page.route(pattern, lose)
    return lost


def test_a_lost_answer_is_applied_once(server, enter):
    page = enter(server, "Ann", "lost", lost=True)
    clear(page)
    lost = lose_one_answer(page, "**/actions")
    drag(page, 2, 4)
    page.keyboard.press("Enter")
    page.locator(".chip:not(.waiting)").wait_for()
    saved(page)
    assert lost == [200]
    assert held(server, "lost", "Ann") == {PAIN_ARMS}
    page.keyboard.press("u")
    page.locator(".chip").wait_for(state="detached")
    saved(page)
    assert held(server, "lost", "Ann") == set()


def test_another_corpus_at_the_same_address_gets_nothing(tmp_path, enter):
    corpora = [tmp_path / "former" / "reports.jsonl", tmp_path / "new" / "reports.jsonl"]
    for corpus in corpora:
        corpus.parent.mkdir()
        write_corpus(corpus)
    former, new = corpora
    options = ["--no-model", "--labels", "ADR"]
    with running(former, *options) as server:
        address = server.url
        options += ["--port", address.rpartition(":")[2]]
        page = enter(address, "Ann", "mouse", lost=True)
        server.kill()
        drag(page, 2, 4)
        page.keyboard.press("Enter")
        page.locator("#saved", has_text="Not saved yet: 1").wait_for()
    notice = page.locator(".notice", has_text="Another corpus is served at this address now")
    with running(new, *options) as server, Client(base_url=address) as client:
        assert server.url == address
        notice.wait_for()
        assert "1 action on the former corpus is not saved" in notice.inner_text()
        page.keyboard.press("f")  # nothing more is sent or collected
        assert "Not saved yet: 1" in page.locator("#saved").inner_text()
        assert client.ok("GET", "/api/project")["counts"]["started"] == 0
        client.enter("Ann")
        assert client.state(NUMBERS["mouse"])["revision"] == 0

        notice.get_by_role("button", name="Reload").click()
        page.locator(".notice", has_text="1 action on another corpus is not saved").wait_for()
        page.evaluate(f"location.hash = '{NUMBERS['mouse']}'")
        page.locator("#document-name", has_text="mouse").wait_for()
        assert page.locator(".chip").count() == 0
        drag(page, 9, 10)
        page.keyboard.press("Enter")
        page.locator(".chip").wait_for()
        saved(page)
        assert held(address, "mouse", "Ann") == {KNEE}
    with running(former, *options) as server:
        assert server.url == address
        page.route("**/presence*", lambda route: route.abort())
        look(page)
        notice.wait_for()
        assert "What you did on the former corpus is saved" in notice.inner_text()
        page.unroute("**/presence*")
        notice.get_by_role("button", name="Reload").click()
        page.locator(".sentence").first.wait_for()
        saved(page)
        assert held(address, "mouse", "Ann") == {PAIN_ARMS}
        assert page.locator(".notice").count() == 0


def test_proposals_that_nobody_has_seen_are_not_accepted(tmp_path, enter):
    corpus = write_corpus(tmp_path / "reports.jsonl")
    with running(corpus, "--no-model", "--labels", "ADR") as server:
        address = server.url
        page = enter(address, "Ann", "model", lost=True)
        page.route("**/presence*", lambda route: route.abort())  # hears of no proposals
    with running(corpus, "--port", address.rpartition(":")[2]) as server:
        assert server.url == address
        saved(page)
        assert len(held(address, "model", "Ann", "proposed")) == 2
        with page.expect_request("**/actions") as asked:
            page.keyboard.press("f")
        assert asked.value.post_data_json["model_version"] is None
        page.locator(".notice.bad", has_text="“finish the document”").wait_for()
        page.locator(".chip.proposed").nth(1).wait_for()
        assert held(address, "model", "Ann") == set()


def test_a_page_that_cannot_show_an_answer_goes_on_sending(server, enter):
    page = enter(server, "Ann", "broken", fails="cannot draw")
    clear(page)
    page.evaluate("() => { window.drawWords = () => { throw new Error('cannot draw') } }")
    first = []
    page.route("**/actions", lambda route: route.continue_() if first else first.append(route))
    drag(page, 2, 4)
    page.keyboard.press("Enter")
    drag(page, 9, 10)
    page.keyboard.press("Enter")
    page.locator("#saved", has_text="Not saved yet: 2").wait_for()
    first[0].continue_()
    saved(page)
    assert held(server, "broken", "Ann") == {PAIN_ARMS, KNEE}


def corners(page, selector):
    """Return left and top of elements, all at one moment: the page may draw them anew."""
    return page.evaluate(
        "selector => [...document.querySelectorAll(selector)]"
        ".map(each => each.getBoundingClientRect()).map(box => [box.left, box.top])",
        selector,
    )


def test_two_annotators_keep_their_versions_and_decide(server, enter):
    ann = enter(server, "Ann", "two")
    clear(ann)
    ben = enter(server, "Ben", "two")
    clear(ben)
    look(ann)
    ann.locator("#people", has_text="Ben is on this document too").wait_for()
    ben.locator("#people", has_text="Ann is on this document too").wait_for()
    drag(ann, 2, 4)
    ann.keyboard.press("Enter")
    ann.locator(".chip").wait_for()
    drag(ben, 2, 3)
    words(ben).nth(6).click()
    ben.keyboard.press("Enter")
    ben.locator(".chip").wait_for()
    drag(ben, 9, 10)
    ben.keyboard.press("Enter")
    ben.locator(".chip").nth(1).wait_for()
    for page in (ann, ben):
        saved(page)
    assert held(server, "two", "Ann") == {PAIN_ARMS}
    assert held(server, "two", "Ben") == {PAIN_LEGS, (0, "ADR", ((9, 11),))}

    ann.route("**/api/next*", lambda route: None)  # never answered: she stays here
    ann.keyboard.press("f")
    ann.locator("[data-tool=reopen]").wait_for()
    ben.keyboard.press("f")
    ben.locator(f".document.disagreement[data-number='{NUMBERS['two']}']").wait_for()
    ben.locator(".notice", has_text="two: the finished versions differ").wait_for()
    look(ann)
    ann.locator(".notice", has_text="differ").get_by_text("Compare").click()
    ann.locator(".choice").nth(2).wait_for()
    assert ann.locator(".version h3 bdi").all_inner_texts() == ["Ann", "Ben"]
    assert ann.locator(".chip.differs").count() == 3
    assert ann.locator("#decide").is_disabled()
    (left, top), (other_left, other_top) = corners(ann, ".version")
    assert top == other_top  # side by side
    assert left < other_left
    ann.locator(".whole").get_by_text("Ben").click()
    ann.locator(".choice", has_text="left knee").get_by_text("Leave").click()
    ann.locator(".choice", has_text="pain in arms").get_by_text("Take").click()
    ann.locator("#decide").click()
    ann.locator("#decision", has_text="Decided by Ann").wait_for()
    with urlopen(f"{server}/api/documents/{NUMBERS['two']}/versions", timeout=SECONDS) as answer:
        found = json.load(answer)
    decided = found["decision"]["sentences"][0]["mentions"]
    assert [each["fragments"] for each in decided] == [[[2, 4], [6, 7]], [[2, 5]]]
    assert held(server, "two", "Ann") == {PAIN_ARMS}  # the versions stay
    assert held(server, "two", "Ben") == {PAIN_LEGS, (0, "ADR", ((9, 11),))}

    phone = enter(server, "Cem", "two", view="/versions", viewport=PHONE)
    phone.locator(".version").nth(1).wait_for()
    (_, top), (_, other_top) = corners(phone, ".version")
    assert top < other_top  # one below the other
    assert fits(phone)


def test_a_decision_is_made_again(server, client, enter):
    finish(client, "again", "Ann", PAIN_ARMS)
    finish(client, "again", "Ben", PAIN)
    page = enter(server, "Eve", "again", view="/versions", lost=True)
    choice = {
        text: page.locator(".choice").filter(has=page.get_by_text(text, exact=True))
        for text in ("pain", "pain in arms", "left knee")
    }

    def choose(text, word):
        choice[text].get_by_text(word).click()

    choose("pain", "Take")
    choose("pain in arms", "Take")
    page.locator(".result .does-not-fit").wait_for()  # the scheme cannot hold both
    page.locator(".footer", has_text="1 problem, see above").wait_for()
    choose("pain", "Leave")
    page.locator(".result .does-not-fit").wait_for(state="detached")
    lost = lose_one_answer(page, "**/decision")
    page.click("#decide")
    page.locator(".notice.bad", has_text="not known whether the decision is saved").wait_for()
    page.click("#decide")  # the same decision
    page.locator(".notice", has_text="The decision is saved.").wait_for()
    page.locator("#decision", has_text="Decided by Eve").wait_for()
    assert page.locator(".notice.bad").count() == 0
    assert lost == [200]
    assert decided(client, "again") == ("Eve", {PAIN_ARMS})

    finish(client, "again", "Cem", KNEE)
    page.reload()
    page.locator("#decision", has_text="A version has changed since").wait_for()
    page.locator(".footer", has_text="1 mention left to decide").wait_for()
    pressed = page.locator(".choice [aria-pressed=true]").evaluate_all(
        "pressed => pressed.map((each) => each.getAttribute('aria-label'))"
    )
    assert pressed == ["Leave ADR, pain", "Take ADR, pain in arms"]  # nobody judged the knee
    choose("left knee", "Take")
    page.click("#decide")
    page.locator("#decision", has_text="Deciding again replaces").wait_for()
    assert decided(client, "again") == ("Eve", {PAIN_ARMS, KNEE})


def test_versions_that_become_equal_after_a_decision(server, client, enter):
    finish(client, "equal", "Ann", PAIN_ARMS)
    finish(client, "equal", "Ben", PAIN_LEGS)
    page = enter(server, "Eve", "equal", view="/versions")
    page.locator(".whole").get_by_text("Ben").click()
    page.click("#decide")
    page.locator("#decision", has_text="Decided by Eve").wait_for()
    for name in ("Ann", "Ben"):
        finish(client, "equal", name, KNEE)
    page.reload()
    page.locator("#decision", has_text="are equal: what they have counts").wait_for()
    assert page.locator(".choice").count() == 0
    assert page.locator("#decide").is_disabled()
    page.locator(f".document.finished[data-number='{NUMBERS['equal']}']").wait_for()

    for name in ("Ann", "Ben"):  # equal again, but nobody has finished
        finish(client, "equal", name, THREE, done=False)
    page.reload()
    page.locator(".people", has_text="not those of the decision").wait_for()
    page.locator("#decide:enabled").click()
    page.locator(".notice", has_text="The decision is saved").wait_for()
    page.locator(f".document.decided[data-number='{NUMBERS['equal']}']").wait_for()
    assert decided(client, "equal") == ("Eve", {THREE})


def test_a_version_that_others_finish_is_announced(server, enter):
    ann, ben = enter(server, "Ann", "same"), enter(server, "Ben", "same")
    clear(ann)
    clear(ben)
    ben.keyboard.press("f")
    until(ben, f"location.hash !== '#{NUMBERS['same']}'")
    look(ann)
    ann.locator(".notice", has_text="Ben finished same").wait_for()
    assert ann.locator(".notice", has_text="differ").count() == 0


def test_two_windows_of_one_annotator(server, enter):
    first = enter(server, "Dan", "windows")
    clear(first)
    second = enter(server, "Dan", "windows")
    drag(first, 2, 4)
    first.keyboard.press("Enter")
    first.locator(".chip").wait_for()
    drag(second, 9, 10)  # it has not seen what the first did
    second.keyboard.press("Enter")
    second.locator(".notice", has_text="Another window of yours").wait_for()
    assert second.locator(".chip").count() == 2
    saved(second)
    assert held(server, "windows", "Dan") == {PAIN_ARMS, (0, "ADR", ((9, 11),))}
    look(first)
    first.locator(".notice", has_text="Another window of yours").wait_for()  # hears of it later
    first.locator(".chip").nth(1).wait_for()


def test_an_action_that_no_longer_makes_sense_is_refused_aloud(server, enter):
    first = enter(server, "Dan", "conflict", lost=True)
    clear(first)
    drag(first, 2, 4)
    first.keyboard.press("Enter")
    first.locator(".chip").wait_for()
    second = enter(server, "Dan", "conflict", lost=True)
    second.route("**/presence", lambda route: None)  # never answered: it hears of nothing
    second.locator(".chip").wait_for()
    first.locator(".chip .remove").click()
    first.locator(".chip").wait_for(state="detached")
    saved(first)
    second.locator(".chip .remove").click()
    second.locator(".notice.bad", has_text="remove ADR “pain in arms”").wait_for()
    second.locator(".chip").wait_for(state="detached")


def test_undo_of_what_was_not_seen_is_refused(server, enter):
    first = enter(server, "Dan", "undo")
    clear(first)
    drag(first, 2, 4)
    first.keyboard.press("Enter")
    first.locator(".chip").wait_for()
    saved(first)
    second = enter(server, "Dan", "undo", lost=True)
    second.route("**/presence", lambda route: None)  # never answered: it hears of nothing
    second.locator(".chip").wait_for()
    drag(first, 9, 10)
    first.keyboard.press("Enter")
    first.locator(".chip").nth(1).wait_for()
    saved(first)
    second.evaluate(
        "for (const key of ['u', 'u'])"
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    )
    second.locator(".notice.bad", has_text="so nothing was undone").wait_for()
    second.locator(".chip").nth(1).wait_for()
    until(second, "document.querySelector('#saved').textContent === 'All saved'")
    assert held(server, "undo", "Dan") == {PAIN_ARMS, KNEE}
    second.keyboard.press("u")
    second.locator(".chip").nth(1).wait_for(state="detached")
    saved(second)
    assert held(server, "undo", "Dan") == {PAIN_ARMS}


def test_order_filter_and_search(server, enter):
    page = enter(server, "Ann", "drug")
    names = page.locator("#documents .document-name")
    page.locator("#order").select_option("corpus")
    until(
        page,
        "[...document.querySelectorAll('#documents button')].every((b, i) => "
        "b.dataset.number == i + 1)",
    )
    assert names.all_inner_texts() == list(REPORTS)
    page.locator("#search").fill("expor")
    until(page, "document.querySelectorAll('#documents button').length === 1")
    assert names.all_inner_texts() == ["export"]
    page.locator("#search").fill("")
    until(page, "document.querySelectorAll('#documents button').length > 1")
    page.locator(f".document[data-number='{NUMBERS['drug']}'][aria-current]").wait_for()
    page.keyboard.press("Escape")
    page.locator("#work .word").first.focus()
    page.keyboard.press("f")
    until(page, f"location.hash !== '#{NUMBERS['drug']}'")
    page.locator("#status").select_option("finished")
    page.locator(f".document.finished[data-number='{NUMBERS['drug']}']").wait_for()
    until(
        page,
        "[...document.querySelectorAll('#documents button')].every("
        "b => b.matches('.finished, .decided'))",
    )
    page.locator("#status").select_option("open")
    page.locator(f".document[data-number='{NUMBERS['drug']}']").wait_for(state="detached")


def test_the_export_can_be_read(server, enter, tmp_path):
    page = enter(server, "Ann", "export")
    clear(page)
    for word in (1, 7):
        words(page).nth(word).click()
    page.keyboard.press("Enter")
    page.locator(".chip").wait_for()
    page.keyboard.press("f")
    until(page, f"location.hash !== '#{NUMBERS['export']}'")
    page.click("#to-progress")
    page.locator("#progress td", has_text="Ann").first.wait_for()
    page.click("#to-export")
    page.locator("#export-summary", has_text="will be written").wait_for()
    with page.expect_download() as got:
        page.click("#download")
    assert got.value.suggested_filename.endswith(".jsonl")
    path = tmp_path / "export.jsonl"
    got.value.save_as(path)
    (document,) = [each for each in read(path) if each.id == "export"]
    assert set(document.mentions) == {Mention("ADR", [(1, 2), (7, 8)])}


def test_figures_that_come_later(server, enter):
    page = enter(server, "Ann", "drug")
    answers = {"computing": True}
    told = "version 2 of the model is in use; its F1 on the documents kept to measure it is 71.2"
    training = {"state": "done", "message": told, "finished_since": 0, "needed": 30}

    def figures(route):
        route.fulfill(json=route.fetch().json() | answers)

    page.route("**/api/progress", figures)
    page.click("#to-progress")
    page.locator("#computing").wait_for()
    answers["computing"] = False
    page.locator("#computing").wait_for(state="detached")
    page.route(
        "**/api/project",
        lambda route: route.fulfill(
            json=route.fetch().json() | {"training": training, "can_train": True}
        ),
    )
    look(page)
    page.locator(".notice.good", has_text="measure it is 71.2.").wait_for()
    page.locator("#training-result", has_text="measure it is 71.2.").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_on_phones_and_desks(server, enter, scheme):
    backs = {"light": "rgb(251, 250, 248)", "dark": "rgb(22, 24, 29)"}
    page = enter(server, "Eve", "model", color_scheme=scheme, viewport=PHONE)
    for device in (PHONE, DESKTOP):
        page.set_viewport_size(device)
        for view in (NUMBERS["model"], f"{NUMBERS['model']}/versions", "progress", "export"):
            page.evaluate(f"location.hash = '{view}'")
            until(page, "document.querySelector('#main > :not([hidden])').children.length")
            assert fits(page), (device, view)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == backs[scheme]


def test_a_token_is_asked_for(tmp_path, enter, browser):
    token = tmp_path / "token"
    token.write_text("correct-horse-battery-staple", encoding="utf-8")
    corpus = write_corpus(tmp_path / "reports.jsonl")
    with running(corpus, "--no-model", "--token-file", token) as server:
        address = server.url
        context = browser.new_context()
        try:
            page = context.new_page()
            page.set_default_timeout(SECONDS * 1000)
            page.goto(address)
            page.fill("#token", "wrong-horse")
            page.press("#token", "Enter")
            page.locator("dialog", has_text="does not accept this token").wait_for()
            page.fill("#token", token.read_text(encoding="utf-8"))
            page.press("#token", "Enter")
            page.fill("#name", "Ann")
        finally:
            context.close()
        page = enter(f"{address}/#token={token.read_text(encoding='utf-8')}", "Ann")
        assert "token" not in page.url
        words(page).first.click()
        page.keyboard.press("Enter")
        page.locator(".chip").wait_for()
        saved(page)


def test_texts_and_names_are_never_markup(server, enter):
    report = f"{NASTY}.txt"
    page = enter(server, NASTY, report)
    clear(page)
    drag(page, 0, 1)
    page.keyboard.press("Enter")
    page.locator(".chip").wait_for()
    saved(page)
    other = enter(server, "F" * 50, report, viewport=PHONE)
    other.locator("#people", has_text=NASTY).wait_for()
    assert words(other).first.inner_text().strip() == NASTY
    page.keyboard.press("f")
    until(page, f"location.hash !== '#{NUMBERS[report]}'")
    for view, seen in (
        (f"{NUMBERS[report]}/versions", "#versions h2"),
        ("progress", "#progress td >> nth=6"),
    ):
        other.evaluate(f"location.hash = '{view}'")
        other.locator(seen).first.wait_for()
        assert fits(other), view
    for each in (page, other):
        assert each.locator("img, #main script").count() == 0
        assert each.title() != "hit"
