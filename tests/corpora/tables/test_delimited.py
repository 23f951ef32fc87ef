"""CSV and TSV as people and programs write them."""

import csv
import gzip
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag.corpora import CorpusError, read
from discotag.corpora.parsing.streams import decoding
from discotag.corpora.tables import delimited as module
from discotag.corpora.tables.delimited import CSV, rows
from discotag.corpora.tables.dialect import NO_SEPARATOR, find_dialect, find_encoding
from discotag.corpora.tables.table import TableOptions
from tables import read_all, texts

POSTS = "id;comment;drug\n1;Pain in arms, and nausea;Café\n2;Dry mouth – “no sleep”;B\n"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_separators_are_found(tmp_path, separator, ending):
    path = tmp_path / f"posts.{ending}"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter=separator)
        writer.writerow(["id", "comment", "drug"])
        writer.writerow([1, "Pain, in; my | arms\tand legs", "A"])
        writer.writerow([2, 'She said "no sleep",\nthen slept', "B"])
    assert texts(path) == ["Pain, in; my | arms\tand legs", 'She said "no sleep",\nthen slept']


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("id;text\n1;one, two, three\n2;one, two, three\n", ";"),
        ("id,text\n1,one; two; three\n2,one; two\n", ","),
        ("comment\nSore, and tired, and sad\nTired\nSore\n", NO_SEPARATOR),
        ("comment\n", NO_SEPARATOR),
        ("", NO_SEPARATOR),
        ("sep=|\na|b\n", "|"),
        ("Report of May\n\na;b;c\n1;2;3\n4;5;6\n", ";"),
    ],
)
def test_dialects(text, separator):
    assert find_dialect(text).separator == separator


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", None),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("cp1252", "Windows-1252"),
    ],
)
def test_encodings_are_found_and_said(tmp_path, encoding, said):
    path = tmp_path / "posts.csv"
    path.write_bytes(POSTS.encode(encoding))
    documents, problems = read_all(path, text_column="comment")
    assert [document.text for document in documents] == [
        "Pain in arms, and nausea",
        "Dry mouth – “no sleep”",
    ]
    assert documents[0].extra["drug"] == "Café"
    message = f"{path}: the file is not UTF-8 and is read as {said}; use --encoding for another"
    assert [str(each) for each in problems] == ([] if said is None else [message])


def test_a_byte_far_from_the_beginning_decides_the_encoding(tmp_path):
    path = tmp_path / "posts.csv"
    row = b"1,Pain in my arms and legs\n"
    path.write_bytes(b"id,comment\n" + row * 20_000 + "2,Café au lait\n".encode("cp1252"))
    assert texts(path)[-1] == "Café au lait"


