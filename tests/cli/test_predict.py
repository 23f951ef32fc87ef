"""`discotag predict` and `discotag export`, as the shell runs them."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from discotag import Document
from discotag.corpora import read
from discotag.model.files import copy_model, load
from tiny import tiny_model

TEXTS = [f"I had pain in my arms and shoulders, {n} times. No sleep!" for n in range(40)]


def discotag(*arguments, given="", **environment):
    return subprocess.run(
        [sys.executable, "-m", "discotag", *map(str, arguments)],
        capture_output=True,
        input=given if isinstance(given, bytes) else given.encode(),
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def ok(*arguments, given=""):
    done = discotag(*arguments, given=given)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def failed(*arguments, given="", status=1):
    done = discotag(*arguments, given=given)
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    return done.stderr.decode()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny model with its exports only, so that commands start quickly."""
    folder = tmp_path_factory.mktemp("tiny")
    whole = tiny_model(folder, window=64, overlap=16)
    shown = ok("export", whole, folder / "out", "--json")
    assert [each["runtime"] for each in json.loads(shown)] == ["onnx", "onnx-int8"]
    return folder / "out"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n")
    return path


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def mentions(data):
    return [m for sentence in data["sentences"] for m in sentence["mentions"]]


def test_a_text_as_data_and_on_the_terminal(model):
    (data,) = lines(ok("predict", TEXTS[0], "--model", model))
    assert data["text"] == TEXTS[0]
    wanted = load(model)(TEXTS[0])
    assert mentions(data)
    assert [m["score"] for m in mentions(data)] == [m.score for s in wanted for m in s.mentions]
    for each in mentions(data):
        assert " ".join(TEXTS[0][start:end] for start, end in each["fragments"]) == each["text"]
    shown = ok("predict", TEXTS[0], "--model", model, "--format", "terminal")
    assert "I had pain in my arms" in shown
    assert "━" in shown
    assert "%" in shown


def test_files_folders_and_standard_input_in_order(model, tmp_path, file):
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.txt").write_text("my knees hurt")
    (folder / "b.jsonl").write_text('{"text": "no pain"}\n{"text": "no sleep", "id": "x"}\n')
    found = lines(
        ok("predict", "swollen", folder, file, "-", "--model", model, given="stiff\nknees")
    )
    assert [each["text"] for each in found[:4]] == [
        "swollen",
        "no pain",
        "no sleep",
        "my knees hurt",
    ]
    assert [each.get("id") for each in found] == [None, None, "x", "deep/a", "texts", None]
    assert found[5]["text"] == "stiff\nknees"


def test_nothing_is_a_text_too(model):
    found = lines(ok("predict", "", "pain", "--model", model))
    assert [each["text"] for each in found] == ["", "pain"]


def test_lines(model, file):
    found = lines(ok("predict", file, "--lines", "--model", model))
    assert [each["text"] for each in found] == TEXTS
    assert found[3]["id"] == "texts-4"
    piped = lines(ok("predict", "--lines", "--model", model, given=file.read_text()))
    assert [mentions(each) for each in piped] == [mentions(each) for each in found]


def test_min_score(model, file):
    every = lines(ok("predict", file, "--lines", "--model", model))
    some = lines(ok("predict", file, "--lines", "--model", model, "--min-score", "0.5"))
    for document, fewer in zip(every, some, strict=True):
        assert mentions(fewer) == [m for m in mentions(document) if m["score"] >= 0.5]


