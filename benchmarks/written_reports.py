"""Reports, and text like it that reports nothing, written line by line to train the bundled model.

The texts are in `benchmarks/written_reports`, one per line, in the notation of the held-out set and
by its rules for what a mention is (`benchmarks/held_out/DATASHEET.md`). Unlike made-up reports,
which fill in frames, no two of them follow the same pattern. They were written with a language
model by writers who had not seen the held-out texts. `serious-*.txt` has reactions, most of them
serious; `silent-*.txt` names conditions that no drug caused, with a reaction beside them in one
line of six (in one of three in `silent-d.txt`). `clinical-*.txt` has abbreviations, allergy lists,
signs with plus and minus, denials, and notes and posts in capitals or without punctuation.
`coordinations-*.txt` has reactions that are joined by a word or sign, separate ones and ones that
share words; `coordinations-b.txt` and `coordinations-d.txt` have many that share words at the end
or around the parts that differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from discotag import Document
from held_out import parse

FOLDER = Path(__file__).parent / "written_reports"


def written_reports() -> Iterator[Document]:
    """Yield documents of one line each, file by file."""
    for path in sorted(FOLDER.glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            yield parse(line, f"{path.stem}.{number}")
