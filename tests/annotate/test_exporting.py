"""Exports: each format reads back what people have settled on."""

import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from uuid import uuid4

import pytest

from annotating import project_of, served, write_texts
from discotag import corpora
from discotag.corpora import FORMATS
from discotag.training.data import sentences_of
from discotag.training.preparation import prepare
from discotag.training.settings import Settings
from discotag.training.sources import Sources
from discotag.web.downloads import format_names

FLAT = ("conll",)
"""Formats for continuous mentions only."""


def export(client, format, **more):
    return client.get("/api/export", params={"format": format} | more)


def words_of(document):
    return [(each.label, each.text) for each in document.mentions]


REPEATED = {
    "a": "I had pain and no pain in arms and shoulders. It was bad.",
    "b": "My knees hurt. I felt dizzy.",
    "c": "No sleep.",
}
"""Texts with a word that is there twice: a mention of the second one must not become the first."""


def rows_of(path, format):
    """Return the rows of a table, without the score."""
    if format == "xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        head, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        rows = [dict(zip(head, row, strict=True)) for row in rows]
    elif format == "parquet":
        rows = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    elif format == "markdown":
        head, _, *rows = [line[2:-2].split(" | ") for line in path.read_text("utf-8").splitlines()]
        rows = [
            dict(zip(head, (each.replace("\\", "") for each in row), strict=True)) for row in rows
        ]
    else:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="," if format == "csv" else "\t"))
    for row in rows:
        row["spans"] = json.loads(row["spans"]) if format != "parquet" else row["spans"]
    return [[row[name] for name in ("id", "label", "text", "spans", "sentence")] for row in rows]


@pytest.mark.parametrize("format", format_names())
def test_every_format_reads_back(tmp_path, format):
    folder = write_texts(tmp_path / "posts", REPEATED)
    fragments = ((5, 8),) if format in FLAT else ((5, 6), (9, 10))
    with project_of(folder) as project, served(project) as client:
        client.enter("Ann")
        client.add(1, *fragments)
        client.act(1, "finish")
        client.add(2, (1, 3), label="Drug")
        client.act(2, "finish")
        client.act(3, "finish")  # has no mention
        answer = export(client, format)
        assert answer.status_code == 200, answer.text
        formats = client.ok("GET", "/api/project")["formats"]
        summary = client.ok("GET", "/api/export/summary", params={"format": format})
    (name,) = (each["file"] for each in formats if each["name"] == format)
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert (summary["documents"], summary["mentions"], summary["left_out"]) == (3, 2, [])
    target = tmp_path / name
    target.write_bytes(answer.content)
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            archive.extractall(target := tmp_path / "unpacked")
    if FORMATS[format].table is not None:
        assert "discotag train does not read it" in summary["cannot_hold"][0]
        first = "I had pain and no pain in arms and shoulders."
        assert rows_of(target, format) == [
            ["a", "ADR", "pain shoulders", [[18, 22], [35, 44]], first],
            ["b", "Drug", "knees hurt", [[3, 13]], "My knees hurt."],
        ]
        return
    documents = list(corpora.read(target, format))
    found = [
        (sentence.words[:3], each.label, each.fragments)
        for document in documents
        for sentence in document.sentences
        for each in sentence.mentions
    ]
    assert found == [
        (("I", "had", "pain"), "ADR", fragments),
        (("My", "knees", "hurt"), "Drug", ((1, 3),)),
    ]
    if not summary["cannot_hold"]:
        assert [each.id for each in documents] == ["a", "b", "c"]
        assert [each.text.strip() for each in documents] == list(REPEATED.values())


@pytest.mark.parametrize("format", ["jsonl", "brat", "inline"])
def test_training_takes_the_export_as_it_is(client, tmp_path, format):
    client.add(1, (2, 3), (6, 7))
    client.act(1, "finish")
    client.act(2, "finish")
    target = tmp_path / "export"
    answer = export(client, format)
    if format == "brat":
        zipfile.ZipFile(io.BytesIO(answer.content)).extractall(target)
    else:
        target.write_bytes(answer.content)
    data = prepare(Sources(target, target), Settings(fold=0))
    assert [(each.label, each.fragments) for each in data.chosen.train[0].mentions] == [
        ("ADR", ((2, 3), (6, 7)))
    ]
    assert len(sentences_of(data.dev)) == 4


def test_a_format_that_cannot_hold_a_mention_says_so(client):
    client.add(1, (2, 3), (6, 7))
    client.act(1, "finish")
    answer = export(client, "conll")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "unwritable")
    assert error["message"].startswith("Document 'a': ")
    summary = client.ok("GET", "/api/export/summary", params={"format": "conll"})
    assert f"{error['message']}." in summary["cannot_hold"]
    assert "discontinuous" in error["message"]


def test_disagreements_are_left_out_and_named(client):
    assert export(client, "jsonl").status_code == 409  # nothing is finished
    client.add(1, (2, 5), annotator="Ann")
    for name in ("Ann", "Ben"):
        client.act(1, "finish", name)
    client.act(2, "finish", "Ben")
    summary = client.ok("GET", "/api/export/summary")
    assert summary["documents"] == 1
    assert summary["left_out"] == [
        {
            "number": 1,
            "name": "a",
            "reason": "The versions of Ann and Ben differ, and nobody has decided.",
        }
    ]
    assert export(client, "jsonl").text.count("\n") == 1
    base = client.ok("GET", "/api/documents/1/versions")["revision"]
    decision = {"id": str(uuid4()), "project": client.project, "annotator": "Ben"}
    decision |= {"base": base, "sentences": [[], []]}
    decision["sentences"][0].append({"label": "Drug", "fragments": [[0, 1]]})
    client.ok("POST", "/api/documents/1/decision", json=decision)
    assert '"label":"Drug","text":"I"' in export(client, "jsonl").text


