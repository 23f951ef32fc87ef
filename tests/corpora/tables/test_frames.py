"""Documents as data frames, and columns of data frames as texts."""

import pandas as pd
import polars as pl
import pytest

import discotag
from discotag import DiscotagError, InputError, load, to_dataframe
from discotag.corpora.tables import frames
from shell import python
from tables import of_words, tagged

DOCUMENTS = [
    tagged("So tired of it", 1, id="7", row=2, drug="A", score=0.5),
    tagged("Slept well.", id="8", row=3, drug="B"),
    tagged("Pain in my arms", 0, 3, id="9", row=4, label="x"),
]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_mentions(library):
    frame = to_dataframe(DOCUMENTS, library=library)
    assert type(frame).__module__.partition(".")[0] == library
    columns = ["document", "row", "id", "label", "text", "spans", "score", "sentence"]
    assert list(frame.columns) == [*columns, "drug", "input_label"]
    assert frame["document"].to_list() == [0, 2]
    assert frame["text"].to_list() == ["tired", "Pain arms"]
    assert [list(map(list, spans)) for spans in frame["spans"].to_list()] == [
        [[3, 8]],
        [[0, 4], [11, 15]],
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_documents(library):
    frame = to_dataframe([*DOCUMENTS, of_words("sore")], rows="documents", library=library)
    assert frame["count"].to_list() == [1, 0, 1, 1]
    assert frame["text"].to_list()[3] == "sore"
    assert frame["document"].to_list() == [0, 1, 2, 3]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_nothing(library):
    frame = to_dataframe([], library=library)
    assert len(frame) == 0
    assert "label" in frame.columns


def test_whichever_is_installed(monkeypatch):
    assert isinstance(to_dataframe(DOCUMENTS), pd.DataFrame)
    usual = frames.find_spec
    monkeypatch.setattr(frames, "find_spec", lambda name: None if name == "pandas" else usual(name))
    assert isinstance(to_dataframe(DOCUMENTS), pl.DataFrame)
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(DiscotagError, match="needs pandas or polars: pip install pandas"):
        to_dataframe(DOCUMENTS)
    with pytest.raises(DiscotagError, match="needs polars: pip install polars"):
        to_dataframe(DOCUMENTS, library="polars")


def test_wrong_arguments():
    with pytest.raises(InputError, match="library must be one of pandas, polars; got 'dask'"):
        to_dataframe(DOCUMENTS, library="dask")
    with pytest.raises(InputError, match="rows must be one of mentions, documents; got 'words'"):
        to_dataframe(DOCUMENTS, rows="words")
    assert "to_dataframe" in discotag.__all__


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["Terrible headaches.", None, float("nan"), "Dry mouth."], dtype=object),
        pd.Series(["Terrible headaches.", None, pd.NA, "Dry mouth."], dtype="string"),
        pd.Series(["Terrible headaches.", None, None, "Dry mouth."]),
        pl.Series(["Terrible headaches.", None, None, "Dry mouth."]),
    ],
    ids=["objects", "strings", "default", "polars"],
)
def test_a_column_can_be_tagged(column):
    documents = list(load().predict(column))
    assert [document.text for document in documents] == [
        "Terrible headaches.", "", "", "Dry mouth."
    ]  # fmt: skip
    assert to_dataframe(documents)["document"].to_list() == [0, 3]


def test_a_frame_cannot_be_tagged():
    for frame in (pd.DataFrame({"comment": ["a"]}), pl.DataFrame({"comment": ["a"]})):
        with pytest.raises(InputError, match="cannot tag a data frame: give the column"):
            load().predict(frame)


def test_importing_discotag_imports_no_library_of_tables():
    code = (
        "import sys, discotag, discotag.cli, discotag.corpora.tables.frames\n"
        "print(*{'openpyxl', 'pyarrow', 'pandas', 'polars'} & sys.modules.keys())"
    )
    assert python(code).split() == []
