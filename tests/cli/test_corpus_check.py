import errno
import json
import os
import tempfile
from time import perf_counter

import pytest

from shell import invoke

GOOD = "pain in arms and legs\n0,2 ADR|0,1,4,4 ADR\n\n"
THREE_PARTS = "sore , tired , red toes\n0,0,2,2,4,4 ADR\n\n"
SUSPECT = "hepatic and cardiac failure\n0,0,2,3 ADR|2,3 ADR\n\n"
BAD = "sore toes\n5,5 ADR|1,0 ADR|0,1 adr\n\n"


def run(*arguments):
    return invoke("corpus", "check", *arguments)


PAPER = ("--slots", 2, "--no-gap-mentions")
"""The scheme of the paper."""


@pytest.fixture
def corpus(tmp_path):
    def made(*blocks):
        path = tmp_path / "corpus.txt"
        path.write_text("".join(blocks))
        return path

    return made


def test_tables_and_examples(corpus):
    done = run(corpus(GOOD, THREE_PARTS, SUSPECT), *PAPER)
    assert done.exit_code == 0
    for part in (
        "No problems in the files.",
        "discontinuous",
        "3 slots, gap mentions",
        "too_many_slots (1): the mentions need more slots",
        "uneven_components (1)",
        "joined_alternatives (1): ",
        "sentence 2",
        "sore , tired , red toes",
        "expected: hepatic failure",
    ):
        assert part in done.stdout
    assert "…" not in done.stdout
    assert "too_many_slots (1)" not in run(corpus(THREE_PARTS)).stdout  # as training does
    assert "sentence 2" not in run(corpus(GOOD, THREE_PARTS), "--examples", 0).stdout


def test_data(corpus):
    done = run(corpus(GOOD, THREE_PARTS, SUSPECT, BAD), *PAPER, "--json", "--examples", 1)
    assert done.exit_code == 1
    data = json.loads(done.stdout)
    assert (data["sentences"], data["discontinuous_sentences"]) == (4, 3)
    assert (data["mentions"], data["discontinuous_mentions"]) == (6, 3)
    assert (data["incompatible_sentences"], data["reasons"]) == (
        2,
        {"too_many_slots": 1, "uneven_components": 1},
    )
    assert data["scheme"] == {"slots": 2, "gap_mentions": False, "naming": "structural"}
    assert (data["errors"], data["warnings"]) == (2, 1)
    assert [(each["kind"], each["line"], each["severity"]) for each in data["problems"]] == [
        ("outside", 11, "error"),
        ("inverted", 11, "error"),
        ("label_case", None, "warning"),
    ]
    assert data["suspected"]["joined_alternatives"] == 1
    assert {each["kind"] for each in data["findings"]} == {
        "too_many_slots",
        "uneven_components",
        "joined_alternatives",
    }
    assert [scheme["name"] for scheme in data["schemes"]][:2] == ["BIO", "2 slots"]


def test_schemes_asked_for(corpus):
    path = corpus("a b c d\n0,0,3,3 ADR|1,1 ADR\n\n")
    plain = json.loads(run(path, *PAPER, "--json").stdout)
    assert plain["reasons"] == {"mention_in_gap": 1}
    options = ("--gap-mentions", "--slots", 4, "--naming", "semantic", "--json")
    data = json.loads(run(path, *options).stdout)
    assert data["incompatible_sentences"] == 0
    assert data["schemes"][-1]["name"] == "4 slots, gap mentions"


def test_all_problems_are_in_the_data_and_some_on_the_terminal(corpus):
    path = corpus(*["sore toes\n5,5 ADR\n\n"] * 50)
    done = run(path)
    assert done.exit_code == 1
    assert done.stdout.count("is outside the sentence") == 20
    assert "… and 30 more; --json lists all of them." in done.stdout
    assert len(json.loads(run(path, "--json").stdout)["problems"]) == 50


def test_status(corpus):
    assert run(corpus(BAD)).exit_code == 1
    assert run(corpus(BAD), "--skip-bad").exit_code == 0
    assert run(corpus("sore toes\n0,1 ADR|0,1 ADR\n\n")).exit_code == 0  # a warning


def test_page(corpus, tmp_path):
    page = tmp_path / "page.html"
    path = corpus(GOOD, THREE_PARTS)
    assert run(path, "--html", page).exit_code == 0
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert run(path, "--html", path).exit_code == 2
    assert run(path, "--html", "-").exit_code == 2
    assert path.read_text() == GOOD + THREE_PARTS


def test_text_that_is_cut_by_options(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"text": "Sore. Tired.\\nCan\'t", "mentions": []}\n')
    for options, sentences, words in (
        ((), 3, 7),
        (("--sentences", "lines", "--words", "spaces"), 2, 3),
        (("--sentences", "whole"), 1, 7),
    ):
        data = json.loads(run(path, "--json", *options).stdout)
        assert (data["sentences"], data["words"]) == (sentences, words)


