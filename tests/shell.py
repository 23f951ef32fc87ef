"""Run `discotag`, or any Python, in a process of its own; or a command in this process."""

import os
import subprocess
import sys
from textwrap import dedent


def discotag(*arguments, given=b"", cwd=None, **environment):
    """Run a command, and return its status and what it printed, as text."""
    done = subprocess.run(
        [sys.executable, "-m", "discotag", *map(str, arguments)],
        capture_output=True,
        input=given if isinstance(given, bytes) else given.encode(),
        timeout=120,
        check=False,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **environment},
    )
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


def ok(*arguments, **options):
    """Run a command that must succeed, and return what it printed on standard output."""
    done = discotag(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def failed(*arguments, status=1, **options):
    """Run a command that must fail in one line, and return this line."""
    done = discotag(*arguments, **options)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def python(code, *arguments, without=(), **environment):
    """Run code in an interpreter of its own, which must succeed, and return what it printed."""
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    done = subprocess.run(
        [sys.executable, "-c", dedent(code), *map(str, arguments)],
        env=inherited | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def invoke(*arguments, **options):
    """Run a command in this process, which is quicker, and return click's result."""
    from typer.testing import CliRunner

    from discotag.cli import app

    options["env"] = {"COLUMNS": "100"} | options.get("env", {})
    return CliRunner().invoke(app, list(map(str, arguments)), prog_name="discotag", **options)
