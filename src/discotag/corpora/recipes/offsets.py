"""Corpora whose annotations are characters of a text: what they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from discotag.corpora.parsing.problems import Problem, Report
from discotag.marks import Flaw, Marked
from discotag.mentions import Document
from discotag.words import Splitter


def annotated(
    text: str,
    marks: Iterable[Marked],
    splitter: Splitter,
    name: str,
    path: Path,
    report: Report,
) -> Document:
    """A document of a text and the marks on it; what does not fit is reported and left out.

    A mention that stands there twice is kept twice, as the published counts have it, and reported.
    """

    def complain(mark: Marked, flaw: Flaw, message: str) -> None:
        report(Problem(flaw, message, str(path), mark.line))

    document = splitter.document(text, marks, id=name, complain=complain)
    for sentence in document.sentences:
        for mention, times in Counter(sentence.mentions).items():
            if times > 1:
                message = f"mention {mention} stands here {times} times; all are kept"
                for _ in range(times - 1):
                    report(Problem("duplicate", message, str(path)))
    return document


def by_file_name(report: Report) -> Report:
    """Say file names instead of paths: those of an unpacked archive are gone afterwards."""
    return lambda problem: report(replace(problem, path=Path(problem.path).name))


def crosses(mark: Marked, sentences: Sequence[tuple[int, int]]) -> bool:
    """Whether a mark is in more than one sentence, each given by its characters.

    Example:
        >>> crosses(Marked("ADR", ((0, 4), (11, 14))), [(0, 9), (10, 20)])
        True
    """
    touched = {
        number
        for number, (start, end) in enumerate(sentences)
        for first, last in mark.fragments
        if first < end and start < last
    }
    return len(touched) > 1


def broken_by_space(mark: Marked, text: str) -> bool:
    """Whether two fragments have only white space between them, such as the end of a line.

    Example:
        >>> broken_by_space(Marked("ADR", ((0, 4), (5, 9))), "sore toes")
        True
    """
    return any(text[end:start].isspace() for (_, end), (start, _) in pairwise(mark.fragments))
