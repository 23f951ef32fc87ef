import json

import pytest

from discotag import Document, Mention, Sentence
from discotag.corpora import read, write
from shell import invoke


def run(*arguments):
    return invoke("corpus", "split", *arguments)


def document(number):
    gap = [Mention("ADR", [(0, 1), (2, 3)])] if number % 5 == 0 else []
    return Document([Sentence("a b c".split(), gap), Sentence(["d"])], id=f"d{number}")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "corpus.jsonl"
    write([document(number) for number in range(50)], path)
    return path


def test_parts_are_all_of_it_and_disjoint(source, tmp_path):
    done = run(source, tmp_path / "out")
    assert done.exit_code == 0
    assert "80.0%" in done.stdout
    assert "document of its own" not in done.stderr
    parts = {path.stem: list(read(path)) for path in (tmp_path / "out").iterdir()}
    assert {name: len(each) for name, each in parts.items()} == {"train": 40, "dev": 5, "test": 5}
    ids = [each.id for part in parts.values() for each in part]
    assert sorted(ids) == sorted(each.id for each in read(source))
    gaps = {name: sum(len(each.mentions) for each in part) for name, part in parts.items()}
    assert gaps == {"train": 8, "dev": 1, "test": 1}


def test_the_same_again_and_another_with_another_seed(source, tmp_path):
    def made(name, *options):
        assert run(source, tmp_path / name, *options).exit_code == 0
        return (tmp_path / name / "train.jsonl").read_bytes()

    assert made("a") == made("b", "--seed", 0)
    assert made("a", "--force") != made("c", "--seed", 1)


def test_options(source, tmp_path):
    options = ("--parts", "one=3,two=1", "--to", "bioc-xml", "--json", "--seed", 4)
    done = run(source, tmp_path / "out", *options)
    data = json.loads(done.stdout)
    assert data["seed"] == 4
    assert {name: part["documents"] for name, part in data["parts"].items()} == {
        "one": 38,
        "two": 12,
    }
    assert data["parts"]["two"]["path"] == str(tmp_path / "out" / "two.xml")
    assert len(list(read(tmp_path / "out" / "two.xml"))) == 12


def test_sentences_that_are_documents_and_parts_without_any(tmp_path):
    source = tmp_path / "corpus.txt"
    source.write_text("sore toes\n0,1 ADR\n\n")
    done = run(source, tmp_path / "out")
    assert done.exit_code == 0
    assert "each sentence is a document in this corpus" in done.stderr
    assert "the part dev is empty" in done.stderr


def test_bad_input_is_told_of_once(tmp_path):
    source = tmp_path / "corpus.txt"
    source.write_text("sore toes\n0,1 ADR|7,7 ADR\n\n" * 4)
    done = run(source, tmp_path / "out")
    assert done.exit_code == 1
    assert "corpus.txt:2: " in str(done.exception)
    assert not (tmp_path / "out").exists()
    done = run(source, tmp_path / "out", "--skip-bad")
    assert (done.exit_code, done.stderr.count("left out: ")) == (0, 4)


def test_nothing_is_overwritten(source, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "dev.jsonl").write_text("mine")
    assert "already exists; use --force" in str(run(source, folder).exception)
    assert [path.name for path in folder.iterdir()] == ["dev.jsonl"]
    assert run(source, folder, "--force").exit_code == 0
    assert "is part of what is read" in str(run(folder, folder / "again").exception)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--parts", "train"], "a part must look like train=0.8"),
        (["--parts", "../x=1"], "cannot be used as a file name"),
        (["--parts", "=1"], "cannot be used as a file name"),
        (["--to", "knowtator"], "knowtator can only be read, not written"),
        (["--to", "odd"], "unknown format"),
    ],
)
def test_bad_usage_is_one_line(source, tmp_path, options, message):
    done = run(source, tmp_path / "out", *options)
    assert done.exit_code == 1
    assert message in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_standard_input_and_files_in_the_way(source, tmp_path):
    assert "reads the corpus several times" in str(run("-", tmp_path / "out").exception)
    (tmp_path / "file").write_text("")
    assert "file: file exists" in str(run(source, tmp_path / "file").exception).lower()
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    done = run(empty, tmp_path / "out", "--format", "jsonl")
    assert "no documents to split" in str(done.exception)


def test_fields_are_kept_and_repeated_ids_told_of(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text("".join(f'{{"id": {n % 9}, "text": "Sore", "n": {n}}}\n' for n in range(10)))
    done = run(source, tmp_path / "out")
    assert done.exit_code == 0
    assert f"warning: {source}:10: the document at {source}:1 also has the id '0'" in done.stderr
    assert "some documents have the same id: they may be in different parts" in done.stderr
    found = [each.extra["n"] for path in (tmp_path / "out").iterdir() for each in read(path)]
    assert sorted(found) == list(range(10))
    done = run(source, tmp_path / "brat", "--to", "bioc-json")
    assert "bioc-json does not keep these fields of documents: n (10)" in done.stderr


def test_encodings(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_bytes('{"text": "Müde"}\n'.encode("utf-16-be") * 3)
    done = run(source, tmp_path / "out", "--encoding", "utf-16-be", "--parts", "all=1")
    assert done.exit_code == 0
    assert [each.text for each in read(tmp_path / "out/all.jsonl")] == ["Müde"] * 3
