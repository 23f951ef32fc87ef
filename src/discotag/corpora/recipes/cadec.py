"""CADEC: patients' posts on side effects, from the archive of the CSIRO portal.

`text/NAME.txt` has one sentence per line; `original/NAME.ann` has one mention per line in brat's
format: `T1`, the label with the offsets of each fragment, and the text of the mention.

A mention that reaches across lines joins them to one sentence. A mention that is given twice is
kept twice, as in the published counts. Both are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from discotag.corpora.formats.standoff_files import parse_mention
from discotag.corpora.parsing.files import lines, read_text
from discotag.corpora.parsing.problems import CorpusError, MalformedError, Problem, Report
from discotag.corpora.parsing.standoff import matches
from discotag.corpora.recipes.offsets import annotated, broken_by_space, by_file_name, crosses
from discotag.corpora.recipes.recipe import ALL, PARTS, Order, Prepared, Recipe
from discotag.corpora.recipes.source import is_hidden, unpacked
from discotag.corpora.recipes.splits import read_splits
from discotag.marks import Marked
from discotag.mentions import Document
from discotag.words import Splitter

LABELS: Final = ("ADR", "Drug", "Disease", "Symptom", "Finding")

TEXTS: Final = "text"
ANNOTATIONS: Final = "original"

SPLITTER: Final = Splitter("lines", "pattern")

PUBLISHED_TOTAL: Final = {"sentences": 7597, "words": 122938, "mentions": 6318}
PUBLISHED_PARTS: Final = {
    "train": {
        "sentences": 5340,
        "discontinuous_sentences": 306,
        "mentions": 4430,
        "discontinuous_mentions": 491,
    },
    "dev": {
        "sentences": 1097,
        "discontinuous_sentences": 59,
        "mentions": 898,
        "discontinuous_mentions": 94,
    },
    "test": {
        "sentences": 1160,
        "discontinuous_sentences": 74,
        "mentions": 990,
        "discontinuous_mentions": 94,
    },
}
"""The counts of ADR in the data of Dai et al. (2020); words and mentions before splitting."""


def cook(source: Path, order: Order) -> Prepared:
    """Return the posts in the parts that `order.splits` lists, or in one part without lists.

    Raises:
        CorpusError: The source has no folders `text` and `original`, or a list cannot be read.
    """
    passed_over: list[str] = []
    split = read_splits(order.splits, passed_over.append)
    problems: list[Problem] = []
    report = by_file_name(problems.append)
    facts: Counter[str] = Counter()
    parts: dict[str, list[Document]] = {part: [] for part in (PARTS if split else (ALL,))}
    with unpacked(source, _is_wanted, passed_over.append) as folder:
        root = _root(source, folder)
        texts = sorted(root.glob(f"{TEXTS}/[!.]*.txt"))
        for done, path in enumerate(texts, start=1):
            document = _document(root, path, order.labels, report, facts)
            order.progress(done, len(texts))
            if document is None:
                continue
            part = split.get(path.stem) if split else ALL
            if part is None:
                facts["documents in no list, left out"] += 1
                message = "the document is in no list of --splits; it is left out"
                problems.append(Problem("missing", message, path.name))
            else:
                parts[part].append(document)
        here = {path.stem for path in texts}
        problems.extend(
            Problem("missing", "the annotations have no text", path.name)
            for path in sorted(root.glob(f"{ANNOTATIONS}/[!.]*.ann"))
            if path.stem not in here
        )
    for name in sorted(split.keys() - here):
        message = f"the document is listed for {split[name]} but is not in the corpus"
        problems.append(Problem("missing", message, name))
    expected = {}
    if order.labels == ("ADR",):
        expected = {**(PUBLISHED_PARTS if split else {}), ALL: PUBLISHED_TOTAL}
    return Prepared(
        parts, problems=problems, facts=facts, expected=expected, passed_over=passed_over
    )


RECIPE: Final = Recipe(
    name="cadec",
    about="CADEC: adverse reactions in 1,250 patients' posts (from the CSIRO portal, its terms)",
    source="the zip file of the CSIRO portal, or the folder in it with text/ and original/",
    labels=LABELS,
    default_labels=("ADR",),
    cook=cook,
    splits="documents of train, dev and test, one name per line; without it all go to all.jsonl",
)


def _is_wanted(name: str) -> bool:
    path = PurePosixPath(name)
    return (path.parent.name, path.suffix) in {(TEXTS, ".txt"), (ANNOTATIONS, ".ann")}


def _root(source: Path, folder: Path) -> Path:
    """Return the folder in the source that contains the two others."""
    for found in (folder / ANNOTATIONS, *sorted(folder.rglob(ANNOTATIONS))):
        hidden = is_hidden(found.relative_to(folder))
        if found.is_dir() and (found.parent / TEXTS).is_dir() and not hidden:
            return found.parent
    message = f"no folder has both {TEXTS}/ (*.txt) and {ANNOTATIONS}/ (*.ann)"
    raise CorpusError(Problem("missing", f"{message}; is this CADEC?", str(source)))


def _document(
    root: Path, path: Path, labels: tuple[str, ...], report: Report, facts: Counter[str]
) -> Document | None:
    text = read_text(path, report)
    if text is None:
        return None
    annotations = root / ANNOTATIONS / f"{path.stem}.ann"
    if not annotations.is_file():
        message = f"{annotations.name} is missing; the text is left out"
        report(Problem("missing", message, path.name))
        return None
    marks: list[Marked] = []
    for mark in _marks(annotations, text, report):
        if mark.label in labels:
            marks.append(mark)
        else:
            facts[f"annotations of {mark.label}, not asked for"] += 1
    ranges = SPLITTER.sentence_ranges(text)
    facts["annotations"] += len(marks)
    facts["annotations across lines, their lines joined"] += sum(
        crosses(mark, ranges) for mark in marks
    )
    facts["annotations in pieces with only white space between, merged"] += sum(
        broken_by_space(mark, text) for mark in marks
    )
    return annotated(text, marks, SPLITTER, path.stem, annotations, report)


def _marks(path: Path, text: str, report: Report) -> Iterator[Marked]:
    """Yield the mentions of a file, without the notes and relations of brat."""
    for number, line in lines(path, report):
        if line is None or not line.startswith("T"):
            continue
        try:
            annotation = parse_mention(line, number)
        except MalformedError as error:
            report(Problem("syntax", f"{error}; it is left out", str(path), number))
            continue
        fragments = tuple(sorted(annotation.fragments))
        if fragments[-1][1] <= len(text) and not matches(text, annotation):
            there = " ".join(text[start:end] for start, end in fragments)
            message = (
                f"{annotation.name} is {annotation.texts[0]!r}, but the text at its offsets is "
                f"{there!r}; it is kept"
            )
            report(Problem("text_mismatch", message, str(path), number))
        yield Marked(annotation.label, fragments, line=number)
