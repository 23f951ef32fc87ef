"""The description of a format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from discotag.corpora.parsing.problems import Report
from discotag.mentions import Document
from discotag.words import Splitter


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of documents.

    Attributes:
        name: The name of the format, as in `--format`.
        about: A description in one line.
        suffixes: The endings of its files; files in folders are read if they have one.
        recognises: Returns whether a path, with the first characters of its file, looks like this
            format. For a folder the characters are empty.
        read: Yields the documents of a path, one at a time.
        write: Writes documents to a path; None if the format can only be read.
        folder: Whether `read` takes and `write` creates a folder instead of a file.
        certain: Whether `recognises` is never true for prose.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    recognises: Callable[[Path, str], bool]
    read: Callable[[Path, Splitter, Report], Iterator[Document]]
    write: Callable[[Iterable[Document], Path], None] | None
    folder: bool = False
    certain: bool = True

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of its files, also with `.gz`."""
        return (*self.suffixes, *(f"{suffix}.gz" for suffix in self.suffixes))
