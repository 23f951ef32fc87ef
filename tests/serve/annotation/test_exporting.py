"""Exports: each format reads back what people have settled on."""

import io
import subprocess
import sys
import zipfile
from uuid import uuid4

import pytest

from annotating import TEXTS, project_of, served, write_texts
from discotag import corpora
from discotag.corpora import FORMATS
from discotag.corpora.tables import TABLES
from discotag.serve.annotation.exporting import format_names
from discotag.training.preparation import prepare
from discotag.training.settings import Settings
from discotag.training.sources import Sources

FLAT = ("conll",)
"""Formats for continuous mentions only."""


@pytest.fixture
def folder(tmp_path):
    return write_texts(tmp_path / "posts")


@pytest.fixture
def client(folder):
    with project_of(folder) as project, served(project) as client:
        client.enter("Ann", "Ben")
        yield client


def export(client, format, **more):
    return client.get("/api/export", params={"format": format} | more)


def words_of(document):
    return [(each.label, each.text) for each in document.mentions]


@pytest.mark.parametrize("format", format_names())
def test_every_format_reads_back(client, tmp_path, format):
    client.add(1, (2, 5)) if format in FLAT else client.add(1, (2, 3), (6, 7))
    client.act(1, "finish")
    client.add(2, (1, 3), label="Drug")
    client.act(2, "finish")
    client.act(3, "finish")  # has no mention
    answer = export(client, format)
    assert answer.status_code == 200, answer.text
    (name,) = (
        each["file"]
        for each in client.ok("GET", "/api/project")["formats"]
        if each["name"] == format
    )
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    target = tmp_path / name
    target.write_bytes(answer.content)
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            archive.extractall(target := tmp_path / "unpacked")
    summary = client.ok("GET", "/api/export/summary", params={"format": format})
    assert (summary["documents"], summary["mentions"], summary["left_out"]) == (3, 2, [])
    expected = [("ADR", "pain in arms" if format in FLAT else "pain shoulders")]
    expected += [("Drug", "knees hurt")]
    if format in TABLES:
        assert "discotag train does not read it" in summary["cannot_hold"][0]
        content = target.read_bytes()
        assert b"pain shoulders" in content or format not in ("csv", "tsv")
        return
    documents = list(corpora.read(target, format))
    assert [pair for each in documents for pair in words_of(each)] == expected
    if not summary["cannot_hold"]:
        assert [each.id for each in documents] == ["a", "b", "c"]
        assert [each.text.strip() for each in documents] == list(TEXTS.values())


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
    assert len(data.dev) == 4  # sentences


def test_a_format_that_cannot_hold_a_mention_says_so(client):
    client.add(1, (2, 3), (6, 7))
    client.act(1, "finish")
    answer = export(client, "conll")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unwritable")
    summary = client.ok("GET", "/api/export/summary", params={"format": "conll"})
    assert any("discontinuous" in each for each in summary["cannot_hold"])


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


def test_unknown_formats(client):
    for name in ("../jsonl", "html", "knowtator", ""):
        assert export(client, name).status_code == 422
    assert client.get("/api/export/summary", params={"format": "x"}).status_code == 422


def test_the_command_exports_beside_a_running_server(client, folder, tmp_path):
    client.add(1, (2, 3), (6, 7))
    client.act(1, "finish")

    def command(target, *options):
        arguments = ["annotate", str(folder), "--export", str(target), *options]
        return subprocess.run(
            [sys.executable, "-m", "discotag", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
        )

    done = command(tmp_path / "out.jsonl")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == f"wrote {tmp_path}/out.jsonl as jsonl: 1 documents, 1 mentions\n"
    (document,) = corpora.read(tmp_path / "out.jsonl")
    assert words_of(document) == [("ADR", "pain shoulders")]
    journal = folder.with_name("posts.journal")
    before = journal.read_bytes()
    for target in (tmp_path / "out.jsonl", journal, folder / "a.txt", folder / "new.jsonl"):
        refused = command(target, "--format", "jsonl")
        assert refused.returncode == 1
        assert refused.stderr.count("\n") == 1
    assert journal.read_bytes() == before
    assert sorted(each.name for each in folder.iterdir()) == ["a.txt", "b.txt", "c.txt"]


def test_all_writable_formats_are_offered():
    writable = {name for name, each in FORMATS.items() if each.write is not None}
    assert set(format_names()) == writable | set(TABLES)
