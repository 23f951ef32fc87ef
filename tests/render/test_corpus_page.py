"""The page of a check: whole, safe and readable without a script."""

import base64
import hashlib
import re
import shutil
import subprocess

import pytest

from discotag import Document, Mention, Sentence
from discotag.corpora import write
from discotag.corpora.checks import check
from discotag.render.corpus_page import corpus_page
from discotag.render.filtering import FILTER_SCRIPT
from discotag.render.html import safe
from page_parser import Page

HOSTILE = '<script>alert("1")</script>'


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


def test_safe_shows_control_characters():
    assert safe("a\x00b<\ud800>") == "a·b&lt;·&gt;"


@pytest.mark.skipif(shutil.which("node") is None, reason="no JavaScript here")
def test_the_script_is_javascript(tmp_path):
    path = tmp_path / "script.js"
    path.write_text(FILTER_SCRIPT)
    subprocess.run(["node", "--check", path], check=True, timeout=60)
