"""Load the service by wrk with one client and with many; compare its answers with the tagger's.

    python benchmarks/serving.py [--seconds 60] [--clients 32] [--turns 1] [--workers N]

Starts `discotag serve` on loopback with the bundled model. The texts are those of docs/demo.txt and
docs/sample.jsonl, and made-up posts, one text per request, in random order. First, many clients at
a time post all texts, and their answers are compared with what the tagger finds. Then wrk sends
requests from one client, and from many, each as fast as it gets answers. wrk and the service share
the cores; `other_cores` is what all other processes of the machine used meanwhile.

Prints a table and writes benchmarks/results/serving.json.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import psutil
from rich.console import Console
from rich.table import Table

from discotag import load
from discotag.corpora import read
from machine import machine
from made_up_posts import made_up_posts

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
MADE_UP = 2000
GRACE = 30
"""The seconds that wrk has to end after its time."""


def texts() -> list[str]:
    """Return the texts, always in the same random order."""
    found = [line for line in (DOCS / "demo.txt").read_text("utf-8").splitlines() if line]
    found += [each.text or " ".join(each.words) for each in read(DOCS / "sample.jsonl")]
    found += [each.text or "" for each in made_up_posts(MADE_UP, share=0.3)]
    random.Random(0).shuffle(found)
    return found


@contextmanager
def service(workers: int | None) -> Iterator[str]:
    """Start the service, yield its URL, and stop it."""
    command = [sys.executable, "-m", "discotag", "serve", "--port", "0"]
    if workers is not None:
        command += ["--workers", str(workers)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+?(?=;)", line)
        if found is None:
            raise SystemExit(f"the service does not start: {line}{process.stderr.read()}")
        try:
            yield found[0]
        finally:
            process.send_signal(signal.SIGTERM)
            if process.wait(60):
                raise SystemExit(f"the service ended with status {process.returncode}")


def compare_answers(url: str, given: Sequence[str], clients: int) -> dict[str, float]:
    """Return how many answers differ from what the tagger finds, and how.

    The tagger's own scores depend on the batch in the sixth digit, now and then.
    """
    wanted = {each.text: each.to_dict() for each in load()(given)}
    address = urlsplit(url).netloc

    def differing(part: Sequence[str]) -> list[tuple[Any, Any]]:
        connection = http.client.HTTPConnection(address, timeout=60)
        different = []
        for text in part:
            body = json.dumps({"text": text})
            connection.request("POST", "/api/predict", body, {"Content-Type": "application/json"})
            (document,) = json.load(connection.getresponse())["documents"]
            if document != wanted[text]:
                different.append((document, wanted[text]))
        return different

    with ThreadPoolExecutor(clients) as pool:
        parts = [given[first::clients] for first in range(clients)]
        different = [pair for found in pool.map(differing, parts) for pair in found]
    alike = [pair for pair in different if without_scores(pair[0]) == without_scores(pair[1])]
    return {
        "texts_compared_with_the_tagger": len(given),
        "different_mentions": len(different) - len(alike),
        "different_scores": len(alike),
        "largest_difference_of_scores": max(
            (
                abs(one["score"] - other["score"])
                for answer, expected in alike
                for one, other in zip(answer["mentions"], expected["mentions"], strict=True)
            ),
            default=0.0,
        ),
    }


def without_scores(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document as plain data without the scores of its mentions."""
    mentions = [each | {"score": None} for each in document["mentions"]]
    return document | {"mentions": mentions}


def busy_seconds() -> tuple[float, float]:
    """Return the processor seconds of all processes, and of this one and those it started."""
    everything = psutil.cpu_times()
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    times = [each.cpu_times() for each in family]
    ended = times[0].children_user + times[0].children_system
    return (
        everything.user + everything.nice + everything.system,
        sum(each.user + each.system for each in times) + ended,
    )


def load_by_wrk(url: str, clients: int, seconds: int, bodies: Path) -> dict[str, Any]:
    """Return what wrk measured."""
    before = busy_seconds()
    command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "30s"]
    command += ["-s", str(HERE / "serving.lua"), url, "--", str(bodies)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=seconds + GRACE
    )
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    measured["per_second"] = round(measured["requests"] / measured["seconds"], 1)
    everything, own = (after - start for after, start in zip(busy_seconds(), before, strict=True))
    measured["other_cores"] = round((everything - own) / measured["seconds"], 2)
    return {"clients": clients} | measured


def main() -> None:
    """Measure, print a table, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "serving.json")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("this needs wrk, the package wrk of Debian and Ubuntu")
    given = texts()
    console = Console()
    with tempfile.TemporaryDirectory() as folder, service(arguments.workers) as url:
        bodies = Path(folder) / "bodies.jsonl"
        bodies.write_text("".join(f"{json.dumps({'text': each})}\n" for each in given), "utf-8")
        answers = compare_answers(url, given, arguments.clients)
        turns = []
        for _ in range(arguments.turns):
            one, many = (
                load_by_wrk(url, clients, arguments.seconds, bodies)
                for clients in (1, arguments.clients)
            )
            turns.append({"one": one, "many": many} | compared(one, many))
            show(console, turns[-1])
    words = median(len(each.split()) for each in given)
    result = {"machine": machine(), "words_of_a_text": words} | answers | {"turns": turns}
    console.print(", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in answers.items()))
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", "utf-8")


def compared(one: dict[str, Any], many: dict[str, Any]) -> dict[str, float]:
    """Return how many clients compare with one."""
    return {
        "throughput_ratio": round(many["per_second"] / one["per_second"], 2),
        "p99_to_median_of_one": round(many["p99_ms"] / one["median_ms"], 2),
        "p99_to_p99_of_one": round(many["p99_ms"] / one["p99_ms"], 2),
    }


def show(console: Console, turn: dict[str, Any]) -> None:
    """Print a table of one turn."""
    columns = {
        "clients": "clients",
        "requests/s": "per_second",
        "median ms": "median_ms",
        "p90 ms": "p90_ms",
        "p99 ms": "p99_ms",
        "longest ms": "longest_ms",
        "errors": "errors",
        "other cores": "other_cores",
    }
    table = Table(*columns)
    for each in (turn["one"], turn["many"]):
        table.add_row(*(f"{each[key]:,}" for key in columns.values()))
    console.print(table)
    ratios = {key: value for key, value in turn.items() if isinstance(value, float)}
    console.print(", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in ratios.items()))


if __name__ == "__main__":
    main()
