"""BioC JSON: read in its several shapes, and what is wrong with it."""

import json
import tracemalloc
from pathlib import Path

import pytest

import samples
from discotag.corpora import read
from discotag.corpora.parsing import json_stream
from discotag.corpora.parsing.json_stream import CHUNK, MAX_DEPTH, objects
from discotag.corpora.parsing.problems import strict

DATA = Path(__file__).parents[2] / "data" / "bioc"


def document(**changes):
    annotation = {
        "id": "T1",
        "infons": {"type": "ADR"},
        "text": "Sore toes",
        "locations": [{"offset": 0, "length": 9}],
    }
    annotation.update(changes)
    passage = {"offset": 0, "text": "Sore toes.", "annotations": [annotation]}
    return {"id": "d", "passages": [passage]}


def tried(tmp_path, content):
    if not isinstance(content, bytes | str):
        content = json.dumps(content)
    return samples.tried(tmp_path / "file.json", content, "bioc-json")


def test_the_sample_is_that_of_xml():
    assert list(read(DATA / "posts.json")) == list(read(DATA / "posts.xml"))


@pytest.mark.parametrize(
    "content",
    [
        {"source": "", "documents": [document(), document()], "key": ""},
        {"PubTator3": [document(), document()]},
        [document(), document()],
        [{"documents": [document()]}, {"documents": [document()]}],
        json.dumps(document()) + "\n" + json.dumps(document()) + "\n",
        b"\xef\xbb\xbf" + json.dumps([document(), document()]).encode(),
    ],
)
def test_shapes(tmp_path, content):
    documents, found = tried(tmp_path, content)
    assert found == []
    assert [(each.id, len(each.mentions)) for each in documents] == [("d", 1)] * 2
    assert list(read(tmp_path / "file.json")) == documents


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("", "syntax"),
        ("{", "syntax"),
        ("nul", "syntax"),
        ("[1, 2", "syntax"),
        ("3", "syntax"),
        ("[[3]]", "syntax"),
        ('{"documents": [7]}', "syntax"),
        ('{"passages": 1}', "syntax"),
        ('{"passages": [1]}', "syntax"),
        ('{"passages": [{"text": "a"}]}', "syntax"),
        ('{"passages": [{"text": "a", "offset": 1.5}]}', "syntax"),
        ('{"passages": [{"text": "a", "offset": true}]}', "syntax"),
        ('{"passages": [{"text": 1, "offset": 0}]}', "syntax"),
        ('{"id": {}, "passages": []}', "syntax"),
        ('{"id": ' + "9" * 5000 + "}", "syntax"),
        ('{"id": 1e99999}', "syntax"),
        ('{"id": "\\ud800"}', "encoding"),
        ('{"id": "\\udc00"}', "encoding"),
        (b'{"id": "\xff"}', "encoding"),
        ("[" * (MAX_DEPTH + 1), "syntax"),
        ("[" * 300_000, "syntax"),
        ('{"a":' * 100_000, "syntax"),
    ],
)
def test_bad_content(tmp_path, content, kind):
    documents, found = tried(tmp_path, content)
    assert documents == []
    assert {problem.kind for problem in found} == {kind}
    assert all("\n" not in str(problem) for problem in found)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"infons": {}}, "syntax"),
        ({"infons": []}, "syntax"),
        ({"infons": {"type": 1}}, "syntax"),
        ({"text": 1}, "syntax"),
        ({"locations": {}}, "syntax"),
        ({"locations": [{"offset": 0}]}, "syntax"),
        ({"locations": [{"offset": "0", "length": 9}]}, "syntax"),
        ({"locations": []}, "empty"),
        ({"locations": [{"offset": 0, "length": -2}]}, "inverted"),
        ({"locations": [{"offset": 0, "length": 10**18}]}, "outside"),
        ({"text": "Other"}, "text_mismatch"),
    ],
)
def test_bad_annotations_are_left_out(tmp_path, changes, kind):
    documents, found = tried(tmp_path, [document(**changes), document()])
    assert [problem.kind for problem in found] == [kind]
    assert [len(each.mentions) for each in documents] == [0, 1]


def test_memory_holds_one_document(tmp_path):
    path = tmp_path / "large.json"
    number, text = 400, "word " * 20_000
    with path.open("w") as stream:
        stream.write('{"documents": [')
        one = json.dumps({"id": "1", "passages": [{"offset": 0, "text": text}]})
        stream.write(",".join([one] * number))
        stream.write("]}")
    tracemalloc.start()
    try:
        assert sum(1 for _ in objects(path, ("documents",), strict)) == number
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * CHUNK < path.stat().st_size / 4


def test_documents_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(json_stream, "MAX_LINE", 4 * CHUNK)
    long = json.dumps({"passages": [{"offset": 0, "text": "word " * CHUNK}]})
    documents, found = tried(tmp_path, f"[{json.dumps(document())}, {long}]")
    assert (len(documents), [problem.kind for problem in found]) == (1, ["too_long"])


def test_relations_to_nothing_are_reported(tmp_path):
    nodes = [{"refid": "T1", "role": ""}, {"refid": "T2", "role": ""}, {"refid": "R2", "role": ""}]
    passage = {
        "offset": 0,
        "text": "Sore",
        "annotations": [
            {"id": "T1", "infons": {"type": "A"}, "locations": [{"offset": 0, "length": 4}]}
        ],
        "relations": [{"id": "R1", "nodes": nodes}, 5],
    }
    document = {"id": "7", "passages": [passage], "relations": [{"id": "R2", "nodes": None}]}
    (tmp_path / "a.json").write_text(json.dumps(document))
    problems = []
    (found,) = read(tmp_path / "a.json", report=problems.append)
    assert len(found.mentions) == 1
    assert [(each.kind, each.message) for each in problems] == [
        ("dangling", "relation 'R1' of document '7' refers to 'T2', which is not in the document")
    ]
