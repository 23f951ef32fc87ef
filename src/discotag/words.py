"""Text to sentences and words, each with the characters it stands at."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from discotag.blocks import blocks, line_ranges
from discotag.errors import DiscotagError
from discotag.mentions import Document, Fragment, InvalidMention, Mention, Sentence

WORDS: Final = {
    "pattern": re.compile(r"[^\W\d_]+|\d+|\S"),  # letters, digits, or any one other sign
    "spaces": re.compile(r"\S+"),
}

WIDE_SPACE: Final = re.compile(r"[^\S\x00-\x7f]")
"""White space outside ASCII; between a capital and a period, sentencex 1.0 panics at it."""

LANGUAGE: Final = "en"
"""sentencex knows the abbreviations of this language."""

Sentences = Literal["auto", "lines", "whole"]
Words = Literal["pattern", "spaces"]
Flaw = Literal["syntax", "outside", "inverted", "empty", "overlapping", "widened"]
"""What can be wrong with a mark; these are kinds of problems in `discotag.corpora`, too."""


class InvalidText(DiscotagError):
    """Text that no encoder takes: it has halves of surrogate pairs in it."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A label on characters of a text.

    Attributes:
        label: What kind of mention this is.
        fragments: Half-open character ranges.
        score: The probability a model gave it.
        line: The line of the file it was read from.
    """

    label: str
    fragments: tuple[Fragment, ...]
    score: float | None = None
    line: int | None = None


Complain = Callable[[Marked, Flaw, str], None]
"""Is told of a mark that does not fit the words: the mark, what is wrong in a word, in a line."""


def refuse(marked: Marked, flaw: Flaw, message: str) -> None:
    """Raise `InvalidMention`, except for a mark that could be widened to whole words."""
    if flaw != "widened":
        raise InvalidMention(message)


@dataclass(frozen=True, slots=True)
class Splitter:
    r"""How text becomes sentences and words.

    Args:
        sentences: `auto` ends a sentence at its punctuation, at blank lines, and before and after
            headings and list items (see `discotag.blocks.blocks`); `lines` at each line end;
            `whole` takes the text as one sentence.
        words: `pattern` takes runs of letters, runs of digits and single other signs; `spaces` cuts
            at white space alone.

    Example:
        >>> Splitter().document("Sore toes. Can't sleep.").sentences[1].words
        ('Can', "'", 't', 'sleep', '.')
    """

    sentences: Sentences = "auto"
    words: Words = "pattern"

    def __post_init__(self) -> None:
        for name, given, known in (
            ("sentences", self.sentences, get_args(Sentences)),
            ("words", self.words, get_args(Words)),
        ):
            if given not in known:
                raise DiscotagError(f"{name} can be {', '.join(known)}; got {given!r}")

    def sentence_ranges(self, text: str) -> list[Fragment]:
        """The character ranges of the sentences, without white space around them.

        Raises:
            InvalidText: The text has halves of surrogate pairs in it.
        """
        found = (_stripped(text, start, end) for start, end in self._cuts(text))
        return [(start, end) for start, end in found if start < end]

    def word_ranges(self, text: str, start: int = 0, end: int | None = None) -> list[Fragment]:
        """The character ranges of the words between two places of the text."""
        stop = len(text) if end is None else end
        return [match.span() for match in WORDS[self.words].finditer(text, start, stop)]

    def sentence(self, text: str) -> Sentence:
        """All of the text as one sentence."""
        return self._sentence(text, 0, len(text))

    def document(
        self,
        text: str,
        marked: Iterable[Marked] = (),
        *,
        id: str | None = None,
        complain: Complain = refuse,
    ) -> Document:
        """The sentences of a text, with the mentions that are marked in it.

        A mention begins and ends with whole words: a mark that cuts a word is widened to it.
        Sentences that a mention reaches across become one.

        Args:
            text: The text.
            marked: Labels on characters of the text.
            id: The name of the document.
            complain: Is told of marks that do not fit. When it returns, a mark that was widened is
                kept and any other is left out.

        Raises:
            InvalidText: The text has halves of surrogate pairs in it.
            InvalidMention: By default, for a mark that is not in the text or has no word in it.

        Example:
            >>> text = "Sore toes and knees."
            >>> document = Splitter().document(text, [Marked("ADR", ((0, 4), (14, 19)))])
            >>> document.mentions[0].text
            'Sore knees'
        """
        good = [mark for mark in marked if _stands_in(mark, text, complain)]
        ranges = _joined(self.sentence_ranges(text), good)
        sentences = [self._sentence(text, start, end) for start, end in ranges]
        if not good:
            return Document(tuple(sentences), text=text, id=id)
        words = [
            (number, word, sentence.start + start, sentence.start + end)
            for number, sentence in enumerate(sentences)
            for word, (start, end) in enumerate(sentence.offsets or ())
        ]
        starts, ends = [word[2] for word in words], [word[3] for word in words]
        beginnings, endings = set(starts), set(ends)
        mentions: list[list[Mention]] = [[] for _ in sentences]
        for mark in good:
            runs = word_runs(mark.fragments, starts, ends)
            if not runs:
                complain(mark, "empty", f"{_shown(mark, text)} has no word in it")
                continue
            if _cuts_a_word(mark, text, beginnings, endings):
                shown = f"{_shown(mark, text)} cuts a word; it is widened to whole words"
                complain(mark, "widened", shown)
            number, place = words[runs[0][0]][:2]
            mention = Mention(mark.label, runs, score=mark.score)
            mentions[number].append(mention.shifted(place - runs[0][0]))
        marked_sentences = (
            replace(each, mentions=tuple(found)) if found else each
            for each, found in zip(sentences, mentions, strict=True)
        )
        return Document(tuple(marked_sentences), text=text, id=id)

    def _cuts(self, text: str) -> Iterator[Fragment]:
        if self.sentences == "whole":
            yield 0, len(text)
        elif self.sentences == "lines":
            yield from line_ranges(text)
        else:
            for block in blocks(text):
                start = block.start  # sentencex would cut after the marker of a list item
                for end in _sentence_ends(text, block.words, block.end):
                    yield start, end
                    start = end

    def _sentence(self, text: str, start: int, end: int) -> Sentence:
        own = text[start:end]
        pattern = WORDS[self.words]
        # Both read the same matches, so that words and offsets agree.
        offsets = tuple([match.span() for match in pattern.finditer(own)])
        return Sentence.unchecked(tuple(pattern.findall(own)), own, offsets, start)


def _sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the sentences end between two places of the text."""
    import sentencex

    try:
        pieces = sentencex.segment(LANGUAGE, WIDE_SPACE.sub(" ", text[start:end]))
    except UnicodeEncodeError as error:
        raise InvalidText(
            f"character {start + error.start} is half of a surrogate pair, not a character"
        ) from None
    for piece in pieces:
        start += len(piece)
        yield start


