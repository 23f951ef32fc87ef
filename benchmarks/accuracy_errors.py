r"""Show which mentions trained models find wrongly or miss most often.

    python benchmarks/accuracy_errors.py --data FOLDER --runs RUNS --only 'craft-cl.mpnet.best\.'

FOLDER and RUNS are those of `accuracy.py`. Prints a table with a row for each training that
`--only` selects: the numbers of mentions that are found wrongly and that are missed, and the texts
that most of them have, in lower case.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from accuracy_jobs import Job
from accuracy_summary import load
from accuracy_training import read_part
from discotag.mentions import Mention, Sentence

MOST_SHOWN = 5


def count_errors(
    lines: Sequence[dict[str, Any]], test: Sequence[Sentence]
) -> tuple[Counter[str], Counter[str]]:
    """Return how often mentions with a text are found wrongly, and how often they are missed.

    Args:
        lines: The predictions of a training, as `accuracy.py` describes them.
        test: The test data.

    Example:
        >>> lines = [{"n": 0, "gold": [["ADR", [[0, 1]]]], "found": [["ADR", [[0, 2]], 0.9]]}]
        >>> count_errors(lines, [Sentence(["Sore", "arms"])])
        (Counter({'sore arms': 1}), Counter({'sore': 1}))
    """
    wrong, missed = Counter[str](), Counter[str]()
    for line in lines:
        words = test[line["n"]].words
        gold, found = ({Mention(m[0], m[1]) for m in line[side]} for side in ("gold", "found"))
        wrong.update(_text(each, words) for each in found - gold)
        missed.update(_text(each, words) for each in gold - found)
    return wrong, missed


def _text(mention: Mention, words: Sequence[str]) -> str:
    parts = (words[start:end] for start, end in mention.fragments)
    return " … ".join(" ".join(part) for part in parts).lower()


def _shown(errors: Counter[str]) -> str:
    most = ", ".join(f"{text} {number}" for text, number in errors.most_common(MOST_SHOWN))
    return f"{errors.total()} ({most})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the corpora")
    parser.add_argument("--runs", type=Path, required=True, help="folder of finished trainings")
    parser.add_argument("--only", default="", help="a regular expression on names of trainings")
    options = parser.parse_args()
    print("| training | found wrongly | missed |\n|---|---|---|")
    for job in (Job(**run["job"]) for run in load(options.runs)):
        if re.search(options.only, job.name):
            path = options.runs / f"{job.name}.predictions.jsonl.gz"
            with gzip.open(path, "rt", encoding="utf-8") as stream:
                lines = [json.loads(line) for line in stream]
            errors = count_errors(lines, read_part(options.data, job.corpus, "test"))
            print(f"| {job.name} | {' | '.join(map(_shown, errors))} |")


if __name__ == "__main__":
    main()
