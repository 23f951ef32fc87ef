"""The code blocks of README and guides are tests: `pycon` is Python, `sh` a shell's commands."""

import doctest
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLLOWED = ["quick-start.md", "own-data.md"]
"""Pages whose commands can be followed word by word, in the order of the page."""
NEEDED = {
    "huggingface.md": ("transformers", "datasets"),
    "medspacy.md": ("medspacy",),
    "scale.md": ("pyarrow",),
    "spacy.md": ("spacy", "negspacy"),
}
"""Packages that the examples of a page need, and that may be missing."""
BLOCK = re.compile(r"^```pycon\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)

with_code = [page for page in PAGES if BLOCK.search(page.read_text("utf-8"))]


def test_most_pages_have_code():
    assert len(with_code) >= 9


@pytest.mark.slow
@pytest.mark.parametrize("page", with_code, ids=lambda page: page.name)
def test_code_blocks(page, monkeypatch):
    for package in NEEDED.get(page.name, ()):
        if find_spec(package) is None:
            pytest.skip(f"needs {package}")
    monkeypatch.chdir(ROOT)
    blocks = BLOCK.findall(page.read_text("utf-8"))
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("name", FOLLOWED)
def test_commands_can_be_followed(name, tmp_path):
    pytest.importorskip("torch", reason="training needs PyTorch")
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "sample.jsonl", tmp_path / "docs")
    script = "\n".join(COMMANDS.findall((ROOT / "docs" / name).read_text("utf-8")))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_pictures_are_current():
    drawn = dict(runpy.run_path(str(ROOT / "docs" / "draw_pictures.py"))["pictures"]())
    found = (ROOT / "docs" / "pictures").glob("*.svg")  # the others are of pages in a browser
    assert drawn == {path.name: path.read_text("utf-8") for path in found}
