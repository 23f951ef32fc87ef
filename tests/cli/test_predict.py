"""`discotag predict` and `discotag export`, as the shell runs them."""

import gzip
import json
import logging
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

from discotag import Document, Scheme, load
from discotag.cli import predict
from discotag.cli.messages import set_verbosity
from discotag.corpora import read
from discotag.corpora.jobs import locked
from discotag.counts import counted
from discotag.model.files import copy_model, read_config
from discotag.prediction.decoding import read_batch
from page_parser import Page
from shell import discotag, failed, ok
from tiny import tiny_model

NOTHING = "It works well for me and I have no complaints."
TEXTS = [f"I had pain in my arms and shoulders, {n} times. No sleep!" for n in range(40)]


def start(*arguments):
    """Begin a command; it takes Ctrl-C as in a shell, even if whoever runs the tests ignores it."""
    return subprocess.Popen(
        [sys.executable, "-m", "discotag", *map(str, arguments)],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


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
    return data["mentions"]


def test_a_text_as_data_and_on_the_terminal(model):
    (data,) = lines(ok("predict", TEXTS[0], "--model", model))
    assert data["text"] == TEXTS[0]
    wanted = load(model)(TEXTS[0])
    assert mentions(data)
    assert [m["score"] for m in mentions(data)] == [m.score for m in wanted.mentions]
    for each in mentions(data):
        assert " ".join(TEXTS[0][start:end] for start, end in each["spans"]) == each["text"]
    shown = ok("predict", TEXTS[0], "--model", model, "--format", "terminal")
    assert "I had pain in my arms" in shown
    assert "━" in shown
    assert "%" in shown


def test_a_page(model, tmp_path):
    file = tmp_path / "<img src=x>.jsonl"
    texts = ["I had pain in my arms and shoulders.", "<script>alert(1)</script> pain"]
    file.write_text("".join(json.dumps({"id": f"{t[:8]}", "text": t}) + "\n" for t in texts))
    out = tmp_path / "found.html"
    ok("predict", file, "--model", model, "--out", out)
    shown = out.read_text()
    page = Page(shown)
    assert "<title>Mentions in &lt;img src=x&gt;.jsonl</title>" in shown
    assert page.all("img") == []
    assert len(page.all("article")) == 2
    assert [each.get("type") for each in page.all("script")] == ["application/json"] * 2 + [None]
    assert "already exists" in failed("predict", "my arms", "--model", model, "--out", out)
    piped = ok("predict", "my arms", "--model", model, "--format", "html")
    assert "<title>Mentions in texts</title>" in piped
    Page(piped)


def test_files_folders_and_standard_input_in_order(model, tmp_path, file):
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.txt").write_text("my knees hurt")
    (folder / "b.jsonl").write_text('{"text": "no pain"}\n{"text": "no sleep", "id": "x"}\n')
    found = lines(
        ok("predict", "my arms", folder, file, "-", "--model", model, given="stiff\nknees")
    )
    assert [each["text"] for each in found[:4]] == [
        "my arms",
        "no pain",
        "no sleep",
        "my knees hurt",
    ]
    assert [each.get("id") for each in found] == [None, None, "x", "deep/a", "texts", None]
    assert found[5]["text"] == "stiff\nknees"


def test_texts_are_given_with_an_option(model):
    found = lines(ok("predict", "--text", "", "-t", "pain", "--model", model))
    assert [each["text"] for each in found] == ["", "pain"]
    found = lines(ok("predict", "no sleep", "--text", "notes.txt", "--model", model))
    assert [each["text"] for each in found] == ["no sleep", "notes.txt"]


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


def test_a_score_that_no_mention_has(model, file, tmp_path):
    scores = [
        m["score"]
        for each in lines(ok("predict", file, "--lines", "--model", model))
        for m in mentions(each)
    ]
    out = tmp_path / "found.jsonl"
    for more in ((), ("--out", out, "--force")):
        arguments = ("predict", file, "--lines", "--model", model, *more, "--min-score")
        said = discotag(*arguments, "1").stderr
        assert f"no mention has a score of at least 1; {len(scores)} have lower scores" in said
        highest = said.strip().rpartition(" ")[2]
        assert max(scores) - 0.001 < float(highest) <= max(scores)
        assert "lower score" not in discotag(*arguments, highest).stderr
    assert "lower score" not in discotag("predict", NOTHING, "--min-score", "0.9").stderr


def test_bias(model, file):
    few, many = (
        sum(
            len(mentions(each))
            for each in lines(ok("predict", file, "--lines", "--model", model, "--bias", bias))
        )
        for bias in ("-5", "5")
    )
    assert few < many


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


def test_the_output_is_never_taken_for_input(model, tmp_path):
    folder = tmp_path / "posts"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXTS[0])
    for out, form in (("out.jsonl", "jsonl"), ("out", "brat"), ("deep/out.txt", "inline")):
        command = ["predict", folder, "--model", model, "--out", folder / out, "--format", form]
        assert "is part of what is read" in failed(*command)
        assert "is part of what is read" in failed(*command, "--force")
    out = tmp_path / "out.jsonl"
    ok("predict", folder, "--model", model, "--out", out)
    before = out.read_bytes()
    itself = ["predict", out, "--model", model, "--out", out, "--force"]
    assert "out.jsonl is part of what is read" in failed(*itself)
    assert out.read_bytes() == before