def test_what_would_move_the_cursor_is_made_visible(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("a\x1b[31m b c\n0,0,2,2 A|1,1 A|9,9 \x1b[31m\n\n")
    done = run(path, *PAPER)
    assert "\x1b[31m" not in done.stdout
    assert "a·[31m" in done.stdout


def test_an_empty_corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text("")
    done = run(path, "--format", "jsonl", "--json")
    assert (done.exit_code, json.loads(done.stdout)["sentences"]) == (0, 0)
    assert run(path, "--format", "jsonl").exit_code == 0


@pytest.mark.parametrize(
    "arguments", [["--slots", "9"], ["--format", "odd"]], ids=["slots", "format"]
)
def test_bad_input_is_one_line(corpus, arguments):
    done = run(corpus(GOOD), *arguments)
    assert done.exit_code == 1
    assert "\n" not in str(done.exception)
    assert done.stdout == ""


def test_speed(tmp_path):
    """20,000 sentences of 20 words, one in twenty with a mention set, in a few seconds."""
    path = tmp_path / "corpus.txt"
    words = " ".join(f"word{n}" for n in range(20))
    plain, sets = f"{words}\n3,4 ADR\n\n", f"{words}\n3,4 ADR|3,3,6,7 ADR\n\n"
    path.write_text((plain * 19 + sets) * 1000)
    start = perf_counter()
    assert run(path, "--json").exit_code == 0
    assert perf_counter() - start < 10


def test_a_brat_folder_with_errors_of_all_kinds(tmp_path):
    """Each is told of with its file and line, and the good rest is read."""
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / "a.txt").write_text("Sore and swollen toes. Tired.\n")
    rows = [
        "T1\tADR 0 4;17 21\tSore toes",
        "T2\tADR 10 5\tx",
        "T3\tADR 5 5\t",
        "T4\tADR 90 95\txxx",
        "T5\tadr 23 28\tTired",
        "T6\tADR 23 28\tTied",
        "T7\tADR 0 4;17 21\tSore toes",
        "rubbish",
    ]
    (folder / "a.ann").write_text("".join(f"{row}\n" for row in rows))
    (folder / "b.txt").write_bytes(b"\xff")
    (folder / "b.ann").write_text("")
    done = run(folder, "--json")
    assert done.exit_code == 1
    data = json.loads(done.stdout)
    found = {
        (each["kind"], each["path"].rpartition("/")[2], each["line"]) for each in data["problems"]
    }
    assert found == {
        ("inverted", "a.ann", 2),
        ("empty", "a.ann", 3),
        ("outside", "a.ann", 4),
        ("text_mismatch", "a.ann", 6),
        ("duplicate", "a.ann", 7),
        ("syntax", "a.ann", 8),
        ("encoding", "b.txt", 1),
        ("label_case", "a.ann", 5),
    }
    assert (data["documents"], data["sentences"], data["mentions"]) == (1, 2, 3)
    shown = run(folder)
    assert "a.ann:2: " in shown.stdout
    assert run(folder, "--skip-bad").exit_code == 0


def test_ids_that_occur_twice_are_warnings_with_file_and_line(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"id": 1, "text": "Sore"}\n')
    (folder / "b.jsonl").write_text('{"id": 2, "text": "Sore"}\n{"id": 1, "text": "Fine"}\n')
    done = run(folder, "--json")
    assert done.exit_code == 0
    (problem,) = json.loads(done.stdout)["problems"]
    assert (problem["kind"], problem["severity"]) == ("duplicate_id", "warning")
    assert (problem["path"], problem["line"]) == (str(folder / "b.jsonl"), 2)
    assert "a.jsonl:1 also has the id '1'" in run(folder).stdout.replace("\n", "")


def test_brat_has_no_ids_that_occur_twice(tmp_path):
    for name in ("x/a", "y/a"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.txt").write_text("Sore")
        (tmp_path / f"{name}.ann").write_text("R1\tSame Arg1:T1 Arg2:T2\n")
    data = json.loads(run(tmp_path, "--json").stdout)
    assert data["problem_counts"] == {"dangling": 4}
    assert data["problems"][0]["line"] == 1


def test_encodings(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"text": "Müde"}\n'.encode("latin-1"))
    assert run(path).exit_code == 1
    data = json.loads(run(path, "--json", "--encoding", "latin-1").stdout)
    assert (data["errors"], data["words"]) == (0, 1)
    assert "unknown encoding" in str(run(path, "--encoding", "hex").exception)


def test_names_of_files_and_labels_cannot_move_the_cursor(tmp_path):
    path = tmp_path / "\x1b[31mcorpus.txt"
    path.write_text(BAD + "a b\n0,0 \x9b5A\n\n" + "a\n0,0 A|0,0 A\n\n")
    page = tmp_path / "page.html"
    done = run(path, "--html", page, "--format", "inline")
    assert "·[31mcorpus.txt" in done.stdout
    assert not set(done.stdout + done.stderr + page.read_text("utf-8")) & set("\x1b\x9b")


def test_a_full_disk_is_named(tmp_path, monkeypatch, corpus):
    def fail(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    assert str(run(corpus(BAD)).exception) == f"{tempfile.gettempdir()}: no space left on device"
