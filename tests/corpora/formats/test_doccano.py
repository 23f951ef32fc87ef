"""doccano's JSON lines: ranges with labels, and relations that join fragments."""

import json

import pytest

from discotag import Document, Mention, Sentence
from discotag.corpora import read, write
from discotag.corpora.formats.registry import find_format
from samples import DATA, tried


def entity(name, start, end, label="ADR"):
    return {"id": name, "label": label, "start_offset": start, "end_offset": end}


def relation(first, second, kind="fragment"):
    return {"id": 1, "from_id": first, "to_id": second, "type": kind}


def row(*entities, relations=(), text="Sore and stiff knees"):
    return json.dumps({"text": text, "entities": entities, "relations": relations}) + "\n"


def test_both_exports_are_read():
    documents = list(read(DATA / "doccano/posts.jsonl"))
    assert [each.id for each in documents] == ["1", "2", "3"]
    assert [[str(mention) for mention in each.mentions] for each in documents] == [
        ["ADR 'Swollen knees' [0:1 3:4]", "ADR 'stiff knees' [2:4]"],
        ["ADR 'fatigué' [1:2]"],
        [],
    ]
    assert [each.extra for each in documents] == [{}, {"drug": "A"}, {}]


def test_what_is_written(tmp_path):
    mentions = [Mention("ADR", [(0, 1), (3, 4)]), Mention("ADR", [(2, 4)])]
    document = Document([Sentence("Sore and stiff knees".split(), mentions)], id="7")
    write([document], tmp_path / "out.jsonl", "doccano")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {
        "id": "7",
        "text": "Sore and stiff knees",
        "entities": [entity(0, 0, 4), entity(1, 15, 20), entity(2, 9, 20)],
        "relations": [{"id": 0, "type": "fragment", "from_id": 0, "to_id": 1}],
    }


@pytest.mark.parametrize(
    ("relations", "found"),
    [
        ([], ["Sore", "stiff", "knees"]),
        ([relation(1, 3)], ["Sore knees", "stiff"]),
        ([relation(3, 1), relation(2, 3)], ["Sore stiff knees"]),
        ([relation(1, 2), relation(2, 3), relation(3, 1)], ["Sore stiff knees"]),
        ([relation(1, 3, "causes")], ["Sore", "stiff", "knees"]),
    ],
)
def test_relations_join_fragments(tmp_path, relations, found):
    text = row(entity(1, 0, 4), entity(2, 9, 14), entity(3, 15, 20), relations=relations)
    (document,), problems = tried(tmp_path / "in.jsonl", text, "doccano")
    assert sorted(mention.text for mention in document.mentions) == sorted(found)
    assert not problems


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (row(entity(1, 0, 4), entity(1, 5, 8)), "syntax", "an entity has no id, or that of"),
        (row(entity(None, 0, 4)), "syntax", "an entity has no id, or that of another"),
        (row(entity(1, "0", 4)), "syntax", "'start_offset' must be a whole number"),
        (row(entity(1, 0, 99)), "outside", "entity '1': "),
        (row(entity(1, 0, 4), relations=[relation(1, 8)]), "dangling", "refers to '8'"),
        (
            row(entity(1, 0, 4), entity(2, 5, 8, "Drug"), relations=[relation(1, 2)]),
            "syntax",
            "entity '1' and entity '2' are joined, but have different labels",
        ),
        ('{"text": "a", "label": [[0, 1]]}', "syntax", "each of 'label' must look like"),
        ('{"text": "a", "label": [[0, true, "A"]]}', "syntax", "must be a whole number"),
        ('{"text": "a", "labels": [[0, 1, "A"], [0, 1, "A"]]}', "duplicate", "given twice"),
        ('{"label": []}', "syntax", "'text' must be a string"),
    ],
)
def test_problems_are_reported(tmp_path, line, kind, message):
    _, problems = tried(tmp_path / "in.jsonl", line, "doccano")
    (problem,) = problems
    assert (problem.kind, problem.line) == (kind, 1)
    assert message in problem.message


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ('{"text": "a", "label": [[0, 1, "A"]]}', "doccano"),
        ('{"text": "a", "labels": []}\n{"text": "a", "labels": [[0, 1, "A"]]}', "doccano"),
        ('{"id": 1, "text": "a", "entities": [], "relations": []}', "doccano"),
        ('[{"text": "a", "entities": [{"id": 1, "start_offset": 0}]}]', "doccano"),
        ('{"text": "a", "label": ["positive"]}', "jsonl"),  # of a whole text
        ('{"text": "a", "label": []}', "jsonl"),
        ('{"text": "a", "mentions": [], "label": [[0, 1, "A"]]}', "jsonl"),
        ('{"text": "\\"label\\": [[0, 1, \\"A\\"]]", "label": "x"}', "jsonl"),
    ],
)
def test_files_are_recognised(tmp_path, text, format):
    path = tmp_path / "file"
    path.write_text(text)
    assert find_format(path).name == format
