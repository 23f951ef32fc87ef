"""Measure the status of mentions, `discotag.integrations.status`, on text that was written for it.

    python benchmarks/status.py [--mistakes]

The texts are in `benchmarks/held_out/status.txt`, with their notation. Mistakes on every second
one, from the first, were looked at while the phrases were chosen; the others were not looked at.
The results are written to `results/status.json`. For either half:

    lost       mentions that are present, and are taken not to be
    removed    mentions that are not present, and are taken not to be
    counts     the number of mentions by the status they have, and by the one that they are given

`reactions` are those of other texts that were not looked at, by the status that they are given. All
of them are real, but some are reported by a relative.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from discotag import Document
from discotag.integrations.status import statuses
from discotag.marks import Marked
from discotag.words import Splitter
from held_out import held_out

FOLDER = Path(__file__).parent
MARK = re.compile(r"\[([1-9]*)([PNHOY]):([^\[\]]+)\]")
FRESH = ("fresh_separate", "fresh_shared", "fresh_serious")
NAMES = {"P": "present", "N": "denied", "H": "past", "Y": "possible", "O": "other"}


def parse(line: str) -> Document:
    """Return a line as a document whose mentions have their status as label.

    Example:
        >>> [str(each) for each in parse("No [12N:sore] [1N:arms] or [2N:legs].").mentions]
        ["denied 'sore legs' [1:2 4:5]", "denied 'sore arms' [1:3]"]
    """
    text, passed = "", 0
    parts: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for match in MARK.finditer(line):
        numbers, letter, words = match.groups()
        text += line[passed : match.start()]
        for number in numbers or [f"at {len(text)}"]:
            place = (len(text), len(text) + len(words))
            parts.setdefault((number, letter), []).append(place)
        text += words
        passed = match.end()
    text += line[passed:]
    marked = [Marked(NAMES[letter], tuple(found)) for (_, letter), found in parts.items()]
    return Splitter().document(text, marked)


def texts() -> list[Document]:
    """Return the texts."""
    lines = (FOLDER / "held_out" / "status.txt").read_text(encoding="utf-8").splitlines()
    return [parse(line) for line in lines if line and not line.startswith("#")]


def measure(documents: list[Document]) -> Counter[tuple[str, str]]:
    """Return the number of mentions by the status they have, and the one that they are given."""
    return Counter(
        (mention.label, status)
        for document in documents
        for mention, status in zip(document.mentions, statuses(document), strict=True)
    )


def figures(counts: Counter[tuple[str, str]]) -> dict[str, object]:
    """Return the figures of a half."""
    present = sum(number for (gold, _), number in counts.items() if gold == "present")
    absent = counts.total() - present
    kept = counts["present", "present"]
    wrong = sum(n for (gold, found), n in counts.items() if found == "present" != gold)
    return {
        "lost": present - kept,
        "present": present,
        "removed": absent - wrong,
        "not present": absent,
        "counts": {f"{gold} as {found}": n for (gold, found), n in sorted(counts.items())},
    }


def of_reactions() -> dict[str, int]:
    """Return the number of real reactions by the status that they are given."""
    counts = Counter(
        status for name in FRESH for document in held_out(name) for status in statuses(document)
    )
    return dict(sorted(counts.items()))


def main() -> None:
    """Measure both halves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mistakes", action="store_true", help="show those of the first half")
    options = parser.parse_args()
    documents = texts()
    table = Table("half", "present, but lost", "not present, and removed")
    found: dict[str, object] = {}
    for name, half in (("looked at", documents[::2]), ("not looked at", documents[1::2])):
        each = found[name] = figures(measure(half))
        lost, removed = f"{each['lost']} of {each['present']}", each["removed"]
        table.add_row(name, lost, f"{removed} of {each['not present']}")
    Console().print(table)
    reactions = found["reactions"] = of_reactions()
    print("Other real reactions:", ", ".join(f"{n} {name}" for name, n in reactions.items()))
    results = FOLDER / "results" / "status.json"
    results.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if options.mistakes:
        for document in documents[::2]:
            for mention, status in zip(document.mentions, statuses(document), strict=True):
                if mention.label != status:
                    print(f"{mention.label}, not {status}: {mention.text!r} in {document.text!r}")


if __name__ == "__main__":
    main()
