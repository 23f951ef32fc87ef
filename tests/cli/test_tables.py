"""`discotag predict` and `discotag corpus convert` with tables, as an analyst uses them."""

import json

import openpyxl
import pyarrow.parquet as pq
import pytest

import shell
from discotag import load
from discotag.corpora import read
from tables import cells_of, workbook

POSTS = (
    "id;comment;drug;date\n"
    "1;Terrible headaches, and a very dry mouth.;Café;2024-05-01\n"
    '2;"No pain.\nSlept well";B;\n'
    "3;;C;2024-05-03\n"
    "2;Swollen knees.;D;\n"
)
TEXTS = ["Terrible headaches, and a very dry mouth.", "Swollen knees."]
FOUND = ["row", "id", "label", "text", "spans", "score", "sentence", "drug", "date"]


def ok(*arguments, **options):
    done = shell.discotag(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.splitlines()


def failed(*arguments, **options):
    (line,) = shell.failed(*arguments, **options).splitlines()
    return line


@pytest.fixture
def posts(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_bytes(POSTS.encode("cp1252"))
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet"])
def test_from_a_table_to_a_table(posts, tmp_path, ending):
    out = tmp_path / f"reactions.{ending}"
    columns = ["--text-column", "comment", "--id-column", "id"]
    _, said = ok("predict", posts, *columns, "--out", out)
    if ending == "parquet":
        found = pq.read_table(out).to_pylist()
        header, rows = list(found[0]), [list(map(str, row.values())) for row in found]
    else:
        header, *rows = [[str(cell) for cell in row] for row in cells_of(out)]
    assert header == FOUND
    wanted = [
        [row, id, mention.text, drug]
        for row, id, document, drug in zip("25", "12", load()(TEXTS), ["Café", "D"], strict=True)
        for mention in document.mentions
    ]
    assert [[row[0], row[1], row[3], row[7]] for row in rows] == wanted
    assert len({row[0] for row in rows}) == 2
    assert [line.removeprefix(f"{posts}: ").removeprefix(f"{out}: ") for line in said] == [
        "the file is not UTF-8 and is read as Windows-1252; use --encoding for another",
        f"warning: {posts}: 1 row has the id of an earlier one, such as '2' of rows 3 and 5; the "
        "column 'row' tells them apart",
        f"{len(wanted)} mentions in 2 of 4 texts",
    ]


def test_a_row_for_each_document(posts, tmp_path):
    out = tmp_path / "texts.csv"
    ok("predict", posts, "--text-column", "comment", "--out", out, "--rows", "documents", "-q")
    header, *rows = cells_of(out)
    assert header[:5] == ["row", "id", "text", "count", "mentions"]
    found = [[mention.text for mention in document.mentions] for document in load()(TEXTS)]
    wanted = [[str(len(each)), "; ".join(each)] for each in (found[0], [], [], found[1])]
    assert [row[3:5] for row in rows] == wanted


def test_standard_input_and_output(posts):
    given = posts.read_bytes()
    options = ["--text-column", "comment", "--format", "csv"]
    shown, _ = ok("predict", *options, "--from", "csv", "--encoding", "cp1252", given=given)
    assert shown.splitlines()[0] == ",".join(FOUND)
    line = failed("predict", *options, "--from", "xlsx", given=given)
    assert line == "discotag: -: xlsx cannot be read from standard input; give the file"


def test_json_lines_keep_the_columns_and_become_a_table_later(posts, tmp_path):
    lines, out = tmp_path / "found.jsonl", tmp_path / "found.xlsx"
    ok("predict", posts, "--text-column", "comment", "--out", lines)
    before = lines.read_bytes()
    lines.write_bytes(before.splitlines(keepends=True)[0])
    ok("predict", posts, "--text-column", "comment", "--out", lines, "--resume")
    assert lines.read_bytes() == before
    first = json.loads(before.splitlines()[0])
    assert (first["id"], first["row"], first["drug"]) == ("1", 2, "Café")
    _, said = ok("corpus", "convert", lines, out)
    assert {row[:2] for row in openpyxl.load_workbook(out).active.values} == {
        ("row", "id"), (2, 1), (5, 2)
    }  # fmt: skip
    assert "4 documents" in said[-1]
    line = failed("predict", posts, "--out", out, "--resume", status=2)
    assert "--resume needs --out, and --format jsonl; corpus convert makes a table of it" in line


def test_tables_become_corpora(posts, tmp_path):
    out = tmp_path / "posts.jsonl"
    ok("corpus", "convert", posts, out, "--text-column", "comment")
    assert [document.id for document in read(out)] == ["1", "2", "3", "2"]
    line = failed("corpus", "convert", out, tmp_path / "a.jsonl", "--text-column", "comment")
    assert "posts.jsonl: this is not a table, which --text-column" in line
    line = failed("corpus", "convert", out, tmp_path / "a.jsonl", "--rows", "documents")
    assert "jsonl is not a table, which --rows is for" in line
    assert "xlsx cannot be written to -" in failed("corpus", "convert", out, "-", "--to", "xlsx")
    folder = tmp_path / "folder"
    folder.mkdir()
    line = failed("corpus", "convert", out, folder, "--to", "csv")
    assert "folder is a folder; csv is written to a file" in line


def test_conll_and_json_are_no_tables_whatever_they_are_called(tmp_path):
    (tmp_path / "tags.tsv").write_text("Sore\tB-ADR\ntoes\tI-ADR\n")
    (tmp_path / "lines.csv").write_text('{"text": "Sore toes"}\n')
    for name in ("tags.tsv", "lines.csv"):
        (document,) = map(json.loads, ok("predict", tmp_path / name)[0].splitlines())
        assert [word for each in document["sentences"] for word in each["words"]] == [
            "Sore",
            "toes",
        ]
        ok("corpus", "convert", tmp_path / name, "-")


def test_a_folder_of_tables(tmp_path):
    folder = tmp_path / "months"
    folder.mkdir()
    (folder / "jan.csv").write_text("id,comment,drug\n1,I had nausea.,A\n")
    workbook(folder / "feb.xlsx", {"P": [["id", "comment", "dose"], [1, "I had nausea.", 5]]})
    (folder / "locked.xlsx").write_bytes(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    )
    (folder / "broken.csv").write_text("id,comment\n1,2,3\n2,I had nausea.\n")
    out = tmp_path / "all.csv"
    _, said = ok("predict", folder, "--out", out, "--skip-bad")
    assert [row[:2] + row[4:5] + row[8:] for row in cells_of(out)] == [
        ["file", "row", "text", "dose", "drug"],
        ["broken", "3", "nausea", "", ""],
        ["feb", "2", "nausea", "5", ""],
        ["jan", "2", "nausea", "", "A"],
    ]
    left_out = [line for line in said if line.startswith("left out")]
    assert len(left_out) == 2
    assert "locked.xlsx: the workbook is protected by a password" in left_out[1]
    assert "broken.csv:2: row 2 has 3 cells, but there are 2 columns" in left_out[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["posts.csv", "--text-column", "text"], "no column named 'text'; columns are id, comment"),
        (["posts.csv", "--id-column", "key"], "no column named 'key'; columns are id, comment"),
        (["two.xlsx"], "the workbook has 2 sheets; use --sheet with one of A, B"),
        (["two.xlsx", "--sheet", "C"], "no sheet named 'C'; sheets are A, B"),
        (["locked.xlsx"], "the workbook is protected by a password"),
        (["unclear.tsv"], "which column has the texts? Use --text-column with one of title, body"),
        (["note.txt", "--text-column", "text"], "this is not a table"),
        (["old.xls"], "this is an old Excel workbook (.xls); save it as .xlsx or CSV"),
    ],
)
def test_bad_input_is_one_line(tmp_path, posts, arguments, message):
    rows = [["id", "comment"], [1, "Dry mouth"]]
    workbook(tmp_path / "two.xlsx", {"A": rows, "B": rows})
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    (tmp_path / "locked.xlsx").write_bytes(ole + "EncryptedPackage".encode("utf-16-le"))
    (tmp_path / "old.xls").write_bytes(ole)
    (tmp_path / "unclear.tsv").write_text("title\tbody\nA very good one\tAnother long text\n")
    (tmp_path / "note.txt").write_text("Sore toes")
    posts.write_text(POSTS)
    name, *options = arguments
    line = failed("predict", tmp_path / name, *options, "--out", tmp_path / "out.csv")
    assert line.startswith(f"discotag: {tmp_path / name}: {message}")
    assert not (tmp_path / "out.csv").exists()


def test_wrong_usage(posts, tmp_path):
    assert "xlsx needs --out, a file" in failed("predict", posts, "-f", "xlsx", status=2)
    line = failed("predict", posts, "--rows", "documents", "--out", tmp_path / "a.jsonl", status=2)
    assert "--rows is for tables: csv, tsv, xlsx, parquet" in line
    out = tmp_path / "out.csv"
    out.write_text("mine\n")
    line = failed("predict", posts, "--text-column", "comment", "--out", out)
    assert line == f"discotag: {out}: the file already exists; use --force to replace it"
    assert "is part of what is read" in failed("predict", posts, "--out", posts, "--force")
