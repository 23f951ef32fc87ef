"""CoNLL columns: a word and its tag per line, and an empty line after each sentence.

```
-DOCSTART-	O

sore	B-ADR
toes	I-ADR
```
The word is the first column and the tag the last, separated by tabs or spaces. Tags may be BIO
(IOB1 or IOB2), BIOES, BILOU or BMES. A line `-DOCSTART-` begins a document; without it each
sentence is a document. Lines that start with `# ` before a sentence are comments.

This format can only represent continuous mentions that do not overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.parsing import files
from discotag.corpora.parsing.problems import Problem, Report
from discotag.corpora.parsing.tags import BARE_TAG, flaw_of, is_tag, untagged
from discotag.corpora.parsing.unwritable import check_label, check_words, unwritable
from discotag.mentions import Document, Mention, Sentence

DOCUMENT: Final = "-DOCSTART-"

COLUMNS: Final = re.compile(r"[ \t]+")

ROWS_THAT_FIT: Final = 0.8
"""The share of rows that must end with a tag in a file of this format; the others are errors."""


def recognises(path: Path, head: str) -> bool:
    """Return whether lines end with tags."""
    rows = _rows(head)
    fit = sum(
        len(row) > 1 and (is_tag(row[-1]) or BARE_TAG.fullmatch(row[-1]) is not None)
        for row in rows
    )
    return fit > 0 and fit >= ROWS_THAT_FIT * len(rows)


def has_mentions(head: str) -> bool:
    """Return whether several rows have the same number of columns, and some begin a mention.

    Texts such as "I take B-12", line by line, end with tags by chance.
    """
    rows = [row for row in _rows(head) if len(row) > 1 and is_tag(row[-1])]
    labelled = sum(row[-1] != "O" for row in rows)
    return len(rows) > 1 and labelled > 0 and len({len(row) for row in rows}) == 1


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each `-DOCSTART-`, or for each sentence if there is none.

    A tag that continues a mention that did not begin is reported, and read as the beginning, as in
    conlleval.
    """
    document = _Document(path, reading.report)
    rows = _Sentence(path, reading.report)
    for number, line in files.lines(path, reading.report):
        if line is None:
            rows.bad = True
        elif not line.strip(" \t"):
            yield from document.add(rows)
            rows = _Sentence(path, reading.report, rows.columns)
        elif line.startswith(DOCUMENT) and COLUMNS.split(line, maxsplit=1)[0] == DOCUMENT:
            yield from document.add(rows)
            yield from document.begin(number)
            rows = _Sentence(path, reading.report, rows.columns)
        elif rows.is_comment(line):
            continue
        else:
            document.size += len(line)
            if document.size > files.MAX_LINE:
                document.too_long(number)
                rows = _Sentence(path, reading.report, rows.columns)
            rows.add(number, line)
    yield from document.add(rows)
    yield from document.end()


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write words and their BIO tags, separated by tabs.

    A document that does not have exactly one sentence begins with `-DOCSTART-`, and so do all
    documents after it.

    Raises:
        CorpusError: A mention is discontinuous or overlaps another, a word or label has white
            space in it, or a sentence has no words.
    """
    with files.created(path) as stream:
        files.write_pieces(stream, _blocks(documents))


FORMAT: Final = Format(
    name="conll",
    about="CoNLL columns with BIO or BIOES tags; continuous mentions only",
    suffixes=(".conll", ".bio", ".iob", ".iob2", ".bioes", ".tsv", ".txt"),
    recognises=recognises,
    read=read,
    write=write,
    certain=has_mentions,
    outputs=(".conll", ".bio"),
    keeps_text=False,
    discontinuous=False,
    overlaps=False,
)


def tagged(words: int, mentions: Iterable[Mention]) -> list[str]:
    """Return the BIO tags of a sentence.

    Raises:
        CorpusError: A mention is discontinuous or overlaps another.

    Example:
        >>> tagged(3, [Mention("ADR", [(1, 3)])])
        ['O', 'B-ADR', 'I-ADR']
    """
    tags = ["O"] * words
    for mention in mentions:
        if mention.discontinuous:
            raise unwritable(FORMAT.name, f"mention {mention}: it is discontinuous")
        if any(tags[word] != "O" for word in mention.words):
            raise unwritable(FORMAT.name, f"mention {mention}: it overlaps another")
        for word in mention.words:
            tags[word] = f"{'B' if word == mention.start else 'I'}-{mention.label}"
    return tags


@dataclass
class _Sentence:
    """The rows of a sentence so far; `columns` is the number of columns."""

    path: Path
    report: Report
    columns: int = 2
    bad: bool = False
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def is_comment(self, line: str) -> bool:
        """Return whether a line is a comment; `#` is a word if a tag follows."""
        if self.words or self.bad or not (line.startswith("# ") or line == "#"):
            return False
        cells = COLUMNS.split(line.strip(" \t"))
        return "\t" in line or len(cells) != self.columns or not is_tag(cells[-1])

    def add(self, number: int, line: str) -> None:
        cells = line.split("\t") if "\t" in line else COLUMNS.split(line.strip(" "))
        word, tag = cells[0].strip(" "), cells[-1].strip(" ")
        message: str | None
        if len(cells) < 2:
            message = f"expected a word and its tag, got {line!r}"
        elif not word:
            message = "there is no word before the tag"
        else:
            message = flaw_of(tag)
        if message is not None:
            self.bad = True
            self.report(Problem("syntax", message, str(self.path), number))
            return
        self.columns = len(cells)
        self.words.append(word)
        self.tags.append(tag)
        self.lines.append(number)

    def finished(self) -> Sentence | None:
        """Return the sentence, or None if it has no words or an invalid row."""
        if self.bad or not self.words:
            return None
        mentions, wrong = untagged(self.tags)
        for place in wrong:
            message = f"{self.tags[place]!r} continues a mention that did not begin"
            self.report(Problem("ill_formed", message, str(self.path), self.lines[place]))
        return Sentence(tuple(self.words), tuple(mentions))


@dataclass
class _Document:
    """The sentences of a document so far; None before the first `-DOCSTART-`."""

    path: Path
    report: Report
    sentences: list[Sentence] | None = None
    line: int = 0
    size: int = 0
    skipped: bool = False

    def begin(self, line: int) -> Iterator[Document]:
        yield from self.end()
        self.sentences, self.line, self.size, self.skipped = [], line, 0, False

    def end(self) -> Iterator[Document]:
        if self.sentences is not None and not self.skipped:
            yield Document(tuple(self.sentences), place=(str(self.path), self.line))

    def add(self, rows: _Sentence) -> Iterator[Document]:
        sentence = None if self.skipped else rows.finished()
        if self.sentences is None:
            self.size, self.skipped = 0, False
            if sentence is not None:
                yield Document((sentence,), place=(str(self.path), rows.lines[0]))
        elif sentence is not None:
            self.sentences.append(sentence)

    def too_long(self, number: int) -> None:
        if not self.skipped:
            kind = "sentence" if self.sentences is None else "document"
            message = f"the {kind} is larger than {files.MAX_LINE >> 20} MiB"
            self.report(Problem("too_long", message, str(self.path), number))
        self.skipped = True
        if self.sentences is not None:
            self.sentences.clear()


def _rows(head: str) -> list[list[str]]:
    """Return the columns of the complete lines at the beginning of a file."""
    complete = head.split("\n")
    if len(complete) > 1:
        complete.pop()  # empty, or truncated
    return [
        COLUMNS.split(row.strip(" \t\r"))
        for row in complete
        if row.strip() and not row.startswith(("# ", DOCUMENT))
    ]


def _blocks(documents: Iterable[Document]) -> Iterator[str]:
    in_documents = False
    for document in documents:
        in_documents = in_documents or len(document.sentences) != 1
        if in_documents:
            yield f"{DOCUMENT}\tO\n\n"
        for sentence in document.sentences:
            yield _block(sentence)


def _block(sentence: Sentence) -> str:
    check_words(sentence.words, FORMAT.name)
    if DOCUMENT in sentence.words:
        raise unwritable(FORMAT.name, f"the word {DOCUMENT!r}, which begins a document")
    for mention in sentence.mentions:
        check_label(mention.label, FORMAT.name)
    tags = tagged(len(sentence.words), sentence.mentions)
    rows = (f"{word}\t{tag}\n" for word, tag in zip(sentence.words, tags, strict=True))
    return "".join(rows) + "\n"
