"""What a format is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from discotag.corpora.parsing.problems import Report
from discotag.mentions import Document
from discotag.words import Splitter


@dataclass(frozen=True, slots=True)
class Format:
    """A way to keep documents in files.

    Attributes:
        name: What `--format` calls it.
        about: What it is, in a line.
        suffixes: How its files end; of a folder, these are read.
        recognises: Whether a path, with the first characters of its file, looks like this format.
            For a folder the characters are empty.
        read: The documents of a path. Streams.
        write: Puts documents into a path, or None if the format is only read.
        folder: Whether `read` takes and `write` makes a folder rather than a file.
        certain: Whether `recognises` never takes prose for this format.
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
        """How its files end, packed ones too."""
        return (*self.suffixes, *(f"{suffix}.gz" for suffix in self.suffixes))
