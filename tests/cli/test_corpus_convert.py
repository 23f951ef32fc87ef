import contextlib
import json
import os
import pty
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from discotag.cli import app
from discotag.corpora import read

TEXT = "pain in arms and légs\n0,1,4,4 ADR|0,2 ADR\n\nfine .\n\n\n"


def run(*arguments, **options):
    return CliRunner().invoke(app, ["corpus", "convert", *map(str, arguments)], **options)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text(TEXT, "utf-8")
    return path


def test_there_and_back(source, tmp_path):
    lines, back = tmp_path / "out.jsonl", tmp_path / "back.txt"
    done = run(source, lines)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "as jsonl: 2 documents, 2 sentences, 2 mentions; left out with errors: 0" in done.stderr
    done = run(lines, back)
    assert done.exit_code == 0
    assert "keeps words" not in done.stderr  # there was nothing else to keep
    assert back.read_bytes() == source.read_bytes()


def test_standard_input_and_output(source, tmp_path):
    done = run("-", "-", "--from", "inline", "--to", "inline", input=TEXT.encode())
    assert (done.exit_code, done.stdout) == (0, TEXT)
    done = run("-", "-", "--format", "inline", "--to", "inline", input=TEXT.encode())
    assert (done.exit_code, done.stdout) == (0, TEXT)  # as check and split call it
    done = run(source, "-")
    assert len(done.stdout.splitlines()) == 2
    assert done.stdout.startswith('{"discotag":2,')


def test_text_is_cut_by_options_and_its_loss_told_of(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "d", "text": "Can\'t sleep.\\nSore.", "mentions": []}\n')
    done = run(source, "-", "--to", "inline", "--sentences", "lines", "--words", "spaces")
    assert done.stdout == "Can't sleep.\n\n\nSore.\n\n\n"
    assert "texts, ids and boundaries of 1 document are lost" in done.stderr


def test_bad_input_leaves_nothing_unless_skipped(tmp_path):
    source, target = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("sore toes\n0,1 ADR|7,7 ADR\n\n" * 30)
    done = run(source, target)
    assert done.exit_code == 1
    assert "in.txt:2: '7,7 ADR': fragment 7:8 is outside the sentence" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]
    done = run(source, target, "--skip-bad")
    assert done.exit_code == 0
    assert done.stderr.count("left out: ") == 20
    assert "… and 10 more problems" in done.stderr
    assert "left out with errors: 30" in done.stderr
    assert sum(len(each.mentions) for each in read(target)) == 30


def test_what_a_format_cannot_hold(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.txt"
    source.write_text('{"sentences": [{"words": ["two words"]}]}\n')
    done = run(source, target)
    assert done.exit_code == 1
    assert "the format cannot represent the word 'two words'" in str(done.exception)
    assert not target.exists()


def test_nothing_is_overwritten(source, tmp_path):
    target = tmp_path / "out.jsonl"
    target.write_text("mine")
    done = run(source, target)
    assert "already exists; use --force" in str(done.exception)
    assert target.read_text() == "mine"
    assert run(source, target, "--force").exit_code == 0
    assert target.read_text() != "mine"
    done = run(source, source, "--to", "jsonl", "--force")
    assert "is part of what is read" in str(done.exception)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "in.txt").write_text(TEXT, "utf-8")
    done = run(folder, folder / "out.jsonl")
    assert "is part of what is read" in str(done.exception)
    assert run(folder, tmp_path / "new.jsonl").exit_code == 0


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("out.pdf", [], "no format has this ending; use one of .jsonl"),
        ("out", [], "no format has this ending"),
        ("out.xml", ["--to", "knowtator"], "knowtator can only be read, not written"),
        ("out.jsonl", ["--to", "odd"], "unknown format; known formats are"),
        ("out.jsonl", ["--from", "odd"], "unknown format; known formats are"),
        ("folder", ["--to", "jsonl"], "folder is a folder; jsonl is written to a file"),
        ("none/out.jsonl", [], "no such file or directory"),
    ],
)
def test_bad_usage_is_one_line(source, tmp_path, target, options, message):
    (tmp_path / "folder").mkdir()
    done = run(source, tmp_path / target, *options)
    assert done.exit_code == 1
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "in.txt"]


def test_a_folder_is_brat(source, tmp_path):
    folder, back = tmp_path / "brat", tmp_path / "back.txt"
    assert run(source, f"{folder}/").exit_code == 0
    assert (folder / "000001.ann").read_text().startswith("T1\tADR 0 7;17 21\tpain in légs\n")
    done = run(folder, back, "--sentences", "lines", "--words", "spaces")
    assert (done.exit_code, back.read_text("utf-8")) == (0, TEXT)
    assert "already exists" in str(run(source, folder).exception)
    assert "cannot be written to -" in str(run(source, "-", "--to", "brat").exception)
    assert "is written to a folder" in str(run(source, back, "--to", "brat").exception)


