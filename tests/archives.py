"""Made-up posts, jobs on them, and what jobs have written."""

import json
import random
import signal
import subprocess
import sys
from contextlib import contextmanager

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from discotag.scale.storage import Folder
from discotag.scale.worker import Worker

BLOCK = 4000
"""The bytes of a block: about 40 posts."""

WORDS = "the pain in my arms and shoulders knees swollen stiff hurt was bad i had no sleep".split()


def made_up(number, seed=0):
    """Return posts of two sentences each."""
    chance = random.Random(seed)
    return [
        {
            "id": f"p{n}",
            "text": ". ".join(
                " ".join(chance.choices(WORDS, k=chance.randint(1, 9))) for _ in "ab"
            ),
            "drug": "ABC"[n % 3],
        }
        for n in range(number)
    ]


def write_lines(path, posts):
    """Write posts as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(post) + "\n" for post in posts))
    return path


def write_table(path, posts, rows=100, **types):
    """Write posts as Parquet; types are those of columns that must not be guessed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(posts)
    for name, kind in types.items():
        at = table.column_names.index(name)
        table = table.set_column(at, name, table.column(name).cast(kind))
    pq.write_table(table, path, row_group_size=rows)
    return path


def parts_of(folder):
    """Return the contents of the parts of a job by name, from a folder or an address."""
    place = Folder(str(folder))
    return place.read_all(sorted(name for name in place.sizes() if name.startswith("part-")))


def documents_of(folder):
    """Return the documents of parts of JSON lines, in order."""
    return [json.loads(line) for part in parts_of(folder).values() for line in part.splitlines()]


class InlineEngine:
    """Runs blocks one after the other in this process."""

    def has_gpus(self):
        """Return False."""
        return False

    def run(self, work, blocks, workers):
        """Return the receipts of blocks."""
        worker = Worker(work)
        return (worker.tag(block) for block in blocks)

    def close(self):
        """Do nothing."""


SCRIPT = """
import sys
from discotag.scale import run_job
run_job(sys.argv[1], sys.argv[2], **eval(sys.argv[3]))
"""


@contextmanager
def started(given, out, **options):
    """Run a job in another process, which is killed at the end if it still runs."""
    command = [sys.executable, "-c", SCRIPT, str(given), str(out), repr(options)]
    job = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield job
    finally:
        job.kill()
        job.wait()
        job.stderr.close()


def receipts_in(folder):
    """Return the number of parts that are complete, in a folder or at an address."""
    return len(Folder(str(folder)).sizes("_receipts"))


def kill_one(name, parent):
    """Kill a process below another one whose command line contains a text; return its number."""
    for process in psutil.Process(parent).children(recursive=True):
        try:
            if name in " ".join(process.cmdline()):
                process.send_signal(signal.SIGKILL)
                return process.pid
        except psutil.Error:  # it has ended
            continue
    return None
