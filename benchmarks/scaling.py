"""Measure how cost grows: with the length of a sentence, batches, labels, slots, texts and workers.

    python benchmarks/scaling.py                     all parts, some hours
    python benchmarks/scaling.py length scheme       some of them
    python benchmarks/scaling.py corpus --texts 1000000 --small

    length     one sentence of 16 to a million words: seconds and memory, each in a new process
    batch      sentences per second by the number of sentences in a batch
    scheme     decoding of words by the number of labels (1 to 20) and slots, without an encoder
    corpus     a job of many texts by worker processes: seconds, and memory all along
    workers    the same job by one and by two workers
    engines    the plain pipeline, worker processes and Ray on the same texts
    failures   Ray on two local nodes: a worker, a node and the driver are killed, and the parts
               are compared with those of an undisturbed job by worker processes

The bundled model is measured, or, with `--small`, a network with random weights that is ten times
as fast, which shows what surrounds a model rather than the model. Memory is the resident memory
that processes do not share, and their part of what they share (PSS). The results of a part replace
its earlier ones with the same model in `benchmarks/results/scaling.json`; the plot is made of all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from discotag import Document, Mention, Scheme, Sentence, load
from discotag.prediction.benchmark import SAMPLE
from discotag.scale import read_manifest, run_job
from machine import machine

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "scaling.json"
LENGTHS = (16, 64, 256, 1_000, 4_000, 16_000, 64_000, 250_000, 1_000_000)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
LABELS = (1, 2, 5, 10, 20)
SLOTS = ((1, False), (2, False), (2, True), (3, False), (3, True))
"""Numbers of slots, each with or without gap mentions."""
FIT_FROM = 1_000
"""Shorter sentences are left out of the fit: their time is that of a call."""
PATIENCE = 900.0
"""The most seconds for one process of `length`; longer sentences are then left out."""

Rows = list[dict[str, Any]]


def texts(number: int) -> Iterator[dict[str, str]]:
    """Yield documents of about one sentence, always the same."""
    sentences = [
        sentence
        for text in SAMPLE
        for sentence in text.replace("! ", "!|").replace(". ", ".|").split("|")
    ]
    for count, text in enumerate(islice(cycle(sentences), number)):
        yield {"id": f"post-{count:09}", "text": f"{text} (post {count})"}


def write_texts(path: Path, number: int) -> int:
    """Write documents as JSON lines, and return the number of bytes."""
    with path.open("w", encoding="utf-8") as stream:
        for each in texts(number):
            stream.write(json.dumps(each) + "\n")
    return path.stat().st_size


def long_sentence(words: int) -> list[str]:
    """Return the words of one sentence of the given length."""
    split = [text.split() for text in SAMPLE]
    return list(islice(chain.from_iterable(cycle(split)), words))


def small_model(folder: str) -> dict[str, Any]:
    """Write a small network with random weights that finds mentions in some sentences."""
    import torch
    from transformers import BertConfig, BertModel

    from discotag.export import export
    from discotag.model.config import ModelConfig
    from discotag.model.files import BUNDLED
    from discotag.model.network import Network
    from discotag.prediction.tagger import Tagger
    from throughput import set_bias

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=512,
    )
    tokenizer = (BUNDLED / "tokenizer.json").read_text("utf-8")
    encoder = BertModel(config, add_pooling_layer=False)
    network = Network(encoder, ModelConfig(Scheme(("ADR",))), tokenizer).eval()
    tagger = Tagger.from_network(network, "cpu")
    set_bias(tagger, network, [Sentence(text.split()) for text in SAMPLE])
    floats, small = Path(folder, "floats"), Path(folder, "small")
    network.save_pretrained(floats)
    export(floats, small, list(SAMPLE))
    return {"model": str(small)}


def in_new_process(what: str, **given: Any) -> dict[str, Any] | None:
    """Run a function of this file in a new process; None if it takes too long."""
    command = [sys.executable, __file__, "--child", json.dumps({"what": what} | given)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def tag_long(words: int, model: str | None) -> dict[str, Any]:
    """Tag one sentence, and return its time and the memory of this process."""
    tagger = load(model)
    tagger(SAMPLE[0])
    document = Document((Sentence(long_sentence(words)),))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    (found,) = tagger.tag_batch([document])
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "words": words,
        "seconds": seconds,
        "mentions": len(found.mentions),
        "megabytes": after / 1024,
        "more_megabytes": (after - before) / 1024,
    }


def measure_length(given: argparse.Namespace) -> Rows:
    """Measure sentences of all lengths."""
    rows: Rows = []
    for words in LENGTHS:
        if words > given.words:
            break
        row = in_new_process("tag_long", words=words, model=given.model)
        if row is None:
            print(f"{words:,} words: stopped after {PATIENCE:.0f} s", file=sys.stderr)
            break
        rows.append(row)
    return rows


def slope(rows: Rows, x: str, y: str, least: float = 0) -> float:
    """Return the exponent b of the fit y = a * x^b; 1 is linear.

    Example:
        >>> round(slope([{"n": n, "s": 3 * n**2} for n in (10, 100, 1000)], "n", "s"), 6)
        2.0
    """
    chosen = [(row[x], row[y]) for row in rows if row[x] >= least]
    if len(chosen) < 2:
        return float("nan")
    logs = np.log(np.array(chosen, dtype=float))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def measure_batch(given: argparse.Namespace) -> Rows:
    """Measure batches of all sizes on the same sentences."""
    tagger = load(given.model)
    documents = [tagger.splitter.document(each["text"]) for each in texts(512)]
    sentences = sum(len(each.sentences) for each in documents)
    rows: Rows = []
    for size in BATCHES:
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            tagger.tag_batch(documents, batch_size=size)
            seconds.append(time.perf_counter() - start)
        rows.append({"batch": size, "sentences_per_second": sentences / min(seconds)})
    return rows


def measure_scheme(given: argparse.Namespace) -> Rows:
    """Measure decoding of 64 sentences of 32 words with a mention each, and its probability."""
    from discotag.inference.backends import numpy_backend
    from discotag.prediction.decoding import Ask, Decoder
    from discotag.prediction.pipeline import run_pipeline

    random = np.random.default_rng(0)
    rows: Rows = []
    for slots, gaps in SLOTS:
        for labels in LABELS:
            scheme = Scheme(tuple(f"L{each}" for each in range(labels)), slots, gap_mentions=gaps)
            scores = random.normal(size=(64, 32, len(scheme.tags))).astype(np.float32)
            scores[:, :, 0] += 8  # so that words are outside of mentions, except for one mention
            planted = scheme.encode(32, [Mention("L0", [(5, 7)])])
            for word in (5, 6):
                scores[:, word, scheme.tags.index(planted[word])] += 16
            lengths = np.full(64, 32)
            decoder = Decoder(scheme, numpy_backend)
            seconds = []
            for _ in range(3):
                start = time.perf_counter()
                for _ in run_pipeline(iter([decoder.answer(scores, None, lengths, Ask())]), 1):
                    pass
                seconds.append(time.perf_counter() - start)
            rows.append(
                {
                    "slots": slots,
                    "gap_mentions": gaps,
                    "labels": labels,
                    "tags": len(scheme.tags),
                    "arcs": len(scheme.grammar.arcs),
                    "microseconds_per_word": 1e6 * min(seconds) / (64 * 32),
                }
            )
    return rows


class Watch:
    """Samples the memory of this process and its children in a thread."""

    def __init__(self, every: float = 1.0) -> None:
        self.every = every
        self.samples: list[tuple[float, float]] = []
        self._stop = threading.Event()

    def __enter__(self) -> Watch:
        self._start = time.perf_counter()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        here = psutil.Process()
        while not self._stop.wait(self.every):
            total = 0
            for each in [here, *here.children(recursive=True)]:
                try:
                    total += each.memory_full_info().pss
                except psutil.Error:
                    continue
            self.samples.append((time.perf_counter() - self._start, total / 2**20))


@contextmanager
def job_folder(number: int) -> Iterator[tuple[Path, Path, int]]:
    """Make texts in a temporary folder; give the folder, the file and its bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write_texts(folder / "texts.jsonl", number)
        yield folder, folder / "texts.jsonl", size


