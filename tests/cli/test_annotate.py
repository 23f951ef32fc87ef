"""`discotag annotate`: what it refuses, in one line."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from annotating import write_texts
from discotag import extras
from discotag.annotate.importing import Imported
from discotag.cli import annotate as annotate_room
from discotag.cli.annotate import annotate
from discotag.cli.commands import Command
from discotag.errors import DiscotagError

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="rich")
app.command(cls=Command)(annotate)


def refused(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code != 0
    if isinstance(result.exception, DiscotagError):
        return str(result.exception)
    return " ".join(result.output.replace("│", " ").split())


@pytest.fixture
def folder(tmp_path):
    return write_texts(tmp_path / "posts")


def test_options_that_do_not_fit(folder, tmp_path):
    model = tmp_path / "model"
    assert "exclude each other" in refused(folder, "--no-model", "--model", model)
    assert "are for --export" in refused(folder, "--format", "jsonl")
    assert "are for --export" in refused(folder, "--which", "all")
    assert "is for --train" in refused(folder, "--train-options", "--seed 2")
    assert "needs a label" in refused(folder, "--labels", ",", "--no-model")
    options = ["--train", "--train-options"]
    assert "--out is set by" in refused(folder, *options, "--out=x")
    assert "no closing quotation" in refused(folder, *options, "'")
    assert "No such option: --nothing" in refused(folder, *options, "--nothing")
    assert "no such file or folder" in refused(tmp_path / "nothing")
    assert "no such journal" in refused(folder, "--export", tmp_path / "out.jsonl")
    assert "there is no such folder" in refused(folder, "--model", model)
    assert "not standard input" in refused("-") or "no such file" in refused("-")


def test_no_listening_beyond_this_machine_without_a_token(folder, monkeypatch):
    monkeypatch.delenv("DISCOTAG_TOKEN", raising=False)
    said = refused(folder, "--no-model", "--labels", "X", "--host", "0.0.0.0", "--port", 0)
    assert "can be reached from other machines" in said
    assert not folder.with_name("posts.journal").exists()


def test_without_the_extra(folder, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert "pip install fastapi prometheus-client uvicorn" in refused(folder)


def test_what_has_changed_about_the_corpus_is_said():
    def said(**found):
        project = SimpleNamespace(imported=Imported(**found))
        about = annotate_room._about(project, Path("x.journal"))
        return [about, *annotate_room._changes(project)]

    assert said(new=1) == ["x.journal: 1 document; the journal has the texts, too"]
    (about,) = said(new=1, known=1999, renamed=3, gone=2)
    assert about.startswith("x.journal: 2,002 documents, 1 of them new, 3 with another name than")
    assert "2 no longer in the corpus" in about
    _, updated, outdated = said(known=9, updated=1, outdated=2)
    assert "annotations of 1 document have changed in the corpus; nobody had worked" in updated
    assert "annotations of 2 documents have changed in the corpus; somebody has worked" in outdated


def test_help_shows_examples():
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"})
    assert "discotag annotate posts/ --train --train-after 30" in result.output
    assert "[default: 30]" in result.output