def test_pages_and_tables_are_not_said_to_be_resumable(model, tmp_path):
    for ending, resumable in (("jsonl", True), ("html", False), ("csv", False)):
        out = tmp_path / f"out.{ending}"
        out.write_text("taken")
        message = failed("predict", "my arms", "--model", model, "--out", out)
        assert ("--resume" in message) == resumable
        assert "--force" in message


def test_the_ending_decides_the_format(model, tmp_path):
    for ending in ("ods", "docx", "json", "gz"):
        out = tmp_path / f"out.{ending}"
        message = failed("predict", "my arms", "--model", model, "--out", out, status=2)
        assert f"out.{ending}: no format has this ending; use one of .jsonl" in message
        assert not out.exists()
    ok("predict", "my arms hurt", "--model", model, "--out", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text().startswith("my arms hurt\n")
    ok("predict", "my arms hurt", "--model", model, "--out", tmp_path / "out.xml")
    (document,) = read(tmp_path / "out.xml", "bioc-xml")
    assert document.text == "my arms hurt"
    ok("predict", "my arms", "--model", model, "--out", tmp_path / "out.csv", "-f", "jsonl")
    assert lines((tmp_path / "out.csv").read_text())[0]["text"] == "my arms"
    ok("predict", "my arms", "--model", model, "--out", f"{tmp_path / 'brat'}/")
    assert [each.name for each in sorted((tmp_path / "brat").iterdir())] == [
        "000001.ann",
        "000001.txt",
    ]
    assert "--out is empty" in failed("predict", "my arms", "--out", "", status=2)


@pytest.mark.parametrize("label", ["ADR", "Drug"])
def test_annotations_are_replaced_only_by_force(model, tmp_path, label):
    folder = tmp_path / "gold"
    folder.mkdir()
    (folder / "1.txt").write_text(TEXTS[0])
    gold = f"T1\t{label} 0 1\tI\nT2\tDrug 33 35\tsh\n#1\tAnnotatorNotes T2\tsure?\n"
    gold = gold.replace("33 35\tsh", "26 35\tshoulders")
    (folder / "1.ann").write_text(gold)
    command = ["predict", folder, "--model", model, "--format", "brat", "--out", folder]
    message = failed(*command)
    assert "gold: 1 file has annotations, such as 1.ann; use --force to replace" in message
    assert (folder / "1.ann").read_text() == gold
    done = discotag(*command, "--force")
    assert done.returncode == 0
    kept = {each for each in gold.splitlines() if "Drug" in each or each.startswith("#")}
    assert kept <= set((folder / "1.ann").read_text().splitlines())
    (wanted,) = load(model)([TEXTS[0]])
    (document,) = read(folder)
    found = [mention for mention in document.mentions if mention.label == "ADR"]
    assert found == list(wanted.mentions)
    replaced = "gold: replaced 1 mention of 1 document" in done.stderr
    assert replaced == (label == "ADR")


def test_annotations_go_beside_texts(model, tmp_path):
    for name, text in (("a", "my arms hurt"), ("b", TEXTS[0])):
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "a.ann").touch()  # as brat makes them for texts not yet annotated
    ok("predict", tmp_path, "--model", model, "--out", tmp_path)
    assert [document.text for document in read(tmp_path)] == ["my arms hurt", TEXTS[0]]
    assert (tmp_path / "b.ann").read_text()
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_resume_gives_what_one_run_gives(model, file, tmp_path):
    out = tmp_path / "out.jsonl"
    command = ["predict", file, "--lines", "--model", model, "--out", out]
    ok(*command)
    wanted = out.read_bytes()
    rows = wanted.splitlines(keepends=True)
    for done in (0, 1, 25, 40):
        half = rows[done][:17] if done < 40 else b""
        out.write_bytes(b"".join(rows[:done]) + half)
        ok(*command, "--resume")
        assert out.read_bytes() == wanted
    out.unlink()
    ok(*command, "--resume")  # nothing there yet
    assert out.read_bytes() == wanted


