"""A list of terms, the file it is kept in, and where its terms stand among words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple
from unicodedata import normalize

from discotag.errors import DiscotagError
from discotag.mentions import Fragment

HEADER: Final = "# discotag lexicon 1"
"""The first line of a lexicon file; the number is the version of the format."""

MAX_LINE: Final = 1 << 16
"""The longest line in bytes that is read: far longer than any name."""

PIECE: Final = re.compile(r"[^\W_]+")

SHORTEST_SINGULAR: Final = 3
"""Letters of the shortest word that a plural may stand for: `as` is no plural, `toes` is."""

SHORTEST_PART: Final = 3
"""Letters of the shortest part of a compound: `hip joint` may be written `hipjoint`."""

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
bronchi, labra. A singular counts only if it is a term."""


class LexiconError(DiscotagError):
    """A file that holds no lexicon; the message says where and what is wrong."""


def normalise(text: str) -> str:
    """The text as lexicons compare it: runs of letters and digits in lower case, a space between.

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
    """The word itself, then what it may be the plural of, in lower case.

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
    """The words that are a term, and the term."""

    fragment: Fragment
    term: str


class Lexicon:
    """Terms, each with an identifier of where it comes from.

    A run of words is a term if it is one in normal form (see `normalise`), the last word also in
    the plural, or if it is a term of two words written as one.

    Args:
        terms: Terms with their sources, or terms alone. Of terms with the same normal form the
            first is kept.

    Raises:
        LexiconError: A term has neither letters nor digits, or there is no term.

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
        """Read a lexicon file: see `docs/lexicon.md` for its format.

        Raises:
            LexiconError: The file cannot be read, or a line of it is wrong.
        """
        return cls(_read(Path(path)))

    @classmethod
    def default(cls) -> Lexicon:
        """The body parts of WordNet 3.0, which come with the package.

        Example:
            >>> "shoulders" in Lexicon.default()
            True
        """
        return _default()

    def __len__(self) -> int:
        return len(self.terms)

    def __contains__(self, text: object) -> bool:
        """Whether the whole text is a term."""
        return isinstance(text, str) and self.term(_pieces(text)) is not None

    def term(self, pieces: Sequence[str]) -> str | None:
        """The term that these words are, which are in normal form already; None if they are none.

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
        """The terms in a text; of those that overlap the first, and of these the longest.

        A word may have several parts: in `knee-related` there is the term `knee`.

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
    """The terms of a file with their sources."""
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
        raise LexiconError(f"{path}: there is no term in it")
    return terms


def _read_line(line: bytes, place: str, first: bool, terms: dict[str, str]) -> None:
    if len(line) > MAX_LINE:
        raise LexiconError(f"{place}: a line of more than {MAX_LINE} bytes is no term")
    try:
        text = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise LexiconError(f"{place}: byte {error.start} is not UTF-8") from None
    if first:
        if text.removeprefix("\ufeff") != HEADER:
            raise LexiconError(f"{place}: no lexicon file, its first line must be {HEADER!r}")
        return
    if not text or text.startswith("#"):
        return
    columns = text.split("\t")
    if len(columns) > 2:
        raise LexiconError(f"{place}: {len(columns)} columns, but a line is a term, tab, source")
    if not normalise(columns[0]):
        raise LexiconError(f"{place}: the term {columns[0]!r} has neither letters nor digits")
    terms.setdefault(columns[0], columns[1] if len(columns) == 2 else "")
