"""Split a corpus into parts, by document, that are similar in size and discontinuity."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from math import isfinite

from discotag.corpora.parsing.problems import CorpusError, Problem
from discotag.errors import InputError
from discotag.mentions import Document


class SplitError(InputError):
    """Invalid parts or shares of a split."""


@dataclass(slots=True)
class Index:
    """The sizes of all documents of a corpus, in about twenty bytes each.

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
        """Add the size of a document."""
        mentions = [mention for sentence in document.sentences for mention in sentence.mentions]
        self.only_sentences &= document.id is None and len(document.sentences) == 1
        name = str(len(self)) if document.id is None else f"id {document.id}"
        self.names.append(_number(name))
        self.sentences.append(len(document.sentences))
        self.mentions.append(len(mentions))
        self.discontinuous.append(sum(mention.discontinuous for mention in mentions))

    def assign(self, shares: Sequence[float], seed: int) -> array[int]:
        """Assign each document to a part, and return the numbers of the parts.

        Documents with many discontinuous mentions are assigned first, then large ones; the order of
        similar documents depends on the seed and their ids. Each document goes to the part whose
        numbers of documents, sentences, mentions and discontinuous mentions it brings nearest to
        its share of everything assigned so far, measured by chi square.

        Args:
            shares: The relative share of each part.
            seed: The seed of the split.

        Raises:
            SplitError: A share is not a positive number, or there are no shares.
        """
        if not shares or not all(isfinite(share) and share > 0 for share in shares):
            raise SplitError(f"the shares of parts must be above 0, got {list(shares)}")
        places = [_number(f"{seed} {name}") for name in self.names]
        order = sorted(
            range(len(self)),
            key=lambda number: (
                # Powers of two, since exact sizes would make the seed irrelevant.
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
            # The growth of each part's squared distance to its expected sizes, divided by these.
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
    """Parse parts, such as `train=0.8,test=0.2`.

    Raises:
        SplitError: The text has another form, or a name occurs twice.

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
            raise SplitError(f"a part must look like train=0.8, with a share above 0, got {part!r}")
        if name in parts:
            raise SplitError(f"the part {name!r} is given twice")
        parts[name] = number
    return parts


def pick(
    documents: Iterable[Document], parts: Sequence[int], wanted: int, path: str
) -> Iterator[Document]:
    """Yield the documents of one part when the corpus is read again.

    Raises:
        CorpusError: The number of documents has changed.
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
    """Return a hash of text that is the same on every machine."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