def test_text_is_split_as_the_model_was_trained(model, tmp_path):
    other = tmp_path / "other"
    copy_model(model, other, replace(read_config(model)[1], words="characters"))
    text = tmp_path / "text.jsonl"
    text.write_text('{"text": "so dry"}\n')
    command = ["predict", text, "--format", "jsonl", "--model", other]

    def words(*options):
        (found,) = lines(ok(*command, *options))
        return found["sentences"][0]["words"]

    assert words() == load(other)("so dry").to_dict()["sentences"][0]["words"] == list("sodry")
    assert words("--words", "pattern") == ["so", "dry"]
    ok(*command, "--engine", "processes", "--out", tmp_path / "parts", "--workers", "1")
    (part,) = lines((tmp_path / "parts" / "part-000000.jsonl").read_text())
    assert part["sentences"][0]["words"] == list("sodry")


def test_text_in_another_language(tmp_path):
    said = discotag("predict", "--text", "Ich hatte gestern Abend starke Kopfschmerzen.").stderr
    assert "seems to be in another language (de) than that of the model (en)" in said
    said = discotag("predict", "--text", "It was a long day at work, nothing to tell.").stderr
    assert said == ""


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (["--min-score", "0.5"], "--min-score was 0.0, now 0.5"),
        (["--bias", "1"], "--bias was 0.0, now 1.0"),
        (["--sentences", "whole"], "--sentences was 'auto', now 'whole'"),
        (["--words", "spaces"], "--words was 'pattern', now 'spaces'"),
        (["--batch-size", "3"], "--batch-size was None, now 3"),
        (["--runtime", "onnx"], "runtime was 'onnx-int8', now 'onnx'"),
        (["--skip-bad"], "--skip-bad was False, now True"),
        (["--text", "more"], "input was ["),
    ],
)
def test_resume_with_other_settings_is_refused(model, file, tmp_path, options, difference):
    out = tmp_path / "out.jsonl"
    command = ["predict", file, "--lines", "--model", model, "--out", out, "--runtime", "onnx-int8"]
    ok(*command)
    out.write_bytes(b"".join(out.read_bytes().splitlines(keepends=True)[:5]))
    before = out.read_bytes()
    message = failed(*command, *options, "--resume")
    assert "out.jsonl: was started with other settings (" in message
    assert difference in message
    assert out.read_bytes() == before


