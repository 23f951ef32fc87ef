"""Check a corpus: find problems, misfits and suspected annotation errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from discotag.corpora import read
from discotag.corpora.checks.analysis import Analysis
from discotag.corpora.checks.scheme_fit import Fits, Setting
from discotag.corpora.checks.suspected_errors import RULES, find_suspicions
from discotag.corpora.parsing.problems import CorpusError, Problem, Report
from discotag.counts import counted
from discotag.mentions import Document, Mention, Sentence
from discotag.words import Splitter

MOST_WORDS: Final = 120
"""The longest sentence that a finding keeps; of longer ones it keeps the part around mentions."""

CONTEXT: Final = 20
"""The number of words before and after the mentions that are kept of a long sentence."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence with mentions that do not fit the scheme, or that look wrong.

    Attributes:
        kind: One of `discotag.scheme.REASONS` or `discotag.corpora.checks.suspected_errors.RULES`.
        document: The id of the document, if it has one.
        number: The number of the sentence in the corpus, from 1.
        number_in_document: The number of the sentence in its document, from 1.
        sentence: The sentence; of a long sentence, the part around the mentions.
        mentions: The mentions in question; `sentence` may have more.
        instead: The mention that is expected instead or in addition.
    """

    kind: str
    document: str | None
    number: int
    number_in_document: int
    sentence: Sentence
    mentions: tuple[Mention, ...]
    instead: Mention | None = None

    @property
    def place(self) -> str:
        """The document and sentence of the finding, for messages."""
        return _place(self.document, self.number, self.number_in_document)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; word ranges count the words given here."""
        return {
            "kind": self.kind,
            "document": self.document,
            "sentence": self.number,
            "sentence_in_document": self.number_in_document,
            "words": self.sentence.words,
            "mentions": [mention.to_dict() for mention in self.mentions],
            "instead": None if self.instead is None else self.instead.to_dict(),
        }


@dataclass(slots=True)
class Checked:
    """The result of a check.

    Attributes:
        path: The path that was checked.
        setting: The requested scheme.
        kept: The largest number of findings and problems of each kind that are kept; `counts` and
            `problem_counts` count all of them.
        analysis: The statistics of the corpus.
        fits: How the corpus fits the schemes.
        findings: The first findings of each kind.
        counts: The number of findings of each kind.
        problems: The first problems of each kind.
        problem_counts: The number of problems of each kind.
    """

    path: str
    setting: Setting
    kept: int
    analysis: Analysis = field(default_factory=Analysis)
    fits: Fits = field(init=False)
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    problems: dict[str, list[Problem]] = field(default_factory=dict)
    problem_counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.fits = Fits(self.setting)

    @property
    def errors(self) -> int:
        """The number of errors: problems because of which something was left out."""
        return self._number("error")

    @property
    def warnings(self) -> int:
        """The number of warnings: problems because of which nothing was left out."""
        return self._number("warning")

    def to_dict(self, examples: int) -> dict[str, Any]:
        """Return plain data, with up to `examples` findings of each kind and without problems."""
        asked = self.fits.asked
        return {
            **self.analysis.to_dict(),
            "scheme": {"slots": self.setting.slots, "gap_mentions": self.setting.gap_mentions},
            "incompatible_sentences": asked.sentences,
            "reasons": dict(asked.reasons.most_common()),
            "schemes": [fit.to_dict() for fit in self.fits.all],
            "suspected": {rule: self.counts[rule] for rule in RULES},
            "findings": [
                each.to_dict() for found in self.findings.values() for each in found[:examples]
            ],
            "errors": self.errors,
            "warnings": self.warnings,
            "problem_counts": dict(self.problem_counts.most_common()),
        }

    def _number(self, severity: str) -> int:
        return sum(
            self.problem_counts[kind]
            for kind, found in self.problems.items()
            if found[0].severity == severity
        )


