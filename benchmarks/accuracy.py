"""Measure the accuracy of trained models: corpora x encoders x objectives x schemes x seeds.

    python benchmarks/accuracy.py --data FOLDER --runs RUNS \
        --encoder minilm=PATH=1e-4 --encoder mpnet=PATH=1e-5 --jobs 10

FOLDER holds psytar/, craft-cl/ and craft-go_bp/, each with train, dev and test in any format that
discotag reads. The figures and predictions of each training are written to RUNS as soon as it is
finished; finished trainings are not repeated. `--only` selects trainings by a regular expression on
names such as craft-cl.mpnet.nll.2.1. At the end, or with `--jobs 0` at once, RUNS is summarised: a
table, `results/accuracy.json` and a plot.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "accuracy.json"
CORPORA = {
    # The labels to learn, and the number of sentences without mentions per sentence with mentions.
    "psytar": {"labels": ("ADR",), "without_mentions": -1.0},
    "craft-cl": {"labels": (), "without_mentions": 1.0},
    "craft-go_bp": {"labels": (), "without_mentions": 1.0},
}
SCHEMES = {"2": (2, False), "3gap": (3, True), "bio": (0, False)}
"""The number of slots, and whether there are gap mentions."""
EM = ("soft_em", "hard_em", "weakly_soft_em", "weakly_hard_em")
SLICES = ("all", "discontinuous_sentences", "discontinuous")
RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Job:
    """One training of the grid."""

    corpus: str
    encoder: str
    objective: str
    scheme: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.system}.{self.seed}"

    @property
    def system(self) -> str:
        return f"{self.corpus}.{self.encoder}.{self.objective}.{self.scheme}"


def grid(seeds: int, small: str, large: str) -> list[Job]:
    """Return the trainings that do not depend on others, the most important first."""
    cells = [
        *((corpus, large, "nll", "2") for corpus in ("psytar", "craft-cl")),
        *((corpus, small, "nll", "2") for corpus in ("psytar", "craft-cl")),
        *((corpus, small, em, "2") for em in EM for corpus in ("psytar", "craft-cl")),
        *((c, small, "nll", scheme) for scheme in ("3gap", "bio") for c in ("psytar", "craft-cl")),
        ("craft-go_bp", large, "nll", "2"),
        *((c, large, "nll", scheme) for scheme in ("3gap", "bio") for c in ("psytar", "craft-cl")),
        *(("craft-go_bp", small, "nll", scheme) for scheme in ("2", "3gap", "bio")),
    ]
    return [Job(*cell, seed) for cell in cells for seed in range(1, seeds + 1)]


def best_em(runs: Path, small: str) -> str | None:
    """Return the EM objective with the best mean development F1 of the small encoder."""
    found: dict[str, list[float]] = defaultdict(list)
    for run in load(runs):
        if run["job"]["encoder"] == small and run["job"]["objective"] in EM:
            found[run["job"]["objective"]].append(run["dev"]["all"]["f1"])
    return max(found, key=lambda name: statistics.fmean(found[name])) if found else None


# A training, which runs in its own process.


def work(job: Job, data: Path, encoder: str, rate: float, epochs: int, runs: Path) -> None:
    """Train a model, predict the test data, and write the results."""
    import torch

    torch.set_num_threads(1)  # many trainings share the cores
    import transformers

    from discotag.evaluation import score
    from discotag.training.data import count, read_sentences
    from discotag.training.epochs import best_of
    from discotag.training.evaluation import predict, to_dict
    from discotag.training.examples import make_examples
    from discotag.training.initial_network import make_network
    from discotag.training.preparation import choose
    from discotag.training.settings import Settings
    from discotag.training.trainer import fit, uses_bf16

    started = time.monotonic()
    slots, gap_mentions = SCHEMES[job.scheme]
    settings = Settings(
        encoder=encoder,
        objective=job.objective,
        slots=slots,
        gap_mentions=gap_mentions,
        learning_rate=rate,
        num_train_epochs=epochs,
        seed=job.seed,
        **CORPORA[job.corpus],
    )
    folder = data / job.corpus
    train, dev, test = (
        read_sentences(next(folder.glob(f"{part}.*")), settings.labels)
        for part in ("train", "dev", "test")
    )
    chosen = choose(train, settings)
    network = make_network(settings, chosen.scheme, job.seed)
    examples = make_examples(network, chosen.train, settings)
    ready = time.monotonic()
    epochs_done = fit(network, examples, dev, settings, seed=job.seed)
    trained = time.monotonic()
    predicted = predict(network, test, bf16=uses_bf16(settings))
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    with gzip.open(runs / f"{job.name}.predictions.jsonl.gz", "wt", encoding="utf-8") as stream:
        for number, (sentence, found) in enumerate(zip(test, predicted, strict=True)):
            if sentence.mentions or found:
                line = {"n": number, "gold": _plain(sentence.mentions), "found": _plain(found)}
                print(json.dumps(line), file=stream)
    result = {
        "job": asdict(job),
        "settings": settings.to_dict() | {"encoder": job.encoder},
        "device": device,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "seconds": {
            "reading": round(ready - started, 1),
            "training": round(trained - ready, 1),
            "test": round(time.monotonic() - trained, 1),
        },
        "train": count(chosen.train),
        "left_out": len(chosen.left_out),
        "test_sentences": len(test),
        "best_epoch": best_of(epochs_done).number,
        "curve": [[round(each.loss, 4), round(each.f1, 5)] for each in epochs_done],
        "dev": best_of(epochs_done).dev,
        "test": to_dict(score(test, predicted)),
    }
    path = runs / f"{job.name}.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result) + "\n", encoding="utf-8")
    part.replace(path)


def _plain(mentions: Any) -> list[list[Any]]:
    return [[mention.label, mention.fragments] for mention in sorted(mentions)]


# The grid, as parallel processes.


def run_all(jobs: Sequence[Job], options: argparse.Namespace) -> None:
    """Run the trainings that are not finished, `options.jobs` at a time."""
    waiting = [job for job in jobs if not (options.runs / f"{job.name}.json").exists()]
    waiting = [job for job in waiting if re.search(options.only, job.name)]
    print(f"{len(jobs) - len(waiting)} done or not selected, {len(waiting)} to do", file=sys.stderr)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda job: _run(job, options), waiting))


def _run(job: Job, options: argparse.Namespace) -> None:
    started = time.monotonic()
    command = [sys.executable, __file__, "--work", json.dumps(asdict(job))]
    command += ["--data", str(options.data), "--runs", str(options.runs)]
    command += ["--epochs", str(options.epochs)]
    for each in options.encoder:
        command += ["--encoder", each]
    environment = os.environ | {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    log = options.runs / f"{job.name}.log"
    with log.open("w") as stream:
        code = subprocess.run(command, env=environment, stdout=stream, stderr=stream).returncode
    seconds = time.monotonic() - started
    if code:
        last = log.read_text(errors="replace").strip().splitlines()[-1:]
        print(f"{job.name}: failed after {seconds:.0f} s: {last}", file=sys.stderr, flush=True)
        return
    log.unlink()
    f1 = json.loads((options.runs / f"{job.name}.json").read_text())["test"]
    shown = " / ".join(f"{100 * f1[part]['f1']:.2f}" for part in SLICES)
    print(f"{job.name}: {shown} in {seconds:.0f} s", file=sys.stderr, flush=True)


# The summary of all trainings.


def load(runs: Path) -> list[dict[str, Any]]:
    """Return the figures of all finished trainings."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(runs.glob("*.json"))]


