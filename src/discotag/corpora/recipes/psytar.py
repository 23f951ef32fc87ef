"""PsyTAR: patients' posts on psychiatric drugs, from the workbook that its authors publish.

A sheet lists the sentences of the posts; a sheet for each label repeats the sentences with mentions
of it and lists the mentions as strings. Each string has to be found in its sentence, ignoring case,
in one of these ways, tried in this order:

1. its words and punctuation, as a run;
2. its words alone, as the tightest ordered subsequence of the sentence's words. With punctuation
   the annotators also joined words from different places ("nausea, first week"), so it is ignored;
   punctuation between two words of the mention is added again;
3. its letters, where only spaces, hyphens and apostrophes differ ("alot", "a lot");
4. as in 2, with one spelling error in each longer word ("headache", "headaches").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final

from discotag.corpora.parsing.files import MAX_FILE
from discotag.corpora.parsing.problems import CorpusError, Problem, strict
from discotag.corpora.recipes.recipe import PARTS, Order, Prepared, Recipe, part_of
from discotag.corpora.tables import TableOptions, workbook
from discotag.mentions import Document, Fragment, Mention, Sentence, locate
from discotag.words import Splitter

WORKBOOK: Final = "PsyTAR_dataset.xlsx"
SENTENCES: Final = "Sentence_Labeling"
LABELS: Final = ("ADR", "WD", "SSI", "DI")
"""Adverse reactions; symptoms of withdrawal, of the illness; indications."""

SHEET: Final = "{label}_Identified"

PUBLISHED: Final = {"posts": 891, "rows of sentences": 6009}
PUBLISHED_STRINGS: Final = {"ADR": 4813, "WD": 590, "SSI": 1219, "DI": 793}
"""The counts of the workbook of Zolnoori et al. (2019): 7,415 strings, one DI more than in the
article."""

LONG_WORD: Final = 5
"""The shortest word, in letters, that may have an error; in shorter ones an error often makes
another word (pain, gain)."""

WAYS: Final = ("as a run", "as words in order", "spaced otherwise", "spelled otherwise")

SPLITTER: Final = Splitter("whole")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a sheet: its number, the post, the sentence and the strings of mentions in it."""

    number: int
    post: str
    index: int | None
    sentence: str
    strings: tuple[str, ...] = ()


@dataclass(slots=True)
class Post:
    """The sentences of a post with the mentions found so far."""

    sentences: list[Sentence] = field(default_factory=list)
    indices: list[int | None] = field(default_factory=list)
    mentions: list[list[Mention]] = field(default_factory=list)


def cook(source: Path, order: Order) -> Prepared:
    """Return the posts of the workbook in parts, with the mentions that were found.

    Raises:
        CorpusError: The file is not a workbook, or not that of PsyTAR.
        DiscotagError: openpyxl is not installed.
    """
    if source.is_dir():
        message = f"this is a folder; give the workbook itself, {WORKBOOK}"
        raise CorpusError(Problem("syntax", message, str(source)))
    rows = _rows(source, SENTENCES)
    identified = {label: _rows(source, SHEET.format(label=label), label) for label in order.labels}
    posts: dict[str, Post] = {}
    for row in rows:
        post = posts.setdefault(row.post, Post())
        if row.sentence:
            post.sentences.append(SPLITTER.sentence(row.sentence))
            post.indices.append(row.index)
            post.mentions.append([])
    search = _Search(source, posts)
    total = sum(map(len, identified.values()))
    for label, labelled in identified.items():
        for row in labelled:
            search.row(label, row)
            order.progress(search.rows, total)
    parts: dict[str, list[Document]] = {part: [] for part in PARTS}
    for name, post in posts.items():
        if post.sentences:
            parts[part_of(name)].append(_document(name, post))
    facts = {
        "posts": len(posts),
        "posts without a sentence": sum(not post.sentences for post in posts.values()),
        "rows of sentences": len(rows),
        "rows without a sentence": sum(not row.sentence for row in rows),
        **{f"{label} strings": search.strings[label] for label in order.labels},
        "strings found": sum(search.found.values()),
        **{f"strings found {way}": search.found[way] for way in WAYS},
        "strings not found": len(search.not_found),
        "strings with several places": search.ambiguous,
        "strings given twice": search.duplicates,
    }
    strings = {f"{label} strings": PUBLISHED_STRINGS[label] for label in order.labels}
    return Prepared(
        parts,
        problems=search.problems,
        facts=facts,
        expected={"all": {**PUBLISHED, **strings}},
        lists={"not_found": search.not_found},
    )


