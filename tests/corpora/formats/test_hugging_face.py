"""Hugging Face's JSON lines of words and tags."""

import json

import pytest

from discotag.corpora import read
from samples import DATA, tried


def row(tokens=("Sore", "toes"), ner_tags=("B-ADR", "I-ADR")):
    return json.dumps({"tokens": tokens, "ner_tags": ner_tags}) + "\n"


def test_words_and_tags_are_read():
    problems = []
    documents = list(read(DATA / "hugging-face/posts.jsonl", report=problems.append))
    assert [(each.id, each.extra) for each in documents] == [
        ("0", {"split": "train"}),
        ("1", {}),
        ("2", {}),
    ]
    assert [[str(mention) for mention in each.mentions] for each in documents] == [
        ["ADR 'Sore toes' [0:2]"],
        ["ADR 'fatigué' [1:2]"],
        [],
    ]
    ((kind, line, message),) = [(each.kind, each.line, each.message) for each in problems]
    assert (kind, line) == ("ill_formed", 2)
    assert message == "'I-ADR' continues a mention that did not begin"


def test_numbers_are_refused_once_and_end_the_reading(tmp_path):
    text = row() + row(ner_tags=[1, 2]) * 3
    documents, problems = tried(tmp_path / "in.jsonl", text, "hugging-face")
    assert len(documents) == 1
    ((kind, line, message),) = [(each.kind, each.line, each.message) for each in problems]
    assert (kind, line) == ("syntax", 2)
    assert "write the names instead, which dataset.features['ner_tags'].feature.names" in message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (row(ner_tags=["O"]), "2 words but 1 tag"),
        (row(tokens=["", "a"]), "a word is empty"),
        (row(tokens=[1, 2]), "a word must be a string"),
        (row(ner_tags=[None, "O"]), "a tag must be a string"),
        (row(ner_tags=["B", "O"]), "the tag 'B' has no label; write B-LABEL"),
        (row(ner_tags=["X-A", "O"]), "a tag must be O or look like B-LABEL, got 'X-A'"),
        ("[]\n", "a document must be an object"),
    ],
)
def test_problems_are_reported(tmp_path, line, message):
    documents, problems = tried(tmp_path / "in.jsonl", row() + line, "hugging-face")
    (problem,) = problems
    assert (problem.kind, problem.line, len(documents)) == ("syntax", 2, 1)
    assert message in problem.message
