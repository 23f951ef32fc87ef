"""Measure the accuracy of trained models: corpora x encoders x variants x seeds.

    python benchmarks/accuracy.py --data FOLDER --runs RUNS --jobs 12 --limit 560 \
        --encoder minilm=PATH=1e-4 --encoder mpnet=PATH=3e-5 --seeds 5 --only 'mpnet.(best|plain)'

`accuracy_jobs.py` lists the corpora and the variants: the presets `best` and `paper`, the plain
tagger with the recipe of `best`, the grid model, and ablations of `best`. The encoder for screening
is given first, the one for the main comparison last. RATE is the learning rate of the variants of
`best`; `paper` and `grid` have published ones.

FOLDER has `psytar.train.json.gz` and so on, lists of [words, [[label, fragments], …]], or folders
`psytar/`, each with train, dev and test in any format that discotag reads.

`--jobs` processes do one training after the other. The results of a training are written to RUNS as
soon as it is finished, and finished trainings are not repeated; one that fails or is stopped leaves
a log. `--only` selects trainings by a regular expression on names such as craft-cl.mpnet.best.1.
After `--limit` seconds, those that still run are stopped. The trainings of results/accuracy.json
whose predictions were kept are in results/accuracy_runs: with RUNS there, new seeds are added to
them. At the end, or with `--jobs 0` at once, all of RUNS is summarised: tables,
`results/accuracy.json` and a plot. `--add` keeps the systems of the file that are not in RUNS.

A training has two files in RUNS. NAME.json has

    job              {"corpus": …, "encoder": …, "variant": …, "seed": …}; NAME joins them by dots
    device           the name of the GPU, or CPU
    test             by slice: precision, recall, f1, gold, predicted, correct
    test_sentences   the number of sentences of the test data

and, if known,

    settings, versions, left_out
    train            numbers of the sentences that were trained on
    seconds          of reading, training, test
    dev              as `test`, of the best epoch
    best_epoch       from 1
    curve            for each epoch the loss, and F1 of all and of discontinuous mentions on dev;
                     of the grid model only the loss
    recall           the bias that was set on development data
    calibration      "before" and "after": the error, and ten bins of [mentions, sum of their
                     scores, number that is right]
    decoding         of `best`: as `test`, for best_path, recall_0 and oracle
    candidates       of `best`: the share of gold mentions among candidates, all and discontinuous

NAME.predictions.jsonl.gz has a line for each test sentence with gold or predicted mentions:
{"n": its number from 0, "gold": [[label, fragments], …], "found": [[label, fragments, score], …]}.
Scores are left out if the model has none. The summary also takes files that were made in another
way, and variants that are not in the list.

Calibration across corpora is not measured here: no two of these corpora have the same labels.
Neither is speed, since trainings share the GPU; `throughput.py` and `grid_speed.py` measure it.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from accuracy_jobs import Encoder, Job, plan_jobs
from accuracy_summary import PARTS, load, merge, plot, report, summarise

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "accuracy.json"
TRAINING = HERE / "accuracy_training.py"
GRACE = 5.0
"""The seconds that a process is given to end by itself."""

ENVIRONMENT = {
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
}


def run_all(jobs: Sequence[Job], options: argparse.Namespace) -> None:
    """Run the trainings that are selected and not finished, `options.jobs` at a time."""
    selected = [job for job in jobs if re.search(options.only, job.name)]
    waiting = deque(job for job in selected if not (options.runs / f"{job.name}.json").exists())
    say(f"trainings selected: {len(selected)}, not finished: {len(waiting)}")
    end = time.monotonic() + options.limit

    def work(_: int) -> None:
        with Worker() as worker:
            while waiting:
                with suppress(IndexError):  # another thread has taken the last one
                    run(waiting.popleft(), options, end, worker)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, range(options.jobs)))  # raises what one of them raised


def run(job: Job, options: argparse.Namespace, end: float, worker: Worker) -> None:
    """Run a training, unless other seeds took longer than there is time left."""
    started = time.monotonic()
    if end - started < expected_seconds(options.runs, job):
        return
    encoder = next(each for each in options.encoder if each.name == job.encoder)
    log = options.runs / f"{job.name}.log"
    given = {
        "job": asdict(job),
        "encoder": asdict(encoder),
        "epochs": options.epochs,
        "data": str(options.data),
        "runs": str(options.runs),
        "log": str(log),
    }
    try:
        error = worker.ask(given, log, min(end - started, threading.TIMEOUT_MAX))
    except TimeoutError:
        say(f"{job.name}: stopped after {time.monotonic() - started:.0f} s")
        return
    seconds = time.monotonic() - started
    if error is not None:
        say(f"{job.name}: failed after {seconds:.0f} s: {error}")
        return
    log.unlink()
    test = json.loads((options.runs / f"{job.name}.json").read_text(encoding="utf-8"))["test"]
    shown = " / ".join(f"{100 * test[part]['f1']:.2f}" for part in PARTS)
    say(f"{job.name}: {shown} in {seconds:.0f} s")


class Worker:
    """A process that does one training after the other, so that PyTorch is loaded once.

    It is started when there is something to do, and again after it was stopped or has ended.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ask(self, given: dict[str, Any], log: Path, seconds: float) -> str | None:
        """Let the process do a training, and return what went wrong, or None.

        Args:
            given: The training, as `accuracy_training.py` reads it.
            log: The file for what the process prints.
            seconds: The time that it has.

        Raises:
            TimeoutError: The time is over; the process was stopped.
        """
        process = self._started(log)
        assert process.stdin is not None
        assert process.stdout is not None
        answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        stream = process.stdout
        reader = threading.Thread(target=lambda: answers.put(stream.readline()), daemon=True)
        reader.start()
        with suppress(BrokenPipeError):  # it has ended, which the answer shows
            print(json.dumps(given), file=process.stdin, flush=True)
        try:
            answer = answers.get(timeout=seconds)
        except queue.Empty:
            self.stop()
            raise TimeoutError from None
        if not answer:
            self.stop()
            lines = log.read_text(errors="replace").strip().splitlines()
            return lines[-1] if lines else "the process has ended"
        error: str | None = json.loads(answer)["error"]
        return error

    def _started(self, log: Path) -> subprocess.Popen[str]:
        if self.process is None:
            with log.open("w") as stream:
                self.process = subprocess.Popen(
                    [sys.executable, str(TRAINING)],
                    env=os.environ | ENVIRONMENT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stream,
                    text=True,
                )
        return self.process

    def stop(self) -> None:
        """Stop the process, and wait until it has ended."""
        if self.process is None:
            return
        process, self.process = self.process, None
        process.terminate()
        try:
            process.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def expected_seconds(runs: Path, job: Job) -> float:
    """Return the mean time of finished trainings with other seeds, at least 0."""
    found = [
        sum(each["seconds"].values())
        for each in load(runs)
        if Job(**each["job"]).system == job.system and "seconds" in each
    ]
    return statistics.fmean(found) if found else 0.0


