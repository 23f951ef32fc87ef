"""Problems in corpora, and how readers report them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from discotag.characters import printable
from discotag.errors import InputError

KINDS: Final = {
    "encoding": "bytes that cannot be decoded, or halves of surrogate pairs",
    "binary": "a file that is not text",
    "syntax": "something the format does not allow",
    "too_long": "a line or file that is too long",
    "missing": "a file that does not exist, or cannot be read or written",
    "inverted": "a fragment that ends before it starts",
    "empty": "a fragment or mention without characters or words",
    "outside": "a fragment that is outside the text or sentence",
    "overlapping": "fragments of one mention that overlap or are out of order",
    "text_mismatch": "the text given for a mention is not the text at its offsets",
    "crosses": "a mention that reaches across sentences",
    "not_found": "a mention whose words were not found in its sentence",
    "duplicate_id": "an id of two documents, or of two lines of a document",
    "dangling": "a relation, event or note that refers to something that does not exist",
    "unknown_field": "an unknown field of a sentence or mention, which is not kept",
    "left_out": "files of a folder that are not read",
    "duplicate": "a mention that is given twice",
    "ill_formed": "a tag that continues a mention that did not begin, read as its beginning",
    "widened": "a mention that cuts a word, widened to whole words",
    "offset_unit": "offsets that count bytes or UTF-16 units, read as such",
    "label_case": "labels that differ only by case",
    "missing_id": "a row of a table without an id",
    "no_text": "a table without any text",
    "mention_rows": "a table with a row for each mention, of which only the texts are read",
    "guessed": "an encoding, a column or a row that was guessed",
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
        "missing_id",
        "no_text",
        "mention_rows",
        "guessed",
    }
)
"""The kinds that are warnings: what was read is kept. With other kinds it is left out."""


MAX_MESSAGE: Final = 400
"""The longest message, in characters: it may quote a line of a file."""

MAX_SHOWN: Final = 80
"""The largest number of characters of a text that a message quotes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a corpus; as a string it is one line that is safe to print.

    Attributes:
        kind: One of `KINDS`.
        message: What is wrong, in one line.
        path: The file.
        line: The line of the file, counted from 1.

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
        """`warning` if what was read is kept, `error` if it is left out."""
        return "warning" if self.kind in WARNINGS else "error"

    def __str__(self) -> str:
        return printable(f"{located(self.path, self.line)}: {self.message}")


class CorpusError(InputError):
    """A corpus that cannot be read or written; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def located(path: str, line: int | None) -> str:
    """Return a file and line as messages show them.

    Example:
        >>> located("a.ann", 2)
        'a.ann:2'
    """
    return path if line is None else f"{path}:{line}"


def shown(text: str) -> str:
    """Quote text for a message, in one line and shortened.

    Example:
        >>> shown("sore toes")
        "'sore toes'"
    """
    return repr(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…")


class MalformedError(InputError):
    """A part of a file that its format does not allow; readers report it as a `Problem`."""


Report = Callable[[Problem], None]
"""Called with each problem. If it returns, reading continues without the invalid part."""


def strict(problem: Problem) -> None:
    """Raise `CorpusError` for an error, and ignore a warning."""
    if problem.severity == "error":
        raise CorpusError(problem)


class Labels:
    """Reports labels that differ only by case, each where it first occurs.

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
        """Report a label that differs only by case from an earlier one."""
        place = located(path, line)
        spelling, first = self._first.setdefault(label.casefold(), (label, place))
        if label != spelling and label not in self._told:
            self._told.add(label)
            message = f"the label {label!r} is written {spelling!r} at {first}"
            self._report(Problem("label_case", message, path, line))
