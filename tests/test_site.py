"""The documentation site: it builds without warnings, and its pages load nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="the extra docs is not installed")

ROOT = Path(__file__).parent.parent
LOADED = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?([^"'\s>]+)"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_every_page_is_in_the_menu_and_loads_nothing_from_elsewhere(site):
    pages = sorted((ROOT / "docs").glob("*.md"))
    home = (site / "index.html").read_text("utf-8")
    for page in pages:
        name = f"{page.stem}.html"
        assert f'href="{name}"' in home or page.stem == "index", f"{name} is not in the menu"
        text = (site / name).read_text("utf-8")
        assert not [each for each in LOADED.findall(text) if re.match("(https?:)?//", each)], name


def test_help_texts_and_docstrings_are_filled_in(site):
    commands = (site / "commands.html").read_text("utf-8")
    assert "<!-- help:" not in commands
    assert "--min-score" in commands
    reference = (site / "api.html").read_text("utf-8")
    for name in ("Mention", "Scheme", "Tagger", "TaggingLayer", "read", "score"):
        assert re.search(rf'id="discotag\.[\w.]*{name}"', reference), name
