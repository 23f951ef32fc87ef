import shutil
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from any_corpora import documents_of_text
from discotag import Document, Mention, Sentence
from discotag.corpora import CorpusError, read, write
from discotag.words import Splitter
from folders import refuse_to_open
from samples import DATA

GOOD, BAD = DATA / "brat/good", DATA / "brat/bad"


@pytest.fixture
def folder(tmp_path):
    """A copy of the good folder."""
    return shutil.copytree(GOOD, tmp_path / "good")


def by_id(path, **options):
    return {document.id: document for document in read(path, **options)}


def said(folder):
    """What is in the files of a folder."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def with_mentions(document, *mentions):
    """The document, with other mentions in its first sentence."""
    first, *rest = document.sentences
    return replace(document, sentences=(replace(first, mentions=mentions), *rest))


def test_reading_a_folder():
    found = by_id(GOOD)
    assert list(found) == ["joints", "ward/quiet.day", "ward/windows"]
    assert [mention.text for mention in found["joints"].mentions] == [
        "joint pain",
        "shoulder pain",
        "back pain",
        "Stopped",
        "pills",
        "joint\nstiffness",
    ]
    assert found["ward/quiet.day"].mentions == ()


def test_fragments_of_a_line_break_are_one():
    mention = by_id(GOOD)["joints"].mentions[-1]
    assert not mention.discontinuous
    assert mention.fragments == ((16, 18),)


def test_offsets_count_both_characters_of_windows_line_ends_and_one_for_an_emoji():
    document = by_id(GOOD)["ward/windows"]
    assert "\r\n" in document.text
    texts = [mention.text for mention in document.mentions]
    assert texts == ["Slept badly", "Arms tingled", "legs tingled"]


@pytest.mark.parametrize("name", ["windows.ann", "windows.txt"])
def test_reading_one_document(name):
    (document,) = read(GOOD / "ward" / name)
    assert document.id == "windows"
    assert len(document.mentions) == 3


def test_a_byte_order_mark_is_a_character_of_the_text(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffSore toes".encode())
    (tmp_path / "a.ann").write_bytes("\ufeffT1\tADR 1 5\tSore\n".encode())
    (document,) = read(tmp_path)
    assert [mention.text for mention in document.mentions] == ["Sore"]


PLANTED = {
    ("alone.ann", None, "missing"),
    ("bytes.ann", 2, "encoding"),
    ("errors.ann", 2, "syntax"),  # offsets that are no numbers
    ("errors.ann", 3, "inverted"),
    ("errors.ann", 4, "empty"),
    ("errors.ann", 5, "outside"),
    ("errors.ann", 6, "overlapping"),
    ("errors.ann", 7, "duplicate"),
    ("errors.ann", 8, "text_mismatch"),
    ("errors.ann", 9, "duplicate_id"),
    ("errors.ann", 10, "syntax"),  # no line of brat's
    ("errors.ann", 11, "syntax"),  # spaces for tabs
    ("errors.ann", 12, "syntax"),  # no text
    ("errors.ann", 13, "empty"),  # white space only
    ("errors.ann", 14, "widened"),
    ("errors.ann", 15, "syntax"),  # a label that cannot be seen
    ("errors.ann", 17, "syntax"),  # an offset without end
    ("errors.ann", 18, "syntax"),  # a negative one
    ("errors.ann", 19, "syntax"),  # digits of another script
    ("errors.ann", 22, "syntax"),  # a kind of line that brat does not have
    ("latin.txt", 2, "encoding"),
    ("unmarked.txt", None, "missing"),
    ("windows.ann", 2, "text_mismatch"),  # counted as if line ends were one character
}


def test_every_planted_error_is_reported_with_file_and_line_and_the_rest_is_read():
    problems = []
    found = by_id(BAD, report=problems.append)
    assert {
        (problem.path.removeprefix(f"{BAD}/"), problem.line, problem.kind) for problem in problems
    } == PLANTED
    assert len(problems) == len(PLANTED)
    assert {name: [m.text for m in each.mentions] for name, each in found.items()} == {
        "bytes": ["Sore", "Sore toes"],
        "errors": ["Sore", "Sore knees", "Sore toes", "Sore toes", "Dizzy"],
        "windows": ["Sore\r\ntoes"],
    }


def test_strictly_the_first_error_ends_the_reading():
    with pytest.raises(CorpusError, match=r"alone\.ann: alone\.txt is missing in the same folder"):
        list(read(BAD))
    with pytest.raises(CorpusError, match=r"errors\.ann:2: T2: offsets must look like"):
        list(read(BAD / "errors.ann"))


def test_text_is_compared_white_space_apart(tmp_path):
    (tmp_path / "a.txt").write_text("sore\n toes and  knees")
    (tmp_path / "a.ann").write_text(
        "T1\tADR 0 10\tsore  toes\nT2\tADR 0 10\tsore toe\nT3\tADR 0 4;6 10\tsore toes\n"
        "T4\tADR 11 21\tand knees\n"
    )
    problems = []
    (document,) = read(tmp_path, report=problems.append)
    assert [(problem.kind, problem.line) for problem in problems] == [("text_mismatch", 2)]
    assert len(document.mentions) == 3


def test_what_is_neither_a_folder_nor_of_brat(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(CorpusError, match=r"a folder of \.txt and \.ann files, or one of these"):
        list(read(tmp_path / "a.json", "brat"))
    with pytest.raises(CorpusError, match="or one of these"):
        list(read("-", "brat"))
    with pytest.raises(CorpusError, match="brat is written to a folder"):
        write([], "-", "brat")
    with pytest.raises(CorpusError, match="exists"):
        write([], tmp_path / "a.json", "brat")


@pytest.mark.parametrize("splitter", [Splitter(), Splitter("lines", "spaces"), Splitter("whole")])
def test_writing_back_what_was_read_changes_no_byte(folder, splitter):
    before = said(folder)
    write(read(folder, splitter=splitter), folder, "brat")
    assert said(folder) == before


def test_writing_back_keeps_lines_that_are_bad_or_were_widened(tmp_path):
    shutil.copy(BAD / "errors.txt", tmp_path)
    shutil.copy(BAD / "errors.ann", tmp_path)
    before = said(tmp_path)
    write(read(tmp_path, report=lambda problem: None), tmp_path, "brat")
    assert said(tmp_path) == before


def test_writing_back_keeps_lines_that_count_offsets_otherwise(tmp_path):
    (tmp_path / "a.txt").write_text("😴😴 Sore toes\n")
    (tmp_path / "a.ann").write_text("T1\tADR 5 9\tSore\nT2\tADR 10 14\ttoes\n")  # UTF-16
    before = said(tmp_path)
    problems = []
    (document,) = read(tmp_path, report=problems.append)
    assert [problem.kind for problem in problems] == ["offset_unit"]
    assert [mention.text for mention in document.mentions] == ["Sore", "toes"]
    write([document], tmp_path, "brat")
    with pytest.raises(CorpusError, match="offsets in this file do not count characters"):
        write([with_mentions(document, Mention("ADR", [(0, 4)]))], tmp_path, "brat")
    assert said(tmp_path) == before


def test_writing_back_brings_mentions_up_to_date(folder):
    document = by_id(folder)["joints"]
    kept = [m for m in document.sentences[0].mentions if m.text != "back pain"]
    new = Mention("ADR", [(0, 1), (6, 7)])
    (folder / "joints.ann").write_text(
        (folder / "joints.ann").read_text().replace("*\tEquiv T2 T3\n", "")
    )
    before = (folder / "joints.ann").read_text().split("\n")
    write([with_mentions(document, *kept, new)], folder, "brat")
    after = (folder / "joints.ann").read_text().split("\n")
    before.remove("T3\tADR 27 36\tback pain")
    assert after == [*before[:-1], "T7\tADR 0 6;32 36\tSevere pain", ""]


def test_line_ends_stay_as_they_are(folder):
    document = by_id(folder)["ward/windows"]
    first = document.sentences[0]
    more = with_mentions(document, *first.mentions, Mention("ADR", [(1, 2)]))
    before = (folder / "ward/windows.ann").read_bytes()
    write([more], folder, "brat")
    assert (folder / "ward/windows.ann").read_bytes() == before + b"T4\tADR 6 11\tbadly\r\n"


def test_the_last_line_may_have_no_end(tmp_path):
    (tmp_path / "a.txt").write_text("Sore toes")
    (tmp_path / "a.ann").write_text("T1\tADR 0 4\tSore")
    (document,) = read(tmp_path)
    write([with_mentions(document, Mention("ADR", [(1, 2)]))], tmp_path, "brat")
    assert (tmp_path / "a.ann").read_text() == "T2\tADR 5 9\ttoes\n"
    write(
        [with_mentions(document, *[Mention("ADR", [(n, n + 1)]) for n in (0, 1)])], tmp_path, "brat"
    )
    assert (tmp_path / "a.ann").read_text() == "T2\tADR 5 9\ttoes\nT3\tADR 0 4\tSore\n"
    write([with_mentions(document)], tmp_path, "brat")
    assert (tmp_path / "a.ann").read_text() == ""


@pytest.mark.parametrize(
    ("gone", "line"),
    [
        ("joint pain", r"8: R1 refers to T1"),
        ("shoulder pain", r"12: \* refers to T2"),
        ("joint\nstiffness", r"8: R1 refers to T5"),
        ("Stopped", r"6: E1 refers to T6"),
        ("pills", r"6: E1 refers to T4"),
    ],
)
def test_a_mention_that_others_refer_to_is_not_taken_out(folder, gone, line):
    document = by_id(folder)["joints"]
    rest = replace(
        document,
        sentences=tuple(
            replace(each, mentions=tuple(m for m in each.mentions if m.text != gone))
            for each in document.sentences
        ),
    )
    before = said(folder)
    with pytest.raises(CorpusError, match=line) as caught:
        write([rest], folder, "brat")
    assert caught.value.problem.kind == "dangling"
    assert said(folder) == before


def test_notes_on_other_things_do_not_hold_a_mention_back(tmp_path):
    (tmp_path / "a.txt").write_text("Sore toes")
    (tmp_path / "a.ann").write_text(
        "T1\tADR 0 4\tSore\nT2\tADR 5 9\ttoes\n#1\tAnnotatorNotes T2\tnot T1\n"
        "N1\tReference T2 X:T1\tT1\n"
    )
    (document,) = read(tmp_path)
    write([with_mentions(document, Mention("ADR", [(1, 2)]))], tmp_path, "brat")
    assert (tmp_path / "a.ann").read_text().startswith("T2\t")


def test_a_text_that_is_there_is_never_changed(folder):
    document = Splitter().document("Another text", id="joints")
    before = said(folder)
    with pytest.raises(
        CorpusError, match=r"joints\.txt: the file already exists with another text"
    ):
        write([document], folder, "brat")
    assert said(folder) == before


def test_a_mention_across_lines_is_written_as_brat_does(tmp_path):
    document = Splitter("whole").document("sore \r\n  toes", id="a")
    write([with_mentions(document, Mention("ADR", [(0, 2)]))], tmp_path, "brat")
    assert (tmp_path / "a.ann").read_text() == "T1\tADR 0 4;9 13\tsore toes\n"
    assert (tmp_path / "a.txt").read_bytes() == b"sore \r\n  toes"


def test_documents_without_an_id_are_numbered(tmp_path):
    write([Document([Sentence(["a"])]), Document([Sentence(["b"])])], tmp_path / "new/out", "brat")
    assert [document.id for document in read(tmp_path / "new/out")] == ["000001", "000002"]


OUTSIDE = ["..", "../a", "/a", "a/../b", "a//b", "a/", ".a", "a\\b", "C:a", "", "a\nb", "a\x00b"]


@pytest.mark.parametrize("name", [*OUTSIDE, "a" * 300])
def test_names_that_leave_the_folder_are_refused(name, tmp_path):
    with pytest.raises(CorpusError):
        write([Document([Sentence(["a"])], id=name)], tmp_path / "out", "brat")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_id_stands_for_one_document(tmp_path):
    with pytest.raises(CorpusError, match="two documents have the id 'a'"):
        write([Document([Sentence(["a"])], id="a")] * 2, tmp_path, "brat")


def test_labels_with_white_space_are_refused(tmp_path):
    document = Document([Sentence(["a"], [Mention("A B", [(0, 1)])])])
    with pytest.raises(CorpusError, match="cannot represent the label 'A B'"):
        write([document], tmp_path, "brat")


@given(cut=documents_of_text())
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_writing_over_gives_what_writing_afresh_gives(tmp_path_factory, cut):
    """Whatever mentions were there before, those of the document are there after."""
    splitter, document = cut
    folder = tmp_path_factory.mktemp("over")
    mentions = [
        replace(mention, label="Old")
        for each in document.sentences
        for mention in each.mentions[::2]
        if each is document.sentences[0]
    ]
    before = with_mentions(document, *mentions) if document.sentences else document
    write([before], folder, "brat")
    write([document], folder, "brat")
    (after,) = read(folder, splitter=splitter, report=lambda problem: None)
    assert after == document


def test_lines_that_refer_to_nothing_and_ids_that_are_taken_are_reported(tmp_path):
    (tmp_path / "a.txt").write_text("Sore toes")
    rows = [
        "T1\tADR 0 4\tSore",
        "R1\tCauses Arg1:T1 Arg2:T7",
        "E1\tPain:T1 Where:T8",
        "A1\tNegated E1",
        "A2\tNegated E5",
        "#1\tAnnotatorNotes T9\tsee T10",
        "*\tEquiv T1 T11",
        "N1\tReference T12 UMLS:1\tSore",
        "R1\tCauses Arg1:T1 Arg2:T1",
        "*\tEquiv T1 T1",
        "#2\tAnnotatorNotes R1\tgood",
    ]
    (tmp_path / "a.ann").write_text("\n".join(rows))
    problems = []
    (document,) = read(tmp_path, report=problems.append)
    assert [mention.text for mention in document.mentions] == ["Sore"]
    found = sorted((problem.line, problem.kind) for problem in problems)
    assert found == [
        *((line, "dangling") for line in (2, 3, 5, 6, 7, 8)),
        (9, "duplicate_id"),
    ]
    assert "R1 refers to 'T7', which is not in the document" in {p.message for p in problems}
    assert list(read(tmp_path)) == [document]  # these are warnings


def test_a_document_that_cannot_be_read_is_left_out(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("Sore")
        (tmp_path / f"{name}.ann").write_text("")
    refuse_to_open(monkeypatch, "a.ann")
    problems = []
    assert [each.id for each in read(tmp_path, report=problems.append)] == ["b"]
    assert [(each.kind, each.message) for each in problems] == [("missing", "permission denied")]
    assert problems[0].path == str(tmp_path / "a.ann")
    with pytest.raises(CorpusError, match=r"a\.ann: permission denied"):
        list(read(tmp_path))


def test_other_files_of_a_folder_are_named(tmp_path):
    (tmp_path / "a.txt").write_text("Sore")
    (tmp_path / "a.ann").write_text("")
    (tmp_path / "annotation.conf").write_text("")  # brat's own
    problems = []
    assert len(list(read(tmp_path, report=problems.append))) == 1
    assert problems == []
    (tmp_path / "notes.docx").write_text("")
    list(read(tmp_path, report=problems.append))
    assert [(each.kind, each.message) for each in problems] == [
        ("left_out", "1 file is not read: notes.docx")
    ]
