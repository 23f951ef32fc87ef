"""Trainings of `accuracy.py`, in a process of their own.

    python benchmarks/accuracy_training.py < trainings

Each line of standard input is a training, {"job": …, "encoder": …, "epochs": …, "data": …, "runs":
…, "log": …}. The answer is a line of standard output, {"error": …}, after it is finished; what it
prints itself goes to the log. Only packages of the extra `train` are needed if the data are files
such as psytar.test.json.gz.
"""

from __future__ import annotations

import gc
import gzip
import json
import os
import sys
import time
import traceback
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import torch
import transformers

import discotag
from accuracy_jobs import CORPORA, VARIANTS, Encoder, Job, published_rate, settings_of
from discotag import evaluation
from discotag.errors import DiscotagError, InputError, one_line
from discotag.evaluation import score
from discotag.mentions import Document, Mention, Sentence
from discotag.prediction.regions import Judged
from discotag.prediction.tagger import Tagger
from discotag.training.data import count, read_sentences
from discotag.training.development import make_tagger, to_dict
from discotag.training.examples import make_examples
from discotag.training.initial_network import make_network
from discotag.training.preparation import Chosen, choose
from discotag.training.settings import Settings
from discotag.training.trainer import fit, uses_bf16

PARTS: Final = ("train", "dev", "test")
Found = Sequence[Collection[Mention]]
"""The mentions that were found in each sentence."""


def read_part(data: Path, corpus: str, part: str) -> list[Sentence]:
    """Read a part of a corpus.

    Args:
        data: A folder with `{corpus}.{part}.json.gz`, lists of [words, [[label, fragments], …]], or
            with `{corpus}/{part}.*` in any format that discotag reads.
        corpus: The name of the corpus.
        part: `train`, `dev` or `test`.

    Raises:
        InputError: There is no such file, or it cannot be read.
    """
    labels = CORPORA[corpus].labels
    plain = data / f"{corpus}.{part}.json.gz"
    if plain.exists():
        with gzip.open(plain, "rt", encoding="utf-8") as stream:
            return [
                Sentence(
                    words,
                    tuple(
                        dict.fromkeys(
                            Mention(label, fragments)
                            for label, fragments in mentions
                            if not labels or label in labels
                        )
                    ),
                )
                for words, mentions in json.load(stream)
            ]
    files = sorted((data / corpus).glob(f"{part}.*"))
    if not files:
        raise InputError(f"{data}: has neither {plain.name} nor {corpus}/{part}.*")
    return read_sentences(files[0], labels)


def work(job: Job, encoder: Encoder, epochs: int | None, data: Path, runs: Path) -> None:
    """Train a model, predict the test data, and write the results.

    Raises:
        DiscotagError: The settings or the data are wrong.
    """
    started = time.monotonic()
    settings = settings_of(job, encoder, epochs)
    train, dev, test = (read_part(data, job.corpus, part) for part in PARTS)
    chosen = choose(train, settings)
    reading = time.monotonic() - started
    run = train_grid_model if VARIANTS[job.variant].grid else train_tagger
    result, found = run(job, settings, chosen, dev, test)
    result["seconds"] = {"reading": round(reading, 1), **result["seconds"]}
    shared = {
        "job": asdict(job),
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
        "versions": {
            "discotag": discotag.__version__,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        },
        "train": count(chosen.train),
        "left_out": len(chosen.left_out),
        "test_sentences": len(test),
    }
    write(runs, job.name, shared | result, test, found)


def train_tagger(
    job: Job,
    settings: Settings,
    chosen: Chosen,
    dev: Sequence[Sentence],
    test: Sequence[Sentence],
) -> tuple[dict[str, Any], Found]:
    """Train a model of discotag, and return its results and its mentions of the test data."""
    start = time.monotonic()
    network = make_network(settings, chosen.scheme, job.seed)
    examples = make_examples(network, chosen.train, settings)
    done = fit(network, examples, dev, settings, seed=job.seed)
    trained = time.monotonic()
    tagger = make_tagger(network, bf16=uses_bf16(settings))
    found = tag(tagger, test)
    result = {
        "settings": settings.to_dict() | {"encoder": job.encoder},
        "best_epoch": done.best.number,
        "curve": [[each.loss, each.f1, each.dev["discontinuous"]["f1"]] for each in done.epochs],
        "dev": done.best.dev,
        "test": to_dict(score(test, found)),
        "recall": tagger.config.bias,
        "calibration": {
            "before": calibration(test, tag(changed(tagger, calibration=None), test)),
            "after": calibration(test, found),
        },
    }
    if job.variant == "best":
        result["decoding"], result["candidates"] = decode_otherwise(tagger, test)
    result["seconds"] = {
        "training": round(trained - start, 1),
        "test": round(time.monotonic() - trained, 1),
    }
    return result, found


def train_grid_model(
    job: Job,
    settings: Settings,
    chosen: Chosen,
    dev: Sequence[Sentence],
    test: Sequence[Sentence],
) -> tuple[dict[str, Any], Found]:
    """Train a grid model, and return its results and its mentions of the test data."""
    from grid_model import train_grid

    given: dict[str, Any] = {
        "epochs": settings.num_train_epochs,  # as many as `best`
        "learning_rate": published_rate(job.encoder),
        **VARIANTS[job.variant].settings,
    }
    start = time.monotonic()
    found = train_grid(
        settings.encoder, chosen.train, dev, test, chosen.scheme.labels, seed=job.seed, **given
    )
    whole = time.monotonic() - start
    result = {
        "settings": {"encoder": job.encoder, "seed": job.seed, **given},
        "best_epoch": found["best_epoch"],
        "curve": [[loss] for loss in found["losses"]],
        "dev": found["dev"],
        "test": found["test"],
        "seconds": {
            "training": round(found["seconds"], 1),
            "test": round(whole - found["seconds"], 1),
        },
    }
    return result, found["predictions"]


