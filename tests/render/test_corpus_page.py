"""The page of a check: whole, safe and readable without a script."""

import base64
import hashlib
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from discotag import Document, Mention, Sentence
from discotag.corpora import write
from discotag.corpora.checks import check
from discotag.render.corpus_page import SCRIPT, corpus_page
from discotag.render.html import draw_words, list_mentions, safe, spell

HOSTILE = '<script>alert("1")</script>'
VOID = {"meta", "link", "input"}


class Page(HTMLParser):
    """Elements with their attributes and text; fails where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(documents, tmp_path, **options):
    path = tmp_path / "corpus.jsonl"
    write(documents, path)
    return corpus_page(check(path, **options))


THREE = [(0, 1), (2, 3), (4, 5)]


@pytest.fixture
def hostile(tmp_path):
    words = [HOSTILE, "&amp;", "\x1b[31m", "\u202e", "'\"><img src=x onerror=alert(1)>"]
    label = "<b>ADR</b>"
    sentence = Sentence(words, [Mention(label, THREE), Mention(label, [(1, 2)])])
    return page_of([Document([sentence], id=HOSTILE)], tmp_path)


def test_text_of_users_is_no_markup(hostile):
    page = Page(hostile)
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert HOSTILE not in hostile
    assert "\x1b" not in hostile
    assert "\u202e" not in hostile
    assert any(HOSTILE in text for text in page.text)  # to be read, not run
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)


def test_nothing_comes_from_elsewhere(hostile):
    page = Page(hostile)
    for _, attributes in page.elements:
        for name in ("src", "href", "action"):
            assert attributes.get(name, "data:,") == "data:,"
    assert "url(" not in hostile
    assert "@import" not in hostile
    (policy,) = [each for each in page.all("meta") if "http-equiv" in each]
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert "default-src 'none'" in policy["content"]
    assert "unsafe" not in policy["content"]
    for tag in ("style", "script"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", hostile, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy["content"]
    assert not any("style" in attributes for _, attributes in page.elements)  # the policy bars it


def test_findings_are_there_without_the_script(hostile):
    page = Page(hostile)
    kinds = [attributes["data-kind"] for attributes in page.all("article")]
    assert kinds == ["too_many_slots", "mention_in_gap"]
    assert not any("hidden" in attributes for attributes in page.all("article"))
    assert ["hidden" in each for each in page.all("fieldset")] == [True]
    boxes = [each for each in page.all("input") if each["type"] == "checkbox"]
    assert [each["value"] for each in boxes] == kinds


def test_what_is_not_shown_is_counted(tmp_path):
    sentence = Sentence("a b c d e".split(), [Mention("ADR", THREE)])
    shown = page_of([Document([sentence] * 7)], tmp_path, kept=3)
    assert shown.count("<article") == 3
    assert "7 in all, of which the first 3 are shown here" in shown


def test_problems_and_expected_mentions(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("sore and swollen toes\n0,0,3,3 ADR|2,2 ADR|9,9 <i>\n\n")
    shown = corpus_page(check(path))
    assert "corpus.txt:2: &#x27;9,9 &lt;i&gt;&#x27;: fragment 9:10 is outside the sentence" in shown
    assert "<small>expected</small> swollen toes" in shown
    Page(shown)


def test_a_corpus_without_findings(tmp_path):
    shown = page_of([Document([Sentence(["sore"])])], tmp_path)
    assert "Every sentence fits, and nothing looks wrong." in shown
    assert Page(shown).all("article") == []


def test_bars_under_words():
    words = "pain in arms and legs".split()
    mentions = [Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])]
    drawn = draw_words(words, mentions)
    below = [re.findall(r'<i class="([^"]*)">', cell) for cell in drawn.split("<span>")[1:]]
    assert below == [
        ["m s c0", "m s c1"],
        ["m c0", "m e c1"],
        ["m e c0", "g c1"],
        ["g c1"],
        ["m s e c1"],
    ]
    assert re.sub("<[^>]*>", "", drawn) == "pain in arms and legs"  # what a search looks at
    assert drawn.count("<i></i>") == 2  # empty rows keep the second mention's bars in line
    assert spell(words, mentions[1]) == "pain in … legs"
    listed = list_mentions(words, mentions, mentions[:1])
    assert (listed.count("<li"), listed.count("other")) == (2, 1)


def test_mentions_apart_share_a_row_and_colours_take_turns():
    words = [str(n) for n in range(8)]
    drawn = draw_words(words, [Mention("X", [(n, n + 1)]) for n in range(8)])
    assert "<i></i>" not in drawn
    assert 'class="m s e c1"' in drawn
    assert "c6" not in drawn


def test_safe_shows_control_characters():
    assert safe("a\x00b<\ud800>") == "a·b&lt;·&gt;"


@pytest.mark.skipif(shutil.which("node") is None, reason="no JavaScript here")
def test_the_script_is_javascript(tmp_path):
    path = tmp_path / "script.js"
    path.write_text(SCRIPT)
    subprocess.run(["node", "--check", path], check=True, timeout=60)
