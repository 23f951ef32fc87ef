"""What can be wrong in a corpus, and how a reader says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from discotag.characters import printable
from discotag.errors import DiscotagError

KINDS: Final = {
    "encoding": "bytes that cannot be decoded, or halves of characters",
    "binary": "a file that is not text",
    "syntax": "something the format does not allow",
    "too_long": "a line or file beyond the bound",
    "missing": "a file that is not there, or that cannot be read or written",
    "inverted": "a fragment that ends before it starts",
    "empty": "a fragment or mention without any character or word",
    "outside": "a fragment that reaches past the text",
    "overlapping": "fragments of one mention that overlap or are out of order",
    "text_mismatch": "the text given for a mention is not what stands at its offsets",
    "crosses": "a mention that reaches across sentences",
    "not_found": "a mention whose words were not found in its sentence",
    "duplicate_id": "an id that two documents, or two lines of a document, have",
    "dangling": "a relation, event or note that refers to something that is not there",
    "unknown_field": "a field of a sentence or mention that is not known, and is not kept",
    "left_out": "files of a folder that are not read",
    "duplicate": "the same mention twice",
    "ill_formed": "a tag that goes on where nothing began, read as the beginning",
    "widened": "a mention that cuts a word, widened to whole words",
    "offset_unit": "offsets that count bytes or units of UTF-16, read as such",
    "label_case": "labels that differ only by case",
}

WARNINGS: Final = frozenset(
    {
        "duplicate_id",
        "dangling",
        "unknown_field",
        "left_out",
        "duplicate",
        "ill_formed",
        "widened",
        "offset_unit",
        "label_case",
    }
)
"""With these, what was read is kept; with any other, it is left out."""


MAX_MESSAGE: Final = 400
"""Characters; what a message quotes from a file can be as long as the file."""

MAX_SHOWN: Final = 80
"""Characters of a text that a message quotes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a corpus; as a string it is one line that is safe to print.

    Attributes:
        kind: One of `KINDS`.
        message: What is wrong, in a line.
        path: The file.
        line: The line in it, counted from 1.

    Example:
        >>> print(Problem("empty", "mention T2 has no characters", "a.ann", 2))
        a.ann:2: mention T2 has no characters
    """

    kind: str
    message: str
    path: str
    line: int | None = None

    def __post_init__(self) -> None:
        if len(self.message) > MAX_MESSAGE:
            half = MAX_MESSAGE // 2
            shortened = f"{self.message[:half]} … {self.message[-half:]}"
            object.__setattr__(self, "message", shortened)

    @property
    def severity(self) -> Literal["error", "warning"]:
        """A warning leaves what was read as it is; an error leaves it out."""
        return "warning" if self.kind in WARNINGS else "error"

    def __str__(self) -> str:
        return printable(f"{located(self.path, self.line)}: {self.message}")


class CorpusError(DiscotagError):
    """A corpus that cannot be read or written as it is; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def located(path: str, line: int | None) -> str:
    """Return a place in a file as messages have it.

    Example:
        >>> located("a.ann", 2)
        'a.ann:2'
    """
    return path if line is None else f"{path}:{line}"


def shown(text: str) -> str:
    """Text as messages quote it: in one line, not too long.

    Example:
        >>> shown("sore toes")
        "'sore toes'"
    """
    return repr(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…")


class Malformed(DiscotagError):
    """A part of a file that is not as its format has it; readers make a `Problem` of it."""


Report = Callable[[Problem], None]
"""Is told of each problem. If it returns, reading goes on without the part that is wrong."""


def strict(problem: Problem) -> None:
    """Raise `CorpusError` for an error; let a warning pass."""
    if problem.severity == "error":
        raise CorpusError(problem)


class Labels:
    """Tells of labels that differ only by case, once each, where they first stand.

    Example:
        >>> labels = Labels(print)
        >>> labels.see("ADR", "a.ann", 1)
        >>> labels.see("Adr", "b.ann", 3)
        b.ann:3: the label 'Adr' is written 'ADR' at a.ann:1
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._first: dict[str, tuple[str, str]] = {}
        self._told: set[str] = set()

    def see(self, label: str, path: str, line: int | None) -> None:
        """Take notice of a label at this line of this file."""
        place = located(path, line)
        spelling, first = self._first.setdefault(label.casefold(), (label, place))
        if label != spelling and label not in self._told:
            self._told.add(label)
            message = f"the label {label!r} is written {spelling!r} at {first}"
            self._report(Problem("label_case", message, path, line))