def test_a_wrong_byte_does_not_make_utf_8_something_else(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_bytes("id,comment\n1,Café é à\n2,cut caf".encode() + b"\xc3\n3,Dry mouth\n")
    documents, problems = read_all(path, text_column="comment")
    assert [document.id for document in documents] == ["1", "3"]
    (problem,) = problems
    assert str(problem).startswith(f"{path}:3: byte 0xc3 is not UTF-8")


def test_an_encoding_that_is_given_is_used(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_bytes("id,comment\n1,Больно рукам очень\n".encode("cp1251"))
    (document,) = read(path, encoding="windows-1251")
    assert document.text == "Больно рукам очень"
    with decoding("utf-8"), pytest.raises(CorpusError, match="byte 0x.* is not utf-8"):
        list(rows(path, TableOptions(), _raise))


def test_compressed_tables(tmp_path):
    path = tmp_path / "posts.csv.gz"
    path.write_bytes(gzip.compress(POSTS.encode("cp1252")))
    assert texts(path)[0] == "Pain in arms, and nausea"
    assert find_encoding(path) == "cp1252"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(tmp_path, end):
    path = tmp_path / "posts.csv"
    path.write_bytes(f'id,comment{end}1,"Pain in{end}my arms"{end}2,Dry mouth{end}'.encode())
    assert texts(path) == [f"Pain in{end}my arms", "Dry mouth"]


def test_rows_have_the_numbers_of_a_spreadsheet(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text('id,comment\n1,"Pain in\nmy arms"\n\n,\n2,Dry mouth\n')
    documents, _ = read_all(path)
    assert [document.extra["row"] for document in documents] == [2, 5]
    assert [document.place for document in documents] == [(str(path), 2), (str(path), 6)]


def _raise(problem):
    raise CorpusError(problem)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("2,Nausea, vomiting,B", "row 3 has 4 cells, but there are 3 columns"),
        ("2,Nausea", "row 3 has 2 cells, but there are 3 columns"),
        ("(2 rows)", "row 3 has 1 cell, but there are 3 columns"),
        ('2,"Nausea,B', "a quotation mark is not closed"),
        ('2,"Nausea"",B', "a quotation mark is not closed"),
    ],
)
@pytest.mark.parametrize("quoted", [False, True])
def test_a_bad_row_is_one_line_and_loses_nothing_else(tmp_path, bad, message, quoted):
    path = tmp_path / "posts.csv"
    after = [f'{n},"Very, very tired",C' if quoted else f"{n},So tired,C" for n in range(3, 30)]
    path.write_text("\n".join(["id,comment,drug", "1,Pain in arms,A", bad, *after]) + "\n")
    with pytest.raises(CorpusError, match=re.escape(f"posts.csv:3: {message}")):
        list(read(path, table=TableOptions("comment")))
    documents, problems = read_all(path, text_column="comment")
    assert [document.id for document in documents] == ["1", *map(str, range(3, 30))]
    assert [document.extra["row"] for document in documents] == [2, *range(4, 31)]
    assert [str(each) for each in problems] == [f"{path}:3: {message}"]


def test_empty_cells_after_the_last_column_are_not_wrong(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("id,comment,,\n1,Pain in arms,,,,\n2,Dry mouth,,\n")
    documents, problems = read_all(path, text_column="comment")
    assert [document.extra for document in documents] == [{"row": 2}, {"row": 3}]
    assert problems == []


def test_quotation_marks_that_are_not_quite_csv(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text('id,comment,drug\n1,5" of pain in my "arms",A\n2,"Dry" mouth and "throat",B\n')
    assert texts(path, text_column="comment") == [
        '5" of pain in my "arms"',
        'Dry mouth and "throat"',
    ]


@pytest.fixture
def short_cells(monkeypatch):
    """Let cells be short, and put back the limit of the csv module, which is one for all."""
    before = csv.field_size_limit(200_000)
    monkeypatch.setattr(module, "MAX_CELL", 200_000)
    monkeypatch.setattr(module, "LONGEST_LINE", 300_000)
    yield
    csv.field_size_limit(before)


@pytest.mark.usefixtures("short_cells")
@pytest.mark.parametrize("cell", ["sore toes, ", "sore\ntoes ", 'sore ""toes"", or,\n'])
def test_a_huge_cell_is_one_line_and_loses_nothing_else(tmp_path, cell):
    path = tmp_path / "posts.csv"
    huge = cell * (1_000_000 // len(cell))
    path.write_text(f'id,comment\n1,Pain in arms\n2,"{huge}"\n3,Dry mouth\n')
    documents, problems = read_all(path, text_column="comment")
    assert [document.id for document in documents] == ["1", "3"]
    assert documents[1].extra["row"] == 4
    (problem,) = problems
    assert "posts.csv:3: a cell is longer than 4 million characters" in str(problem)


@pytest.mark.usefixtures("short_cells")
def test_a_quotation_mark_that_is_never_closed_in_a_long_file(tmp_path):
    path = tmp_path / "posts.csv"
    after = "".join(f"{n},So tired of this,C\n" for n in range(20_000))
    path.write_text(f'id,comment,drug\n1,"Pain in arms,A\n{after}')
    documents, problems = read_all(path, text_column="comment")
    assert len(documents) == 20_000
    assert [each.line for each in problems if each.kind == "syntax"] == [2]


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\x1f"), max_size=20)


@settings(deadline=None, max_examples=200)
@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=6),
    separator=st.sampled_from(",;\t|"),
)
def test_what_the_csv_module_writes_is_read(rows, separator, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "posts.csv"
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerows([("first", "second", "third"), *rows])
    path.write_bytes(stream.getvalue().encode())
    problems = []
    found = list(CSV.rows(path, TableOptions(), problems.append))
    assert [[cell or "" for cell in row.cells] for row in found[1:]] == [list(row) for row in rows]
    assert problems == []
