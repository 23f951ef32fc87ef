"""Compare discotag's inference with pytorch-crf, torch-struct and a plain PyTorch loop.

    python benchmarks/inference.py --device cpu       (make bench)
    python benchmarks/inference.py --device cuda

The plain loop computes the same as discotag, on the same scores, and its results are compared with
discotag's. It is dense over pairs of states, so it splits states by the tag that enters them.
pytorch-crf and torch-struct cannot express a grammar; they get random scores for as many states as
the grammar has. The floor is the time to copy discotag's scores. On a GPU, times are medians of
`triton.testing.do_bench`, which clears the cache before each run. It prints ratios and writes
`benchmarks/results/inference-DEVICE.json` and `.png`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import torch

from discotag import Scheme, TaggingLayer
from discotag.inference.backends import torch_backend
from machine import machine

RESULTS = Path(__file__).parent / "results"
SCHEMES = {
    "2 slots": Scheme(("ADR",), 2),
    "2 slots, semantic": Scheme(("ADR",), 2, "semantic"),
    "2 slots, gap mentions": Scheme(("ADR",), 2, gap_mentions=True),
    "3 slots": Scheme(("ADR",), 3),
    "3 slots, gap mentions": Scheme(("ADR",), 3, gap_mentions=True),
    "3 slots, semantic": Scheme(("ADR",), 3, "semantic"),
    "3 slots, gap mentions, 10 labels": Scheme(tuple("ABCDEFGHIJ"), 3, gap_mentions=True),
}
TASKS = ("best path", "partition", "partition + gradient")
MAIN = "2 slots"
MOST_CELLS = {"cpu": 1 << 25, "cuda": 1 << 31}  # the most words x states^2 of dense contenders
PATIENCE = 3.0  # seconds per measurement; slower contenders are left out of later sizes


def sizes(device: str) -> list[tuple[int, int]]:
    """Return (batch, words) for the main scheme; other schemes are measured at `key_sizes`."""
    if device == "cpu":
        return [(1, 8), (1, 64), (1, 512), (16, 64), (128, 64), (1024, 32), (32, 1024)]
    return [(1, 8), (1, 64), (1024, 32), (8192, 8), (8192, 64), (256, 64), (256, 4096)]


def key_sizes(device: str) -> list[tuple[int, int]]:
    return [(128, 64)] if device == "cpu" else [(1024, 32), (8192, 64)]


def other_schemes(device: str) -> list[str]:
    """Return the other schemes; on a GPU only three, because kernels are compiled for each."""
    names = [name for name in SCHEMES if name != MAIN]
    return names if device == "cpu" else [names[0], names[3], names[5]]


class PlainLoop:
    """A straightforward implementation: a loop over words, dense over pairs of states, autograd."""

    def __init__(self, scheme: Scheme, device: str) -> None:
        grammar, number = scheme.grammar, {tag: n for n, tag in enumerate(scheme.tags)}
        # Split states by the tags that enter them, so that every state has one tag.
        split = sorted({(arc.target, number[arc.symbol]) for arc in grammar.arcs})
        steps = [{number[tag]: to for tag, to in steps.items()} for steps in grammar.steps]

        def weights(allowed: list[bool]) -> torch.Tensor:
            return torch.tensor([0.0 if each else -torch.inf for each in allowed], device=device)

        self.tag = torch.tensor([tag for _, tag in split], device=device)
        self.first = weights([steps[grammar.start].get(tag) == state for state, tag in split])
        self.last = weights([state in grammar.finals for state, _ in split])
        self.allowed = torch.stack(
            [weights([steps[here].get(tag) == state for state, tag in split]) for here, _ in split]
        )

    def best_path(self, scores: torch.Tensor) -> torch.Tensor:
        emissions = scores[:, :, self.tag]
        values = self.first + emissions[:, 0]
        pointers = []
        for word in range(1, scores.shape[1]):
            best, place = (values[:, :, None] + self.allowed).max(1)
            values = best + emissions[:, word]
            pointers.append(place)
        state = (values + self.last).argmax(1)
        states = [state]
        for place in reversed(pointers):
            state = place.gather(1, state[:, None])[:, 0]
            states.append(state)
        return self.tag[torch.stack(states[::-1], 1)]

    def partition(self, scores: torch.Tensor) -> torch.Tensor:
        emissions = scores[:, :, self.tag]
        values = self.first + emissions[:, 0]
        for word in range(1, scores.shape[1]):
            values = (values[:, :, None] + self.allowed).logsumexp(1) + emissions[:, word]
        return (values + self.last).logsumexp(1)


def torch_crf(task: str, states: int, emissions: torch.Tensor) -> Callable[[], object]:
    from torchcrf import CRF

    crf = CRF(states, batch_first=True).to(emissions.device)
    mask = torch.ones(emissions.shape[:2], dtype=torch.bool, device=emissions.device)
    if task == "best path":
        return lambda: crf.decode(emissions.detach(), mask)

    def partition() -> object:
        with torch.set_grad_enabled(task == "partition + gradient"):
            total = crf._compute_normalizer(emissions.transpose(0, 1), mask.T)
        if task == "partition + gradient":
            total.sum().backward()
        return total

    return partition


def torch_struct(task: str, emissions: torch.Tensor) -> Callable[[], object]:
    from torch_struct import LinearChainCRF

    batch, words, states = emissions.shape

    def run() -> object:
        # (batch, words - 1, states, states); the scores of the first word are left out
        potentials = emissions[:, 1:, :, None].expand(batch, words - 1, states, states)
        chain = LinearChainCRF(potentials)
        if task == "best path":
            return chain.argmax
        total = chain.partition
        if task == "partition + gradient":
            total.sum().backward()
        return total

    return run


def contenders(
    name: str, task: str, batch: int, words: int, device: str
) -> dict[str, Callable[[], object]]:
    scheme = SCHEMES[name]
    grammar, states = scheme.grammar, scheme.grammar.size
    gradient = task == "partition + gradient"
    scores = torch.randn(batch, words, len(scheme.tags), device=device, requires_grad=gradient)

    def discotag(backend: str) -> Callable[[], object]:
        if task == "best path":
            return lambda: torch_backend.best_tags(grammar, scores, backend=backend)

        def partition() -> object:
            total = torch_backend.log_partition(grammar, scores, backend=backend)
            if gradient:
                total.sum().backward()
            return total

        return partition

    fastest = torch_backend.choose_backend(grammar, scores, None)
    found = {f"discotag ({fastest})": discotag(fastest)}
    if fastest != "torch":
        found["discotag (torch)"] = discotag("torch")
    layer = TaggingLayer(scheme)
    if task == "best path":
        found["TaggingLayer.decode, checks included"] = lambda: layer.decode(scores)
    if batch * words * states * states <= MOST_CELLS[device] and states < 100:
        loop = PlainLoop(scheme, device)
        if task == "best path":
            with torch.no_grad():
                same = loop.best_path(scores) == torch_backend.best_tags(grammar, scores)[0]
            assert same.float().mean() > 0.999, "the plain loop has other results"
            found["plain PyTorch loop"] = lambda: loop.best_path(scores)
        else:
            theirs = loop.partition(scores).detach()
            ours = torch_backend.log_partition(grammar, scores.detach())
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-2)

            def partition() -> object:
                total = loop.partition(scores)
                if gradient:
                    total.sum().backward()
                return total

            found["plain PyTorch loop"] = partition
        emissions = torch.randn(batch, words, states, device=device, requires_grad=gradient)
        found["pytorch-crf 0.7.2"] = torch_crf(task, states, emissions)
        if words > 1:
            found["torch-struct 0.5"] = torch_struct(task, emissions)
    target = torch.empty_like(scores, requires_grad=False)
    found["floor: copy the scores"] = lambda: target.copy_(scores.detach())
    return found


def milliseconds(work: Callable[[], object], device: str) -> float:
    """Return the median of several runs after a warm-up."""

    def once() -> float:
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        return 1e3 * (time.perf_counter() - start)

    once()  # compiles kernels
    second = once()
    if second > 1e3 * PATIENCE / 10:
        return second
    if device == "cuda" and second < 50:
        from triton.testing import do_bench

        return float(do_bench(work, warmup=10, rep=50, return_mode="median"))
    repeats = max(3, min(50, int(1000 / max(second, 1e-3))))
    times = sorted(once() for _ in range(repeats))
    return times[len(times) // 2]


def measure(device: str, quick: bool) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    given_up: set[tuple[str, str, str]] = set()
    jobs = [(MAIN, size) for size in sizes(device)]
    jobs += [(name, size) for name in other_schemes(device) for size in key_sizes(device)]
    if quick:
        jobs = [(name, size) for name, size in jobs if size in key_sizes(device)]
    for name, (batch, words) in jobs:
        for task in TASKS:
            for who, work in contenders(name, task, batch, words, device).items():
                if (name, task, who) in given_up:
                    continue
                try:
                    took = milliseconds(work, device)
                except Exception as error:  # a library that fails is a result too
                    print(
                        f"{who}, {name}, {task}, {batch}x{words}: {type(error).__name__}: {error}"
                    )
                    given_up.add((name, task, who))
                    continue
                if took > 1e3 * PATIENCE:
                    given_up.add((name, task, who))
                rows.append(
                    {
                        "scheme": name,
                        "task": task,
                        "batch": batch,
                        "words": words,
                        "who": who,
                        "ms": took,
                    }
                )
        _show(rows, name, batch, words)
    return rows


def _show(rows: list[dict[str, object]], name: str, batch: int, words: int) -> None:
    print(f"\n{name}, {batch} sentences of {words} words")
    for task in TASKS:
        here = [
            row
            for row in rows
            if (row["scheme"], row["task"], row["batch"], row["words"])
            == (name, task, batch, words)
        ]
        ours = next(row["ms"] for row in here if str(row["who"]).startswith("discotag ("))
        print(f"  {task}")
        for row in here:
            print(f"    {row['who']:<38} {row['ms']:>11.4f} ms {row['ms'] / ours:>9.2f} x ours")


def plot(rows: list[dict[str, object]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(TASKS), figsize=(13, 4), layout="constrained", sharey=True)
    for axis, task in zip(axes, TASKS, strict=True):
        here = [row for row in rows if row["scheme"] == MAIN and row["task"] == task]
        labels = list(dict.fromkeys(f"{row['batch']}×{row['words']}" for row in here))
        for who in dict.fromkeys(str(row["who"]) for row in here):
            mine = {f"{r['batch']}×{r['words']}": r["ms"] for r in here if r["who"] == who}
            shown = [label for label in labels if label in mine]
            style = ":" if who.startswith("floor") else "-"
            axis.plot(shown, [mine[label] for label in shown], style, marker="o", label=who)
        axis.set_yscale("log")
        axis.set_title(task)
        axis.tick_params(axis="x", rotation=60)
    axes[0].set_ylabel("milliseconds")
    axes[0].legend(fontsize=7)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--quick", action="store_true", help="measure only the main sizes")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.manual_seed(0)
    rows = measure(options.device, options.quick)
    where = f"{machine()}, torch {torch.__version__}"
    if options.device == "cuda":
        where = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    print(f"\n{where}")
    options.out.mkdir(parents=True, exist_ok=True)
    out = options.out / f"inference-{options.device}"
    out.with_suffix(".json").write_text(
        json.dumps({"machine": where, "rows": rows}, indent=1) + "\n"
    )
    try:
        plot(rows, out.with_suffix(".png"))
    except ModuleNotFoundError:
        print("no plot: matplotlib is not installed")


if __name__ == "__main__":
    main()