def measure_corpus(given: argparse.Namespace) -> Rows:
    """Measure jobs of growing size, with the memory of all their processes."""
    rows: Rows = []
    for share in (0.01, 0.1, 1.0):
        number = round(share * given.texts)
        with job_folder(number) as (folder, source, size), Watch() as watch:
            start = time.perf_counter()
            found = run_job(source, folder / "out", workers=given.workers, model=given.model)
            seconds = time.perf_counter() - start
        used = [megabytes for _, megabytes in watch.samples]
        half = len(used) // 2
        rows.append(
            {
                "texts": number,
                "bytes": size,
                "seconds": seconds,
                "texts_per_second": number / seconds,
                "mentions": found.mentions,
                "parts": len(found.parts),
                "most_megabytes": max(used, default=0.0),
                "first_half_megabytes": statistics.fmean(used[:half]) if half else None,
                "second_half_megabytes": statistics.fmean(used[half:]) if half else None,
                "samples": [[round(at, 1), round(mb)] for at, mb in thinned(watch.samples)],
            }
        )
    return rows


def thinned(samples: Sequence[tuple[float, float]], most: int = 200) -> list[tuple[float, float]]:
    """Return at most so many samples, evenly spread.

    Example:
        >>> thinned([(n, n) for n in range(5)], 2)
        [(0, 0), (3, 3)]
    """
    return list(samples[:: max(1, -(-len(samples) // most))])


def measure_workers(given: argparse.Namespace) -> Rows:
    """Measure the same job by one and by two workers, in turns."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    with job_folder(given.texts) as (folder, source, _):
        for _ in range(given.repeat):
            for workers, found in seconds.items():
                out = folder / f"out-{workers}"
                shutil.rmtree(out, ignore_errors=True)
                start = time.perf_counter()
                run_job(source, out, workers=workers, model=given.model)
                found.append(time.perf_counter() - start)
    return [
        {"workers": workers, "seconds": min(found), "texts_per_second": given.texts / min(found)}
        for workers, found in seconds.items()
    ]


def plain_pipeline(source: Path, out: Path, model: str | None) -> None:
    """Do what `discotag predict` without an engine does."""
    command = [sys.executable, "-m", "discotag", "predict", str(source), "--out", str(out)]
    subprocess.run([*command, *(["--model", model] if model else [])], check=True)


def measure_engines(given: argparse.Namespace) -> Rows:
    """Measure the plain pipeline, worker processes and Ray on the same texts, in turns."""
    with job_folder(given.texts) as (folder, source, _):
        ways: dict[str, Callable[[Path], object]] = {
            "plain pipeline": lambda out: plain_pipeline(source, out, given.model),
            "processes": lambda out: run_job(source, out, workers=given.workers, model=given.model),
            "ray": lambda out: run_job(
                source, out, engine="ray", workers=given.workers, model=given.model
            ),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(given.repeat):
            for name, work in ways.items():
                out = folder / f"{name.split()[0]}-{turn}"
                start = time.perf_counter()
                work(out.with_suffix(".jsonl") if name == "plain pipeline" else out)
                seconds[name].append(time.perf_counter() - start)
                shutil.rmtree(out, ignore_errors=True)
    floor = min(seconds["plain pipeline"])
    return [
        {
            "engine": name,
            "texts": given.texts,
            "seconds": min(found),
            "overhead": min(found) / floor - 1,
        }
        for name, found in seconds.items()
    ]


def drive(source: str, out: str, address: str, model: str | None) -> dict[str, Any]:
    """Run a job on a Ray cluster, or continue it."""
    resume = Path(out).exists() and any(Path(out).iterdir())
    found = run_job(source, out, engine="ray", address=address, model=model, resume=resume)
    return {"documents": found.documents}


def digests(out: Path) -> dict[str, str]:
    """Return a digest of the sorted lines of each part."""
    return {
        part.name: hashlib.sha256(
            b"".join(sorted((out / part.name).read_bytes().splitlines(keepends=True)))
        ).hexdigest()
        for part in read_manifest(out).parts
    }


def measure_failures(given: argparse.Namespace) -> Rows:
    """Kill a worker, a node and the driver of jobs on Ray, and compare the parts."""
    from ray.cluster_utils import Cluster

    rows: Rows = []
    with job_folder(given.texts) as (folder, source, _):
        truth = folder / "truth"
        run_job(source, truth, workers=given.workers, model=given.model)
        wanted = digests(truth)
        for failure in ("none", "worker", "node", "driver"):
            cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
            node = cluster.add_node(num_cpus=1)
            try:
                out = folder / f"ray-{failure}"
                start = time.perf_counter()
                again = disturbed(failure, source, out, cluster, node, given.model)
                seconds = time.perf_counter() - start
                ids = [
                    json.loads(line)["id"]
                    for part in read_manifest(out).parts
                    for line in (out / part.name).read_text("utf-8").splitlines()
                ]
                rows.append(
                    {
                        "killed": failure,
                        "texts": given.texts,
                        "seconds": seconds,
                        "drivers": again,
                        "documents": len(ids),
                        "twice": len(ids) - len(set(ids)),
                        "equal": digests(out) == wanted,
                    }
                )
            finally:
                cluster.shutdown()
    return rows


def disturbed(
    failure: str, source: Path, out: Path, cluster: Any, node: Any, model: str | None
) -> int:
    """Run a job and let something fail in the middle; return the number of drivers it took."""
    job = {
        "what": "drive",
        "source": str(source),
        "out": str(out),
        "address": cluster.address,
        "model": model,
    }
    command = [sys.executable, __file__, "--child", json.dumps(job)]
    for drivers in range(1, 4):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        if drivers == 1 and failure != "none":
            while process.poll() is None and len(list(out.glob("part-*"))) < 2:
                time.sleep(0.1)
            if failure == "driver":
                os.killpg(process.pid, signal.SIGKILL)
            elif failure == "node":
                cluster.remove_node(node, allow_graceful=False)
            else:
                kill_worker()
        if process.wait() == 0:
            return drivers
    raise SystemExit(f"the job did not end after {drivers} drivers")


def kill_worker() -> None:
    """Kill one of the processes in which Ray tags."""
    for each in psutil.process_iter(["cmdline"]):
        line = " ".join(each.info["cmdline"] or [])
        if line.startswith("ray::") and "idle" not in line.lower() and "map" in line.lower():
            each.kill()
            return
    raise SystemExit("no worker of Ray was found")


def verdict(part: str, rows: Rows) -> str:
    """Return the main figure of a part in one line."""
    if part == "length":
        exponent = slope(rows, "words", "seconds", FIT_FROM)
        return f"seconds grow with words^{exponent:.2f} from {FIT_FROM:,} words on"
    if part == "corpus":
        return f"seconds grow with texts^{slope(rows, 'texts', 'seconds'):.2f}"
    if part == "workers":
        return f"two workers are {rows[0]['seconds'] / rows[1]['seconds']:.2f} times as fast as one"
    if part == "scheme":
        exponent = slope([each for each in rows if each["slots"] == 2 and not each["gap_mentions"]],
                         "labels", "microseconds_per_word")  # fmt: skip
        return f"with two slots, time grows with labels^{exponent:.2f}"
    return ""


def show(part: str, rows: Rows) -> None:
    """Print a table and the main figure."""
    table = Table(title=part)
    names = [name for name in rows[0] if name != "samples"]
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(
            *(f"{row[n]:,.3g}" if isinstance(row[n], float) else f"{row[n]}" for n in names)
        )
    console = Console()
    console.print(table)
    console.print(verdict(part, rows))


def plot(results: dict[str, Any], path: Path) -> None:
    """Draw what has been measured."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(15, 8))
    panels = iter(axes.flat)
    rows = {name.partition(",")[0]: part["rows"] for name, part in results["parts"].items()}
    if "length" in rows:
        for name, unit in (("seconds", "s"), ("megabytes", "MB")):
            axis = next(panels)
            axis.loglog(
                [r["words"] for r in rows["length"]], [r[name] for r in rows["length"]], "o-"
            )
            axis.set(xlabel="words in one sentence", ylabel=unit)
    if "batch" in rows:
        axis = next(panels)
        axis.semilogx(
            [r["batch"] for r in rows["batch"]],
            [r["sentences_per_second"] for r in rows["batch"]],
            "o-",
        )
        axis.set(xlabel="sentences in a batch", ylabel="sentences/s", ylim=0)
    if "scheme" in rows:
        axis = next(panels)
        for slots, gaps in SLOTS:
            some = [r for r in rows["scheme"] if (r["slots"], r["gap_mentions"]) == (slots, gaps)]
            title = f"{slots} slots" + (", gap mentions" if gaps else "")
            axis.loglog(
                [r["labels"] for r in some], [r["microseconds_per_word"] for r in some], "o-",
                label=title,
            )  # fmt: skip
        axis.set(xlabel="labels", ylabel="µs per word, decoding on one core")
        axis.legend(fontsize="small")
    if "corpus" in rows:
        axis = next(panels)
        for row in rows["corpus"]:
            if row["samples"]:
                axis.plot(*zip(*row["samples"], strict=True), label=f"{row['texts']:,} texts")
        axis.set(xlabel="seconds", ylabel="MB of all processes", ylim=0)
        axis.legend(fontsize="small")
    if "engines" in rows:
        axis = next(panels)
        axis.bar([r["engine"] for r in rows["engines"]], [r["seconds"] for r in rows["engines"]])
        axis.set(ylabel=f"seconds for {rows['engines'][0]['texts']:,} texts")
    for axis in panels:
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


PARTS: dict[str, Callable[[argparse.Namespace], Rows]] = {
    "length": measure_length,
    "batch": measure_batch,
    "scheme": measure_scheme,
    "corpus": measure_corpus,
    "workers": measure_workers,
    "engines": measure_engines,
    "failures": measure_failures,
}
CHILDREN: dict[str, Callable[..., dict[str, Any]]] = {
    "small_model": small_model,  # needs PyTorch, whose memory is not that of jobs
    "tag_long": tag_long,
    "drive": drive,
}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--model", help="a folder; default: the bundled model")
    parser.add_argument("--small", action="store_true", help="a small model with random weights")
    parser.add_argument("--words", type=int, default=LENGTHS[-1], help="of the longest sentence")
    parser.add_argument("--texts", type=int, default=200_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        job = json.loads(given.child)
        print(json.dumps(CHILDREN[job.pop("what")](**job)))
        return
    results: dict[str, Any] = {"parts": {}}
    if given.out.exists():
        results = json.loads(given.out.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        name = given.model or "bundled"
        if given.small:
            made = in_new_process("small_model", folder=folder)
            assert made is not None
            given.model, name = made["model"], "small, random weights"
        for part in given.parts or PARTS:
            rows = PARTS[part](given)
            show(part, rows)
            results["parts"][f"{part}, small model" if given.small else part] = {
                "machine": machine(),
                "model": None if part == "scheme" else name,
                "workers": given.workers if part in ("corpus", "engines", "failures") else None,
                "verdict": verdict(part, rows),
                "rows": rows,
            }
            given.out.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
            plot(results, given.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