def tag(tagger: Tagger, sentences: Sequence[Sentence], bias: float = 0.0) -> Found:
    """Return the mentions that a tagger finds in each sentence, with scores."""
    documents = [Document((Sentence(each.words),)) for each in sentences]
    return [each.sentences[0].mentions for each in tagger.tag_batch(documents, bias=bias)]


def changed(tagger: Tagger, **changes: Any) -> Tagger:
    """Return a tagger with the same weights and another configuration."""
    return Tagger(replace(tagger.config, **changes), tagger.tokenizer, tagger.runtime)


def calibration(gold: Sequence[Sentence], found: Found) -> dict[str, Any]:
    """Return the expected calibration error of the scores of mentions, and its bins.

    A bin is a list of the number of its mentions, the sum of their scores and the number of right
    ones, so that bins of several models can be added up.

    Example:
        >>> mention = Mention("ADR", [(0, 1)])
        >>> found = [[mention.with_score(0.75)]] * 4
        >>> calibration([Sentence(["sore"], [mention])] * 3 + [Sentence(["fine"])], found)["error"]
        0.0
    """
    bins = evaluation.calibration(
        (each.score or 0.0, each in sentence.mentions)
        for sentence, mentions in zip(gold, found, strict=True)
        for each in mentions
    )
    numbers = [[each.mentions, round(each.scores, 4), each.right] for each in bins]
    return {"error": evaluation.calibration_error(bins), "bins": numbers}


def decode_otherwise(
    tagger: Tagger, test: Sequence[Sentence]
) -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, float]]:
    """Return figures of other ways to find mentions with the same weights.

    Returns:
        The figures of `best_path`, the tags that are best without the mention scorer; `recall_0`,
        the choice with a bias of 0 in all; and `oracle`, the best choice with hindsight. Then the
        shares of gold mentions among the candidates, `all` and `discontinuous`.
    """
    judged = tagger.options(test)
    plain = changed(tagger, mention_scorer=0, bias=0.0, calibration=None)
    found = {
        "best_path": tag(plain, test),
        "recall_0": tag(tagger, test, bias=-tagger.config.bias),
        "oracle": [best_choice(*each) for each in zip(test, judged, strict=True)],
    }
    candidates = [
        {mention for options, _ in regions for mention in options.mentions} for regions in judged
    ]
    figures = to_dict(score(test, candidates))
    shares = {part: figures[part]["recall"] for part in ("all", "discontinuous")}
    return {name: to_dict(score(test, each)) for name, each in found.items()}, shares


def best_choice(sentence: Sentence, regions: Judged) -> set[Mention]:
    """Return the mentions of the readings with the most right mentions minus wrong ones."""
    gold = set(sentence.mentions)
    found: set[Mention] = set()
    for options, _ in regions:
        readings = [{options.mentions[i] for i in indices} for _, indices in options.readings]
        found |= max(readings, key=lambda each: len(each & gold) - len(each - gold))
    return found


def write(
    runs: Path, name: str, result: dict[str, Any], test: Sequence[Sentence], found: Found
) -> None:
    """Write the predictions and then the figures, so that figures mean a finished training."""
    with gzip.open(runs / f"{name}.predictions.jsonl.gz", "wt", encoding="utf-8") as stream:
        for number, (sentence, mentions) in enumerate(zip(test, found, strict=True)):
            if sentence.mentions or mentions:
                gold = [[each.label, each.fragments] for each in sorted(sentence.mentions)]
                line = {"n": number, "gold": gold, "found": [*map(plain, sorted(mentions))]}
                print(json.dumps(line), file=stream)
    path = runs / f"{name}.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result) + "\n", encoding="utf-8")
    part.replace(path)


def plain(mention: Mention) -> list[Any]:
    """Return a predicted mention as plain data, with its score if it has one."""
    shape = [mention.label, mention.fragments]
    return shape if mention.score is None else [*shape, mention.score]


def attempt(given: Mapping[str, Any]) -> str | None:
    """Do a training, and return what went wrong in a line, or None."""
    try:
        work(
            Job(**given["job"]),
            Encoder(**given["encoder"]),
            given["epochs"],
            Path(given["data"]),
            Path(given["runs"]),
        )
    except DiscotagError as error:
        return str(error)
    except Exception as error:  # the next training may still work
        traceback.print_exc()
        return f"{type(error).__name__}: {one_line(error)}"
    finally:
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # other processes share the GPU
    return None


def main() -> None:
    """Do the trainings that standard input describes."""
    torch.set_num_threads(1)  # many trainings share the cores
    with os.fdopen(os.dup(1), "w") as answers:
        for line in sys.stdin:
            given = json.loads(line)
            with Path(given["log"]).open("a") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
                error = attempt(given)
                sys.stdout.flush()
            print(json.dumps({"error": error}), file=answers, flush=True)


if __name__ == "__main__":
    main()
