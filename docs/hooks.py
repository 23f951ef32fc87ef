"""Fills in what pages take from the code: the help texts of the commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

HELP = re.compile(r"^<!-- help: (.*?) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace `<!-- help: discotag … -->` by the help text of that command."""
    return HELP.sub(lambda match: f"```text\n{help_text(match[1].split()[1:])}\n```", markdown)


def help_text(command: list[str]) -> str:
    """Return what a command prints with `--help`."""
    result = subprocess.run(
        [sys.executable, "-m", "discotag", *command, "--help"],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "96", "TERM": "dumb", "NO_COLOR": "1"},
    )
    return "\n".join(line.rstrip() for line in result.stdout.strip().splitlines())
