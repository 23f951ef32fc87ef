"""Run `discotag` in a process of its own, as the shell does."""

import os
import subprocess
import sys


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
