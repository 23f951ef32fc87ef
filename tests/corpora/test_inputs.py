"""What a user gives to be read: which arguments are texts, which files are read, and their ids."""

import gzip

import pytest

from discotag.corpora import CorpusError
from discotag.corpora.formats import text
from discotag.corpora.inputs import Inputs
from discotag.words import Splitter


def make(folder, *names, text="sore arms"):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def ids(*arguments, **options):
    return [each.id for each in Inputs(list(map(str, arguments)), **options).documents()]


def texts(*arguments, **options):
    return [each.text for each in Inputs(list(map(str, arguments)), **options).documents()]


def refused(*arguments, **options):
    with pytest.raises(CorpusError) as caught:
        list(Inputs(list(map(str, arguments)), **options).documents())
    return str(caught.value)


def test_an_argument_with_white_space_that_names_no_path_is_a_text(tmp_path):
    make(tmp_path, "my notes.txt", text="sore toes")
    assert texts("sore arms", tmp_path / "my notes.txt") == ["sore arms", "sore toes"]
    assert texts("a\nb", "x" * 5000 + " y", "no\0 pain") == ["a\nb", "x" * 5000 + " y", "no\0 pain"]


@pytest.mark.parametrize("argument", ["headache", "notes.txt", "a/b", "x" * 5000, "a\0b", "", "  "])
def test_any_other_argument_is_a_path(argument):
    assert refused(argument).endswith("if it is a text, give it with --text")


def test_texts_come_last(tmp_path):
    make(tmp_path, "a.txt")
    assert texts(tmp_path / "a.txt", texts=["", "pain"]) == ["sore arms", "", "pain"]
    assert ids(texts=["pain"]) == [None]


def test_ids_are_paths_below_the_folder_given(tmp_path):
    make(tmp_path, "x/a.txt", "y/a.txt", "b.txt")
    assert ids(tmp_path) == ["b", "x/a", "y/a"]
    assert ids(tmp_path / "x") == ["a"]


def test_ids_are_unique(tmp_path):
    make(tmp_path, "x/a.txt", "y/a.txt", "y/b.txt", "x/a.md", "x/a-1.txt")
    found = ids(tmp_path / "x" / "a.txt", tmp_path / "y" / "a.txt", tmp_path / "y" / "b.txt")
    assert found == ["x/a", "y/a", "b"]
    found = ids(tmp_path / "y", tmp_path / "x" / "a.txt", tmp_path / "x" / "a.md")
    assert found == ["y/a", "b", "x/a", "a.md"]
    assert ids(tmp_path / "x") == ["a-1", "a.md", "a.txt"]
    found = ids(tmp_path / "x", tmp_path / "y", by_line=True)
    assert len(set(found)) == len(found) == 5


def test_a_file_given_twice_is_refused(tmp_path):
    make(tmp_path, "a.txt")
    assert "a.txt: the file is given twice" in refused(tmp_path, tmp_path / "a.txt")
    assert "a.txt: the file is given twice" in refused(tmp_path / "a.txt", tmp_path / "." / "a.txt")
    assert "the file is given twice" in refused("-", "-")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    assert "a.txt: the file is given twice" in refused(tmp_path)


def test_packed_and_odd_names(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"sore arms"))
    make(tmp_path, "UPPER.TXT", "README", "v1.2.txt")
    assert ids(tmp_path) == ["README", "UPPER", "a", "v1.2"]


def test_annotations_of_brat_are_not_read(tmp_path):
    make(tmp_path, "a.txt", "b.txt", text="Sore arms. And legs.")
    make(tmp_path, "a.ann", text="T1\tADR 0 19\tSore arms. And legs\n")
    found = list(Inputs([str(tmp_path)]).documents())
    assert [each.id for each in found] == ["a", "b"]
    assert found[0].sentences == found[1].sentences  # what is annotated does not join sentences
    assert len(found[0].sentences) == 2
    assert texts(tmp_path / "a.txt") == ["Sore arms. And legs."]
    (annotated,) = Inputs([str(tmp_path / "a.ann")], format="brat").documents()
    assert annotated.mentions
    make(tmp_path, "c.ann", text="")
    problems = []
    assert len(list(Inputs([str(tmp_path)], report=problems.append).documents())) == 2
    assert [each.path for each in problems] == [str(tmp_path / "c.ann")]


