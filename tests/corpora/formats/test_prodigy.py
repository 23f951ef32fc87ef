"""Prodigy's JSON lines: texts with labelled spans, and answers."""

import json

import pytest

from discotag.corpora import read
from discotag.corpora.formats.registry import find_format
from samples import DATA, tried


def row(text="Sore toes", spans=(), **more):
    return json.dumps({"text": text, "spans": spans, **more}) + "\n"


def span(start, end, label="ADR"):
    return {"start": start, "end": end, "label": label}


def test_accepted_examples_are_read_and_others_counted():
    problems = []
    documents = list(read(DATA / "prodigy/posts.jsonl", report=problems.append))
    assert [[str(mention) for mention in each.mentions] for each in documents] == [
        ["ADR 'Sore toes' [0:2]"],
        ["ADR 'fatigué' [1:2]", "ADR 'pain' [5:6]"],
        [],
    ]
    assert [each.extra for each in documents] == [{"meta": {"source": "forum"}}, {}, {}]
    assert [(each.kind, each.message) for each in problems] == [
        ("left_out", "1 example is left out: its answer is 'reject'"),
        ("left_out", "1 example is left out: its answer is 'ignore'"),
    ]


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (row(spans=[span("0", 4)]), "syntax", "'start' of a span must be a whole number"),
        (row(spans=[{"start": 0, "end": 4}]), "syntax", "'label' of a span must be a string"),
        (row(spans=[span(0, 99)]), "outside", "span of 'ADR' at 0: fragment 0:99 is outside"),
        (row(spans={}), "syntax", "'spans' must be a list"),
        (row(spans=[3]), "syntax", "each of 'spans' must be an object"),
        (row(text=None), "syntax", "'text' must be a string"),
        (row(answer=1), "syntax", "'answer' must be a string"),
        ("[]\n", "syntax", "a document must be an object"),
    ],
)
def test_problems_are_reported(tmp_path, line, kind, message):
    documents, problems = tried(tmp_path / "in.jsonl", row() + line, "prodigy")
    ((found, number, said),) = [(each.kind, each.line, each.message) for each in problems]
    assert (found, number, documents[0].text) == (kind, 2, "Sore toes")
    assert message in said


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (row(spans=[span(0, 4)]), "prodigy"),
        (row(answer="accept"), "prodigy"),
        ('{"text": "a", "_task_hash": 3}', "prodigy"),
        (row(), "jsonl"),
        (row(spans=[span(0, 4)], mentions=[]), "jsonl"),
    ],
)
def test_files_are_recognised(tmp_path, text, format):
    path = tmp_path / "file"
    path.write_text(text)
    assert find_format(path).name == format
