"""`discotag corpus prepare` from end to end."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from discotag.cli.corpus_prepare import prepare
from discotag.cli.messages import set_verbosity
from discotag.corpora import CorpusError, read

runner = CliRunner()
app = typer.Typer(pretty_exceptions_enable=False)
app.command("prepare")(prepare)
set_verbosity()  # as the whole command line does


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "cadec.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("cadec/text/D.1.txt", "Sore arms and legs.\nFine.\n")
        archive.writestr(
            "cadec/original/D.1.ann", "T1\tADR 0 4;14 18\tSore legs\nT2\tA\x1b 0 4\tx\n"
        )
    return path


def test_tables_and_warnings(packed: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["cadec", str(packed), str(tmp_path / "out")])
    assert result.exit_code == 0
    rows = [line.split("│") for line in result.stdout.splitlines() if "│" in line]
    assert {cells[1].strip(): cells[2].strip() for cells in rows} == {
        "documents": "1",
        "sentences": "2",
        "words": "7",
        "mentions": "1",
        "discontinuous mentions": "1",
        "sentences with mentions": "1",
        "discontinuous sentences": "1",
    }
    assert "published counts met: 0 of 3" in result.stdout
    assert "\x1b" not in result.stdout
    assert "warning: all: sentences should be 7,597, found 2" in result.stderr
    assert "all.jsonl" in result.stderr
    (document,) = read(tmp_path / "out" / "all.jsonl")
    assert document.mentions[0].text == "Sore legs"


def test_what_was_not_read_is_named(packed: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("cadec/\x1b[31mread.me", "x")
    result = runner.invoke(app, ["cadec", str(packed), str(tmp_path / "out")])
    assert "not read: cadec/·[31mread.me\n" in result.stderr


def test_json(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("D.1\n")
    out = tmp_path / "out"
    options = ["--labels", "ADR, Drug", "--splits", str(tmp_path / "train.txt"), "--json"]
    result = runner.invoke(app, ["cadec", str(packed), str(out), *options])
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert report == json.loads((out / "report.json").read_text())
    assert report["labels"] == ["ADR", "Drug"]
    assert report["parts"]["train"]["discontinuous_mentions"] == 1
    assert report["parts"]["dev"]["documents"] == 0
    again = runner.invoke(app, ["cadec", str(packed), str(out), *options, "--force"])
    assert again.stdout == result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["conll", "a", "b"], "unknown corpus 'conll'"),
        (["cadec", "a", "b", "--labels", "ADR,,Drug"], "--labels needs names"),
        (["cadec", "a"], "Missing argument"),
    ],
)
def test_bad_usage(arguments: list[str], message: str) -> None:
    result = runner.invoke(app, arguments, env={"COLUMNS": "200", "TERM": "dumb"})
    assert result.exit_code == 2
    assert message in result.stderr


def test_bad_input(tmp_path: Path) -> None:
    result = runner.invoke(app, ["psytar", str(tmp_path / "none.xlsx"), str(tmp_path / "out")])
    assert isinstance(result.exception, CorpusError)
    assert str(result.exception).endswith("none.xlsx: no such file or directory")


def test_help_shows_examples() -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "discotag corpus prepare psytar PsyTAR_dataset.xlsx psytar" in result.stdout
