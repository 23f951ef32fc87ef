"""What prediction on a CPU costs: speed beside a plain pipeline, memory, start-up, agreement.

    python benchmarks/prediction.py [--model FOLDER ...] [--floats FOLDER] [--texts FILE]

Every contender is a process of its own, and they take turns, one at a time, so that none waits for
the threads of another and all see the same load of the machine. Models run as `load` runs them,
from text to mentions. The plain pipeline goes from words to tags: the encoder of Hugging Face in
floats, then pytorch-crf, on batches of sentences of like length. The folder of --floats has the
weights that models were exported from; without it the first model's own weights are used.

The medians over the turns are compared. On a machine that does other work too, threads of PyTorch
wait for each other at every operation, which makes the plain pipeline slower than it is; with
--threads 1 seconds of the processor are fair to all.

Prints tables and writes benchmarks/results/prediction.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from machine import machine

HERE = Path(__file__).parent
CRAFT = HERE.parent / "tests" / "data" / "craft_200.txt"
TEXT = "The pain I was experiencing around the hipjoints was incredible."
STARTS = 5
PLAIN_BATCH = 16
"""Sentences; 32 were slower, with one thread."""

NEAR = 0.02
"""Probabilities of a mention that differ by no more are near each other."""

SPEEDS = ("sentences_a_second", "best_sentences_a_second", "sentences_a_processor_second")

PLAIN = "plain pipeline"
FLOATS = "floats"


def read_texts(path: Path) -> list[str]:
    """Return the texts of a file, one a line; of the inline format, every third line is one."""
    lines = path.read_text("utf-8").splitlines()
    return [line for line in (lines[::3] if path == CRAFT else lines) if line.strip()]


class Watch:
    """Seconds spent in functions, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def over(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same function, with its time taken."""

        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                spent = time.perf_counter() - start
                self.seconds[name] = self.seconds.get(name, 0.0) + spent

        return timed


class Watched:
    """A splitter, runtime or backend whose time is taken."""

    def __init__(self, inner: Any, **watched: Callable[..., Any]) -> None:
        self._inner = inner
        self._watched = watched

    def __getattr__(self, name: str) -> Any:
        return self._watched.get(name) or getattr(self._inner, name)


def watch_parts(tagger: Any) -> Watch:
    """Take the time of the parts of a tagger."""
    watch = Watch()
    splitter, runtime, backend = tagger.splitter, tagger.runtime, tagger.runtime.backend
    tagger.splitter = Watched(splitter, document=watch.over("words", splitter.document))
    tagger.tokenizer.encode = watch.over("subwords", tagger.tokenizer.encode)
    works = ("best_tags", "mention_probabilities", "marginals", "k_best")
    timed = {name: watch.over("inference", getattr(backend, name)) for name in works}
    tagger.runtime = Watched(
        runtime,
        encode=watch.over("encoder", runtime.encode),
        score_mentions=watch.over("inference", runtime.score_mentions),
        backend=Watched(backend, **timed),
    )
    return watch


# In the processes of contenders.


def plain_pipeline(folder: str, sentences: Sequence[Sequence[str]]) -> Callable[[], None]:
    """Return what people write without discotag: an encoder of Hugging Face with pytorch-crf."""
    import torch
    from torchcrf import CRF

    from discotag.model.files import find_model
    from discotag.model.network import Network

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    network = Network.from_pretrained(find_model(folder)).eval()
    crf = CRF(network.linear.out_features, batch_first=True).eval()
    tokenizer = network.tokenizer.tokenizer

    def run() -> None:
        words = sorted(sentences, key=len, reverse=True)
        with torch.inference_mode():
            for start in range(0, len(words), PLAIN_BATCH):
                batch = [
                    tokenizer.encode(list(each), is_pretokenized=True).ids
                    for each in words[start : start + PLAIN_BATCH]
                ]
                width = max(map(len, batch))
                ids = torch.tensor([each + [0] * (width - len(each)) for each in batch])
                mask = torch.tensor([[1] * len(each) + [0] * (width - len(each)) for each in batch])
                hidden = network.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
                crf.decode(network.linear(hidden), mask.bool())

    return run


def contend(kind: str, folder: str, path: Path, number: int) -> None:
    """Do one piece of work for each line of standard input, and print what it took."""
    from discotag.prediction.loading import load
    from discotag.words import Splitter

    texts = read_texts(path)[:number]
    watch = Watch()
    if kind == PLAIN:
        documents = map(Splitter().document, texts)
        words = [each.words for document in documents for each in document.sentences]
        run = plain_pipeline(folder, words)
    else:
        tagger = load(folder, runtime="torch" if kind == FLOATS else None, device="cpu")
        watch = watch_parts(tagger)

        def run() -> None:
            list(tagger.predict(texts))

    if kind != FLOATS:
        run()  # first calls set things up
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "answers":
            found = tagger.predict(read_texts(path))
            answers = [
                [[each.label, each.fragments, each.score] for each in sentence.mentions]
                for document in found
                for sentence in document.sentences
            ]
            print(json.dumps(answers), flush=True)
            continue
        watch.seconds.clear()
        start, processor = time.perf_counter(), time.process_time()
        run()
        took = {
            "seconds": time.perf_counter() - start,
            "processor": time.process_time() - processor,
            "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "parts": watch.seconds,
        }
        print(json.dumps(took), flush=True)


# In the process that measures.


class Contender:
    """A process that works when asked to."""

    def __init__(self, kind: str, folder: str, given: argparse.Namespace) -> None:
        command = [sys.executable, __file__, "--contend", kind, "--model", folder]
        command += ["--texts", str(given.texts), "--number", str(given.number)]
        # Threads that wait must not take the cores from others.
        settings = {"OMP_NUM_THREADS": str(given.threads), "OMP_WAIT_POLICY": "passive"}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | settings,
        )
        self._line()

    def ask(self, what: str = "go") -> Any:
        """Return what it answers to a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return json.loads(self._line())

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a contender ended early")
        return line


def summary(turns: list[dict[str, Any]], sentences: int) -> dict[str, Any]:
    """Return the medians of a contender's turns, and its shares of time."""
    seconds, processor = (median(each[key] for each in turns) for key in ("seconds", "processor"))
    fastest = min(turns, key=lambda each: each["seconds"])
    parts = fastest["parts"]
    if parts:
        parts = parts | {"rest": fastest["seconds"] - sum(parts.values())}
    return {
        "sentences_a_second": sentences / seconds,
        "best_sentences_a_second": sentences / fastest["seconds"],
        "sentences_a_processor_second": sentences / processor,
        "megabytes": max(each["megabytes"] for each in turns),
        "shares": {name: spent / fastest["seconds"] for name, spent in parts.items()},
    }


def agreement(wanted: list[Any], found: list[Any]) -> dict[str, float]:
    """Return how many sentences have the same mentions, and how many probabilities are near."""
    same, differences = 0, [0.0]
    for one, other in zip(wanted, found, strict=True):
        scores = [
            {(label, str(fragments)): score for label, fragments, score in each}
            for each in (one, other)
        ]
        same += scores[0].keys() == scores[1].keys()
        both = scores[0].keys() & scores[1].keys()
        differences += [abs(scores[0][each] - scores[1][each]) for each in both]
    return {
        "sentences": len(wanted),
        "same": same / len(wanted),
        "mentions": len(differences) - 1,
        "near": sum(each <= NEAR for each in differences) / len(differences),
        "largest_difference": max(differences),
    }


def start_up(folder: str) -> dict[str, float]:
    """Return the seconds from the shell to the first answer, best of several, and the memory."""
    command = [sys.executable, "-m", "discotag", "predict", TEXT, "--model", folder]
    seconds = []
    for _ in range(STARTS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": min(seconds), "largest_megabytes_so_far": peak}


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Let the contenders take turns, and return what they took."""
    from discotag.words import Splitter

    models = {Path(each).name: each for each in given.model}
    starts = {name: start_up(folder) for name, folder in models.items()}
    floats = given.floats or given.model[0]
    contenders = {PLAIN: Contender(PLAIN, floats, given)}
    contenders |= {name: Contender("model", folder, given) for name, folder in models.items()}
    turns: dict[str, list[dict[str, Any]]] = {name: [] for name in contenders}
    load = []
    for _ in range(given.turns):
        for name, contender in contenders.items():
            turns[name].append(contender.ask())
        load.append(os.getloadavg()[0])
    texts = read_texts(given.texts)[: given.number]
    sentences = [each for text in texts for each in Splitter().document(text).sentences]
    found = {name: summary(each, len(sentences)) for name, each in turns.items()}
    contenders.pop(PLAIN).close()
    reference = Contender(FLOATS, floats, given)
    wanted = reference.ask("answers")
    reference.close()
    for name, contender in contenders.items():
        found[name]["start_up"] = starts[name]
        found[name]["operations"] = operations(models[name], texts)
        found[name]["agreement"] = agreement(wanted, contender.ask("answers"))
        contender.close()
    for each in found.values():
        for key in SPEEDS:
            each[f"{key}_over_plain"] = each[key] / found[PLAIN][key]
    return {
        "machine": machine(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": given.threads,
        "load": median(load),
        "turns": given.turns,
        "texts": given.texts.name,
        "sentences": len(sentences),
        "words": sum(len(each.words) for each in sentences),
        "contenders": found,
    }


def operations(folder: str, texts: Sequence[str]) -> dict[str, float]:
    """Return the shares of the operations in the encoder's time, with one thread."""
    import tempfile

    import onnxruntime  # type: ignore[import-untyped]

    from discotag.model.onnx_session import CPU, INPUTS, SLOW_OPTIMISERS
    from discotag.prediction.batching import plan_batches
    from discotag.prediction.loading import load

    tagger: Any = load(folder, device="cpu")
    documents = map(tagger.splitter.document, texts)
    words = [each.words for document in documents for each in document.sentences]
    encoded = tagger.tokenizer.encode(words)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    spent: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        options.profile_file_prefix = f"{place}/profile"
        session = onnxruntime.InferenceSession(
            tagger.runtime.path,
            options,
            providers=[CPU],
            disabled_optimizers=[*SLOW_OPTIMISERS],
        )
        for numbers in plan_batches(encoded, tagger.runtime.budget):
            batch = encoded.batch(numbers)
            given = (batch.input_ids, batch.attention_mask)
            session.run(None, dict(zip(INPUTS, given, strict=True)))
        events = json.loads(Path(session.end_profiling()).read_text("utf-8"))
    for event in events:
        if event["cat"] == "Node" and event["name"].endswith("_kernel_time"):
            kind = event["args"]["op_name"]
            spent[kind] = spent.get(kind, 0.0) + event["dur"]
    total = sum(spent.values())
    order = sorted(spent.items(), key=lambda item: -item[1])
    return {kind: each / total for kind, each in order if each >= total / 100}


def show(results: dict[str, Any]) -> None:
    """Print tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(
        f"{results['sentences']:,} sentences of {results['words']:,} words; {results['machine']}; "
        f"{results['threads']} threads on {results['cores']} cores, load {results['load']:.1f}; "
        f"medians of {results['turns']} turns"
    )
    table = Table("", "sentences/s", "best", "/s of processor", "MB")
    for name, each in results["contenders"].items():
        cells: list[str] = []
        for key in SPEEDS:
            cells.append(f"{each[key]:,.0f} ({each[f'{key}_over_plain']:.2f} x)")
        table.add_row(name, *cells, f"{each['megabytes']:.0f}")
    console.print(table)
    table = Table("", "same mentions", f"within {NEAR}", "largest difference", "start")
    for name, each in results["contenders"].items():
        if name != PLAIN:
            agreed = each["agreement"]
            table.add_row(
                name,
                f"{agreed['same']:.2%} of {agreed['sentences']:,}",
                f"{agreed['near']:.1%} of {agreed['mentions']:,}",
                f"{agreed['largest_difference']:.3f}",
                f"{each['start_up']['seconds']:.2f} s",
            )
    console.print(table)
    for name, each in results["contenders"].items():
        if each["shares"]:
            shares = sorted(each["shares"].items(), key=lambda item: -item[1])
            console.print(f"{name}: " + ", ".join(f"{part} {share:.1%}" for part, share in shares))
            inside = [f"{kind} {share:.1%}" for kind, share in each["operations"].items()]
            console.print(f"  in its encoder: {', '.join(inside)}")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", help="a folder; by default the bundled one")
    parser.add_argument("--floats", help="a folder with the weights that models come from")
    parser.add_argument("--texts", type=Path, default=CRAFT, help="a text a line")
    parser.add_argument("--number", type=int, default=300, help="texts of a turn")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--name", default="", help="added to the name of the results")
    parser.add_argument("--contend", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.model = given.model or ["bundled"]
    if given.contend:
        contend(given.contend, given.model[0], given.texts, given.number)
        return
    results = measure(given)
    show(results)
    target = HERE / "results" / f"prediction{given.name}.json"
    target.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
