"""The page of tagged documents: streamed, safe, and readable without its script."""

import io
import json
import re
import shutil
import subprocess
from itertools import chain

import pytest

from discotag import Document, Mention, Sentence
from discotag.render.documents_page import (
    BLOCK,
    PAGE_DOCUMENTS,
    PAGE_WORDS,
    SCRIPT,
    write_page,
)
from discotag.render.layout import lanes
from page_parser import Page

HOSTILE = "</script><script>alert('1')</script><!--"
PAIN = Sentence(
    "pain in arms and legs".split(),
    [Mention("ADR", [(0, 3)], score=0.5), Mention("ADR", [(0, 2), (4, 5)], score=0.99999)],
)


def page_of(documents, labels=("ADR",), **options):
    stream = io.StringIO()
    options = {"title": "Mentions", "about": "", **options}
    write_page(documents, stream, labels=labels, **options)
    return stream.getvalue()


def data_of(shown):
    """Return the documents of a page and its summary."""
    blocks = re.findall(r'<script type="application/json">(.*?)</script>', shown)
    *documents, summary = map(json.loads, blocks)
    return list(chain.from_iterable(documents)), summary


def test_hostile_text_labels_ids_and_titles():
    sentence = Sentence([HOSTILE, "\u2028", "\x1b"], [Mention(HOSTILE, [(0, 1)])])
    document = Document([sentence], id=HOSTILE)
    shown = page_of([document], labels=(HOSTILE,), title=HOSTILE, about=HOSTILE)
    page = Page(shown)
    assert [each.get("type") for each in page.all("script")] == ["application/json"] * 2 + [None]
    assert "\x1b" not in shown
    assert "alert('1')</script>" not in shown
    (data,), summary = data_of(shown)
    assert data["id"] == HOSTILE
    assert data["sentences"][0]["words"] == [HOSTILE, "·", "·"]
    assert summary["labels"] == [HOSTILE]
    assert "innerHTML" not in SCRIPT


def test_the_data_has_the_lanes_of_the_layout():
    (data,), summary = data_of(page_of([Document([PAIN])]))
    assert data["id"] is None
    (sentence,) = data["sentences"]
    found = lanes(PAIN.mentions)
    assert sentence["mentions"] == [
        [0, 1.0, 99, found[0], 0, [[0, 2], [4, 5]]],
        [0, 0.5, 50, found[1], 1, [[0, 3]]],
    ]
    assert summary["mentions"] == 2


def test_the_first_documents_are_shown_without_the_script():
    number = 2 * BLOCK + 7
    shown = page_of(Document([PAIN], id=str(n)) for n in range(number))
    page = Page(shown)
    assert len(page.all("article")) == PAGE_DOCUMENTS
    assert f"{PAGE_DOCUMENTS} of {number} documents are shown" in shown
    assert f"{number - PAGE_DOCUMENTS} more need JavaScript" in shown
    documents, _ = data_of(shown)
    assert [each["id"] for each in documents] == [str(n) for n in range(number)]
    (fields,) = page.all("fieldset")
    assert "hidden" in fields


def test_long_documents_are_shown_one_at_a_time():
    long = Document([Sentence(["word"] * PAGE_WORDS)])
    assert page_of([long] * 3).count("<article") == 1
    assert page_of([Document([])] * 3).count("<article") == 3


def test_a_page_of_no_documents():
    shown = page_of([])
    Page(shown)
    assert "0 of 0 documents are shown." in shown
    assert data_of(shown)[0] == []


def test_documents_are_written_as_they_come():
    stream = io.StringIO()

    def documents():
        for number in range(3 * BLOCK):
            yield Document([PAIN], id=str(number))
        assert f'"id":"{2 * BLOCK}"' in stream.getvalue()

    write_page(documents(), stream, title="Mentions", about="", labels=["ADR"])


@pytest.mark.skipif(shutil.which("node") is None, reason="no JavaScript here")
def test_the_script_is_javascript(tmp_path):
    path = tmp_path / "script.js"
    path.write_text(SCRIPT)
    subprocess.run(["node", "--check", path], check=True, timeout=60)


def test_documents_of_a_table_are_named_with_their_rows():
    given = [("1003", 4), (None, 5), ("6", 6)]
    documents = [Document([PAIN], id=name, extra={"row": row}) for name, row in given]
    found, _ = data_of(page_of([*documents, Document([PAIN], extra={"row": "odd"})]))
    assert [each["id"] for each in found] == ["1003, row 4", "Row 5", "Row 6", None]


def test_candidates_are_counted_apart():
    sentence = PAIN.with_mentions(PAIN.mentions[:1], PAIN.mentions[1:])
    shown = page_of([Document([sentence]), Document([PAIN])])
    documents, summary = data_of(shown)
    assert (summary["mentions"], summary["candidates"]) == (4, 1)
    assert [len(row) for row in documents[0]["sentences"][0]["mentions"]] == [6, 7]
    assert "Mentions in all: 3; candidates to review: 1." in shown
    assert "to review" not in page_of([Document([PAIN])]).split("</main>")[1].split("<script")[0]
