"""PubTator: titles, abstracts and lines of mentions."""

import pytest

from discotag.corpora import read
from samples import DATA, tried

HEAD = "1|t|Sore toes\n1|a|No rash\n"


def test_titles_and_abstracts_are_one_text():
    problems = []
    one, two = read(DATA / "pubtator/posts.pubtator", report=problems.append)
    assert (one.id, two.id) == ("12", "13")
    assert one.text == "Sore toes\nNo rash, but knees hurt."
    assert [str(mention) for mention in one.mentions] == [
        "ADR 'Sore toes' [0:2]",
        "ADR 'rash' [3:4]",
    ]
    assert [mention.text for mention in two.mentions] == ["fatigué"]
    assert not problems


def test_a_title_ends_the_document_before_it(tmp_path):
    text = f"{HEAD}1\t0\t4\tSore\tADR\n2|t|Sore\n2\t0\t4\tSore\tADR\tC1\n"
    documents, problems = tried(tmp_path / "in", text, "pubtator")
    assert [(each.id, len(each.mentions)) for each in documents] == [("1", 1), ("2", 1)]
    assert not problems


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("1\tx\t4\tSore\tADR", "syntax", "a mention must look like 'ID<tab>0<tab>9"),
        ("1\t0\t4", "syntax", "a mention must look like"),
        ("2\t0\t4\tSore\tADR", "syntax", "a line must begin with the id of its document"),
        ("2|a|Sore", "syntax", "a line must begin with the id of its document"),
        ("1\t0\t99\tSore\tADR", "outside", "mention 'Sore' at 0: fragment 0:99"),
        ("1\t4\t0\tSore\tADR", "inverted", "ends before it starts"),
        ("1\t0\t4\tsore\tADR", "text_mismatch", "but the text there is 'Sore'"),
        ("\n1\t0\t4\tSore\tADR", "syntax", "a line must begin with the id of its document"),
    ],
)
def test_problems_are_reported(tmp_path, line, kind, message):
    documents, problems = tried(tmp_path / "in", f"{HEAD}{line}\n", "pubtator")
    (problem,) = problems
    assert (problem.kind, problem.line) == (kind, 3 + line.count("\n"))
    assert message in problem.message
    assert [each.mentions for each in documents] == [()]
