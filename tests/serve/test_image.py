"""The Dockerfile, as far as it can be checked without Docker."""

import json
import re
from pathlib import Path

from typer.testing import CliRunner

from discotag.cli import app

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy" / "docker" / "Dockerfile").read_text("utf-8")


def test_it_copies_what_there_is_and_nothing_more():
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").split() if line[0] == "!"
    }
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert names == allowed
    assert all((ROOT / name).exists() for name in names)


def test_it_runs_as_an_ordinary_user():
    (user,) = re.findall(r"^USER (\d+):\d+$", DOCKERFILE, re.MULTILINE)
    assert int(user) >= 1000


def test_its_command_exists():
    words = [
        word
        for line in re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", DOCKERFILE, re.MULTILINE)
        for word in json.loads(line)
    ]
    assert words[:2] == ["discotag", "serve"]
    shown = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).stdout
    assert all(word in shown for word in words if word.startswith("--"))