def counts_of(runs: Path, run: dict[str, Any]) -> np.ndarray:
    """Return the numbers of gold, predicted and correct mentions, (slices, test sentences, 3)."""
    from discotag.evaluation import tally
    from discotag.mentions import Mention

    table = np.zeros((len(SLICES), run["test_sentences"], 3))
    name = Job(**run["job"]).name
    with gzip.open(runs / f"{name}.predictions.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in map(json.loads, stream):
            gold, found = ([Mention(m[0], m[1]) for m in line[side]] for side in ("gold", "found"))
            for (part, _), counts in tally(gold, found).items():
                row = counts.gold, counts.predicted, counts.correct
                table[SLICES.index(part), line["n"]] += row
    return table


def resampled(tables: Sequence[np.ndarray], seed: int = 0) -> np.ndarray:
    """Return the F1 of bootstrap samples of sentences and seeds, (resamples, slices).

    The same `seed` draws the same sentences, so that two systems can be compared in pairs.
    """
    sentences = tables[0].shape[1]
    random, seeds = np.random.default_rng(seed), np.random.default_rng([seed, len(tables)])
    stacked = np.stack(tables)  # (seeds, slices, sentences, 3)
    found = np.zeros((RESAMPLES, len(SLICES)))
    for number in range(RESAMPLES):
        weights = random.multinomial(sentences, np.full(sentences, 1 / sentences))
        drawn = seeds.integers(len(tables), size=len(tables))
        sums = np.einsum("n,spnc->spc", weights, stacked)[drawn]
        found[number] = f1_of(sums).mean(0)
    return found


def f1_of(sums: np.ndarray) -> np.ndarray:
    both = sums[..., 0] + sums[..., 1]
    return np.divide(2 * sums[..., 2], both, out=np.zeros_like(both), where=both > 0)


def interval(values: np.ndarray) -> list[float]:
    tail = 100 * (1 - LEVEL) / 2
    return [float(each) for each in np.percentile(values, [tail, 100 - tail])]


def summarise(runs: Path) -> dict[str, Any]:
    """Return mean, deviation and interval of each system, and its difference to NLL, two slots."""
    by_system: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in load(runs):
        by_system[Job(**run["job"]).system].append(run)
    samples = {
        system: resampled([counts_of(runs, each) for each in found])
        for system, found in by_system.items()
    }
    systems = {}
    for system, found in by_system.items():
        job = Job(**found[0]["job"])
        base = f"{job.corpus}.{job.encoder}.nll.2"
        figures: dict[str, Any] = {}
        for place, part in enumerate(SLICES):
            values = [each["test"][part]["f1"] for each in found]
            figures[part] = {
                "mean": statistics.fmean(values),
                "deviation": statistics.stdev(values) if len(values) > 1 else None,
                "interval": interval(samples[system][:, place]),
                "seeds": values,
            }
            if base in samples and base != system:
                difference = samples[system][:, place] - samples[base][:, place]
                low, high = interval(difference)
                figures[part]["against_nll_2"] = {
                    "difference": figures[part]["mean"]
                    - statistics.fmean(each["test"][part]["f1"] for each in by_system[base]),
                    "interval": [low, high],
                    "larger_than_noise": bool(low > 0 or high < 0),
                }
        systems[system] = {
            "corpus": job.corpus,
            "encoder": job.encoder,
            "objective": job.objective,
            "scheme": job.scheme,
            "left_out": found[0]["left_out"],
            "train_sentences": found[0]["train"]["sentences"],
            "training_seconds": statistics.fmean(each["seconds"]["training"] for each in found),
            "test": figures,
        }
    return {
        "what": "F1 on test data; intervals by bootstrap of sentences and seeds",
        "level": LEVEL,
        "resamples": RESAMPLES,
        "settings": {name: each[0]["settings"] for name, each in by_system.items()},
        "device": sorted({run["device"] for each in by_system.values() for run in each}),
        "systems": systems,
    }


def table(summary: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a Markdown table; * marks significant differences to NLL, two slots."""
    names: tuple[Any, ...] = ("corpus", "encoder", "objective", "scheme", "seeds", *SLICES)
    yield f"| {' | '.join(names).replace('_', ' ')} |"
    yield "|---" * len(names) + "|"
    for each in sorted(summary["systems"].values(), key=lambda e: (e["corpus"], e["encoder"])):
        cells = []
        for part in SLICES:
            figures = each["test"][part]
            low, high = figures["interval"]
            star = "*" if figures.get("against_nll_2", {}).get("larger_than_noise") else ""
            spread = "" if figures["deviation"] is None else f" ± {100 * figures['deviation']:.1f}"
            cells.append(
                f"{100 * figures['mean']:.1f}{star}{spread} ({100 * low:.1f}–{100 * high:.1f})"
            )
        seeds = len(each["test"]["all"]["seeds"])
        names = (each["corpus"], each["encoder"], each["objective"], each["scheme"], seeds, *cells)
        yield f"| {' | '.join(map(str, names))} |"


def plot(summary: dict[str, Any], path: Path) -> None:
    """Plot the F1 of all and of discontinuous mentions, with intervals, in a panel per corpus."""
    from matplotlib.figure import Figure

    corpora = sorted({each["corpus"] for each in summary["systems"].values()})
    figure = Figure(figsize=(5 * len(corpora), 6), layout="constrained")
    panels = figure.subplots(1, len(corpora), squeeze=False)[0]
    for axes, corpus in zip(panels, corpora, strict=True):
        rows = [each for each in summary["systems"].values() if each["corpus"] == corpus]
        rows.sort(key=lambda e: (e["encoder"], e["objective"], e["scheme"]), reverse=True)
        for part, colour in (("all", "tab:blue"), ("discontinuous", "tab:orange")):
            means = [100 * each["test"][part]["mean"] for each in rows]
            ends = [[100 * end for end in each["test"][part]["interval"]] for each in rows]
            errors = [
                [max(0.0, mean - low) for mean, (low, _) in zip(means, ends, strict=True)],
                [max(0.0, high - mean) for mean, (_, high) in zip(means, ends, strict=True)],
            ]
            axes.errorbar(means, range(len(rows)), xerr=errors, fmt="o", color=colour, label=part)
        axes.set_yticks(
            range(len(rows)), [f"{e['encoder']} {e['objective']} {e['scheme']}" for e in rows]
        )
        axes.set(title=corpus, xlabel="test F1")
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the corpora")
    parser.add_argument("--runs", type=Path, required=True, help="folder for finished trainings")
    parser.add_argument(
        "--encoder", action="append", default=[], help="NAME=FOLDER=RATE; the small encoder first"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time; 0: none")
    parser.add_argument("--only", default="", help="a regular expression on names of trainings")
    parser.add_argument(
        "--em", choices=EM, help="EM objective of the large encoder; by default the best one"
    )
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    encoders = {}
    for each in options.encoder:
        name, folder, rate = each.split("=")
        encoders[name] = (folder, float(rate))
    options.runs.mkdir(parents=True, exist_ok=True)
    if options.work:
        job = Job(**json.loads(options.work))
        work(job, options.data, *encoders[job.encoder], options.epochs, options.runs)
        return
    if options.jobs:
        if options.data is None or not encoders:
            parser.error("training needs --data and --encoder")
        small, large = (list(encoders) * 2)[:2]
        jobs = list(dict.fromkeys(grid(options.seeds, small, large)))
        em_jobs = []
        if options.em:
            jobs += (em_jobs := _em_jobs(options.em, large, options.seeds))
        run_all(jobs, options)
        if not em_jobs and (em := best_em(options.runs, small)):
            run_all(_em_jobs(em, large, options.seeds), options)
    if not load(options.runs):
        sys.exit(f"{options.runs}: no training is finished")
    summary = summarise(options.runs)
    print("\n".join(table(summary)))
    RESULTS.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    if find_spec("matplotlib"):
        plot(summary, RESULTS.with_suffix(".png"))


def _em_jobs(em: str, large: str, seeds: int) -> list[Job]:
    return [Job(corpus, large, em, "2", seed) for corpus in CORPORA for seed in range(1, seeds + 1)]


if __name__ == "__main__":
    main()