RECIPE: Final = Recipe(
    name="psytar",
    about="PsyTAR: adverse reactions in 891 patients' posts on four psychiatric drugs (CC BY 4.0)",
    source=f"{WORKBOOK}, the workbook",
    labels=LABELS,
    default_labels=("ADR",),
    cook=cook,
)


def find(
    words: Sequence[str], string: str, taken: Sequence[tuple[Fragment, ...]] = ()
) -> tuple[tuple[Fragment, ...], str] | None:
    """Find a string among the words of its sentence.

    Args:
        words: The words of the sentence.
        string: A mention as written by an annotator.
        taken: The fragments of other mentions; of several runs, the first that shares no words
            with them is preferred.

    Returns:
        The fragments and the way the string was found, one of `WAYS`; None if it was not found.

    Example:
        >>> find("Sore toes , in fact sore knees".split(), "sore toes; knees")
        (((0, 2), (6, 7)), 'as words in order')
    """
    own = [word.casefold() for word in words]
    wanted = _words(string)
    bare = [word for word in wanted if _is_bare(word)]
    if not bare:
        return None
    if runs := _runs(own, wanted):
        return (_first_free(runs, taken),), WAYS[0]
    if places := locate(own, bare):
        return _bridged(own, places), WAYS[1]
    if run := _letters(own, "".join(bare)):
        return (run,), WAYS[2]
    if places := locate(_as_wanted(own, bare), bare):
        return _bridged(own, places), WAYS[3]
    return None


def _runs(words: Sequence[str], wanted: Sequence[str]) -> list[Fragment]:
    size = len(wanted)
    return [
        (start, start + size)
        for start in range(len(words) - size + 1)
        if all(words[start + at] == word for at, word in enumerate(wanted))
    ]


def _first_free(runs: Sequence[Fragment], taken: Sequence[tuple[Fragment, ...]]) -> Fragment:
    used = {word for fragments in taken for start, end in fragments for word in range(start, end)}
    return next((run for run in runs if used.isdisjoint(range(*run))), runs[0])


def _bridged(words: Sequence[str], fragments: tuple[Fragment, ...]) -> tuple[Fragment, ...]:
    """Join fragments with only punctuation between them, which was not left out on purpose."""
    joined = [fragments[0]]
    for before, after in pairwise(fragments):
        if any(_is_bare(word) for word in words[before[1] : after[0]]):
            joined.append(after)
        else:
            joined[-1] = (joined[-1][0], after[1])
    return tuple(joined)


def _letters(words: Sequence[str], wanted: str) -> Fragment | None:
    """Return the first run of words with these letters and digits, ignoring spaces and hyphens."""
    for start in range(len(words)):
        if not _is_bare(words[start]):
            continue
        passed = ""
        for end in range(start, len(words)):
            if _is_bare(words[end]):
                passed += words[end]
            elif words[end] not in JOINTS:
                break
            if passed == wanted and wanted:
                return start, end + 1
            if not wanted.startswith(passed):
                break
    return None


JOINTS: Final = frozenset("-'’‘`´")
"""Characters inside a word; any other, such as a comma, separates words."""