def test_resume_with_another_model_or_without_a_record_is_refused(model, file, tmp_path):
    out, other = tmp_path / "out.jsonl", tmp_path / "other"
    command = ["predict", file, "--lines", "--out", out, "--resume"]
    ok(*command, "--model", model)
    copy_model(model, other)
    ok(*command, "--model", other)  # a copy is the same
    config = json.loads((other / "config.json").read_text())
    config["discotag"]["overlap"] += 1
    (other / "config.json").write_text(json.dumps(config))
    assert "model was '" in failed(*command, "--model", other)
    (tmp_path / ".out.jsonl.job.json").unlink()
    assert "has no record of its settings" in failed(*command, "--model", model)


def test_an_output_has_one_writer(model, file, tmp_path):
    out = tmp_path / "out.jsonl"
    with locked(out):
        for options in ([], ["--resume"], ["--force"], ["--format", "inline"]):
            message = failed("predict", file, "--model", model, "--out", out, *options)
            assert "out.jsonl: another process is writing it" in message
    ok("predict", file, "--model", model, "--out", out)
    folder = tmp_path / "brat"
    folder.mkdir()
    with locked(folder):
        message = failed("predict", file, "--model", model, "--out", folder)
        assert "brat: another process is writing it" in message


def test_two_processes_write_each_document_once(model, file, tmp_path):
    file.write_text("\n".join(TEXTS * 20))
    out = tmp_path / "out.jsonl"
    command = ["predict", file, "--lines", "--model", model, "--out", out, "--resume"]
    both = [start(*command) for _ in range(2)]
    status = [(each.communicate()[1], each.returncode) for each in both]
    ok(*command)
    assert [each["text"] for each in lines(out.read_text())] == TEXTS * 20
    for message, code in status:
        assert code == 0 or b"another process is writing it" in message


def test_resume_after_a_kill(model, file, tmp_path):
    file.write_text("\n".join(TEXTS * 50))
    part = tmp_path / "part.jsonl"
    command = ["predict", file, "--lines", "--model", model, "--out", part]
    running = start(*command)
    while running.poll() is None and (not part.exists() or part.stat().st_size < 20_000):
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    ok(*command, "--resume")
    assert [each["text"] for each in lines(part.read_text())] == TEXTS * 50


def test_resume_with_other_input_is_refused(model, file, tmp_path):
    part = tmp_path / "part.jsonl"
    command = ["predict", "-", "--lines", "--model", model, "--out", part, "--resume"]
    ok(*command, given="pain\nin my arms")
    before = part.read_bytes()
    message = failed(*command, given="pain\nin my legs")
    assert "part.jsonl:2: this is not document 2 of the input" in message
    assert "part.jsonl: has 2 documents, but the input 1" in failed(*command, given="pain")
    assert part.read_bytes() == before
    command = ["predict", file, "--lines", "--model", model, "--out", tmp_path / "a.jsonl"]
    ok(*command)
    file.write_text(file.read_text() + "more pain\n")
    assert "input was ['" in failed(*command, "--resume")


def test_ctrl_c_says_how_to_go_on(model, file, tmp_path):
    file.write_text("\n".join(TEXTS * 50))
    part = tmp_path / "part.jsonl"
    command = ["predict", file, "--lines", "--model", model, "--out", part]
    running = start(*command)
    while running.poll() is None and (not part.exists() or part.stat().st_size < 20_000):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    message = running.communicate()[1].decode()
    assert running.returncode == 130
    done = len(part.read_text().splitlines())
    finished = counted(done, "document is", "documents are")
    assert f"stopped; {finished} in {part}; the same command with --resume" in message
    ok(*command, "--resume")
    assert [each["text"] for each in lines(part.read_text())] == TEXTS * 50


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
    for name in ("reviwes.txt", "missingfolder", "scan.png", "headache", "a/b"):
        wanted = f"{name}: no such file or directory; if it is a text, give it with --text\n"
        assert failed("predict", name) == f"discotag: {wanted}"
    assert "there is no such folder" in failed("predict", "a b", "--model", tmp_path / "none")
    binary.rename(tmp_path / "binary.dat")
    done = discotag("predict", tmp_path, "--model", model)
    assert done.stdout == ""
    assert "binary.dat: left out: its format was not recognised" in done.stderr
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "pain"}\n{\n{"text": "no"}\n')
    assert "bad.jsonl:2: not JSON" in failed("predict", bad, "--model", model)
    done = discotag("predict", bad, "--model", model, "--skip-bad")
    assert [each["text"] for each in lines(done.stdout)] == ["pain", "no"]
    assert "left out" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--format", "brat"],
        ["--resume"],
        ["--format", "terminal", "--out", "x"],
        ["--format", "brat", "--out", "x", "--resume"],
        ["--out", "x.txt", "--resume"],
        ["--out", "x"],
        ["--min-score", "2"],
        ["--bias", "21"],
        ["--batch-size", "0"],
        ["--from", "foo"],
    ],
)
def test_wrong_usage_exits_2(arguments):
    message = failed("predict", "a text", *arguments, status=2)
    assert message.startswith("discotag: ")
    assert message.endswith("; see discotag predict --help\n")
    assert message.count("\n") == 1


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


