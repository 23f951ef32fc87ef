"""Texts with files of annotations beside them: what brat and BioNLP shared tasks have in common."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from discotag.corpora.formats.format import Reading
from discotag.corpora.parsing.files import STANDARD, failed, files_in, lines, read_text
from discotag.corpora.parsing.problems import (
    CorpusError,
    Labels,
    MalformedError,
    Problem,
    Report,
    shown,
)
from discotag.corpora.parsing.standoff import (
    JOINING,
    Annotation,
    Piece,
    Reference,
    Source,
    assembled,
    check_references,
    joined,
)
from discotag.mentions import Document, Fragment

TEXT: Final = ".txt"

SETTINGS: Final = ("annotation.conf", "visual.conf", "tools.conf", "kb_shortcuts.conf")
"""brat's configuration files, which are in the same folder as the documents."""

LINE: Final = re.compile(r"(?:[TREAMN#]\S*|\*)\t[^\t]")
"""Matches an id or a `*`, a tab, and further text."""

MENTION: Final = re.compile(r"(T\S+)\t(\S+) ([^\t]*)(?:\t(.*))?", re.DOTALL)
OFFSETS: Final = re.compile(r"([0-9]{1,18}) ([0-9]{1,18})")

TAB: Final = "\t"


def recognises(path: Path, marks: tuple[str, ...]) -> bool:
    """Return whether a folder has files of annotations, or a file is one or is the text of one.

    Args:
        path: The file or folder.
        marks: The endings of files of annotations.
    """
    if path == STANDARD:
        return False
    if path.is_dir():
        return bool(files_in(path, marks, lambda problem: None))
    if path.name.endswith(TEXT):
        place = path.with_name(path.name.removesuffix(TEXT))
        return any(with_ending(place, ending).is_file() for ending in marks)
    return path.name.endswith(marks)


def read(path: Path, format: str, marks: tuple[str, ...], reading: Reading) -> Iterator[Document]:
    """Yield a document for each text with its annotations.

    A text without a file of annotations is reported and left out: a text that was not annotated is
    not a document without mentions.

    Args:
        path: A folder, or one of the files of a document.
        format: The name of the format, for messages.
        marks: The endings of the files of annotations that a text may have beside it.
        reading: How the files are read.

    Raises:
        CorpusError: The path is neither a folder nor a file with one of the endings.
    """
    endings = (TEXT, *marks)
    if path.is_dir():
        files = files_in(path, (*endings, *SETTINGS), reading.report)
        names = (file.relative_to(path).as_posix() for file in files)
        stems = {_stem(name, endings) for name in names if name.endswith(endings)}
        found = {stem: path / stem for stem in stems}
    elif path.name.endswith(endings):
        stem = _stem(path.name, endings)
        found = {stem: path.parent / stem}
    else:
        named = f"{', '.join(endings[:-1])} and {endings[-1]}"
        message = f"{format} needs a folder of {named} files, or one of these files"
        raise CorpusError(Problem("missing", message, str(path)))
    labels = Labels(reading.report)
    for name, place in sorted(found.items()):
        try:
            document = _document(name, place, marks, labels, reading)
        except CorpusError as error:  # one file cannot be read; go on with the others
            reading.report(error.problem)
        except OSError as error:  # a folder cannot be read
            reading.report(failed(error, place).problem)
        else:
            if document is not None:
                yield document


def _stem(name: str, endings: tuple[str, ...]) -> str:
    """Return a name without its ending, which is one of these."""
    ending = next(each for each in endings if name.endswith(each))
    return name.removesuffix(ending)


def with_ending(place: Path, ending: str) -> Path:
    """Append an ending to a path; `with_suffix` would replace the part of an id after a dot."""
    return place.with_name(place.name + ending)