def test_mentions_that_bio_cannot_hold(source, tmp_path):
    done = run(source, tmp_path / "out.conll")
    assert "cannot represent mention ADR 'pain in légs'" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_fields_of_documents_are_kept_or_told_of(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    mention = '{"label": "A", "spans": [[0, 4]], "score": 0.5}'
    source.write_text(
        f'{{"id": 1, "text": "Sore", "rating": 5, "drug": "x", "mentions": [{mention}]}}\n'
        '{"id": 2, "text": "Fine", "rating": 1}\n'
    )
    done = run(source, target)
    assert "keep" not in done.stderr
    assert [document.extra for document in read(target)] == [
        {"rating": 5, "drug": "x"},
        {"rating": 1},
    ]
    for name in ("brat/", "out.xml", "out.txt", "out.json"):
        done = run(source, f"{tmp_path}/{name}")
        assert done.exit_code == 0
        assert "does not keep these fields of documents: rating (2), drug (1)" in done.stderr
        assert "does not keep scores, which 1 document has" in done.stderr


def test_ids_that_occur_twice_are_told_of(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 1, "text": "Sore"}\n{"id": 1, "text": "Fine"}\n')
    done = run(source, tmp_path / "out.jsonl")
    assert done.exit_code == 0
    assert f"warning: {source}:2: the document at {source}:1 also has the id '1'" in done.stderr
    assert len(list(read(tmp_path / "out.jsonl"))) == 2
    assert "two documents have the id '1'" in str(run(source, f"{tmp_path}/brat/").exception)


def test_encodings(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes('{"text": "Müde"}\n'.encode("cp1252"))
    message = str(run(source, target).exception)
    assert message.startswith(f"{source}:1: byte 0xfc is not UTF-8; ")
    assert message.endswith("use --encoding windows-1252")
    assert run(source, target, "--encoding", "windows-1252").exit_code == 0
    assert [document.text for document in read(target)] == ["Müde"]
    message = str(run(source, target, "--force", "--encoding", "klingon").exception)
    assert message.startswith("unknown encoding 'klingon'")


def test_files_of_a_folder_that_cannot_be_read(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"text": "Sore"}\n')
    (folder / "b.jsonl").symlink_to("none")
    (folder / "README.md").write_text("about")
    message = str(run(folder, tmp_path / "out.jsonl").exception)
    assert message == f"{folder}/b.jsonl: no such file or directory"
    done = run(folder, tmp_path / "out.jsonl", "--skip-bad")
    assert done.exit_code == 0
    assert f"left out: {message}" in done.stderr
    assert f"warning: {folder}: 1 file is not read: README.md" in done.stderr
    assert "1 document" in done.stderr
    assert "left out with errors: 1" in done.stderr


def test_a_target_that_is_a_link_to_itself(source, tmp_path):
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    assert run(source, tmp_path / "loop.jsonl").exit_code == 0
    assert len(list(read(tmp_path / "loop.jsonl"))) == 2


def test_names_of_files_cannot_move_the_cursor(tmp_path):
    source = tmp_path / "\x1b[31min.jsonl"
    source.write_text('{"text": "Sore"}\nbad\n')
    done = run(source, tmp_path / "\x1b[32mout.jsonl", "--skip-bad")
    assert done.exit_code == 0
    assert "·[31min.jsonl:2: not JSON" in done.stderr
    assert "·[32mout.jsonl as jsonl" in done.stderr
    assert "\x1b" not in done.stderr
    assert (tmp_path / "\x1b[32mout.jsonl").is_file()
    assert "\x1b" not in str(run(source, tmp_path / "new.jsonl").exception)


HOSTILE = "\x1b[31m \x7f \x9b2J \u202e ok"


@pytest.mark.parametrize("format", ["inline", "jsonl", "conll", "bioc-xml", "bigbio"])
def test_escape_sequences_are_not_passed_to_a_terminal(format, tmp_path):
    source = tmp_path / "in.jsonl"
    words = [word for word in HOSTILE.split(" ") if format != "bioc-xml" or word[0] != "\x1b"]
    source.write_text(json.dumps({"sentences": [{"words": words}]}) + "\n")
    command = [sys.executable, "-m", "discotag", "corpus", "convert", source, "-", "--to", format]
    piped = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert "\x7f" in piped  # files and pipes keep their bytes
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdout=slave, stderr=subprocess.PIPE) as process:
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while chunk := os.read(master, 1 << 16):
                shown += chunk
        assert process.wait() == 0
    os.close(master)
    text = shown.decode().replace("\r\n", "\n")
    assert "ok" in text
    assert not set(text) & set("\x1b\x7f\x9b\u202e")
    assert text.count("\n") == piped.count("\n")
