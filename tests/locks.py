"""Another process that writes an output."""

import subprocess
import sys
from contextlib import contextmanager

HOLD = """
import sys
from pathlib import Path
from discotag.corpora.jobs import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(path):
    """Let another process write an output."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"locked\n"
        yield other
        other.stdin.close()
