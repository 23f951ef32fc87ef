"""Make the bundled model: teachers on PsyTAR and made-up posts, distilled into a small student.

    discotag corpus prepare psytar PsyTAR_dataset.xlsx DATA
    python benchmarks/bundled_model.py --data DATA --small MINILM --large MPNET --out OUT

MINILM and MPNET are folders of encoders. Finished steps are not repeated, so it can be stopped at
any time. It takes minutes on a GPU and a day on a CPU. OUT/listed is the model; the last step
writes its export in eight bits and its card to src/discotag/bundled. To run the two halves on
different machines, use `--step train` and `--step export`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from discotag import Document
from discotag.corpora import read, write
from discotag.training.settings import Settings
from made_up_posts import made_up_posts

BUNDLED = Path(__file__).parents[1] / "src" / "discotag" / "bundled"
DATA = "PsyTAR, training posts (CC BY 4.0), and made-up posts"
NOTES = """\
## How it was made

`benchmarks/bundled_model.py` trained four teachers (all-mpnet-base-v2) on the training posts of
PsyTAR and on made-up posts (`benchmarks/made_up_posts.py`), distilled them into all-MiniLM-L6-v2,
trained that a little more on made-up posts with several mention sets per line and on lists, and
quantised it to eight bits. The figures above are those of the eight-bit model on PsyTAR's test
posts, which were not used for any of this, with 95% bootstrap intervals over sentences.

## What to expect

It was trained on posts in English about four psychiatric drugs. On other drugs, other kinds of
text and other languages it will do worse; its probabilities have not been calibrated. It
finds reports of adverse drug reactions as PsyTAR annotates them; it does not decide whether a
drug caused them. It is not a medical device.

## Attribution

- PsyTAR (Psychiatric Treatment Adverse Reactions) dataset, Zolnoori et al. 2019, CC BY 4.0
  (creativecommons.org/licenses/by/4.0). The mentions were found in their sentences and the posts
  split by `discotag corpus prepare psytar`.
- all-MiniLM-L6-v2 and all-mpnet-base-v2, sentence-transformers, Apache-2.0.
- Body parts in the made-up posts: WordNet 3.0, Princeton University.
"""

MADE_UP = 2000
"""The number of made-up posts with labels, added to PsyTAR's 4,271 sentences for training."""
MADE_UP_UNLABELLED = 4000
"""The number of made-up posts that the teachers label."""
SCHEME = ["--slots", "2", "--gap-mentions"]
TEACHERS = 4
TEACHER = ["--learning-rate", "2e-5", "--num-train-epochs", "15", "--dropout", "0.3"]
STUDENTS = 3
MADE_UP_SEVERAL = 3000
MADE_UP_LISTS = 1500
STUDENT = ["--learning-rate", "2e-4", "--num-train-epochs", "40", "--dropout", "0.2"]
STUDENT += ["--teacher-weight", "0.7"]


def train(data: Path, encoder: Path, out: Path, *options: str) -> None:
    """Run a training, unless it is finished."""
    if (out / "model" / "model.safetensors").exists() and (out / "figures.json").exists():
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "discotag", "train", str(out.parent / "train.jsonl")]
    command += ["--dev", str(data / "dev.jsonl"), "--test", str(data / "test.jsonl")]
    command += ["--encoder", str(encoder), "--out", str(out), "--labels", "ADR", *SCHEME, *options]
    with (out.parent / f"{out.name}.log").open("w") as log:
        subprocess.run(command, check=True, stdout=log, stderr=log)


def train_all(data: Path, small: Path, large: Path, out: Path, jobs: int) -> None:
    """Train teachers in parallel, then students; copy the student with the best development F1."""
    out.mkdir(parents=True, exist_ok=True)
    write([*read(data / "train.jsonl"), *made_up_posts(MADE_UP)], out / "train.jsonl")
    write(made_up_posts(MADE_UP_UNLABELLED, seed=1), out / "unlabelled.jsonl")
    teachers = [out / f"teacher-{seed}" for seed in range(1, TEACHERS + 1)]
    with ThreadPoolExecutor(jobs) as pool:
        for each in [
            pool.submit(train, data, large, folder, *TEACHER, "--seed", str(seed))
            for seed, folder in enumerate(teachers, 1)
        ]:
            each.result()
        distil = ["--unlabelled", str(out / "unlabelled.jsonl")]
        for folder in teachers:
            distil += ["--teachers", str(folder / "model")]
        students = [out / f"student-{seed}" for seed in range(1, STUDENTS + 1)]
        for each in [
            pool.submit(train, data, small, folder, *STUDENT, *distil, "--seed", str(seed))
            for seed, folder in enumerate(students, 1)
        ]:
            each.result()
    for folder in [*teachers, *students]:
        print(folder.name, json.dumps(figures_of(folder)))
    best = max(students, key=lambda folder: figures_of(folder)["dev"]["all"])
    shutil.copytree(best, out / "student", dirs_exist_ok=True)
    polish_twice(data, out)