@pytest.mark.parametrize("quiet", [False, True])
def test_huge_sets_are_left_out_with_a_line(capsys, monkeypatch, quiet):
    logger = logging.getLogger("discotag")
    for name in ("level", "propagate", "handlers"):
        monkeypatch.setattr(logger, name, getattr(logger, name))
    set_verbosity(quiet=quiet)
    with warnings.catch_warnings(), predict._one_line_warnings():
        for _ in range(2):  # each time, not only the first
            read_batch(Scheme(("ADR",)), np.array([[3, *[4] * 40, *[6] * 40]]))
    said = capsys.readouterr().err.splitlines()
    line = "warning: a mention set of 1640 mentions was left out; the limit is 1000"
    assert said == ([] if quiet else [line] * 2)


def test_export_needs_weights(model, tmp_path):
    assert "has no model.safetensors" in failed("export", model, tmp_path / "out")
    assert "there is no such folder" in failed("export", tmp_path / "none", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_export_says_how_it_compares(tmp_path):
    whole = tiny_model(tmp_path, window=64, overlap=16)
    text = tmp_path / "texts.txt"
    text.write_text("my arms hurt\n")
    shown = ok("export", whole, tmp_path / "out", "--texts", text)
    for runtime in ("onnx", "onnx-int8"):
        assert runtime in shown
    assert "of 1 sentences" in shown
    assert load(tmp_path / "out")("my arms hurt") == load(whole, runtime="torch")("my arms hurt")


def test_a_file_of_no_known_format_is_text(model, tmp_path):
    note = tmp_path / "visit.note"
    note.write_text("sore arms and legs")
    (found,) = lines(discotag("predict", note, "--model", model).stdout)
    assert (found["id"], found["text"]) == ("visit", "sore arms and legs")


def test_what_is_there_is_not_written_over(model, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("mine\n")
    for form in ("jsonl", "inline"):
        message = failed("predict", "sore arms", "--model", model, "--out", out, "--format", form)
        assert "out.jsonl: the file already exists; use --resume" in message
    assert out.read_text() == "mine\n"
    done = discotag("predict", TEXTS[0], "--model", model, "--out", out, "--force")
    assert [each["text"] for each in lines(out.read_text())] == [TEXTS[0]]
    number = len(mentions(lines(out.read_text())[0]))
    assert done.stderr == f"{out}: {counted(number, 'mention')} in 1 of 1 text\n"
    done = discotag("predict", TEXTS[0], "--model", model, "--out", out, "--resume")
    assert done.stderr == f"{out}: 1 document is already done\n"
    done = discotag("predict", "sore arms", "--model", model, "--out", out, "--force")
    assert f"replaced {counted(number, 'mention')} of 1 document" in done.stderr


def test_files_that_are_left_out_of_a_folder_are_named(model, tmp_path):
    (tmp_path / "a.txt").write_text("sore arms")
    (tmp_path / "b.dat").write_bytes(b"\xff")
    done = discotag("predict", tmp_path, "--model", model)
    assert len(lines(done.stdout)) == 1
    assert "warning: " in done.stderr
    assert "b.dat: left out: its format was not recognised" in done.stderr


@pytest.mark.parametrize("where", ["stdin", "file"])
@pytest.mark.parametrize(
    "written",
    [
        '{"text": "sore arms", "rating": 5}\n{"rating": 1, "drug": "x", "text": "no pain"}\n',
        '[{"text": "sore arms", "rating": 5},\n {"rating": 1, "drug": "x", "text": "no pain"}]',
    ],
)
def test_json_is_recognised_and_keeps_its_fields(model, tmp_path, where, written):
    given = {"given": written}
    path = "-"
    if where == "file":
        path, given = tmp_path / "posts.txt", {}
        path.write_text(written)
    found = lines(ok("predict", path, "--model", model, **given))
    assert [each["text"] for each in found] == ["sore arms", "no pain"]
    assert [each["rating"] for each in found] == [5, 1]
    assert found[1]["drug"] == "x"


@pytest.mark.parametrize("name", ["loop", "dangling"])
def test_a_link_that_leads_nowhere(model, tmp_path, name):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "a.txt").write_text("sore arms")
    message = failed("predict", tmp_path / name, "--model", model)
    assert message.startswith(f"discotag: {tmp_path / name}: ")
    assert "--text" in message
    with_space = tmp_path / "a link"
    with_space.symlink_to(tmp_path / "nothing")
    assert "a link: no such file" in failed("predict", with_space, "--model", model)
    message = failed("predict", tmp_path, "--model", model)  # of several the first
    assert any(f"{each}: " in message for each in ("loop", "dangling", "a link"))
    done = discotag("predict", tmp_path, "--model", model, "--skip-bad")
    assert [each["text"] for each in lines(done.stdout)] == ["sore arms"]
    for each in (name, "a link"):
        assert f"left out: {tmp_path / each}: " in done.stderr


def test_encodings(model, tmp_path):
    for name, data in {
        "utf-16.txt": "sore knees é".encode("utf-16"),
        "packed.txt.gz": gzip.compress("sore knees é".encode()),
    }.items():
        (tmp_path / name).write_bytes(data)
        (found,) = lines(ok("predict", tmp_path / name, "--model", model))
        assert found["text"] == "sore knees é"
    (tmp_path / "windows.txt").write_bytes("sore knees é".encode("windows-1252"))
    command = ["predict", tmp_path / "windows.txt", "--model", model]
    assert "--encoding windows-1252" in failed(*command)
    (found,) = lines(ok(*command, "--encoding", "windows-1252"))
    assert found["text"] == "sore knees é"


def test_closed_streams(model, tmp_path):
    def shell(line):
        command = f"{sys.executable} -m discotag predict --model {model} {line}"
        return subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)

    done = shell("'sore knees' >&-")
    assert (done.returncode, done.stderr) == (1, b"discotag: standard output: it is closed\n")
    out = tmp_path / "out.jsonl"
    done = shell(f"'sore knees' --out {out} >&-")
    assert (done.returncode, done.stderr) == (0, f"{out}: 0 mentions in 0 of 1 text\n".encode())
    assert lines(out.read_text())[0]["text"] == "sore knees"
    done = shell("nothing 2>&-")
    assert (done.returncode, done.stdout) == (1, b"")
    done = shell("<&-")
    assert done.returncode == 2
    done = shell("'sore knees' > /dev/full")
    assert done.stderr == b"discotag: standard output: no space left on device\n"


def test_escape_sequences_do_not_reach_the_terminal(model, tmp_path):
    bad = "red\x1b[31m"
    for command in (
        ["predict", bad],
        ["predict", "a b", "--model", bad],
        ["predict", "a b", "--model", tmp_path / bad],
        ["predict", "a b", "--out", f"{bad}.ods"],
        ["predict", "a b", f"--{bad}"],
        [bad],
    ):
        done = discotag(*command)
        assert done.returncode
        assert "\x1b" not in done.stderr
        assert "red" in done.stderr
