"""Checking a corpus: what is wrong in it, what does not fit, what looks like an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from discotag.corpora import check_ids, read
from discotag.corpora.checks.analysis import Analysis
from discotag.corpora.checks.scheme_fit import Fits, Setting
from discotag.corpora.checks.suspected_errors import RULES, find_suspicions
from discotag.corpora.parsing.problems import CorpusError, Problem, Report
from discotag.mentions import Document, Mention, Sentence
from discotag.words import Splitter

MOST_WORDS: Final = 120
"""Of a longer sentence a finding keeps the part around its mentions."""

CONTEXT: Final = 20
"""So many words around the mentions are kept then."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence with mentions that do not fit the scheme, or that look wrong.

    Attributes:
        kind: One of `discotag.scheme.REASONS` or `discotag.corpora.checks.suspected_errors.RULES`.
        document: The id of the document, if it has one.
        number: The number of the sentence in the corpus, from 1.
        number_in_document: Its number in its document, from 1.
        sentence: The sentence; of a long one the part around the mentions.
        mentions: The mentions in question; those of `sentence` may be more.
        instead: What one would expect instead or in addition.
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
        """Where this is, in words."""
        return _place(self.document, self.number, self.number_in_document)

    def as_data(self) -> dict[str, Any]:
        """Plain data; fragments count the words given here."""
        return {
            "kind": self.kind,
            "document": self.document,
            "sentence": self.number,
            "sentence_in_document": self.number_in_document,
            "words": self.sentence.words,
            "mentions": [_mention_data(mention) for mention in self.mentions],
            "instead": None if self.instead is None else _mention_data(self.instead),
        }


@dataclass(slots=True)
class Checked:
    """What a check found.

    Attributes:
        path: What was checked.
        setting: The scheme that was asked for.
        kept: So many examples of each kind are kept; `counts` and `problem_counts` know them all.
        analysis: Sizes.
        fits: How it fits the schemes.
        findings: Of each kind the first.
        counts: How many there are of each kind of finding.
        problems: Of each kind the first.
        problem_counts: How many there are of each kind of problem.
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
        """How many problems there are that left something out."""
        return self._number("error")

    @property
    def warnings(self) -> int:
        """How many problems there are that left nothing out."""
        return self._number("warning")

    def as_data(self, examples: int) -> dict[str, Any]:
        """Plain data, with so many findings of each kind and without the list of problems."""
        asked = self.fits.asked
        return {
            **self.analysis.as_data(),
            "scheme": {"slots": self.setting.slots, "gap_mentions": self.setting.gap_mentions},
            "incompatible_sentences": asked.sentences,
            "reasons": dict(asked.reasons.most_common()),
            "schemes": [fit.as_data() for fit in self.fits.all],
            "suspected": {rule: self.counts[rule] for rule in RULES},
            "findings": [
                each.as_data() for found in self.findings.values() for each in found[:examples]
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
    r"""Read a corpus once and say what is in it, what is wrong, what does not fit.

    Memory holds counts, one document, of each kind of finding the first, and the documents' ids.

    Args:
        path: A file, a folder, or `-` for standard input.
        format: One of the formats; by default it is found from the content.
        setting: The scheme to hold the sentences against.
        splitter: How text becomes sentences and words, in formats that hold no words.
        kept: How many findings and problems of each kind to keep; at least one.
        report: Is told of every problem, those too that are not kept.
        encoding: The encoding of files without a byte-order mark; UTF-8 by default.
        progress: Is told after each document how many sentences were read.

    Raises:
        CorpusError: The path cannot be read at all. What is wrong inside is a problem, no error.

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
    documents = read(path, format, splitter=splitter, report=checker.report, encoding=encoding)
    checker.run(check_ids(documents, checker.report), progress)
    return checker.checked


class _Checker:
    def __init__(self, checked: Checked, report: Report | None) -> None:
        self.checked = checked
        self.tell = report
        self.duplicates = 0  # that the reader has told of since the last document

    def report(self, problem: Problem) -> None:
        """Count a problem that the reader found."""
        self.duplicates += problem.kind == "duplicate"
        self._add_problem(problem)

    def run(self, documents: Iterator[Document], progress: Callable[[int], None] | None) -> None:
        """Look at all documents."""
        try:
            for document in documents:
                self._add_document(document)
                if progress is not None:
                    progress(self.checked.analysis.sentences)
        except CorpusError as error:  # a file that cannot be read, among others that can
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
                    doubled.append(f"{_place(*place)}: mention {mention} stands here {times} times")
        # A reader that compares marks on text does not see what becomes the same in words.
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
            return  # the reader has said so, and where
        alike: dict[str, list[str]] = {}
        labels = self.checked.analysis.labels
        for label in labels:
            alike.setdefault(label.casefold(), []).append(label)
        for group in alike.values():
            if len(group) > 1:
                shown = ", ".join(
                    f"{label!r} ({labels[label].mentions} times, first in sentence "
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
    """A finding that holds no more of a long sentence than one needs to see it."""
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


def _mention_data(mention: Mention) -> dict[str, Any]:
    return {"label": mention.label, "text": mention.text, "words": mention.fragments}
