"""Label Studio's JSON and JSON-MIN: tasks with labelled ranges, relations that join them."""

import json

import pytest

from discotag.corpora import read
from discotag.corpora.formats.registry import find_format
from samples import DATA, tried


def marked(name, start, end, *labels, **more):
    value = {"start": start, "end": end, "labels": labels or ["ADR"], **more}
    return {"id": name, "type": "labels", "value": value}


def relation(one, other, *labels):
    return {"type": "relation", "from_id": one, "to_id": other, "labels": labels}


def task(*results, text="Sore and stiff knees", **more):
    row = {"id": 7, "data": {"text": text}, "annotations": [{"result": results}], **more}
    return json.dumps(row) + "\n"


def test_tasks_are_read_and_what_is_not_read_is_counted():
    problems = []
    documents = list(read(DATA / "label-studio/posts.json", report=problems.append))
    assert [(each.id, each.extra) for each in documents] == [("7", {"drug": "A"}), ("9", {})]
    assert [[str(mention) for mention in each.mentions] for each in documents] == [
        ["ADR 'Sore knees' [0:1 3:4]", "ADR 'stiff knees' [2:4]", "Pain 'stiff knees' [2:4]"],
        ["ADR 'fatigué' [1:2]"],
    ]
    assert [(each.kind, each.message) for each in problems] == [
        ("offset_unit", "document '9' counts offsets in units of UTF-16; they are converted"),
        ("left_out", "1 task is left out: it was not annotated"),
        ("left_out", "1 further annotation of a task is not read"),
        ("unknown_field", "results of the type 'choices' are not read: 1"),
    ]


def test_the_minimal_form_is_read():
    problems = []
    documents = list(read(DATA / "label-studio/minimal.json", report=problems.append))
    assert [(each.id, each.extra) for each in documents] == [("7", {"drug": "A"}), ("8", {})]
    assert [[mention.text for mention in each.mentions] for each in documents] == [
        ["stiff knees"],
        [],
    ]
    assert not problems


@pytest.mark.parametrize(
    ("relations", "found"),
    [
        ([], ["Sore", "stiff", "knees"]),
        ([relation("a", "c")], ["Sore knees", "stiff"]),
        ([relation("c", "a", "fragment"), relation("b", "c", "frag")], ["Sore stiff knees"]),
        ([relation("a", "c", "causes")], ["Sore", "stiff", "knees"]),
    ],
)
def test_relations_join_ranges(tmp_path, relations, found):
    ranges = marked("a", 0, 4), marked("b", 9, 14), marked("c", 15, 20)
    (document,), problems = tried(tmp_path / "in", task(*ranges, *relations), "label-studio")
    assert sorted(mention.text for mention in document.mentions) == sorted(found)
    assert not problems


def test_relations_without_a_label_do_not_join_different_labels(tmp_path):
    ranges = marked("a", 0, 4), marked("b", 9, 14, "Drug")
    row = task(*ranges, relation("a", "b"))
    (document,), problems = tried(tmp_path / "in", row, "label-studio")
    assert [mention.text for mention in document.mentions] == ["Sore", "stiff"]
    assert not problems


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (task(marked("a", "0", 4)), "syntax", "'start' in task 7 must be a whole number"),
        (task({"type": "labels"}), "syntax", "'value' of a result of task 7 must be an object"),
        (task({"type": "labels", "value": {"start": 0, "end": 1}}), "syntax", "has no label"),
        (task(marked("a", 0, 99)), "outside", "the range at 0 of task 7: fragment 0:99 is"),
        (task(marked("a", 0, 4, text="sore")), "text_mismatch", "should be 'sore', but the"),
        (task(marked("a", 0, 4), relation("a", "x")), "dangling", "task 7 refers to 'x'"),
        (
            task(marked("a", 0, 4), marked("b", 5, 8, "Drug"), relation("a", "b", "frag")),
            "syntax",
            "task 7: a relation joins ranges with different labels",
        ),
        (task(*[marked("a", 0, 4)] * 2), "syntax", "has the id and the label of another"),
        (task(text=5), "syntax", "the text of task 7 must be a string"),
        (task(annotations=[3]), "syntax", "each of 'annotations' must be an object"),
        (task(annotations=[]), "left_out", "1 task is left out: it was not annotated"),
        ('{"text": "a", "label": [{"labels": ["A"]}]}\n', "syntax", "'start' in a task must"),
    ],
)
def test_problems_are_reported(tmp_path, line, kind, message):
    _, problems = tried(tmp_path / "in.jsonl", task() + line, "label-studio")
    (problem,) = problems
    assert (problem.kind, problem.line) == (kind, None if kind == "left_out" else 2)
    assert message in problem.message


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (f"[{task()}]", "label-studio"),
        ('[{"id": 1, "predictions": [], "data": {"text": "a"}}]', "label-studio"),
        ('[{"text": "a", "x": [{"start": 0, "end": 1, "labels": ["A"]}]}]', "label-studio"),
        ('[{"text": "a", "annotator": 1, "annotation_id": 1}]', "label-studio"),
        ('[{"text": "a", "labels": ["A"]}]', "jsonl"),
    ],
)
def test_files_are_recognised(tmp_path, text, format):
    path = tmp_path / "file"
    path.write_text(text)
    assert find_format(path).name == format
