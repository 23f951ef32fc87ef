"""Documents into parts: by document, alike in discontinuity and size, the same again for a seed."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from math import isfinite

from discotag.corpora.parsing.problems import CorpusError, Problem
from discotag.errors import DiscotagError
from discotag.mentions import Document


class InvalidParts(DiscotagError):
    """Parts that cannot be."""


@dataclass(slots=True)
class Index:
    """The sizes of all documents of a corpus: some twenty bytes for each.

    Example:
        >>> from discotag.mentions import Sentence
        >>> index = Index()
        >>> for name in "abcd":
        ...     index.add(Document([Sentence(["sore", "toes"])], id=name))
        >>> sorted(index.assign([0.5, 0.5], seed=0))
        [0, 0, 1, 1]
    """

    sentences: array[int] = field(default_factory=lambda: array("L"))
    mentions: array[int] = field(default_factory=lambda: array("L"))
    discontinuous: array[int] = field(default_factory=lambda: array("L"))
    names: array[int] = field(default_factory=lambda: array("Q"))
    only_sentences: bool = True

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def repeated_ids(self) -> bool:
        """Whether documents share an id."""
        return len(set(self.names)) < len(self)

    def add(self, document: Document) -> None:
        """Note the size of a document."""
        mentions = [mention for sentence in document.sentences for mention in sentence.mentions]
        self.only_sentences &= document.id is None and len(document.sentences) == 1
        name = str(len(self)) if document.id is None else f"id {document.id}"
        self.names.append(_number(name))
        self.sentences.append(len(document.sentences))
        self.mentions.append(len(mentions))
        self.discontinuous.append(sum(mention.discontinuous for mention in mentions))

    def assign(self, shares: Sequence[float], seed: int) -> array[int]:
        """The number of the part that each document goes to.

        Documents with many discontinuous mentions go first, large ones before small ones; among
        those that are alike the seed and the document's id decide. Each goes to the part whose
        numbers of documents, sentences, mentions and discontinuous mentions it brings nearest to
        the part's share of all that have been assigned, by chi square.

        Args:
            shares: For each part how much of the corpus it should have; they are relative.
            seed: Another seed gives another split.

        Raises:
            InvalidParts: A share is not a number above 0, or there is none.
        """
        if not shares or not all(isfinite(share) and share > 0 for share in shares):
            raise InvalidParts(f"parts need shares above 0, got {list(shares)}")
        places = [_number(f"{seed} {name}") for name in self.names]
        order = sorted(
            range(len(self)),
            key=lambda number: (
                # Powers of two: exact sizes would leave nothing to the seed.
                -self.discontinuous[number].bit_length(),
                -self.sentences[number].bit_length(),
                places[number],
                number,
            ),
        )
        columns = [column for column in self._columns() if any(column)]
        weights = [1 / sum(column) ** 2 for column in columns]
        expected = [share / sum(shares) for share in shares]
        passed = [0] * len(columns)
        filled = [[0] * len(columns) for _ in shares]
        parts = array("L", bytes(array("L").itemsize * len(self)))
        for number in order:
            sizes = [column[number] for column in columns]
            passed = [before + size for before, size in zip(passed, sizes, strict=True)]
            # How much the squared distance to the expected sizes, over these, grows in each part.
            growth = [
                sum(
                    weight * size * (2 * (has - due * total) + size)
                    for weight, size, has, total in zip(weights, sizes, had, passed, strict=True)
                )
                / due
                for had, due in zip(filled, expected, strict=True)
            ]
            part = growth.index(min(growth))
            parts[number] = part
            filled[part] = [has + size for has, size in zip(filled[part], sizes, strict=True)]
        return parts

    def _columns(self) -> list[Sequence[int]]:
        ones = array("L", [1]) * len(self)
        return [ones, self.sentences, self.mentions, self.discontinuous]


def parse_parts(text: str) -> dict[str, float]:
    """Parts as typed.

    Raises:
        InvalidParts: The text does not look like that, or a name stands there twice.

    Example:
        >>> parse_parts("train=0.8,test=0.2")
        {'train': 0.8, 'test': 0.2}
    """
    parts: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = part.strip().partition("=")
        try:
            number = float(share)
        except ValueError:
            number = 0.0
        if not isfinite(number) or number <= 0:
            raise InvalidParts(f"a part looks like train=0.8, with a share above 0, not {part!r}")
        if name in parts:
            raise InvalidParts(f"the part {name!r} is given twice")
        parts[name] = number
    return parts


def pick(
    documents: Iterable[Document], parts: Sequence[int], wanted: int, path: str
) -> Iterator[Document]:
    """The documents of one part, read once more.

    Raises:
        CorpusError: There are not as many documents as before.
    """
    number = 0
    for number, document in enumerate(documents, 1):
        if number > len(parts):
            break
        if parts[number - 1] == wanted:
            yield document
    if number != len(parts):
        message = "the corpus changed while it was read"
        raise CorpusError(Problem("syntax", message, path))


def _number(text: str) -> int:
    """The same number on every machine for the same text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
