"""`discotag predict --engine`, as the shell runs it, with the bundled model."""

import json
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

import shell
from archives import made_up, write_lines, write_table
from discotag.cli import main
from waiting import wait_for

TEXTS = ["I had swollen knees.", "No complaints.", "pain in arms and shoulders"]


def discotag(*arguments, **options):
    return shell.discotag("predict", *arguments, **options)


@pytest.fixture
def posts(tmp_path):
    posts = [{"id": f"{n}", "text": text} for n, text in enumerate(TEXTS)]
    return write_lines(tmp_path / "posts.jsonl", posts)


def test_a_folder_of_parts(posts, tmp_path):
    done = discotag("posts.jsonl", "--engine", "processes", "--out", "found/", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr == "found/: 3 mentions in 3 documents, 1 part\n"
    lines = (tmp_path / "found/part-000000.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    plain = discotag("posts.jsonl", cwd=tmp_path).stdout
    assert found == [json.loads(line) for line in plain.splitlines()]
    again = discotag("posts.jsonl", "--engine", "processes", "--out", "found", cwd=tmp_path)
    assert again.returncode == 1
    assert again.stderr == (
        "discotag: found: the job there is complete; use --force to replace it, or another folder\n"
    )
    options = ("--out", "found", "--resume", "--workers", "1")
    again = discotag("posts.jsonl", "--engine", "processes", *options, cwd=tmp_path)
    assert again.stderr == (
        "found: the job is already complete\nfound: 3 mentions in 3 documents, 1 part\n"
    )
    forced = ("--engine", "processes", "--out", "found", "--force", "--format", "parquet", "-q")
    assert discotag("posts.jsonl", *forced, cwd=tmp_path).stderr == ""
    assert pq.read_table(tmp_path / "found").num_rows == 3


def test_a_score_that_no_mention_has(posts, tmp_path):
    options = ("--engine", "processes", "--out", tmp_path / "out", "--min-score", "1")
    said = discotag(posts, *options).stderr
    assert "0 mentions in 3 documents" in said
    assert "no mention has a score of at least 1; 3 have lower scores, the highest is 0." in said


def test_tables(tmp_path):
    rows = [{"key": n, "comment": text, "note": "a b c d"} for n, text in enumerate(TEXTS)]
    write_table(tmp_path / "in" / "posts.parquet", rows)
    common = (tmp_path / "in", "--engine", "processes", "--out", tmp_path / "out")
    unclear = discotag(*common)
    assert unclear.returncode == 1
    assert "which column has the texts? Use --text-column" in unclear.stderr
    done = discotag(*common, "--text-column", "comment", "--id-column", "key", "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out/part-000000.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["0", "1", "2"]


def test_bad_documents(posts, tmp_path):
    posts.write_text(posts.read_text() + '{"text"\n')
    done = discotag("posts.jsonl", "--engine", "processes", "--out", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "discotag: posts.jsonl:4: not JSON: expecting ':' delimiter; use --skip-bad to leave out "
        "what is invalid (0 of 1 parts are complete; --resume continues)\n"
    )
    options = ("--out", "out", "--resume", "--skip-bad")
    done = discotag("posts.jsonl", "--engine", "processes", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == (
        "out: 0 of 1 parts are already done\n"
        "warning: 1 error in the input; what was left out, and why, is in out/_errors.jsonl\n"
        "out: 3 mentions in 3 documents, 1 part\n"
    )


def test_ctrl_c(tmp_path):
    write_lines(tmp_path / "posts.jsonl", made_up(12_000))
    job = subprocess.Popen(
        [
            *(sys.executable, "-m", "discotag", "predict", "posts.jsonl", "--engine", "processes"),
            *("--out", "out"),
        ],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    wait_for((tmp_path / "out" / "_job.json").exists)
    job.send_signal(signal.SIGINT)
    _, said = job.communicate(timeout=60)
    assert said == (
        "discotag: stopped; the same command with --resume continues with what is in out\n"
    )
    assert job.returncode == 130


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["posts.jsonl", "--engine", "processes"], "--engine needs --out, a folder"),
        (["--engine", "processes", "--out", "o"], "not standard input; name them"),
        (["-", "--engine", "processes", "--out", "o"], "not standard input; name them"),
        (["posts.jsonl", "--engine", "spark", "--out", "o"], "'spark' is not one of"),
        (["posts.jsonl", "--engine", "ray", "--out", "o", "--format", "csv"], "--format can be"),
        (["posts.jsonl", "--engine", "ray", "--out", "o", "--from", "csv"], "--from can be"),
        (
            ["posts.jsonl", "--engine", "ray", "--out", "o", "--lines"],
            "--lines is not for --engine",
        ),
        (["--text", "x", "--engine", "ray", "--out", "o"], "--text is not for --engine"),
        (["posts.jsonl", "--engine", "ray", "--out", "o", "--rows", "documents"], "--rows is not"),
        (["posts.jsonl", "--engine", "ray", "--out", "o", "--sheet", "1"], "--sheet is not for"),
        (["posts.jsonl", "--engine", "ray", "--out", "o", "--encoding", "utf-8"], "--encoding is"),
        (
            ["posts.jsonl", "--engine", "processes", "--out", "o", "--address", "auto"],
            "--address is for --engine ray",
        ),
        (
            ["posts.jsonl", "--engine", "ray", "--out", "o", "--resume", "--force"],
            "--resume continues a job and --force replaces it",
        ),
        (["posts.jsonl", "--workers", "2"], "--workers and --address are for --engine"),
        (["posts.jsonl", "--address", "auto"], "--workers and --address are for --engine"),
    ],
)
def test_wrong_usage(monkeypatch, capsys, posts, tmp_path, options, wanted):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["discotag", "predict", *options])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert wanted in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "o").exists()
