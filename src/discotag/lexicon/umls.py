"""Body parts from the files of a UMLS Metathesaurus, read line by line."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from discotag.lexicon.lexicon import HEADER, LexiconError, normalise

BODY_TYPES: Final = frozenset({b"T023", b"T029", b"T030"})
"""Semantic types of the paper: Body Part, Organ, or Organ Component; Body Location or Region; Body
Space or Junction."""

ABBREVIATIONS: Final = frozenset(b"AA AB ACR MTH_ACR OA QAB RAB VAB".split())
"""The term types of UMLS for abbreviations and acronyms, current and obsolete. The paper excludes
terms marked `Abr`, but no term type has this name; here it means all types of abbreviations."""

CONSO_BARS: Final = 18
STY_BARS: Final = 6
"""The number of `|` in a line of MRCONSO.RRF and of MRSTY.RRF: each field ends with one."""

LANGUAGE, TERM_TYPE, STRING, SUPPRESS = 1, 12, 14, 16
"""Fields of MRCONSO.RRF; the concept is field 0 of both files."""

CONCEPT: Final = re.compile(rb"C\d+")

MAX_LINE: Final = 1 << 16
"""The longest line that is read, in bytes: far longer than any name with its codes."""

PROGRESS_LINES: Final = 1 << 14
"""The number of lines between two calls of `progress`: about fifty calls a second."""

NOTICE: Final = "# Body parts from the UMLS Metathesaurus: use it as your UMLS licence allows."

Skip = Callable[[LexiconError], None]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class UmlsCounts:
    """Counts of a conversion.

    Attributes:
        lines: Lines of MRCONSO.RRF.
        concepts: Concepts of the three semantic types.
        names: English names of those concepts.
        abbreviations: Names left out because they are abbreviations.
        suppressed: Other names left out because they are obsolete or suppressible.
        terms: Different terms written.
        bad: Invalid lines of either file, which were left out.
    """

    lines: int
    concepts: int
    names: int
    abbreviations: int
    suppressed: int
    terms: int
    bad: int


def convert_umls(
    meta: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    skip: Skip | None = None,
    progress: Progress | None = None,
) -> UmlsCounts:
    """Write the body parts of a Metathesaurus to a lexicon file.

    Terms are the English names of the concepts of types T023, T029 and T030 in normal form, without
    abbreviations and without names that are obsolete or suppressible. A term is written once, with
    the first of its concepts.

    Args:
        meta: The folder with MRCONSO.RRF and MRSTY.RRF; either may be compressed (.gz).
        out: The lexicon file; it is created or replaced when it is complete.
        skip: Called with the error of an invalid line, which is then left out. By default the
            error is raised.
        progress: Called from time to time with the name of a file, the number of bytes read, and
            its size.

    Raises:
        LexiconError: A file is missing or cannot be read or written, a line is invalid, or there
            are no terms.
    """
    return _Converter(skip or _raise, progress or _ignore).convert(Path(meta), Path(out))


def _raise(error: LexiconError) -> NoReturn:
    raise error


def _ignore(_name: str, _done: int, _size: int) -> None:
    pass


class _Converter:
    def __init__(self, skip: Skip, progress: Progress) -> None:
        self.skip, self.progress = skip, progress
        self.lines = self.names = self.abbreviations = self.suppressed = self.bad = 0

    def convert(self, meta: Path, out: Path) -> UmlsCounts:
        _check_place(out)
        types, names = _locate(meta, "MRSTY.RRF"), _locate(meta, "MRCONSO.RRF")
        concepts = self.concepts(types)
        if not concepts:
            raise LexiconError(f"{types}: no concept has one of the types T023, T029, T030")
        terms = self.terms(names, concepts)
        if not terms:
            raise LexiconError(f"{names}: the file has no English names of body parts")
        _write(terms, out)
        return UmlsCounts(
            self.lines,
            len(concepts),
            self.names,
            self.abbreviations,
            self.suppressed,
            len(terms),
            self.bad,
        )

    def concepts(self, path: Path) -> dict[bytes, bytes]:
        """Return the concepts that are body parts, each as its own key to save memory."""
        found: dict[bytes, bytes] = {}
        for number, line in self.read(path, STY_BARS):
            concept, kind, _ = line.split(b"|", 2)
            if kind in BODY_TYPES:
                if CONCEPT.fullmatch(concept):
                    found[concept] = concept
                else:
                    self.refuse(path, number, "the first field is not a concept such as C0000001")
        return found

    def terms(self, path: Path, concepts: dict[bytes, bytes]) -> dict[str, bytes]:
        """Return the terms, each with a concept."""
        found: dict[str, bytes] = {}
        for number, line in self.read(path, CONSO_BARS):
            concept = concepts.get(line[: line.index(b"|")])
            if concept is None:
                continue
            fields = line.split(b"|")
            if fields[LANGUAGE] != b"ENG":
                continue
            self.names += 1
            if fields[TERM_TYPE] in ABBREVIATIONS:
                self.abbreviations += 1
            elif fields[SUPPRESS] != b"N":
                self.suppressed += 1
            else:
                try:
                    term = normalise(fields[STRING].decode("utf-8"))
                except UnicodeDecodeError:
                    self.refuse(path, number, "the name is not UTF-8")
                    continue
                if term:
                    found.setdefault(term, concept)
                else:
                    self.refuse(path, number, "the name has neither letters nor digits")
        return found

    def refuse(self, path: Path, number: int, what: str) -> None:
        self.bad += 1
        self.skip(LexiconError(f"{path}:{number}: {what}"))

    def read(self, path: Path, bars: int) -> Iterator[tuple[int, bytes]]:
        """Yield the lines with the right number of fields, each with its line number."""
        number = 0
        try:
            size = path.stat().st_size
            with path.open("rb") as raw:
                stream = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
                while line := stream.readline(MAX_LINE + 1):
                    number += 1
                    if number % PROGRESS_LINES == 0:
                        self.progress(path.name, raw.tell(), size)
                    if len(line) > MAX_LINE:
                        while line and not line.endswith(b"\n"):
                            line = stream.readline(MAX_LINE)
                        self.refuse(path, number, f"the line has more than {MAX_LINE} bytes")
                    elif line.count(b"|") != bars:
                        found = line.count(b"|")
                        what = f"expected {bars} fields that end with '|', got {found}"
                        self.refuse(path, number, what)
                    else:
                        yield number, line
                self.progress(path.name, size, size)
        except (OSError, EOFError, zlib.error) as error:
            raise LexiconError(f"{path}: cannot be read after line {number}: {error}") from None
        self.lines = number  # of the file read last, MRCONSO.RRF


def _locate(meta: Path, name: str) -> Path:
    for path in (meta / name, meta / f"{name}.gz"):
        if path.is_file():
            return path
    raise LexiconError(
        f"{meta}: {name} and {name}.gz not found; give the folder META of UMLS, which contains it"
    )


def _check_place(out: Path) -> None:
    """Raise `LexiconError` early if a file cannot be written, before the files are read."""
    if out.is_dir() or not out.parent.is_dir():
        what = "is a folder" if out.is_dir() else f"the folder {out.parent} does not exist"
        raise LexiconError(f"{out}: cannot be written: {what}")


def _write(terms: dict[str, bytes], out: Path) -> None:
    unfinished = out.with_name(f"{out.name}.part")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(f"{HEADER}\n{NOTICE}\n")
            stream.writelines(f"{term}\t{terms[term].decode()}\n" for term in sorted(terms))
        unfinished.replace(out)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise LexiconError(f"{out}: cannot be written: {error.strerror}") from None
