"""Rows as documents: ids, empty cells, lengths, and memory."""

import tracemalloc
from pathlib import Path

import pytest

from discotag.corpora import CorpusError
from discotag.corpora.tables import read_table, reading, table_by_ending
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
        list(read_table(path))
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


def test_endings():
    assert table_by_ending(Path("a.XLSX")).name == "xlsx"
    assert table_by_ending(Path("a.tsv.gz")).name == "tsv"
    assert table_by_ending(Path("a.xlsx.gz")) is None
    assert table_by_ending(Path("a.txt")) is None


def test_unknown_formats(tmp_path):
    with pytest.raises(CorpusError, match="ods: unknown format; tables are csv, tsv, xlsx"):
        read_table(tmp_path / "a.ods", "ods")
    with pytest.raises(CorpusError, match=r"a\.ods: this is not a table; the endings of tables"):
        read_table(tmp_path / "a.ods")


def test_memory_does_not_grow_with_the_table(tmp_path):
    peaks = []
    for number in (5_000, 20_000):
        path = tmp_path / f"{number}.csv"
        path.write_text("comment\n" + "Pain in my arms and legs\n" * number)
        tracemalloc.start()
        assert sum(1 for _ in read_table(path)) == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]
