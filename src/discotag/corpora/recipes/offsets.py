"""What recipes for corpora with character offsets have in common."""

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
    """Return the document of a text and its marks; report and leave out marks that do not fit.

    A mention that is given twice is kept twice, as in the published counts, and reported.
    """

    def complain(mark: Marked, flaw: Flaw, message: str) -> None:
        report(Problem(flaw, message, str(path), mark.line))

    document = splitter.document(text, marks, id=name, complain=complain)
    for sentence in document.sentences:
        for mention, times in Counter(sentence.mentions).items():
            if times > 1:
                message = f"mention {mention} is given {times} times; all are kept"
                for _ in range(times - 1):
                    report(Problem("duplicate", message, str(path)))
    return document


def by_file_name(report: Report) -> Report:
    """Replace paths by file names in problems: paths in an unpacked archive are temporary."""
    return lambda problem: report(replace(problem, path=Path(problem.path).name))


def crosses(mark: Marked, sentences: Sequence[tuple[int, int]]) -> bool:
    """Return whether a mark is in more than one sentence, given as character ranges.

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
    """Return whether two fragments have only white space between them, such as a line end.

    Example:
        >>> broken_by_space(Marked("ADR", ((0, 4), (5, 9))), "sore toes")
        True
    """
    return any(text[end:start].isspace() for (_, end), (start, _) in pairwise(mark.fragments))