def test_all_documents_and_those_of_one_person(client):
    client.add(1, (2, 5), annotator="Ann")
    client.add(2, (0, 1), annotator="Ann")
    client.act(2, "finish", "Ann")
    client.add(3, (0, 2), annotator="Ben")

    def lines(**params):
        answer = export(client, "jsonl", **params)
        return [line.split('"id":"')[1][0] for line in answer.text.splitlines()]

    assert lines() == ["b"]
    assert lines(which="all") == ["a", "b", "c"]
    assert lines(annotator="Ann") == ["b"]
    assert lines(which="all", annotator="Ann") == ["a", "b"]
    assert export(client, "jsonl", annotator="Nobody").status_code == 409
    client.add(1, (0, 1), annotator="Ben")
    summary = client.ok("GET", "/api/export/summary", params={"which": "all"})
    assert [each["reason"] for each in summary["left_out"]] == [
        "Ann and Ben have begun it, and nobody has finished it."
    ]


def test_more_than_two_people_who_differ(client):
    client.enter("Cy")
    for place, name in enumerate(("Ann", "Ben", "Cy")):
        client.add(1, (place, place + 1), annotator=name)
        client.act(1, "finish", name)
    (left,) = client.ok("GET", "/api/export/summary")["left_out"]
    assert left["reason"] == "The versions of Ann, Ben and Cy differ, and nobody has decided."


def test_unknown_formats(client):
    for name in ("../jsonl", "html", "knowtator", ""):
        assert export(client, name).status_code == 422
    assert client.get("/api/export/summary", params={"format": "x"}).status_code == 422


def command(folder, target, *options):
    """Run `discotag annotate --export`."""
    arguments = ["annotate", str(folder), "--export", str(target), *options]
    return subprocess.run(
        [sys.executable, "-m", "discotag", *arguments], capture_output=True, text=True, timeout=60
    )


def test_the_command_exports_beside_a_running_server(client, folder, tmp_path):
    client.add(1, (2, 3), (6, 7))
    client.act(1, "finish")

    done = command(folder, tmp_path / "out.jsonl")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == f"wrote {tmp_path}/out.jsonl as jsonl: 1 document, 1 mention\n"
    (document,) = corpora.read(tmp_path / "out.jsonl")
    assert words_of(document) == [("ADR", "pain shoulders")]
    journal = folder.with_name("posts.journal")
    before = journal.read_bytes()
    again = command(folder, tmp_path / "out.jsonl")
    assert (
        "out.jsonl: the file already exists; give another name, or remove it first" in again.stderr
    )
    unknown = command(folder, tmp_path / "out.odd")
    assert "no format has this ending; use one of .jsonl" in unknown.stderr
    for target in (tmp_path / "out.jsonl", journal, folder / "a.txt", folder / "new.jsonl"):
        refused = command(folder, target, "--format", "jsonl")
        assert refused.returncode == 1
        assert refused.stderr.count("\n") == 1
    assert journal.read_bytes() == before
    assert sorted(each.name for each in folder.iterdir()) == ["a.txt", "b.txt", "c.txt"]


def test_all_writable_formats_are_offered():
    writable = {name for name, each in FORMATS.items() if each.write is not None}
    assert set(format_names()) == writable


def test_the_command_with_nothing_to_export(client, folder, tmp_path):
    target = tmp_path / "out.jsonl"

    def refused():
        done = command(folder, target)
        assert done.returncode == 1
        assert not target.exists()
        return done.stderr.splitlines()

    (line,) = refused()
    assert line.startswith(f"discotag: {folder}.journal: nothing is settled yet")
    client.add(1, (0, 1))
    for name in ("Ann", "Ben"):
        client.act(1, "finish", name)
    left_out, line = refused()
    assert left_out == "left out a: The versions of Ann and Ben differ, and nobody has decided."
    assert "nothing is settled yet" in line
    assert command(folder, target, "--which", "all").returncode == 0


def test_the_command_exports_from_a_folder_that_cannot_be_written(folder, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", str(kept)]
    mounted = sys.platform == "linux" and not subprocess.run(mount, capture_output=True).returncode
    if os.getuid() == 0 and not mounted:
        pytest.skip("root can write everywhere")
    journal = kept / "posts.journal"
    try:
        with project_of(folder, journal=journal) as project, served(project) as client:
            client.enter("Ann")
            client.act(1, "finish")
        kept.chmod(0o500)
        if mounted:
            subprocess.run(["mount", "-o", "remount,ro", str(kept)], check=True)
        done = command(folder, tmp_path / "out.jsonl", "--journal", str(journal))
        assert done.returncode == 0, done.stderr
        assert [each.name for each in kept.iterdir()] == ["posts.journal"]
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(kept)], check=True)
        else:
            kept.chmod(0o700)
    assert len(list(corpora.read(tmp_path / "out.jsonl"))) == 1
