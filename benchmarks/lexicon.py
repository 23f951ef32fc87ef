"""Measure how fast a lexicon is made from UMLS, and how many mention sets the default one names.

Run `python benchmarks/lexicon.py --help`. It prints tables and writes
`benchmarks/results/lexicon.json`. The Metathesaurus is synthetic: invented names, in lines of about
130 bytes. The corpora are read from the folder `DISCOTAG_CORPORA`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from discotag import Mention, Scheme, Sentence
from discotag.lexicon import Lexicon, count_silver
from discotag.mentions import locate
from discotag.words import Splitter
from machine import machine

RESULTS = Path(__file__).parent / "results"
LINES = 10_000_000
LINES_A_CONCEPT = 4
BODY_SHARE = 0.1  # gives twice as many terms as the paper found in UMLS
SYLLABLES = ("ba", "do", "ke", "li", "mu", "na", "po", "ri", "sa", "tu", "ve", "wo", "xi", "za")
NAMES_A_BLOCK = 4096
GOAL_SECONDS, GOAL_MEGABYTES = 60, 300
CRAFT = ("CL", "UBERON", "GO_BP")
SPLITS = ("train", "dev", "test")


def write_metathesaurus(meta: Path, lines: int) -> None:
    """Write MRSTY.RRF and MRCONSO.RRF with invented names; one concept in ten is a body part."""
    draw = random.Random(0)
    stems = ["".join(draw.choices(SYLLABLES, k=3)) for _ in range(NAMES_A_BLOCK)]
    with (meta / "MRSTY.RRF").open("w") as stream:
        for concept in range(lines // LINES_A_CONCEPT):
            body = draw.random() < BODY_SHARE
            kind = draw.choice(("T023", "T029", "T030")) if body else "T047"
            stream.write(f"C{concept:07}|{kind}|A1.2.3.4|Some Type|AT{concept:08}|256|\n")
    with (meta / "MRCONSO.RRF").open("w") as stream:
        for line in range(lines):
            concept = line // LINES_A_CONCEPT
            first, second = stems[line % NAMES_A_BLOCK], stems[concept % (NAMES_A_BLOCK - 1)]
            language = "ENG" if line % 10 < 7 else "SPA"
            kind = ("PT", "SY", "AB", "SY", "FN", "SY", "PT")[line % 7]
            suppress = "O" if line % 11 == 0 else "N"
            stream.write(
                f"C{concept:07}|{language}|P|L{line:08}|PF|S{line:08}|Y|A{line:08}|{line:010}|"
                f"{concept:08}||INVENTED|{kind}|{concept:08}|{first} bone of the {second} "
                f"{concept:x}|9|{suppress}|256|\n"
            )


CONVERT = """
import json, resource, sys, time
from dataclasses import asdict
from discotag.lexicon import convert_umls
start = time.perf_counter()
counts = convert_umls(sys.argv[1], sys.argv[2])
print(json.dumps({
    "seconds": time.perf_counter() - start,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    **asdict(counts),
}))
"""


def measure_umls(lines: int) -> dict[str, float]:
    """Return the time and the peak memory of a process that converts this many lines."""
    with tempfile.TemporaryDirectory() as folder:
        meta = Path(folder)
        write_metathesaurus(meta, lines)
        size = (meta / "MRCONSO.RRF").stat().st_size
        done = subprocess.run(
            [sys.executable, "-c", CONVERT, folder, str(meta / "lexicon.tsv")],
            check=True,
            capture_output=True,
        )
    return {**json.loads(done.stdout), "bytes_a_line": size / lines}


def craft(archive: Path, label: str) -> Iterator[Sentence]:
    """Yield all sentences of CRAFT, from the inline files, with the mentions of a label."""
    from discotag.corpora import read

    with tarfile.open(archive) as files, tempfile.TemporaryDirectory() as folder:
        for split in SPLITS:
            member = files.extractfile(f"craft/inline_{label}/{split}.txt")
            assert member is not None
            path = Path(folder) / f"{split}.txt"
            path.write_bytes(member.read())
            for document in read(path, "inline"):
                yield from document.sentences


def psytar(workbook: Path) -> Iterator[Sentence]:
    """Yield the sentences of PsyTAR with the adverse reactions whose words occur in order."""
    import openpyxl

    sheet = openpyxl.load_workbook(workbook, read_only=True)["ADR_Identified"]
    splitter = Splitter(sentences="whole")
    for _, _, _, text, *strings in sheet.iter_rows(min_row=2, values_only=True):
        if not isinstance(text, str):
            continue
        words = splitter.sentence(text).words
        lower = [word.lower() for word in words]
        places = {
            locate(lower, splitter.sentence(string.lower()).words)
            for string in strings
            if isinstance(string, str) and string.strip()
        }
        yield Sentence(words, [Mention("ADR", place) for place in places if place])


def measure_corpora(corpora: Path) -> dict[str, dict[str, int]]:
    """Return how many mention sets of each corpus the default lexicon names."""
    lexicon = Lexicon.default()
    named = {
        f"CRAFT {label}": count_silver(
            craft(corpora / "craft-inline.tar.gz", label),
            lexicon,
            Scheme((label,), naming="semantic"),
        )
        for label in CRAFT
    }
    named["PsyTAR ADR"] = count_silver(
        psytar(corpora / "PsyTAR_dataset.xlsx"), lexicon, Scheme(("ADR",), naming="semantic")
    )
    return {name: asdict(counts) for name, counts in named.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=LINES, help="lines of the made-up MRCONSO.RRF")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    console = Console()
    results: dict[str, object] = {"machine": f"{machine()}, Python {platform.python_version()}"}
    results["umls"] = umls = measure_umls(options.lines)
    table = Table("MRCONSO.RRF", "figure", "goal", title="Lexicon from UMLS")
    table.add_row("lines", f"{umls['lines']:,}", "10,000,000")
    table.add_row("bytes per line", f"{umls['bytes_a_line']:.0f}", "")
    table.add_row("seconds", f"{umls['seconds']:.1f}", f"under {GOAL_SECONDS}")
    table.add_row("peak megabytes", f"{umls['megabytes']:.0f}", f"under {GOAL_MEGABYTES}")
    table.add_row("terms", f"{umls['terms']:,}", "")
    console.print(table)
    if corpora := os.environ.get("DISCOTAG_CORPORA"):
        results["corpora"] = measured = measure_corpora(Path(corpora))
        columns = ("named", "unnamed", "contradictory", "left_out")
        table = Table("corpus", "sets", *columns, "share named", title="Silver slots, WordNet")
        for name, counts in measured.items():
            sets = counts["named"] + counts["unnamed"] + counts["contradictory"]
            figures = [str(counts[column]) for column in columns]
            table.add_row(name, str(sets), *figures, f"{counts['named'] / sets:.1%}")
        console.print(table)
    else:
        console.print("corpora are not measured: set DISCOTAG_CORPORA to their folder")
    console.print(results["machine"])
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "lexicon.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