def say(line: str) -> None:
    """Print a line to standard error at once."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Run trainings, and summarise all that are finished."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the corpora")
    parser.add_argument("--runs", type=Path, required=True, help="folder of finished trainings")
    parser.add_argument(
        "--encoder",
        type=Encoder.parse,
        action="append",
        default=[],
        help="NAME=FOLDER=RATE; may be repeated, the one for screening first",
    )
    parser.add_argument("--seeds", type=int, default=3, help="trainings of each system")
    parser.add_argument("--epochs", type=int, help="instead of those of the variants")
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time; 0: none")
    parser.add_argument("--only", default="", help="a regular expression on names of trainings")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds of training")
    parser.add_argument(
        "--markdown", action="store_true", help="print the table as docs/experiments.md has it"
    )
    parser.add_argument("--add", action="store_true", help="keep other systems of the summary")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file of the summary")
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    if options.jobs:
        if options.data is None or not options.encoder:
            parser.error("training needs --data and --encoder")
        run_all(plan_jobs([each.name for each in options.encoder], options.seeds), options)
    if not load(options.runs):
        sys.exit(f"{options.runs}: no training is finished")
    summary = summarise(options.runs)
    if options.add:
        summary = merge(json.loads(options.out.read_text(encoding="utf-8")), summary)
    options.out.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    if find_spec("matplotlib"):
        plot(summary, options.out.with_suffix(".png"))
    print("\n".join(report(summary, markdown=options.markdown)))


if __name__ == "__main__":
    main()
