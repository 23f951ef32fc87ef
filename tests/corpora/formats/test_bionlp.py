"""Texts with `.a1` and `.a2` files, and relations that join fragments."""

import shutil

import pytest

from discotag import Mention
from discotag.corpora import CorpusError, read, write
from discotag.corpora.formats.registry import find_format
from discotag.corpora.inputs import Inputs
from samples import DATA

KNEES = DATA / "bionlp/knees.a1"
FOUND = ["ADR 'Sore knees' [0:1 3:4]", "ADR 'stiff knees' [2:4]", "ADR 'rash' [6:7]"]


def files(folder, ending="ann", *, text="Sore stiff knees", rows=()):
    (folder / "a.txt").write_text(text)
    (folder / f"a.{ending}").write_text("".join(f"{row}\n" for row in rows))
    return folder


@pytest.mark.parametrize("path", [KNEES.parent, KNEES, *map(KNEES.with_suffix, [".a2", ".txt"])])
def test_both_files_of_a_text_are_read(path):
    assert find_format(path).name == "bionlp"
    problems = []
    (document,) = read(path, report=problems.append)
    assert (document.id, problems) == ("knees", [])
    assert [str(mention) for mention in document.mentions] == FOUND


def test_prediction_reads_the_text_and_not_its_annotations():
    (document,) = Inputs([str(KNEES.parent)]).documents()
    assert (document.id, document.mentions) == ("knees", ())


@pytest.mark.parametrize("ending", ["a1", "a2"])
def test_one_of_the_files_is_enough(tmp_path, ending):
    (document,) = read(files(tmp_path, ending, rows=["T1\tADR 0 4\tSore"]))
    assert [mention.text for mention in document.mentions] == ["Sore"]


def test_problems_name_the_file_and_its_line(tmp_path):
    files(tmp_path, "a1", rows=["T1\tADR 0 4\tSore", "T2\tADR 5 99\tknees"])
    rows = ["T1\tADR 0 4\tSore", "T3\tadr 5 10\tknees", "T4\tadr 5 10\tstiff", "R1\tfrag A:T4 B:T9"]
    files(tmp_path, "a2", rows=[*rows, "nothing"])
    (tmp_path / "b.txt").write_text("Sore")
    (tmp_path / "c.a2").write_text("")
    problems = []
    (document,) = read(tmp_path, report=problems.append)
    assert {
        (each.path.removeprefix(f"{tmp_path}/"), each.line, each.kind) for each in problems
    } == {
        ("a.a1", 2, "outside"),
        ("a.a2", 1, "duplicate"),
        ("a.a2", 1, "duplicate_id"),
        ("a.a2", 2, "label_case"),
        ("a.a2", 2, "text_mismatch"),
        ("a.a2", 4, "dangling"),
        ("a.a2", 5, "syntax"),
        ("b.txt", None, "missing"),
        ("c.a2", None, "missing"),
    }
    assert [mention.text for mention in document.mentions] == ["Sore", "Sore", "stiff"]
    message = r"bionlp needs a folder of \.txt, \.a1 and \.a2 files, or one of these files"
    with pytest.raises(CorpusError, match=message):
        list(read(DATA / "jsonl/three.jsonl", "bionlp"))


PARTS = ["T1\tADR 0 4\tSore", "T2\tADR 11 16\tknees", "T3\tADR 5 10;11 16\tstiff knees"]


@pytest.mark.parametrize("kind", ["frag", "fragment"])
@pytest.mark.parametrize("turned", [False, True])
def test_relations_of_brat_join_fragments(tmp_path, kind, turned):
    one, other = ("T2", "T1") if turned else ("T1", "T2")
    relations = [f"R1\t{kind} Arg1:{one} Arg2:{other}", "R2\tCauses Arg1:T3 Arg2:T1"]
    files(tmp_path, rows=[*relations, *PARTS])
    (document,) = read(tmp_path, "brat")
    assert [mention.text for mention in document.mentions] == ["Sore knees", "stiff knees"]


def test_fragments_with_different_labels_are_reported(tmp_path):
    rows = ["T1\tADR 0 4\tSore", "T2\tDrug 11 16\tknees", "R1\tfrag Arg1:T1 Arg2:T2"]
    problems = []
    (document,) = read(files(tmp_path, rows=rows), report=problems.append)
    assert [mention.text for mention in document.mentions] == ["Sore", "knees"]
    ((kind, line, message),) = [(each.kind, each.line, each.message) for each in problems]
    assert (kind, line) == ("syntax", 2)
    assert message == "T1 and T2 are joined, but have different labels"


def test_joined_fragments_are_unchanged_where_brat_is_written(tmp_path):
    rows = [*PARTS, "R1\tfrag Arg1:T1 Arg2:T2"]
    (document,) = read(files(tmp_path, rows=rows))
    before = (tmp_path / "a.ann").read_text()
    write([document], tmp_path, "brat")
    assert (tmp_path / "a.ann").read_text() == before
    (sentence,) = document.sentences
    more = sentence.with_mentions([*sentence.mentions, Mention("ADR", [(1, 2)])])
    write([document.__class__((more,), text=document.text, id="a")], tmp_path, "brat")
    assert (tmp_path / "a.ann").read_text() == f"{before}T4\tADR 5 10\tstiff\n"
    fewer = sentence.with_mentions(sentence.mentions[1:])
    with pytest.raises(CorpusError, match="R1 refers to T1, which would be removed"):
        write([document.__class__((fewer,), text=document.text, id="a")], tmp_path, "brat")


def test_a_folder_with_files_of_brat_is_one_of_brat(tmp_path):
    shutil.copytree(KNEES.parent, tmp_path, dirs_exist_ok=True)
    (tmp_path / "knees.ann").write_text("")
    assert find_format(tmp_path).name == "brat"