def _document(
    name: str, place: Path, marks: tuple[str, ...], labels: Labels, reading: Reading
) -> Document | None:
    text_file = with_ending(place, TEXT)
    files = [each for each in (with_ending(place, ending) for ending in marks) if each.is_file()]
    if not text_file.is_file():
        message = f"{text_file.name} is missing in the same folder"
        reading.report(Problem("missing", message, str(files[0] if files else place)))
        return None
    if not files:
        message = (
            f"{place.name}{marks[0]} is missing in the same folder; create an empty one if the "
            "text has no mentions, or move the text elsewhere"
        )
        reading.report(Problem("missing", message, str(text_file)))
        return None
    text = read_text(text_file, reading.report, keep_mark=True)
    if text is None:
        return None
    # The lines of several files are numbered on, so that a number names a line of all files.
    rows: list[tuple[int, str | None]] = []
    ends: list[int] = []
    for file in files:
        before = len(rows)
        rows += [(before + number, row) for number, row in lines(file, reading.report)]
        ends.append(len(rows))

    def place_of(line: int) -> tuple[str, int]:
        number = bisect_left(ends, line)
        return str(files[number]), line - (ends[number - 1] if number else 0)

    def report(problem: Problem) -> None:
        if problem.line is not None:
            path, line = place_of(problem.line)
            problem = replace(problem, path=path, line=line)
        reading.report(problem)

    annotations = list(annotations_of(rows, str(files[0]), report))
    for annotation in annotations:
        assert annotation.line is not None  # as each is a line of a file
        labels.see(annotation.label, *place_of(annotation.line))
    source = Source(name, [Piece(0, text)], annotations, str(files[0]))
    return assembled(source, reading.splitter, report)


def annotations_of(
    rows: Iterable[tuple[int, str | None]], path: str, report: Report
) -> Iterator[Annotation]:
    """Yield the mentions of numbered lines; `frag` relations join them.

    Args:
        rows: The lines with their numbers; None for a line that could not be read.
        path: The file, for messages.
        report: Called for lines that are malformed, have the id of another, or refer to an unknown
            id.
    """
    seen: set[str] = set()
    told: list[Reference] = []
    found: dict[str | int, Annotation] = {}
    pairs: list[tuple[str, str]] = []
    for number, row in rows:
        if row is None or not row.strip():
            continue
        if not LINE.match(row):
            message = "a line must have an id such as T1 or R1, a tab, and its content"
            report(Problem("syntax", message, path, number))
            continue
        name = row.split(TAB, 1)[0]
        if name in seen:
            message = f"an earlier line also has the id {name}"
            report(Problem("duplicate_id", message, path, number))
        others = references(row)
        told += ((name, other, number) for other in others)
        if row.startswith("T"):
            try:
                annotation = parse_mention(row, number)
                if not annotation.texts:
                    raise MalformedError(f"{name}: the text of the mention is missing after a tab")
            except MalformedError as error:
                report(Problem("syntax", str(error), path, number))
            else:
                found[number if name in seen else name] = annotation
        elif row.startswith("R") and len(others) == 2 and row.split(TAB)[1].split()[0] in JOINING:
            pairs.append((others[0], others[1]))
        if name != "*":  # equivalences have no id
            seen.add(name)
    check_references(told, seen, path, report)
    yield from joined(found, pairs, path, report)


def parse_mention(row: str, number: int) -> Annotation:
    r"""Parse a `T` line; without a text at its end the annotation has no texts.

    Args:
        row: The line, without its end.
        number: The number of the line.

    Raises:
        MalformedError: The line is not the line of a mention.

    Example:
        >>> parse_mention("T1\tADR 0 4;14 19\tSore knees", 1).fragments
        ((0, 4), (14, 19))
    """
    match = MENTION.fullmatch(row)
    if match is None:
        raise MalformedError(
            f"a mention must look like 'T1<tab>ADR 0 4<tab>text', got {shown(row)}"
        )
    name, label, offsets, text = match.groups()
    fragments: list[Fragment] = []
    for part in offsets.split(";"):
        pair = OFFSETS.fullmatch(part)
        if pair is None:
            raise MalformedError(f"{name}: offsets must look like '0 4;9 14', got {shown(offsets)}")
        fragments.append((int(pair[1]), int(pair[2])))
    texts = () if text is None else (text,)
    return Annotation(name, label, tuple(fragments), texts, number)


def references(row: str) -> list[str]:
    r"""Return the ids that a line refers to.

    Example:
        >>> references("R1\tCauses Arg1:T2 Arg2:T7"), references("#1\tAnnotatorNotes T2\tsee T7")
        (['T2', 'T7'], ['T2'])
    """
    if row.startswith("T") or not LINE.match(row):
        return []
    said = row.split(TAB)[1].split()
    if row.startswith(("R", "E")):
        return [part.rpartition(":")[2] for part in said if ":" in part]
    return said[1:] if row.startswith("*") else said[1:2]
