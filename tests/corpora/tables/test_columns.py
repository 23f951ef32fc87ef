"""Which column has the texts, which one the ids, and what the others are called."""

import re

import pytest

from discotag.corpora import CorpusError, TableOptions, read
from tables import read_all

TEXT = "Pain in my arms and legs"


def make(tmp_path, *rows):
    path = tmp_path / "posts.csv"
    path.write_text("".join("|".join(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        ([("id", "comment", "drug"), ("1", TEXT, "A")], "comment"),
        ([("id", "comment"), ("1", "Headache")], "comment"),  # short, but the only one
        ([("id", "comment"), ("1", "5")], "comment"),  # not the ids
        ([("comment", "drug"), ("So tired", "A")], "comment"),  # short, but the longest
        ([("id", "comment")], "comment"),
        ([("n", "when", "comment"), ("1", "2024-05-01 10:00:00 +0000", TEXT)], "comment"),
        ([("title", "TEXT"), ("A nice drug for me", TEXT)], "TEXT"),  # of two, the one named text
        ([("comment", "comment"), (TEXT, "1")], "comment"),
    ],
)
def test_the_column_of_texts_is_guessed_and_said(tmp_path, rows, column):
    documents, problems = read_all(make(tmp_path, *rows))
    names = rows[0]
    assert [document.text for document in documents] == [
        row[names.index(column)] for row in rows[1:]
    ]
    assert f"the texts are in the column {column!r}" in [each.message for each in problems]


@pytest.mark.parametrize(
    "rows",
    [
        [("id", "title", "comment"), ("1", "A nice drug for me", TEXT)],
        [("drug", "place"), ("A", "Rome")],
        [("a", "b")],
    ],
)
def test_columns_are_listed_where_it_is_not_clear(tmp_path, rows):
    message = f"which column has the texts. Use --text-column with one of {', '.join(rows[0])}"
    with pytest.raises(CorpusError, match=message):
        list(read(make(tmp_path, *rows), table=TableOptions()))


def test_a_missing_column_is_one_line(tmp_path):
    path = make(tmp_path, ("id", "comment", "date"), ("1", TEXT, "2024"))
    for options, name in (
        (TableOptions(text_column="text"), "text-column"),
        (TableOptions(id_column="text"), "id-column"),
    ):
        message = f"posts.csv: no column named 'text'; columns are id, comment, date. Use --{name}"
        with pytest.raises(CorpusError, match=message):
            list(read(path, table=options))


def test_many_columns_are_not_all_listed(tmp_path):
    path = make(tmp_path, [f"c{n}" for n in range(100)])
    with pytest.raises(CorpusError, match=r"one of c0, .*, c29 and 70 more$"):
        list(read(path))


def test_names_match_without_case_and_spaces(tmp_path):
    path = make(tmp_path, ("Post  ID", "Patient Comment"), ("7", TEXT))
    (document,), _ = read_all(path, text_column="patient comment", id_column="POST ID")
    assert (document.id, document.text) == ("7", TEXT)


def test_names_that_differ_only_in_case(tmp_path):
    path = make(tmp_path, ("Text", "TEXT"), ("1", TEXT))
    (document,), _ = read_all(path, text_column="TEXT")
    assert document.text == TEXT
    with pytest.raises(CorpusError, match="no column named 'text'"):
        read_all(path, text_column="text")


def test_one_column_cannot_be_both(tmp_path):
    path = make(tmp_path, ("id", "comment"), ("1", TEXT))
    with pytest.raises(CorpusError, match="'comment' cannot have both the texts and their ids"):
        read_all(path, text_column="comment", id_column="comment")
    (document,), _ = read_all(path, text_column="id")
    assert (document.id, document.text) == ("2", "1")


def test_other_columns_keep_their_names_unless_documents_have_them(tmp_path):
    names = ("comment", "text", "row", "drug", "drug", "", "mentions")
    path = make(tmp_path, names, (TEXT, "a", "b", "c", "d", "e", "f"))
    (document,), _ = read_all(path, text_column="comment")
    assert document.extra == {
        "row": 2, "input_text": "a", "input_row": "b", "drug": "c", "drug_2": "d",
        "column 6": "e", "input_mentions": "f",
    }  # fmt: skip
    assert document.to_dict()["input_text"] == "a"


def test_a_first_row_that_is_a_text(tmp_path):
    path = make(tmp_path, (f"{TEXT} " * 10,), (TEXT,))
    with pytest.raises(
        CorpusError, match=r"csv:1: the first row must have the names of the columns"
    ):
        list(read(path))


def test_a_title_above_the_names(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text(f"Report of May\n\nid;comment;drug\n1;{TEXT};A\n2;{TEXT};B\n")
    documents, problems = read_all(path)
    assert [document.extra["row"] for document in documents] == [4, 5]
    assert "the names of the columns are in row 3" in problems[0].message


def test_empty_tables(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("\n\n")
    with pytest.raises(CorpusError, match="the table is empty"):
        list(read(path))


@pytest.mark.parametrize("wanted", ["A", "3", "2026-03-01", "Swollen knees"])
def test_a_cell_that_is_equal_to_the_name_is_no_header(tmp_path, wanted):
    path = tmp_path / "posts.csv"
    path.write_text(
        "Post,Day,Drug,Comment\n3,2026-03-01,A,Swollen knees\n4,2026-03-02,B,No complaints\n"
    )
    message = f"no column named {wanted!r}; columns are Post, Day, Drug, Comment. Use --text-column"
    with pytest.raises(CorpusError, match=re.escape(message)):
        read_all(path, text_column=wanted)


def test_a_row_of_words_below_the_names_is_no_header(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("Drug,Comment\nA,Swollen knees\nB,No complaints\n")
    with pytest.raises(CorpusError, match="no column named 'A'; columns are Drug, Comment"):
        read_all(path, text_column="A")


def test_the_name_of_the_column_finds_names_below_a_wide_title(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("Export,of posts,,\n2026,4,,\nPost,Day,Drug,Comment\n3,4,A,Swollen knees\n")
    documents, _ = read_all(path, text_column="comment")
    assert [document.text for document in documents] == ["Swollen knees"]


def test_messages_name_the_command_that_has_the_option(tmp_path):
    path = make(tmp_path, ["title", "body"], ["A very good one", "Another long text"])
    for table, whose in ((None, " of discotag corpus convert"), (TableOptions(), "")):
        with pytest.raises(CorpusError, match=rf"Use --text-column{whose} with one of title, body"):
            list(read(path, table=table))
