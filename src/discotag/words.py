"""Split text into sentences and words, with character offsets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Final, Literal, get_args

from discotag.blocks import blocks, line_ranges
from discotag.errors import InputError
from discotag.marks import Complain, Marked, find_flaw, join_ranges, refuse, word_runs
from discotag.mentions import Document, Fragment, Mention, Sentence

UNSPACED: Final = (
    "\u0e00-\u0e4f\u0e5a-\u0ecf\u0eda-\u0eff"  # Thai, Lao
    "\u1000-\u103f\u104a-\u108f\u109a-\u109f\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17df"  # Khmer
    "\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3041-\u312f"  # kana
    "\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9f"  # kana in other blocks, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Characters of scripts without spaces between words, digits left out; for a set in a pattern."""

JOINERS: Final = "\u200c\u200d"
"""The invisible characters inside words of Persian and of Indian languages."""

LAST_MARK: Final = 0x1FFFF
"""Combining marks with higher code points only choose between forms of a character."""

WIDE_SPACE: Final = re.compile(r"[^\S\x00-\x7f]")
"""White space outside ASCII: sentencex 1.0 panics if it is between a capital and a period."""

SPACE: Final = re.compile(r"\s")

WINDOW: Final = 1 << 13
"""The most characters that are given to sentencex at a time. Its time is quadratic in some texts,
such as those with an opening quote that is never closed."""

CONTEXT: Final = 256
"""The number of characters after the end of a sentence that sentencex must see, and those before
it if the sentence is longer than a window. More do not change it, except for long quotes."""

LANGUAGE: Final = "en"
"""The language of text if nothing else is said."""

Sentences = Literal["auto", "lines", "whole"]
Words = Literal["pattern", "characters", "spaces"]


class TextError(InputError):
    """Text with unpaired surrogates, which cannot be encoded."""


@dataclass(frozen=True, slots=True)
class Splitter:
    r"""Splits text into sentences and words.

    Args:
        sentences: `auto` ends sentences at punctuation, at blank lines, and before and after
            headings and list items (see `discotag.blocks.blocks`); `lines` ends them at line ends;
            `whole` takes the text as one sentence.
        words: `pattern` takes runs of letters, runs of digits and single other characters; letters
            of Chinese, Japanese, Thai, Lao, Khmer and Burmese, which have no spaces between words,
            are words of their own. `characters` makes each character a word, in any script.
            `spaces` splits at white space only. Combining marks belong to the character before.
        language: The code of the language, such as `de`, whose abbreviations do not end sentences.

    Example:
        >>> Splitter().document("Sore toes. Can't sleep.").sentences[1].words
        ('Can', "'", 't', 'sleep', '.')
    """

    sentences: Sentences = "auto"
    words: Words = "pattern"
    language: str = LANGUAGE

    def __post_init__(self) -> None:
        for name, given, known in (
            ("sentences", self.sentences, get_args(Sentences)),
            ("words", self.words, get_args(Words)),
        ):
            if given not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}; got {given!r}")

    def sentence_ranges(self, text: str) -> list[Fragment]:
        """Return the character ranges of the sentences, without surrounding white space.

        Raises:
            TextError: The text has unpaired surrogates.
        """
        ranges = []
        for start, end in self._cuts(text):
            begin, stop = _stripped(text, start, end)
            if begin < stop:
                ranges.append((begin, stop))
        return ranges

    def word_ranges(self, text: str, start: int = 0, end: int | None = None) -> list[Fragment]:
        """Return the character ranges of the words between two positions of the text."""
        stop = len(text) if end is None else end
        return [match.span() for match in self._pattern(text).finditer(text, start, stop)]

    def sentence(self, text: str, start: int = 0, end: int | None = None) -> Sentence:
        """Return the text between two positions, by default all of it, as one sentence.

        Example:
            >>> Splitter().sentence("Sore toes. Slept well.", 11).words
            ('Slept', 'well', '.')
        """
        own = text[start:end]
        parts = self._pattern(own).split(own)  # what is between words, a word, what is between, ...
        borders = list(accumulate(map(len, parts)))
        offsets = tuple(zip(borders[::2], borders[1::2], strict=False))
        return Sentence.unchecked(tuple(parts[1::2]), own, offsets, start)

    def document(
        self,
        text: str,
        marked: Iterable[Marked] = (),
        *,
        id: str | None = None,
        complain: Complain = refuse,
    ) -> Document:
        """Split a text into sentences, and turn the marks on it into mentions.

        Mentions consist of whole words: a mark that cuts a word is widened to it. Sentences that a
        mention reaches across are joined.

        Args:
            text: The text.
            marked: Labels on characters of the text.
            id: The id of the document.
            complain: Called for marks that do not fit. If it returns, a widened mark is kept and
                any other is left out.

        Raises:
            TextError: The text has unpaired surrogates.
            MentionError: By default, for a mark that is outside the text or covers no word.

        Example:
            >>> text = "Sore toes and knees."
            >>> document = Splitter().document(text, [Marked("ADR", ((0, 4), (14, 19)))])
            >>> document.mentions[0].text
            'Sore knees'
        """
        good = [mark for mark in marked if _is_good(mark, text, complain)]
        ranges = self.sentence_ranges(text)
        if good:
            ranges = join_ranges(ranges, good)
        sentences = [self.sentence(text, start, end) for start, end in ranges]
        if not good:
            return Document.unchecked(tuple(sentences), text, id)
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
                complain(mark, "empty", f"{_shown(mark, text)} covers no word")
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
        return Document.unchecked(tuple(marked_sentences), text, id)

    def _pattern(self, text: str) -> re.Pattern[str]:
        """Return the pattern of words, in a group."""
        return _patterns(text.isascii())[self.words]

    def _cuts(self, text: str) -> Iterator[Fragment]:
        if self.sentences == "whole":
            yield 0, len(text)
        elif self.sentences == "lines":
            yield from line_ranges(text)
        else:
            for block in blocks(text):
                start = block.start  # sentencex would end a sentence after a list marker
                for end in _sentence_ends(text, block.words, block.end, self.language):
                    yield start, end
                    start = end


