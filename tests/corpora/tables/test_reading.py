"""Rows as documents: ids, empty cells, lengths, and memory."""

import tracemalloc

import pytest

from discotag.corpora import CorpusError, TableOptions, read, write
from discotag.corpora.formats.registry import UnrecognisedError, find_format
from discotag.corpora.tables import reading
from discotag.marks import Marked
from discotag.words import Splitter
from tables import read_all, workbook


def test_ids(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("id,comment\n007,Pain in arms\n,Dry mouth\n007,So tired\n , Rash \n")
    documents, problems = read_all(path, text_column="comment")
    assert [document.id for document in documents] == ["007", None, "007", None]
    assert [document.extra["row"] for document in documents] == [2, 3, 4, 5]
    assert [str(each) for each in problems] == [
        f"{path}: 2 rows have no id, such as row 3; the column 'row' tells them apart",
        f"{path}: 1 row has the id of an earlier one, such as '007' of rows 2 and 4; the column "
        "'row' tells them apart",
    ]
    assert {each.severity for each in problems} == {"warning"}


def test_only_so_many_ids_are_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "COMPARED_IDS", 2)
    path = tmp_path / "posts.csv"
    path.write_text("id,comment\n1,so so sore\n2,so so sore\n3,a b c\n3,a b c\n2,a b c\n")
    _, problems = read_all(path, text_column="comment")
    (problem,) = problems
    assert "1 row has the id of an earlier one, such as '2' of rows 3 and 6" in problem.message


def test_without_ids_rows_have_their_numbers(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("comment\nPain in arms\nDry mouth\n")
    documents, _ = read_all(path)
    assert [document.id for document in documents] == ["2", "3"]


def test_tables_without_texts(tmp_path):
    path = tmp_path / "posts.csv"
    for text, message in (
        ("id,comment\n", "the table has no rows below the names of its columns"),
        ("id,comment\n1,\n2,\n", "the column of texts is empty in all 2 rows"),
    ):
        path.write_text(text)
        _, problems = read_all(path, text_column="comment")
        assert [(each.kind, each.message) for each in problems] == [("no_text", message)]


def test_a_huge_text_of_a_workbook_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_CELL", 100)
    rows = [["id", "comment"], [1, "Pain in arms"], [2, "sore " * 100], [3, "Dry mouth"]]
    path = workbook(tmp_path / "posts.xlsx", {"Posts": rows})
    with pytest.raises(CorpusError, match=r"posts.xlsx:3: the text has more than .* characters"):
        list(read(path))
    documents, problems = read_all(path, text_column="comment")
    assert [document.id for document in documents] == ["1", "3"]
    assert [each.kind for each in problems] == ["too_long"]


def test_a_cell_outside_of_the_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "SAMPLE_ROWS", 2)
    rows = [["id", "comment"], [1, "Pain in arms"], [2, "So tired", None, "x"], [3, "Dry mouth"]]
    path = workbook(tmp_path / "posts.xlsx", {"Posts": rows})
    documents, problems = read_all(path, text_column="comment")
    assert [document.id for document in documents] == ["1", "3"]
    assert [str(each) for each in problems] == [
        f"{path}:3: row 3 has 4 cells, but there are 2 columns"
    ]


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.XLSX", "xlsx"), ("a.CSV", "csv"), ("a.tsv.gz", "tsv"), ("a.xlsx.gz", None), ("a", None)],
)
def test_endings(tmp_path, name, format):
    path = tmp_path / name
    path.write_text("so sore\n")
    if format is None:
        with pytest.raises(UnrecognisedError):
            find_format(path)
    else:
        assert find_format(path).name == format


def test_what_is_not_a_table_has_no_columns(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "so sore"}\n')
    with pytest.raises(CorpusError, match=r"a\.jsonl: this is not a table, which --text-column"):
        read(path, table=TableOptions("text"))
    with pytest.raises(CorpusError, match="markdown: this format can only be written, not read"):
        read(path, "markdown")


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet"])
def test_mentions_that_discotag_has_written_are_read(tmp_path, ending):
    documents = [
        Splitter().document(
            "Sore arms and legs. So tired!",
            [Marked("ADR", ((0, 4), (14, 18))), Marked("Symptom", ((20, 28),))],
            id="a",
        ),
        Splitter().document("Fine.", id="b"),
    ]
    path = tmp_path / f"out.{ending}"
    write(documents, path, rows="documents")
    again = list(read(path))
    assert [each.sentences for each in again] == [each.sentences for each in documents]
    assert [each.id for each in again] == ["a", "b"]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_a_table_with_a_row_for_each_mention_is_not_read_in_silence(tmp_path, ending):
    document = Splitter().document("Sore arms and legs.", [Marked("ADR", ((0, 9),))], id="a")
    path = tmp_path / f"out.{ending}"
    write([document], path, rows="mentions")
    for column in ("sentence", "text"):
        problems = []
        list(read(path, report=problems.append, table=TableOptions(text_column=column)))
        (problem,) = (each for each in problems if each.kind == "mention_rows")
        assert problem.severity == "warning"
        assert problem.message.endswith("write it with --rows documents")


def test_mentions_that_are_damaged_are_reported(tmp_path):
    path = tmp_path / "out.csv"
    names = "id,text,count,mentions,labels,scores,spans"
    for labels, spans, kind in (
        ("ADR; ADR", "[[[0, 4]]]", "syntax"),
        ("ADR", "[[[0, 4]", "syntax"),
        ("ADR", "[[[0]]]", "syntax"),
        ("ADR", '[[["0", 4]]]', "syntax"),
        ("ADR", "[[[0, 99]]]", "outside"),
    ):
        path.write_text(
            f'{names}\n1,so sore,1,so,{labels},,"{spans.replace(chr(34), chr(34) * 2)}"\n'
        )
        documents, problems = read_all(path)
        assert [(each.kind, each.line) for each in problems if each.severity == "error"] == [
            (kind, 2)
        ]
        assert not any(each.mentions for each in documents)
    path.write_text('text,labels,spans\nso sore,mine,"[1, 2]"\n')  # of somebody else
    assert [each.extra["labels"] for each in read_all(path)[0]] == ["mine"]


def test_memory_does_not_grow_with_the_table(tmp_path):
    peaks = []
    for number in (5_000, 20_000):
        path = tmp_path / f"{number}.csv"
        path.write_text("comment\n" + "Pain in my arms and legs\n" * number)
        tracemalloc.start()
        assert sum(1 for _ in read(path)) == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]