def test_brat_in_and_out(model, tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    (source / "1.txt").write_text(TEXTS[0])
    (source / "1.ann").write_text("T1\tADR 0 1\tI\n")
    target.mkdir()
    ok("predict", source, "--model", model, "--format", "brat", "--out", target)
    (document,) = read(target)
    (wanted,) = load(model)([TEXTS[0]])
    assert document.mentions == wanted.mentions
    assert isinstance(document, Document)


def test_inline(model):
    shown = ok("predict", "my arms hurt", "--model", model, "--format", "inline")
    assert shown.splitlines()[0] == "my arms hurt"


def test_the_output_is_never_taken_for_input(model, file, tmp_path):
    out = tmp_path / "out.jsonl"
    command = ["predict", tmp_path, "--lines", "--model", model, "--out", out]
    ok(*command)
    ok(*command, "--force")
    before = out.read_bytes()
    assert [each["text"] for each in lines(before.decode())] == TEXTS
    itself = ["predict", out, "--model", model, "--out", out, "--force"]
    assert "out.jsonl: is what to tag" in failed(*itself)
    assert out.read_bytes() == before


def test_resume_gives_what_one_run_gives(model, file, tmp_path):
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    command = ["predict", file, "--lines", "--model", model, "--out"]
    ok(*command, whole)
    wanted = whole.read_bytes()
    rows = wanted.splitlines(keepends=True)
    for done in (0, 1, 25, 40):
        half = rows[done][:17] if done < 40 else b""
        part.write_bytes(b"".join(rows[:done]) + half)
        ok(*command, part, "--resume")
        assert part.read_bytes() == wanted
    part.unlink()
    ok(*command, part, "--resume")  # nothing there yet
    assert part.read_bytes() == wanted


def test_resume_after_a_kill(model, file, tmp_path):
    file.write_text("\n".join(TEXTS * 50))
    part = tmp_path / "part.jsonl"
    command = ["predict", file, "--lines", "--model", model, "--out", part]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    running = subprocess.Popen(
        [sys.executable, "-m", "discotag", *map(str, command)],
        env=environment,
        stderr=subprocess.PIPE,
    )
    while running.poll() is None and (not part.exists() or part.stat().st_size < 20_000):
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    ok(*command, "--resume")
    assert [each["text"] for each in lines(part.read_text())] == TEXTS * 50


def test_resume_with_other_input_is_refused(model, file, tmp_path):
    part = tmp_path / "part.jsonl"
    ok("predict", "something else", "--model", model, "--out", part)
    before = part.read_bytes()
    command = ["predict", file, "--lines", "--model", model, "--out", part, "--resume"]
    assert "part.jsonl:1: this is not document 1 of the input" in failed(*command)
    assert part.read_bytes() == before
    with part.open("a") as stream:
        stream.write(before.decode())
    again = failed("predict", "something else", "--model", model, "--out", part, "--resume")
    assert "part.jsonl: has 2 documents, but the input 1" in again


@pytest.mark.parametrize("text", ["", "😕😕😕", "x" * 4000, "\u200b", "no " * 3000])
def test_odd_texts(model, tmp_path, text):
    path = tmp_path / "odd.txt"
    path.write_text(text)
    (data,) = lines(ok("predict", path, "--model", model))
    assert data["text"] == text


def test_bad_input_ends_in_one_line(model, tmp_path):
    binary = tmp_path / "binary.txt"
    binary.write_bytes(bytes(range(256)) * 10)
    assert "binary.txt:2: byte 0x80 is not UTF-8" in failed("predict", binary, "--model", model)
    assert failed("predict", "reviwes.txt").endswith("there is no such file or folder\n")
    assert failed("predict", "scan.png").endswith("there is no such file or folder\n")
    assert "there is no such folder" in failed("predict", "a", "--model", tmp_path / "none")
    binary.rename(tmp_path / "binary.dat")
    assert "no file in this folder is text" in failed("predict", tmp_path, "--model", model)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "pain"}\n{\n{"text": "no"}\n')
    assert "bad.jsonl:2: not JSON" in failed("predict", bad, "--model", model)
    done = discotag("predict", bad, "--model", model, "--skip-bad")
    assert [each["text"] for each in lines(done.stdout.decode())] == ["pain", "no"]
    assert b"left out" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--format", "brat"],
        ["--resume"],
        ["--format", "terminal", "--out", "x"],
        ["--format", "brat", "--out", "x", "--resume"],
        ["--min-score", "2"],
        ["--batch-size", "0"],
        ["--from", "foo"],
    ],
)
def test_wrong_usage_exits_2(arguments):
    failed("predict", "text", *arguments, status=2)


def test_a_reader_that_has_seen_enough(model, file):
    file.write_text("\n".join(TEXTS * 50))
    command = [
        sys.executable,
        "-m",
        "discotag",
        "predict",
        str(file),
        "--lines",
        "--model",
        str(model),
    ]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running.stdout.readline()
    running.stdout.close()
    assert running.stderr.read() == b""
    running.stderr.close()
    assert running.wait() == 0


def test_huge_sets_are_left_out_with_a_line(model):
    done = discotag("predict", "-", "--model", model, given="pain in my arms and " * 1000)
    assert done.returncode == 0
    for line in done.stderr.decode().splitlines():
        assert line.startswith("warning: a mention set of ")


def test_export_says_how_it_compares(model, tmp_path):
    assert "has no model.safetensors" in failed("export", model, tmp_path / "out")
    copy_model(model, tmp_path / "copy")
    assert "there is no such folder" in failed("export", tmp_path / "none", tmp_path / "out")


def test_help_has_examples():
    assert "discotag predict" in ok("predict", "--help")
    assert "discotag export" in ok("export", "--help")


def test_a_file_of_no_known_format_is_text(model, tmp_path):
    note = tmp_path / "visit.note"
    note.write_text("sore arms and legs")
    (found,) = lines(discotag("predict", note, "--model", model).stdout.decode())
    assert (found["id"], found["text"]) == ("visit", "sore arms and legs")


def test_what_is_there_is_not_written_over(model, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("mine\n")
    for form in ("jsonl", "inline"):
        message = failed("predict", "sore arms", "--model", model, "--out", out, "--format", form)
        assert "out.jsonl: is there already" in message
    assert out.read_text() == "mine\n"
    discotag("predict", "sore arms", "--model", model, "--out", out, "--force")
    assert [each["text"] for each in lines(out.read_text())] == ["sore arms"]


def test_files_that_are_left_out_of_a_folder_are_counted(model, tmp_path):
    (tmp_path / "a.txt").write_text("sore arms")
    (tmp_path / "b.dat").write_bytes(b"\xff")
    done = discotag("predict", tmp_path, "--model", model)
    assert len(lines(done.stdout.decode())) == 1
    assert b"1 files of other kinds are left out" in done.stderr
