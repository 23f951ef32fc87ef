"""Parquet files: types, missing values, and files that are damaged."""

import builtins
import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discotag import DiscotagError
from discotag.corpora import CorpusError, TableOptions, read, write
from discotag.corpora.formats.registry import UnrecognisedError, find_format
from discotag.corpora.inputs import Inputs
from discotag.corpora.tables import parquet as module
from tables import of_words, read_all, tagged

POSTS = {
    "key": pa.array([7, None, 9], pa.int32()),
    "comment": ["Pain in my arms", None, "=1+1 is so sore"],
    "when": pa.array([0, 1, 2], pa.timestamp("ns")),
    "price": pa.array([Decimal("1.50"), None, Decimal("2")], pa.decimal128(5, 2)),
    "share": [0.5, float("nan"), 1.0],
    "tags": [["a", "b"], [], None],
}


@pytest.fixture
def posts(tmp_path):
    path = tmp_path / "posts.parquet"
    pq.write_table(pa.table(POSTS), path)
    return path


def test_values(posts):
    documents, _ = read_all(posts, id_column="key", text_column="comment")
    assert [document.text for document in documents] == ["Pain in my arms", "", "=1+1 is so sore"]
    assert [document.id for document in documents] == ["7", None, "9"]
    assert documents[0].extra == {
        "row": 1, "id": 7, "when": dt.datetime(1970, 1, 1), "price": Decimal("1.50"),
        "share": 0.5, "tags": ["a", "b"],
    }  # fmt: skip
    assert documents[1].extra["share"] is None


def test_values_as_json_lines(posts, tmp_path):
    write(read(posts, table=TableOptions("comment", "key")), tmp_path / "out.jsonl")
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert (first["id"], first["row"], first["when"], first["price"]) == (
        "7", 1, "1970-01-01T00:00:00", "1.50"
    )  # fmt: skip


def test_types_are_kept(posts, tmp_path):
    options = TableOptions("comment", "key")
    out = tmp_path / "out.parquet"
    columns = Inputs([str(posts)], table=options).columns()
    write(read(posts, table=options), out, rows="documents", columns=columns)
    found = pq.read_table(out)
    assert {field.name: str(field.type) for field in found.schema} == {
        "row": "int64", "id": "int32", "text": "string", "count": "int64",
        "mentions": "list<element: string>", "labels": "list<element: string>",
        "scores": "list<element: double>",
        "spans": "list<element: list<element: list<element: int64>>>",
        "when": "timestamp[ns]", "price": "decimal128(5, 2)", "share": "double",
        "tags": "list<element: string>",
    }  # fmt: skip
    assert found["id"].to_pylist() == [7, None, 9]
    assert found["text"].to_pylist() == ["Pain in my arms", "", "=1+1 is so sore"]


def test_rows_of_mentions(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "WRITTEN_ROWS", 2)
    out = tmp_path / "out.parquet"
    write([*[tagged("Pain in arms", 0, 2, id="7", n=5)] * 3, of_words("sore", "toes")], out)
    found = pq.read_table(out).to_pylist()
    assert len(found) == 4
    assert found[0] == {
        "id": "7", "label": "ADR", "text": "Pain arms", "spans": [[0, 4], [8, 12]],
        "score": 0.9346, "sentence": "Pain in arms", "n": "5",
    }  # fmt: skip
    assert (found[3]["spans"], found[3]["score"], found[3]["sentence"]) == (None, None, "sore toes")


def test_no_rows(tmp_path):
    write([], tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_files_are_recognised_by_their_first_bytes(posts, tmp_path):
    posts.rename(tmp_path / "posts.dat")
    assert find_format(tmp_path / "posts.dat").name == "parquet"
    (tmp_path / "receptor.txt").write_text("PAR1 is a receptor.")
    with pytest.raises(UnrecognisedError):
        find_format(tmp_path / "receptor.txt")


def test_damaged_files(posts, tmp_path):
    raw = posts.read_bytes()
    for bad in (raw[: len(raw) // 2], raw[:4], b"PAR1\x15" + raw[60:]):
        (tmp_path / "bad.parquet").write_bytes(bad)
        with pytest.raises(CorpusError, match=r"bad\.parquet: the Parquet file") as caught:
            list(read(tmp_path / "bad.parquet"))
        assert "\n" not in str(caught.value)
    with pytest.raises(CorpusError, match="no such file"):
        read(tmp_path / "none.parquet")


def test_without_pyarrow(posts, monkeypatch):
    usual = builtins.__import__

    def fail(name, *arguments, **named):
        if name.startswith("pyarrow"):
            raise ImportError
        return usual(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", fail)
    for work in (lambda: list(read(posts)), lambda: write([], posts)):
        with pytest.raises(DiscotagError, match=r"needs pyarrow: pip install openpyxl pyarrow"):
            work()