def _as_wanted(words: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Correct the spelling of words that differ from a wanted word by one error."""
    return [
        next((other for other in wanted if word == other), None)
        or next((other for other in wanted if _one_slip(word, other)), word)
        for word in words
    ]


def _one_slip(one: str, other: str) -> bool:
    """Return whether two words differ by one letter, or by two neighbours being exchanged."""
    if min(len(one), len(other)) < LONG_WORD or abs(len(one) - len(other)) > 1:
        return False
    if not (one.isalpha() and other.isalpha()):
        return False
    at = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    rest, further = one[at:], other[at:]
    return (
        rest[1:] == further[1:]
        or rest[1:] == further
        or rest == further[1:]
        or (rest[:2] == further[:2][::-1] and rest[2:] == further[2:])
    )


def _words(string: str) -> list[str]:
    return [string[start:end].casefold() for start, end in SPLITTER.word_ranges(string)]


def _is_bare(word: str) -> bool:
    """Return whether a word has letters or digits, and is not punctuation."""
    return any(map(str.isalnum, word))


class _Search:
    """Finds the strings of rows in the sentences of posts, and counts them."""

    def __init__(self, source: Path, posts: dict[str, Post]) -> None:
        self.source = source
        self.posts = posts
        self.rows = 0
        self.strings: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.ambiguous = self.duplicates = 0
        self.problems: list[Problem] = []
        self.not_found: list[dict[str, Any]] = []

    def row(self, label: str, row: Row) -> None:
        self.rows += 1
        self.strings[label] += len(row.strings)
        number = self._sentence(row)
        if number is None:
            for string in row.strings:
                self._miss(label, row, string, "its sentence is not in the sheet of sentences")
            return
        post = self.posts[row.post]
        words = post.sentences[number].words
        own = [word.casefold() for word in words]
        placed: list[tuple[Fragment, ...]] = []
        for string in sorted(
            row.strings, key=len, reverse=True
        ):  # long strings have fewer possible places
            found = find(words, string, placed)
            if found is None:
                self._miss(label, row, string, "its words do not occur in the sentence in order")
                continue
            fragments, way = found
            self.found[way] += 1
            self.ambiguous += len(_runs(own, _words(string))) > 1
            if fragments in placed:
                self.duplicates += 1
                message = f"{string!r} is given twice for {row.sentence!r}; one is left out"
                self._report("duplicate", label, row, message)
                continue
            placed.append(fragments)
            post.mentions[number].append(Mention(label, fragments))

    def _sentence(self, row: Row) -> int | None:
        """Return the index of the sentence of its post that a row repeats."""
        post = self.posts.get(row.post, Post())
        same = [number for number, index in enumerate(post.indices) if index == row.index]
        for number in same:  # an index may occur twice, and a sentence may lack its full stop
            if post.sentences[number].text == row.sentence:
                return number
        return same[0] if same else None

    def _miss(self, label: str, row: Row, string: str, why: str) -> None:
        self._report("not_found", label, row, f"{string!r} is not in {row.sentence!r}: {why}")
        self.not_found.append(
            {
                "sheet": SHEET.format(label=label),
                "row": row.number,
                "post": row.post,
                "sentence": row.sentence,
                "string": string,
                "why": why,
            }
        )

    def _report(self, kind: str, label: str, row: Row, message: str) -> None:
        sheet = f"{self.source}[{SHEET.format(label=label)}]"
        self.problems.append(Problem(kind, message, sheet, row.number))


def _document(name: str, post: Post) -> Document:
    """Return a post as a document with one sentence per line."""
    sentences: list[Sentence] = []
    start = 0
    for sentence, mentions in zip(post.sentences, post.mentions, strict=True):
        text = sentence.text or ""
        sentences.append(
            Sentence(sentence.words, tuple(mentions), text=text, offsets=sentence.offsets,
                     start=start)
        )  # fmt: skip
        start += len(text) + 1
    text = "\n".join(sentence.text or "" for sentence in sentences)
    return Document(tuple(sentences), text=text, id=name)


def _rows(path: Path, sheet: str, label: str | None = None) -> list[Row]:
    """Return the rows of a sheet that belong to a post, with the strings of a label."""
    rows = workbook.rows(path, TableOptions(sheet=sheet), strict, largest=MAX_FILE)
    header = [_text(cell) for row in islice(rows, 1) for cell in row.cells]
    columns = []
    for name in ("drug_id", "sentence_index", "sentences"):
        if name not in header:
            message = (
                f"the first row of the sheet {sheet!r} has no column {name!r}; is this {WORKBOOK}?"
            )
            raise CorpusError(Problem("syntax", message, str(path)))
        columns.append(header.index(name))
    strings = [
        at for at, name in enumerate(header) if label and re.fullmatch(f"{label}[0-9]+", name)
    ]
    found = []
    for row in rows:
        cells = [*map(_text, row.cells), *[""] * (len(header) - len(row.cells))]
        post, index, sentence = (cells[at] for at in columns)
        if post:
            mentions = tuple(cells[at] for at in strings if cells[at])
            found.append(Row(row.number, post, _number(index), sentence, mentions))
    return found


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None