def test_formats_by_content_and_by_ending(tmp_path):
    make(tmp_path, "a.data", text='{"id": "j", "text": "sore arms"}\n')
    make(tmp_path, "b.conll", text="sore B-ADR\narms I-ADR\n")
    make(tmp_path, "c.txt", text="sore B-ADR\narms I-ADR\n")
    make(tmp_path, "d.txt", text="I take B-12\n")
    problems = []
    found = list(Inputs([str(tmp_path)], report=problems.append).documents())
    assert [each.words for each in found[:3]] == [("sore", "arms")] * 3
    assert (found[0].id, found[0].text) == ("j", "sore arms")
    assert (found[3].id, found[3].text) == ("d", "I take B-12\n")
    assert [str(each) for each in problems] == [
        f"{tmp_path}/c.txt: the file is read as conll; if it is text, use --from text",
        f"{tmp_path}/d.txt: the file is read as text; if it is conll, use --from conll",
    ]
    (prose,) = Inputs([str(tmp_path / "c.txt")], format="text").documents()
    assert prose.text == "sore B-ADR\narms I-ADR\n"
    (prose,) = Inputs([str(tmp_path / "a.data")], format="text").documents()
    assert prose.text.startswith("{")
    (tagged,) = Inputs([str(tmp_path / "c.txt")], format="conll").documents()
    assert tagged.words == ("sore", "arms")
    assert "unknown format" in refused("a b", format="nope")


def test_what_is_left_out_of_a_folder_is_reported(tmp_path):
    make(tmp_path, "a.txt", "b.dat")
    (tmp_path / "c.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    problems = []
    found = list(Inputs([str(tmp_path)], report=problems.append).documents())
    assert [each.id for each in found] == ["a"]
    assert [(each.kind, each.severity) for each in problems] == [("left_out", "warning")] * 2
    assert [each.path.rsplit("/", 1)[1] for each in problems] == ["b.dat", "c.png"]
    (tmp_path / "d.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert "d.txt" in refused(tmp_path)  # what looks like text by its name is not passed over
    assert (
        "the folder has no files" in refused(tmp_path / "empty")
        if ((tmp_path / "empty").mkdir() is None)
        else ""
    )


def test_lines_are_documents(tmp_path):
    make(tmp_path, "a.txt", text="sore\n\narms")
    found = list(Inputs([str(tmp_path / "a.txt")], by_line=True, splitter=Splitter()).documents())
    assert [(each.id, each.text) for each in found] == [
        ("a-1", "sore"),
        ("a-2", ""),
        ("a-3", "arms"),
    ]


def test_a_text_that_is_too_long_for_a_document_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "MAX_TEXT", 1 << 20)
    file = tmp_path / "long.txt"
    file.write_text("pain\n" * (1 << 18))
    problems = []
    assert not list(Inputs([str(file)], report=problems.append).documents())
    (problem,) = problems
    assert problem.kind == "too_long"
    assert "more than 1 million characters; use --lines" in problem.message
    short = Inputs([str(file)], by_line=True).documents()
    assert next(short).words == ("pain",)


def test_descriptions_change_with_the_input(tmp_path):
    make(tmp_path, "x/a.txt", "x/b.txt")
    before = Inputs([str(tmp_path / "x"), "a text", "-"]).describe()
    assert Inputs([str(tmp_path / "x"), "a text", "-"]).describe() == before
    assert Inputs([str(tmp_path / "x"), "A text", "-"]).describe() != before
    assert before[-1] == "standard input"
    assert "sore" not in str(before)
    make(tmp_path, "x/b.txt", text="sore arms!")
    assert Inputs([str(tmp_path / "x"), "a text", "-"]).describe() != before
    (tmp_path / "x").rename(tmp_path / "moved")
    make(tmp_path, "moved/b.txt")
    assert Inputs([str(tmp_path / "moved"), "a text", "-"]).describe() == before
    many = [f"text {number}" for number in range(500)]
    assert len(Inputs(many).describe()) == 1
    assert Inputs(many).describe() != Inputs(many[::-1]).describe()


def test_a_byte_order_mark_is_dropped_or_kept(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffsore".encode())
    assert texts(tmp_path / "a.txt") == ["sore"]
    assert texts(tmp_path / "a.txt", keep_mark=True) == ["\ufeffsore"]
