"""PubAnnotation's JSON: denotations with one span or several, and chains of fragments."""

import json

import pytest

from discotag import Document, Mention, Sentence
from discotag.corpora import read, write
from samples import DATA, tried


def denotation(name, *spans, label="ADR"):
    places = [{"begin": start, "end": end} for start, end in spans]
    return {"id": name, "span": places if len(places) > 1 else places[0], "obj": label}


def chained(*ends):
    return {"id": "R1", "subj": ends[0], "pred": "_lexicallyChainedTo", "obj": ends[1]}


def row(*denotations, relations=(), text="Sore and stiff knees"):
    return json.dumps({"text": text, "denotations": denotations, "relations": relations}) + "\n"


def test_lists_of_spans_and_chains_are_read():
    problems = []
    documents = list(read(DATA / "pubannotation/posts.json", report=problems.append))
    assert [each.id for each in documents] == ["12-3", "13"]
    assert [[str(mention) for mention in each.mentions] for each in documents] == [
        ["ADR 'Sore knees' [0:1 3:4]", "ADR 'stiff knees' [2:4]"],
        ["ADR 'Pain in legs' [0:2 4:5]"],
    ]
    assert documents[1].extra == {"sourcedb": "Posts"}
    assert not problems


def test_what_is_written(tmp_path):
    mentions = [Mention("ADR", [(0, 1), (3, 4)]), Mention("ADR", [(2, 4)])]
    document = Document([Sentence("Sore and stiff knees".split(), mentions)], id="7")
    write([document], tmp_path / "out.json", "pubannotation")
    assert json.loads((tmp_path / "out.json").read_text()) == {
        "sourceid": "7",
        "text": "Sore and stiff knees",
        "denotations": [denotation("T1", (0, 4), (15, 20)), denotation("T2", (9, 20))],
    }


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_long_chain_has_the_label_of_its_head(tmp_path, order):
    parts = [
        denotation("a", (0, 4)),
        denotation("b", (9, 14), label="_FRAGMENT"),
        denotation("c", (15, 20), label="_FRAGMENT"),
    ]
    chains = [chained("a", "b"), chained("b", "c")]
    line = row(*parts, relations=[chains[number] for number in order])
    (document,), problems = tried(tmp_path / "in", line, "pubannotation")
    assert [str(mention) for mention in document.mentions] == ["ADR 'Sore stiff knees' [0:1 2:4]"]
    assert not problems


def test_a_chain_without_a_head_keeps_its_label(tmp_path):
    parts = [denotation(name, place, label="_FRAGMENT") for name, place in zip(
        "ab", [(0, 4), (9, 14)], strict=True)]  # fmt: skip
    line = row(*parts, relations=[chained("a", "b"), chained("b", "a")])
    (document,), problems = tried(tmp_path / "in", line, "pubannotation")
    assert [mention.label for mention in document.mentions] == ["_FRAGMENT"]
    assert not problems


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (row({"id": "T1", "obj": "A"}), "syntax", "'T1': each 'span' must be an object"),
        (row(denotation("T1", ("0", 4))), "syntax", "'T1': 'begin' must be a whole number"),
        (row(denotation("T1", (0, 4), label=None)), "syntax", "'T1': 'obj' must be a string"),
        (row(denotation("T1", (0, 99))), "outside", "denotation 'T1': fragment 0:99 is outside"),
        (row(*[denotation("T1", (0, 4))] * 2), "syntax", "an earlier denotation also has the id"),
        (row(denotation("T1", (0, 4)), relations=[chained("T1", "T2")]), "dangling", "'T2'"),
        (
            row(
                denotation("a", (0, 4)),
                denotation("b", (9, 14), label="Drug"),
                relations=[chained("a", "b")],
            ),
            "syntax",
            "denotation 'a' and denotation 'b' are joined, but have different labels",
        ),
        ('{"denotations": []}', "syntax", "'text' must be a string"),
    ],
)
def test_problems_are_reported(tmp_path, line, kind, message):
    _, problems = tried(tmp_path / "in.jsonl", row() + line, "pubannotation")
    (problem,) = problems
    assert (problem.kind, problem.line) == (kind, 2)
    assert message in problem.message
