"""Inline text: for each sentence a line of words, a line of mentions, and an empty line.

```
muscle pain and fatigue in legs .
0,1 ADR|0,1,4,5 ADR
<empty>
```
Word indices count from 0 and are inclusive: `start,end,start,end LABEL`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.parsing.files import created, lines, write_pieces
from discotag.corpora.parsing.problems import Problem
from discotag.corpora.parsing.unwritable import check_label, check_words, unwritable
from discotag.corpora.parsing.word_mentions import Candidate, Tell, good_mentions
from discotag.mentions import Document, Sentence

MENTION: Final = re.compile(r"(\d{1,9},\d{1,9}(?:,\d{1,9},\d{1,9})*) (\S+)", re.ASCII)


def recognises(path: Path, head: str) -> bool:
    """Return whether words, mentions and empty lines alternate."""
    if has_mentions(head):
        return True
    # The first sentences may have no mentions.
    rows = _rows(head)
    return len(rows) > 3 and all(rows[:-1:3]) and not any(rows[1::3]) and not any(rows[2::3])


def has_mentions(head: str) -> bool:
    """Return whether a line of mentions is between words and an empty line."""
    rows = _rows(head)
    return any(
        words and not gap and MENTION.fullmatch(mentions.split("|", 1)[0])
        for words, mentions, gap in zip(rows, rows[1:], [*rows[2:], ""], strict=False)
    )


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each sentence."""
    rows = lines(path, reading.report)
    for number, row in rows:
        if row is not None and not row.strip():  # additional empty lines
            continue
        _, mentions = next(rows, (0, ""))
        number_of_gap, gap = next(rows, (0, ""))
        if gap:
            message = "expected an empty line after the words and the mentions"
            reading.report(Problem("syntax", message, str(path), number_of_gap))
            for _, gap in rows:
                if not gap:
                    break
        elif row is not None and mentions is not None and gap is not None:
            words = tuple(row.split())

            def tell(kind: str, message: str, line: int = number + 1) -> None:
                reading.report(Problem(kind, message, str(path), line))

            found = good_mentions(_candidates(mentions, tell), len(words), tell)
            yield Document((Sentence(words, found),), place=(str(path), number))


def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
    """Write the sentences of all documents.

    Raises:
        CorpusError: A word or label has white space in it, a label has a `|`, or a sentence has no
            words.
    """
    with created(path) as stream:
        write_pieces(stream, _blocks(documents))


FORMAT: Final = Format(
    name="inline",
    about="Dai's text: words; 0,0,3,4 LABEL|…; an empty line",
    suffixes=(".txt", ".text", ".inline"),
    recognises=recognises,
    read=read,
    write=write,
    certain=has_mentions,
    outputs=(".txt", ".inline"),
    keeps_text=False,
)


def _rows(head: str) -> list[str]:
    return [line.rstrip("\r") for line in head.split("\n")]


def _candidates(row: str, tell: Tell) -> Iterator[Candidate]:
    for part in row.split("|") if row else ():
        match = MENTION.fullmatch(part)
        if match is None:
            tell("syntax", f"a mention must look like '0,0,3,4 LABEL', got {part!r}")
            continue
        places = [int(place) for place in match[1].split(",")]
        pairs = zip(places[::2], places[1::2], strict=True)
        # A last word before the first stays there, so that the fragment is inverted, not empty.
        fragments = tuple(sorted((first, last + (last >= first)) for first, last in pairs))
        yield Candidate(repr(part), match[2], fragments)


def _blocks(documents: Iterable[Document]) -> Iterator[str]:
    for document in documents:
        for sentence in document.sentences:
            yield _block(sentence)


def _block(sentence: Sentence) -> str:
    check_words(sentence.words, FORMAT.name)
    mentions = []
    for mention in sentence.mentions:
        check_label(mention.label, FORMAT.name)
        if "|" in mention.label:
            raise unwritable(FORMAT.name, f"the label {mention.label!r}, which has a '|' in it")
        places = ",".join(f"{start},{end - 1}" for start, end in mention.fragments)
        mentions.append(f"{places} {mention.label}")
    return f"{' '.join(sentence.words)}\n{'|'.join(mentions)}\n\n"