@cache
def _patterns(ascii: bool) -> dict[str, re.Pattern[str]]:
    """Return the pattern of words for each value of `Splitter.words`; the simple ones for ASCII."""
    if ascii:
        forms = {"pattern": r"[A-Za-z]+|\d+|\S", "characters": r"\S", "spaces": r"\S+"}
    else:
        mark = f"[{_marks()}{JOINERS}]"
        letter = rf"[^\W\d_{UNSPACED}]"
        forms = {
            "pattern": rf"{letter}++(?:{mark}++{letter}*+)*+|\d++{mark}*+|\S{mark}*+",
            "characters": rf"\S{mark}*+",
            "spaces": r"\S+",
        }
    return {name: re.compile(f"({form})") for name, form in forms.items()}


def _marks() -> str:
    """Return the combining marks, for a set in a pattern."""
    places = [*range(LAST_MARK), *range(0xE0100, 0xE01F0)]
    return "".join(each for each in map(chr, places) if unicodedata.category(each)[0] == "M")


def _sentence_ends(text: str, start: int, end: int, language: str) -> Iterator[int]:
    """Yield the ends of the sentences between two positions of the text."""
    while start < end:
        stop = min(start + WINDOW, end)
        ends = _ends_in(text, start, stop, language)
        if stop == end:
            yield from ends
            return
        # Ends near that of the window depend on what follows.
        certain = [each for each in ends if each <= stop - CONTEXT]
        yield from certain
        start = certain[-1] if certain else _word_start(text, stop - 2 * CONTEXT, stop)


def _ends_in(text: str, start: int, end: int, language: str) -> list[int]:
    """Return the ends of the sentences of a window."""
    import sentencex

    own = text[start:end]
    if not own.isascii():
        own = WIDE_SPACE.sub(" ", own)
    try:
        pieces = sentencex.segment(language, own)
    except UnicodeEncodeError as error:
        raise TextError(
            f"character {start + error.start} is half of a surrogate pair, not a character"
        ) from None
    return list(accumulate(map(len, pieces), initial=start))[1:]


def _word_start(text: str, start: int, end: int) -> int:
    """Return the first position after white space, or the start if there is none."""
    found = SPACE.search(text, start, end)
    return found.end() if found else start


def _is_good(mark: Marked, text: str, complain: Complain) -> bool:
    flaw = find_flaw(mark.label, mark.fragments, len(text), "characters")
    if flaw is not None:
        complain(mark, flaw[0], f"mention of {mark.label}: {flaw[1]}")
    return flaw is None


def _stripped(text: str, start: int, end: int) -> Fragment:
    own = text[start:end].lstrip()
    start = end - len(own)
    return start, start + len(own.rstrip())


def _cuts_a_word(mark: Marked, text: str, beginnings: Set[int], endings: Set[int]) -> bool:
    """Return whether a fragment begins or ends inside a word, ignoring white space at its edges."""
    stripped = (_stripped(text, start, end) for start, end in mark.fragments)
    return any(
        first < last and not (first in beginnings and last in endings) for first, last in stripped
    )


def _shown(mark: Marked, text: str) -> str:
    pieces = " ".join(text[start:end] for start, end in mark.fragments)
    return f"mention of {mark.label} {pieces!r}"