def check(
    path: str | Path,
    format: str | None = None,
    *,
    setting: Setting = Setting(2),  # noqa: B008
    splitter: Splitter | None = None,
    kept: int = 10,
    report: Report | None = None,
    encoding: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Checked:
    r"""Read a corpus once and return its statistics, problems, misfits and suspected errors.

    Kept in memory are counts, one document, the first findings of each kind, and the ids of all
    documents.

    Args:
        path: A file, a folder, or `-` for standard input.
        format: The name of a format; by default it is recognised from the content.
        setting: The scheme that sentences should fit.
        splitter: Splits text into sentences and words, for formats without words.
        kept: The number of findings and problems of each kind to keep; at least one.
        report: Called with every problem, also with those that are not kept.
        encoding: The encoding of files without a byte-order mark; UTF-8 by default.
        progress: Called after each document with the number of sentences read.

    Raises:
        CorpusError: The path cannot be read. Problems in files do not raise.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "corpus.txt")
        ...     _ = path.write_text("toes are sore\n0,0,2,2 ADR|9,9 ADR\n\n")
        ...     checked = check(path)
        >>> checked.analysis.discontinuous_mentions, dict(checked.problem_counts)
        (1, {'outside': 1})
    """
    checker = _Checker(Checked(str(path), setting, max(kept, 1)), report)
    documents = read(
        path, format, splitter=splitter, report=checker.report, encoding=encoding, check_ids=True
    )
    checker.run(documents, progress)
    return checker.checked


class _Checker:
    def __init__(self, checked: Checked, report: Report | None) -> None:
        self.checked = checked
        self.tell = report
        self.duplicates = 0  # that the reader has reported since the last document

    def report(self, problem: Problem) -> None:
        """Count a problem that the reader found."""
        self.duplicates += problem.kind == "duplicate"
        self._add_problem(problem)

    def run(self, documents: Iterator[Document], progress: Callable[[int], None] | None) -> None:
        """Check all documents."""
        try:
            for document in documents:
                self._add_document(document)
                if progress is not None:
                    progress(self.checked.analysis.sentences)
        except CorpusError as error:  # a file cannot be read, after others that can
            self._add_problem(error.problem)
        self._compare_labels()

    def _add_document(self, document: Document) -> None:
        analysis = self.checked.analysis
        analysis.documents += 1
        doubled: list[str] = []
        for number, sentence in enumerate(document.sentences, 1):
            analysis.add_sentence(sentence)
            if not sentence.mentions:
                continue
            found = [
                *((each.reason, each.mentions, None) for each in self.checked.fits.add(sentence)),
                *((each.rule, each.mentions, each.instead) for each in find_suspicions(sentence)),
            ]
            place = (document.id, analysis.sentences, number)
            for kind, mentions, instead in found:
                self._add_finding(kind, place, sentence, mentions, instead)
            for mention, times in Counter(sentence.mentions).items():
                if times > 1:
                    doubled.append(f"{_place(*place)}: mention {mention} is given {times} times")
        # Marks on different characters may become the same mention in words.
        for message in doubled[self.duplicates :]:
            self._add_problem(Problem("duplicate", message, self.checked.path))
        self.duplicates = 0

    def _add_finding(
        self,
        kind: str,
        place: tuple[str | None, int, int],
        sentence: Sentence,
        mentions: tuple[Mention, ...],
        instead: Mention | None,
    ) -> None:
        checked = self.checked
        checked.counts[kind] += 1
        found = checked.findings.setdefault(kind, [])
        if len(found) < checked.kept:
            found.append(_excerpt(kind, place, sentence, mentions, instead))

    def _add_problem(self, problem: Problem) -> None:
        checked = self.checked
        checked.problem_counts[problem.kind] += 1
        found = checked.problems.setdefault(problem.kind, [])
        if len(found) < checked.kept:
            found.append(problem)
        if self.tell is not None:
            self.tell(problem)

    def _compare_labels(self) -> None:
        if self.checked.problem_counts["label_case"]:
            return  # the reader has reported them, with their lines
        alike: dict[str, list[str]] = {}
        labels = self.checked.analysis.labels
        for label in labels:
            alike.setdefault(label.casefold(), []).append(label)
        for group in alike.values():
            if len(group) > 1:
                shown = ", ".join(
                    f"{label!r} ({counted(labels[label].mentions, 'time')}, first in sentence "
                    f"{labels[label].first_sentence} of the corpus)"
                    for label in sorted(group, key=lambda label: -labels[label].mentions)
                )
                message = f"labels that differ only by case: {shown}"
                self._add_problem(Problem("label_case", message, self.checked.path))


def _excerpt(
    kind: str,
    place: tuple[str | None, int, int],
    sentence: Sentence,
    mentions: tuple[Mention, ...],
    instead: Mention | None,
) -> Finding:
    """Return a finding, with only the part of a long sentence around the mentions."""
    first, last = 0, len(sentence.words)
    if last > MOST_WORDS:
        shown = mentions if instead is None else (*mentions, instead)
        first = max(0, min(mention.start for mention in shown) - CONTEXT)
        last = min(last, max(mention.end for mention in shown) + CONTEXT)
    part = Sentence(
        sentence.words[first:last],
        tuple(
            mention.shifted(-first)
            for mention in sentence.mentions
            if first <= mention.start and mention.end <= last
        ),
    )
    return Finding(
        kind,
        *place,
        part,
        tuple(_spelt(mention, part, first) for mention in mentions),
        None if instead is None else _spelt(instead, part, first),
    )


def _spelt(mention: Mention, sentence: Sentence, first: int) -> Mention:
    return Sentence(sentence.words, (mention.shifted(-first),)).mentions[0]


def _place(document: str | None, number: int, number_in_document: int) -> str:
    if document is None:
        return f"sentence {number}"
    return f"{document}, sentence {number_in_document}"
