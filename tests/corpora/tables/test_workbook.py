"""Excel workbooks: sheets, merged cells, dates, limits, and files that are none."""

import builtins
import datetime as dt
import logging
import re
import zipfile
from pathlib import Path

import openpyxl
import pytest

from discotag import DiscotagError
from discotag.corpora import CorpusError, TableOptions, read, write
from discotag.corpora.tables import workbook as module
from tables import cells_of, read_all, tagged, texts, workbook

HEADER = ["id", "comment", "drug"]
ROW = [7, "Pain in my arms", "A"]


def test_a_messy_export(tmp_path):
    path = workbook(
        tmp_path / "export.xlsx",
        {
            "Posts": [
                ["Export of 1 May"],
                [],
                ["Post\nID", "Date", "Patient comment", None, "Rating"],
                [1001, dt.datetime(2024, 5, 1), "Pain in my arms\nSlept well 😀", None, 4.5],
                [],
                [1002.0, dt.datetime(2024, 5, 2, 10, 30), "Dry mouth and throat", "seen", True],
                ["A7", None, None, None, None],
            ],
            "Empty": [],
        },
    )
    documents, problems = read_all(path, id_column="post id")
    assert [document.text for document in documents] == [
        "Pain in my arms\nSlept well 😀",
        "Dry mouth and throat",
        "",
    ]
    assert [document.id for document in documents] == ["1001", "1002", "A7"]
    assert documents[0].extra == {
        "row": 4, "id": 1001, "Date": dt.date(2024, 5, 1), "column 4": None, "Rating": 4.5
    }  # fmt: skip
    assert documents[1].extra["Date"] == dt.datetime(2024, 5, 2, 10, 30)
    assert [each.message for each in problems] == [
        "the names of the columns are in row 3; what is above is not read",
        "the texts are in the column 'Patient comment'",
    ]


def test_several_sheets(tmp_path):
    path = workbook(
        tmp_path / "two.xlsx",
        {"Posts": [HEADER, ROW], "More posts": [HEADER, [8, "Dry mouth too", "B"]], "None": []},
    )
    message = "two.xlsx: the workbook has 2 sheets; use --sheet with one of Posts, More posts"
    with pytest.raises(CorpusError, match=message):
        list(read(path, table=TableOptions()))
    for name in ("More posts", "more POSTS", "2"):
        assert texts(path, sheet=name) == ["Dry mouth too"]
    message = "no sheet named 'Pots'; sheets are Posts, More posts, None"
    with pytest.raises(CorpusError, match=message):
        read_all(path, sheet="Pots")


def test_a_hidden_sheet_is_not_meant(tmp_path):
    sheets = {"Codes": [["code", "meaning of the code"], [1, "a b c d"]], "Posts": [HEADER, ROW]}
    path = workbook(tmp_path / "hidden.xlsx", sheets, hidden={"Codes"})
    assert texts(path) == ["Pain in my arms"]


def test_merged_cells_give_each_row_their_value(tmp_path):
    rows = [HEADER, ROW, [8, "Dry mouth too", None], [9, None, None], [10, "So tired", "B"]]
    path = workbook(tmp_path / "m.xlsx", {"Posts": rows}, merged=["C2:C4", "B3:B4"])
    documents, problems = read_all(path, text_column="comment")
    assert [document.extra["drug"] for document in documents] == ["A", "A", "A", "B"]
    assert [document.text for document in documents] == [ROW[1], "Dry mouth too", "", "So tired"]
    (problem,) = problems
    assert str(problem) == (
        f"{path}: 2 groups of merged cells in the sheet 'Posts', such as B3:B4: each of their rows "
        "gets the value, but a text is read once"
    )