def word_runs(
    fragments: Iterable[Fragment], starts: Sequence[int], ends: Sequence[int]
) -> tuple[Fragment, ...]:
    """The runs of words that character ranges cover or cut.

    Args:
        fragments: Character ranges, in order.
        starts: The character at which each word begins, in order.
        ends: The character at which each word ends.

    Returns:
        Half-open runs of words. A fragment of white space has none; two that cut the same word
        have one.

    Example:
        >>> word_runs([(0, 4), (5, 9), (14, 19)], [0, 5, 10, 14], [4, 9, 13, 19])
        ((0, 2), (3, 4))
    """
    runs: list[Fragment] = []
    for start, end in fragments:
        first, last = bisect_right(ends, start), bisect_left(starts, end)
        if first >= last:
            continue
        if runs and first <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(last, runs[-1][1]))
        else:
            runs.append((first, last))
    return tuple(runs)


def spelled(document: Document) -> tuple[str, list[Marked]]:
    """A document as text and marks on its characters.

    A document without a text is written out: words with spaces between them, a sentence a line.

    Example:
        >>> toes = Sentence(["toes", "are", "painful"], [Mention("ADR", [(0, 1), (2, 3)])])
        >>> spelled(Document([toes]))[0]
        'toes are painful'
    """
    if document.text is None:
        document = _written_out(document)
    assert document.text is not None
    return document.text, [
        Marked(mention.label, sentence.characters(mention), mention.score)
        for sentence in document.sentences
        for mention in sentence.mentions
    ]


def _written_out(document: Document) -> Document:
    lines: list[Sentence] = []
    start = 0
    for sentence in document.sentences:
        offsets, passed = [], 0
        for word in sentence.words:
            offsets.append((passed, passed + len(word)))
            passed += len(word) + 1
        text = " ".join(sentence.words)
        lines.append(
            Sentence(sentence.words, sentence.mentions, text=text, offsets=tuple(offsets),
                     start=start)
        )  # fmt: skip
        start += len(text) + 1
    return Document(tuple(lines), text="\n".join(line.text or "" for line in lines), id=document.id)


def _stands_in(mark: Marked, text: str, complain: Complain) -> bool:
    """Whether the label can be one, and all fragments are in the text, in order and not empty."""
    if not mark.label or not mark.label.isprintable():
        complain(mark, "syntax", f"a mention needs a printable label, got {mark.label!r}")
        return False
    if not mark.fragments:
        complain(mark, "empty", f"mention of {mark.label} points at no character")
        return False
    passed = 0
    for start, end in mark.fragments:
        if not 0 <= start <= len(text) or not end <= len(text):
            flaw: Flaw = "outside"
            message = f"{start} to {end} is not in the text, which has {len(text)} characters"
        elif start > end:
            flaw, message = "inverted", f"{start} to {end} ends before it starts"
        elif start == end:
            flaw, message = "empty", f"{start} to {end} is empty"
        elif start < passed:
            flaw = "overlapping"
            message = f"{start} to {end} begins before the one ahead of it ends"
        else:
            passed = end
            continue
        complain(mark, flaw, f"mention of {mark.label}: {message}")
        return False
    return True


def _joined(ranges: Sequence[Fragment], marked: Sequence[Marked]) -> list[Fragment]:
    """The sentences, those made one that a mention reaches across."""
    starts = [start for start, _ in ranges]
    ends = [end for _, end in ranges]
    joined = list(range(len(ranges)))  # for each sentence, the last that goes with it
    for mark in marked:
        first = bisect_right(ends, mark.fragments[0][0])
        last = bisect_left(starts, mark.fragments[-1][1]) - 1
        if first < last:
            joined[first] = max(joined[first], last)
    found: list[Fragment] = []
    number = 0
    while number < len(ranges):
        reach = number
        last = joined[number]
        while reach < last:
            reach += 1
            last = max(last, joined[reach])
        found.append((starts[number], ends[reach]))
        number = reach + 1
    return found


def _stripped(text: str, start: int, end: int) -> Fragment:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _cuts_a_word(mark: Marked, text: str, beginnings: Set[int], endings: Set[int]) -> bool:
    """Whether a fragment begins or ends inside a word, white space at its edges apart."""
    stripped = (_stripped(text, start, end) for start, end in mark.fragments)
    return any(
        first < last and not (first in beginnings and last in endings) for first, last in stripped
    )


def _shown(mark: Marked, text: str) -> str:
    pieces = " ".join(text[start:end] for start, end in mark.fragments)
    return f"mention of {mark.label} {pieces!r}"