def polish(data: Path, before: Path, out: Path, settings: Settings, posts: list[Document]) -> None:
    """Train a model a little more, on other made-up posts.

    In the first made-up posts, a line has one mention set, so the model learns to read neighbouring
    mentions as one set. Other posts, with several sets per line or with lists of separate mentions,
    correct that. On PsyTAR, the model is its own teacher.
    """
    import torch

    from discotag.model.network import Network
    from discotag.training.data import read_sentences
    from discotag.training.epochs import best_of
    from discotag.training.examples import make_examples
    from discotag.training.progress import Lines
    from discotag.training.teachers import teach
    from discotag.training.trainer import fit

    if (out / "model.safetensors").exists():
        return
    network = Network.from_pretrained(before)
    scheme = network.layer.scheme
    real = [
        each for each in read_sentences(data / "train.jsonl", ("ADR",))
        if not scheme.problems(len(each.words), each.mentions)
    ]  # fmt: skip
    made_up = [sentence for post in posts for sentence in post.sentences]
    tags = {tag: number for number, tag in enumerate(scheme.tags)}
    taught = teach([before], real, scheme)
    for each in made_up:
        chosen = [tags[tag] for tag in scheme.encode(len(each.words), each.mentions)]
        taught.append(torch.eye(len(tags)).half()[chosen].numpy())
    examples = make_examples(network, [*real, *made_up], settings, teacher=taught)
    dev = read_sentences(data / "dev.jsonl", ("ADR",))
    epochs = fit(network, examples, dev, settings, seed=1, listener=Lines())
    print("polished", best_of(epochs))
    network.save_pretrained(out)


def polish_twice(data: Path, out: Path) -> None:
    """Train the student on lines with several mention sets, then on lists."""
    settings = Settings(
        learning_rate=5e-5, num_train_epochs=5, dropout=0.2, teacher_weight=0.6, batch_size=32
    )
    posts = [*made_up_posts(MADE_UP_SEVERAL, seed=2, share=0.5)]
    polish(data, out / "student" / "model", out / "polished", settings, posts)
    settings = replace(settings, num_train_epochs=1)
    posts = [*made_up_posts(MADE_UP_LISTS, seed=3, share=0.4, lists=True)]
    polish(data, out / "polished", out / "listed", settings, posts)


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
    from discotag.model.files import CARD, CONFIG, KEY, ONNX_INT8, TOKENIZER, read_config
    from discotag.model.model_card import card

    texts = [document.text or "" for document in read(data / "dev.jsonl")]
    exported = model.parent / "exported"
    _, agreement = export_onnx(model, exported, texts)
    print(agreement)
    target.mkdir(parents=True, exist_ok=True)
    for name in (TOKENIZER, ONNX_INT8):
        shutil.copy(exported / name, target / name)
    encoder, config = read_config(exported)
    tagger = load(exported, runtime="onnx-int8")
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
    print(figures)
    config = replace(
        config, encoder="all-MiniLM-L6-v2", data=DATA, language="en", licence="cc-by-4.0",
        figures=figures, notes=NOTES,
    )  # fmt: skip
    (target / CONFIG).write_text(json.dumps(encoder | {KEY: config.to_dict()}, indent=2) + "\n")
    (target / CARD).write_text(card(config))


def main() -> None:
    """Train, export, or both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the prepared PsyTAR corpus")
    parser.add_argument("--small", type=Path, help="the encoder of the student")
    parser.add_argument("--large", type=Path, help="the encoder of the teachers")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    parser.add_argument("--step", choices=("train", "export", "all"), default="all")
    options = parser.parse_args()
    if options.step != "export":
        if options.small is None or options.large is None:
            parser.error("training needs --small and --large")
        train_all(options.data, options.small, options.large, options.out, options.jobs)
    if options.step != "train":
        export(options.data, options.out / "listed", BUNDLED)


if __name__ == "__main__":
    main()