def test_a_wrong_size_that_a_sheet_declares_is_ignored(tmp_path):
    path = workbook(tmp_path / "size.xlsx", {"Posts": [HEADER, ROW]})
    other = tmp_path / "wrong.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            raw = source.read(name)
            target.writestr(name, re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1"', raw))
    assert texts(other) == ["Pain in my arms"]


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        (
            "locked.xlsx",
            Path(__file__).with_name("locked.xlsx").read_bytes(),
            "the workbook is protected by a password; remove it in Excel",
        ),
        ("old.xls", OLE, "this is an old Excel workbook (.xls); save it as .xlsx or CSV"),
        ("text.xlsx", b"id,text\n", "this is not a workbook (.xlsx), or it is damaged"),
        ("empty.xlsx", b"", "this is not a workbook (.xlsx), or it is damaged"),
    ],
)
def test_files_that_are_no_workbook(tmp_path, name, raw, message):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(CorpusError, match=re.escape(f"{name}: {message}")) as caught:
        list(read(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_the_ending_does_not_matter(tmp_path):
    path = workbook(tmp_path / "new.xlsx", {"Posts": [HEADER, ROW]})
    old = path.rename(tmp_path / "old.xls")
    documents = list(read(old, "xlsx"))
    assert len(documents) == 1


def test_damaged_workbooks(tmp_path):
    path = workbook(tmp_path / "good.xlsx", {"Posts": [HEADER, *[ROW] * 500]})
    bad = tmp_path / "bad.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(bad, "w") as target:
        for name in source.namelist():
            raw = source.read(name)
            target.writestr(name, raw[: len(raw) // 2] if "sheet1" in name else raw)
    with pytest.raises(CorpusError, match="the sheet 'Posts' cannot be read"):
        list(read(bad, table=None))
    raw = path.read_bytes()
    bad.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(CorpusError, match="or it is damaged"):
        list(read(bad))


def test_workbooks_with_too_much_in_them(tmp_path, monkeypatch):
    path = workbook(tmp_path / "large.xlsx", {"Posts": [HEADER, ROW]})
    with pytest.raises(CorpusError, match="a sheet of the workbook has more than 0 MiB; save it"):
        list(module.rows(path, TableOptions(), print, largest=100))
    monkeypatch.setattr(module, "MAX_SHARED", 1000)
    with pytest.raises(CorpusError, match="has texts of more than 0 MiB; save it as CSV"):
        list(read(path))


def test_a_row_with_an_impossible_number_ends_a_sheet(tmp_path, monkeypatch):
    """Before it, openpyxl would make a billion empty rows."""
    path, bad = workbook(tmp_path / "a.xlsx", {"Posts": [HEADER, ROW]}), tmp_path / "bad.xlsx"
    monkeypatch.setattr(module, "MAX_ROWS", 50)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(bad, "w") as target:
        for name in source.namelist():
            raw = source.read(name).replace(b'<row r="2"', b'<row r="60"')
            target.writestr(name, raw)
    with pytest.raises(CorpusError, match="'Posts' has more than 50 rows"):
        list(read(bad))


def test_formulas_are_texts(tmp_path):
    path = tmp_path / "out.xlsx"
    risky = ["=1+1", "+1 day", "-me", "@you", "\tx", "\rx"]
    write([tagged("=1+1 pain", 3, **{"=drug": each}) for each in risky], path)
    sheet = openpyxl.load_workbook(path).active
    header, *rows = sheet.iter_rows()
    assert header[-1].value == "=drug"
    for row, text in zip(rows, risky, strict=True):
        for cell in row:
            assert cell.data_type in "sn"
        assert row[-1].value == text.replace("\r", "\n")
        assert row[-1].quotePrefix
    assert header[-1].data_type == "s"


def test_values_stay_what_they_are(tmp_path):
    path = tmp_path / "out.xlsx"
    zone = dt.datetime(2024, 5, 1, 9, tzinfo=dt.UTC)
    values = {
        "number": 4, "text number": "4", "zeros": "007", "long": 10**17, "share": 0.25,
        "fraction": "0.5", "flag": True, "date": dt.date(2024, 5, 1), "zone": zone,
        "early": dt.date(1850, 1, 1), "nothing": None, "list": ["a", "b"], "odd": "a\x00b",
        "endless": float("inf"),
    }  # fmt: skip
    write([tagged("pain", 0, id="12", **values)], path)
    header, row = cells_of(path)
    found = dict(zip(header, row, strict=True))
    assert found["id"] == 12
    assert [found[name] for name in values] == [
        4, 4, "007", "100000000000000000", 0.25, 0.5, True, dt.datetime(2024, 5, 1),
        "2024-05-01 09:00:00+00:00", "1850-01-01", None, "a; b", "a\ufffdb", "inf",
    ]  # fmt: skip


def test_long_cells_are_cut_with_a_line(tmp_path, caplog):
    path = tmp_path / "out.xlsx"
    with caplog.at_level(logging.WARNING, "discotag"):
        write([tagged("pain " + "😀" * 20_000, 0), tagged("pain " + "x" * 32_762, 0)], path)
    _, cut, whole = cells_of(path)
    assert len(cut[-1].encode("utf-16-le")) <= 2 * 32_767
    assert cut[-1].endswith("😀…")
    assert len(whole[-1]) == 32_767
    assert "out.xlsx: 1 cells were cut at 32,767 characters, the most that Excel has" in caplog.text


def test_more_rows_than_a_sheet_has(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 4)
    path = tmp_path / "out.xlsx"
    with caplog.at_level(logging.WARNING, "discotag"):
        write([tagged(f"pain {n}", 0) for n in range(7)], path)
    book = openpyxl.load_workbook(path)
    assert [(sheet.title, sheet.max_row) for sheet in book] == [
        ("found", 4),
        ("found 2", 4),
        ("found 3", 2),
    ]
    assert "it continues on 3 sheets" in caplog.text


def test_without_openpyxl(tmp_path, monkeypatch):
    usual = builtins.__import__

    def fail(name, *arguments, **named):
        if name == "openpyxl":
            raise ImportError
        return usual(name, *arguments, **named)

    path = workbook(tmp_path / "posts.xlsx", {"Posts": [HEADER, ROW]})
    monkeypatch.setattr(builtins, "__import__", fail)
    for work in (lambda: list(read(path)), lambda: write([], path)):
        with pytest.raises(DiscotagError, match=r"needs openpyxl: pip install openpyxl pyarrow"):
            work()
