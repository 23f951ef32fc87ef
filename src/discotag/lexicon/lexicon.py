"""Lexicons: lists of terms, their files, and finding terms in text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple
from unicodedata import normalize

from discotag.errors import InputError
from discotag.mentions import Fragment

HEADER: Final = "# discotag lexicon 1"
"""The first line of a lexicon file; the number is the version of the format."""

MAX_LINE: Final = 1 << 16
"""The longest line that is read, in bytes: far longer than any name."""

PIECE: Final = re.compile(r"[^\W_]+")

SHORTEST_SINGULAR: Final = 3
"""The shortest singular, in letters: `toes` is read as a plural, `as` is not."""

SHORTEST_PART: Final = 3
"""The shortest part of a compound, in letters: `hip joint` may be written `hipjoint`."""

IRREGULAR: Final = {"feet": "foot", "teeth": "tooth"}

ENDINGS: Final = (
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("ves", "f"),
    ("es", "is"),
    ("ae", "a"),
    ("i", "us"),
    ("a", "um"),
)
"""Endings of plurals and of their singulars: toes, eyelashes, arteries, calves, testes, vertebrae,
bronchi, labra. A word is a plural only if its singular is a term."""


class LexiconError(InputError):
    """A lexicon, or a file to make one from, that cannot be read or written."""


def normalise(text: str) -> str:
    """Return text in normal form: runs of letters and digits in lower case, joined by spaces.

    Example:
        >>> normalise("Half-moon, of the Nail")
        'half moon of the nail'
    """
    return " ".join(_pieces(text))


def _pieces(text: str) -> list[str]:
    if not text.isascii():
        text = normalize("NFKC", text)
    return PIECE.findall(text.lower())


def singulars(word: str) -> Iterator[str]:
    """Yield the word itself, then the words that it may be the plural of, in lower case.

    Example:
        >>> list(singulars("toes"))
        ['toes', 'toe', 'tois']
    """
    yield word
    if word in IRREGULAR:
        yield IRREGULAR[word]
    for plural, singular in ENDINGS:
        if word.endswith(plural):
            stem = word.removesuffix(plural) + singular
            if len(stem) >= SHORTEST_SINGULAR:
                yield stem


class Match(NamedTuple):
    """A term found in text: the range of its words, and the term."""

    fragment: Fragment
    term: str


class Lexicon:
    """Terms, each with an identifier of its source.

    A run of words matches a term if both are the same in normal form (see `normalise`). The last
    word may be in the plural, and a term of two words may be written as one.

    Args:
        terms: Terms with their sources, or terms alone. The first of several terms with the same
            normal form is kept.

    Raises:
        LexiconError: A term has neither letters nor digits, or there are no terms.

    Example:
        >>> lexicon = Lexicon(["knee", "hip joint"])
        >>> "Hipjoints" in lexicon
        True
        >>> [match.fragment for match in lexicon.find("both knees and hip joints".split())]
        [(1, 2), (3, 5)]
    """

    def __init__(self, terms: Mapping[str, str] | Iterable[str]) -> None:
        pairs = terms.items() if isinstance(terms, Mapping) else ((term, "") for term in terms)
        self.terms: dict[str, str] = {}
        for term, source in pairs:
            normal = normalise(term)
            if not normal:
                raise LexiconError(f"the term {term!r} has neither letters nor digits")
            self.terms.setdefault(normal, source)
        if not self.terms:
            raise LexiconError("a lexicon needs at least one term")
        self._compounds = {
            "".join(parts): term
            for term in self.terms
            if len(parts := term.split(" ")) == 2 and min(map(len, parts)) >= SHORTEST_PART
        }
        self._longest = max(term.count(" ") for term in self.terms) + 1

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Lexicon:
        """Read a lexicon file; `docs/lexicon.md` describes the format.

        Raises:
            LexiconError: The file cannot be read, or a line is invalid.
        """
        return cls(_read(Path(path)))

    @classmethod
    def default(cls) -> Lexicon:
        """Return the lexicon of body parts from WordNet 3.0, which is part of the package.

        Example:
            >>> "shoulders" in Lexicon.default()
            True
        """
        return _default()

    def __len__(self) -> int:
        return len(self.terms)

    def __contains__(self, text: object) -> bool:
        """Return whether the whole text is a term."""
        return isinstance(text, str) and self.term(_pieces(text)) is not None

    def term(self, pieces: Sequence[str]) -> str | None:
        """Return the term that words in normal form match, or None.

        Example:
            >>> Lexicon(["knee"]).term(["knees"])
            'knee'
        """
        if not pieces:
            return None
        *before, last = pieces
        for singular in singulars(last):
            term = " ".join([*before, singular])
            if term in self.terms:
                return term
            if not before and singular in self._compounds:
                return self._compounds[singular]
        return None

    def find(self, words: Sequence[str]) -> list[Match]:
        """Find the terms in a text; of overlapping terms, the first, and then the longest.

        A word may have several parts: `knee-related` contains the term `knee`.

        Example:
            >>> Lexicon(["back", "lower back"]).find(["my", "lower", "back"])
            [Match(fragment=(1, 3), term='lower back')]
        """
        pieces, owners = [], []
        for number, word in enumerate(words):
            for piece in _pieces(word):
                pieces.append(piece)
                owners.append(number)
        found: list[Match] = []
        start = 0
        while start < len(pieces):
            for end in range(min(start + self._longest, len(pieces)), start, -1):
                term = self.term(pieces[start:end])
                if term is not None:
                    found.append(Match((owners[start], owners[end - 1] + 1), term))
                    start = end
                    break
            else:
                start += 1
        return found


@lru_cache(maxsize=1)
def _default() -> Lexicon:
    with resources.as_file(resources.files("discotag.lexicon") / "wordnet_body.tsv") as path:
        return Lexicon.load(path)


def _read(path: Path) -> dict[str, str]:
    """Read the terms of a file, with their sources."""
    terms: dict[str, str] = {}
    try:
        with path.open("rb") as stream:
            number = 0
            while line := stream.readline(MAX_LINE + 1):
                number += 1
                _read_line(line, f"{path}:{number}", number == 1, terms)
    except OSError as error:
        raise LexiconError(f"{path}: {error.strerror}") from None
    if not terms:
        raise LexiconError(f"{path}: the file has no terms")
    return terms


def _read_line(line: bytes, place: str, first: bool, terms: dict[str, str]) -> None:
    if len(line) > MAX_LINE:
        raise LexiconError(f"{place}: the line is longer than {MAX_LINE} bytes")
    try:
        text = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise LexiconError(f"{place}: byte {error.start} is not UTF-8") from None
    if first:
        if text.removeprefix("\ufeff") != HEADER:
            raise LexiconError(f"{place}: not a lexicon file; its first line must be {HEADER!r}")
        return
    if not text or text.startswith("#"):
        return
    columns = text.split("\t")
    if len(columns) > 2:
        raise LexiconError(
            f"{place}: expected a term and a source, separated by a tab; got {len(columns)} columns"
        )
    if not normalise(columns[0]):
        raise LexiconError(f"{place}: the term {columns[0]!r} has neither letters nor digits")
    terms.setdefault(columns[0], columns[1] if len(columns) == 2 else "")
