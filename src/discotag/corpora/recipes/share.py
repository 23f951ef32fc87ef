"""ShARe/CLEF eHealth 2013 (task 1) and 2014 (task 2): disorders in clinical notes.

Text files, and annotations with one disorder per line:

- 2013: `NAME.txt||Disease_Disorder||CUI||start||end`, with a start and end for each fragment;
- 2014: `NAME.txt|start-end,start-end|CUI|…`, with further columns on the disorder.

Both come as several archives, for training and for test; a folder with these can be used as well.
A mention that reaches across sentences is left out and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import Final

from discotag.corpora.parsing.files import files_in, lines, read_text
from discotag.corpora.parsing.problems import CorpusError, Problem, Report, shown
from discotag.corpora.recipes.offsets import annotated, broken_by_space, by_file_name, crosses
from discotag.corpora.recipes.recipe import PARTS, Order, Prepared, Recipe, part_of
from discotag.corpora.recipes.source import ARCHIVES, Pass, unpacked
from discotag.corpora.recipes.splits import read_splits
from discotag.marks import Marked
from discotag.mentions import Document, Fragment
from discotag.words import Splitter

LABEL: Final = "Disorder"

SPLITTER: Final = Splitter("auto", "pattern")

DEV_SHARES: Final = {"train": 9, "dev": 1}
"""The shares of train and dev without lists: dev is a tenth of the training documents."""

PUBLISHED: Final = {
    2013: {"train": (8508, 477), "dev": (1250, 58), "test": (9009, 301)},
    2014: {"train": (17407, 777), "dev": (1361, 59), "test": (15850, 411)},
}
"""Sentences, and sentences with a discontinuous mention: Corro (2024), table of data statistics."""

ENDINGS: Final = (".txt", ".pipe")
"""The file endings of texts and annotations."""

NUMBER: Final = r"[0-9]{1,9}"
LINE_2013: Final = re.compile(
    rf"(?P<name>[^|]+)\|\|[^|]*\|\|[^|]*(?P<pairs>(?:\|\|{NUMBER}\|\|{NUMBER})+)(?:\|\|)?"
)
LINE_2014: Final = re.compile(
    rf"(?P<name>[^|]+)\|(?P<pairs>{NUMBER}-{NUMBER}(?:,{NUMBER}-{NUMBER})*)\|.*"
)
LINES: Final = {2013: LINE_2013, 2014: LINE_2014}
HEADER: Final = re.compile(r"DD_DocName\|.*", re.IGNORECASE)


@dataclass(slots=True)
class Half:
    """The files of the official training or test set: texts, and annotations by document.

    Attributes:
        texts: The text files by name.
        marks: The annotations by document, then by file.
        named: Documents with an annotation file of their own, even if it is empty.
    """

    texts: dict[str, Path] = field(default_factory=dict)
    marks: dict[str, dict[PurePath, list[Marked]]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)


def cook(source: Path, order: Order, *, year: int) -> Prepared:
    """Return the notes in train, dev and test; dev is listed in `order.splits` or a tenth of train.

    Raises:
        CorpusError: The source has no texts for training or test, or a list cannot be read.
    """
    passed_over: list[str] = []
    split = read_splits(order.splits, passed_over.append)
    problems: list[Problem] = []
    report = by_file_name(problems.append)
    facts: Counter[str] = Counter()
    parts: dict[str, list[Document]] = {part: [] for part in PARTS}
    with ExitStack() as stack:
        halves = {name: Half() for name in ("train", "test")}
        for path, place in _files(source, stack, passed_over.append):
            official = _half(place)
            if official is None:
                message = f"{place}: the path contains neither train nor test; the file is left out"
                report(Problem("missing", message, path.name))
            else:
                _sort(path, place, halves[official], year, report)
        for name, half in halves.items():
            if not half.texts:
                message = f"no texts (*.txt) were found in a folder or archive named …{name}…"
                raise CorpusError(
                    Problem("missing", f"{message}; is this ShARe {year}?", str(source))
                )
        total = sum(len(half.texts) for half in halves.values())
        done = 0
        for name, half in halves.items():
            for text_name, path in sorted(half.texts.items()):
                done += 1
                order.progress(done, total)
                document = _document(text_name, path, half, report, facts)
                if document is not None:
                    parts[_part(text_name, name, split)].append(document)
    for half in halves.values():
        for name in sorted(half.marks.keys() - half.texts.keys()):
            problems.append(Problem("missing", "the annotations have no text", name))
    for name in sorted(split.keys() - halves["train"].texts.keys() - halves["test"].texts.keys()):
        message = f"the document is listed for {split[name]} but is not in the corpus"
        problems.append(Problem("missing", message, name))
    return Prepared(
        parts,
        problems=problems,
        facts=facts,
        expected=_expected(year, bool(split)),
        passed_over=passed_over,
    )


def _recipe(year: int, task: str) -> Recipe:
    return Recipe(
        name=f"share{year}",
        about=f"ShARe/CLEF {year}, {task}: disorders in clinical notes (PhysioNet, its terms)",
        source="the folder or archive with the texts and pipe-delimited annotations of both halves",
        labels=(LABEL,),
        default_labels=(LABEL,),
        cook=partial(cook, year=year),
        splits="documents of dev (and train), one name per line; else dev is a tenth of train",
    )


RECIPES: Final = (_recipe(2013, "task 1"), _recipe(2014, "task 2"))


def _expected(year: int, split: bool) -> Mapping[str, Mapping[str, int]]:
    """Return the published counts; without the published dev set, only test and the sum of all."""
    published = {
        part: {"sentences": sentences, "discontinuous_sentences": gaps}
        for part, (sentences, gaps) in PUBLISHED[year].items()
    }
    if split:
        return published
    total: Counter[str] = Counter()
    for counts in published.values():
        total.update(counts)
    return {"test": published["test"], "all": total}


def _part(name: str, half: str, split: Mapping[str, str]) -> str:
    """Return the part of a document: test is official; lists or a rule divide train and dev."""
    if half == "test":
        return "test"
    if split:
        return "dev" if split.get(name) == "dev" else "train"
    return part_of(name, DEV_SHARES)


def _files(source: Path, stack: ExitStack, pass_over: Pass) -> Iterator[tuple[Path, PurePath]]:
    """Yield the files of a source and of the archives in it, each with its path there."""
    folder = stack.enter_context(unpacked(source, _is_wanted, pass_over))
    for path in files_in(folder, (*ENDINGS, *ARCHIVES)):
        place = path.relative_to(folder)
        if path.name.endswith(ENDINGS):
            yield path, place
            continue
        inside = partial(_pass_over_in, place, pass_over)
        inner = stack.enter_context(unpacked(path, _is_wanted, inside))
        for each in files_in(inner, ENDINGS):
            yield each, place / each.relative_to(inner)


def _pass_over_in(archive: PurePath, pass_over: Pass, name: str) -> None:
    pass_over(f"{archive}/{name}")


def _is_wanted(name: str) -> bool:
    return name.endswith((*ENDINGS, *ARCHIVES))


def _half(path: PurePath) -> str | None:
    """Return train or test, by the innermost name in the path that contains it."""
    for part in reversed(path.parts):
        for half in ("train", "test"):
            if half in part.lower():
                return half
    return None


def _sort(path: Path, place: PurePath, half: Half, year: int, report: Report) -> None:
    """Add a file to the annotations if its lines look like annotations, else to the texts."""
    if path.name.endswith((".pipe", ".pipe.txt")):
        half.named.add(path.name.removesuffix(".txt").removesuffix(".pipe"))
        _read_marks(path, place, half, year, report)
    elif _first_line_is_mention(path, year):
        _read_marks(path, place, half, year, report)
    else:
        name = path.stem
        if name in half.texts:
            report(Problem("duplicate", "the text is given twice; one is used", path.name))
        half.texts.setdefault(name, path)


def _first_line_is_mention(path: Path, year: int) -> bool:
    _, line = next(lines(path, lambda problem: None), (0, None))
    return line is not None and bool(LINES[year].fullmatch(line) or HEADER.fullmatch(line))


def _read_marks(path: Path, place: PurePath, half: Half, year: int, report: Report) -> None:
    for number, line in lines(path, report):
        if not line or line.isspace() or HEADER.fullmatch(line):
            continue
        match = LINES[year].fullmatch(line.strip())
        if match is None:
            message = f"not an annotation of {year}: {shown(line)}; it is left out"
            report(Problem("syntax", message, path.name, number))
            continue
        name = match["name"].strip().removesuffix(".txt")
        marks = half.marks.setdefault(name, {}).setdefault(place, [])
        marks.append(Marked(LABEL, _fragments(match["pairs"]), line=number))


def _fragments(pairs: str) -> tuple[Fragment, ...]:
    numbers = [int(number) for number in re.findall(NUMBER, pairs)]
    return tuple(sorted(zip(numbers[::2], numbers[1::2], strict=True)))


def _document(
    name: str, path: Path, half: Half, report: Report, facts: Counter[str]
) -> Document | None:
    files = half.marks.get(name, {})
    if not files and name not in half.named:
        message = "the annotations of this text are missing; it is left out"
        report(Problem("missing", message, path.name))
        return None
    text = read_text(path, report)
    if text is None:
        return None
    chosen = min(files, key=lambda file: ("gold" not in str(file).lower(), file), default=path)
    if len(files) > 1:
        message = f"the text has {len(files)} annotation files; {chosen.name} is used"
        report(Problem("duplicate", message, path.name))
    marks = files.get(chosen, [])
    ranges = SPLITTER.sentence_ranges(text)
    kept: list[Marked] = []
    for mark in marks:
        if crosses(mark, ranges):
            message = f"the mention at {mark.fragments} of {name} reaches across sentences"
            report(Problem("crosses", f"{message}; it is left out", chosen.name, mark.line))
        else:
            kept.append(mark)
    facts["annotations"] += len(marks)
    facts["annotations across sentences, left out"] += len(marks) - len(kept)
    facts["annotations in pieces with only white space between, merged"] += sum(
        broken_by_space(mark, text) for mark in kept
    )
    return annotated(text, kept, SPLITTER, name, Path(chosen.name), report)
