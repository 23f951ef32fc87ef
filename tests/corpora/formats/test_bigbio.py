"""bigbio-style JSON: read, written, and what is wrong with it."""

import json

import pytest

import samples
from discotag import Mention, Sentence
from discotag.corpora import read, write
from discotag.mentions import Document
from samples import DATA, bigbio_row


def tried(tmp_path, content):
    return samples.tried(tmp_path / "file.jsonl", content, "bigbio")


def test_the_sample_is_that_of_bioc():
    assert list(read(DATA / "bigbio" / "posts.jsonl")) == list(read(DATA / "bioc" / "posts.xml"))


def test_a_list_of_documents(tmp_path):
    for content in (
        json.dumps([bigbio_row(), bigbio_row()]),
        json.dumps([bigbio_row(), bigbio_row()], indent=2),
        json.dumps(bigbio_row(), indent=2) * 2,
    ):
        documents, found = tried(tmp_path, content)
        assert found == []
        assert [each.mentions[0].text for each in documents] == ["Sore knees"] * 2
        assert list(read(tmp_path / "file.jsonl")) == documents


def test_what_is_written(tmp_path):
    toes = Sentence(["toes", "are", "sore"], [Mention("ADR", [(0, 1), (2, 3)])])
    write([Document([toes], id="d")], tmp_path / "out.jsonl", "bigbio")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {
        "id": "0",
        "document_id": "d",
        "passages": [
            {"id": "0_0", "type": "document", "text": ["toes are sore"], "offsets": [[0, 13]]}
        ],
        "entities": [
            {
                "id": "0_1",
                "type": "ADR",
                "text": ["toes", "sore"],
                "offsets": [[0, 4], [9, 13]],
                "normalized": [],
            }
        ],
        "events": [],
        "coreferences": [],
        "relations": [],
    }


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"type": None}, "syntax"),
        ({"offsets": [[0]]}, "syntax"),
        ({"offsets": [["0", 1]]}, "syntax"),
        ({"offsets": 3}, "syntax"),
        ({"text": [1]}, "syntax"),
        ({"id": []}, "syntax"),
        ({"type": "A\u0000"}, "syntax"),
        ({"offsets": []}, "empty"),
        ({"offsets": [[4, 0]]}, "inverted"),
        ({"offsets": [[0, 4], [9, 10**30]]}, "outside"),
        ({"offsets": [[0, 4], [2, 14]]}, "overlapping"),
        ({"text": ["Sore", "toes"]}, "text_mismatch"),
        ({"text": ["So", "reknees"]}, "text_mismatch"),
        ({"text": "Sore knees"}, None),
    ],
)
def test_bad_entities_are_left_out(tmp_path, changes, kind):
    lines = [json.dumps(bigbio_row(**changes)), json.dumps(bigbio_row())]
    documents, found = tried(tmp_path, "\n".join(lines))
    assert [problem.kind for problem in found] == ([kind] if kind else [])
    assert [len(each.mentions) for each in documents] == [int(kind is None), 1]
    assert all(problem.line == 1 for problem in found)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "7",
        "[" * 100_000,
        "9" * 5000,
        '{"passages": [{"text": ["a"], "offsets": []}]}',
        '{"passages": [{"text": ["\\ud800"], "offsets": [[0, 1]]}]}',
        '{"document_id": "\\ud800"}',
    ],
)
def test_bad_lines_are_left_out(tmp_path, line):
    documents, found = tried(
        tmp_path, f"{json.dumps(bigbio_row())}\n{line}\n\n{json.dumps(bigbio_row())}"
    )
    assert [(problem.severity, problem.line) for problem in found] == [("error", 2)]
    assert [len(each.mentions) for each in documents] == [1, 1]


def test_references_to_nothing_are_reported(tmp_path):
    document = {
        "id": "0",
        "document_id": "7",
        "passages": [{"id": "p", "text": ["Sore toes"], "offsets": [[0, 9]]}],
        "entities": [{"id": "e1", "type": "A", "text": ["Sore"], "offsets": [[0, 4]]}],
        "relations": [{"id": "r1", "arg1_id": "e1", "arg2_id": "e2"}],
        "events": [{"id": "v1", "arguments": [{"ref_id": "e1"}, {"ref_id": "e3"}]}],
        "coreferences": [{"id": "c1", "entity_ids": ["e1", "e4"]}],
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(document))
    problems = []
    (found,) = read(tmp_path / "a.jsonl", report=problems.append)
    assert len(found.mentions) == 1
    assert [(each.kind, each.line, each.message.split(",")[0]) for each in problems] == [
        ("dangling", 1, "relation 'r1' refers to 'e2'"),
        ("dangling", 1, "event 'v1' refers to 'e3'"),
        ("dangling", 1, "coreference 'c1' refers to 'e4'"),
    ]
