"""Outputs of a command: in which format they are written, and whether that would lose anything."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from discotag.corpora.formats import brat, jsonl
from discotag.corpora.formats.format import Format
from discotag.corpora.formats.registry import FORMATS, named_format
from discotag.corpora.parsing.files import STANDARD
from discotag.counts import counted
from discotag.errors import DiscotagError, InputError
from discotag.mentions import Document

FOLDER: Final = brat.FORMAT
"""The format of folders, if no other is named."""

DEFAULT: Final = jsonl.FORMAT
"""The format of standard output, if no other is named, which keeps everything."""

SHOWN_FIELDS: Final = 10
"""The number of fields that are not kept that a message names; the others are counted."""


def format_to_write(
    target: str,
    name: str | None,
    option: str,
    *,
    more: Iterable[Format] = (),
    unclear: Collection[str] = (),
) -> Format:
    """Return the format to write: the one with this name, else the one of the ending.

    Args:
        target: The path as the user gave it.
        name: The name of the format, if the user gave one.
        option: The option that gives the format, for messages.
        more: Formats that the command has besides those of files.
        unclear: Endings that show no format.

    Raises:
        InputError: The format is unknown, cannot be written, or is not clear.
    """
    path = Path(target)
    if name is not None:
        found = next((each for each in more if each.name == name), None) or named_format(name)
        if found.write is None and found not in more:
            raise InputError(
                f"{name} can only be read, not written; choose another format with {option}"
            )
        return found
    if path == STANDARD:
        return DEFAULT
    if target.endswith("/") or path.is_dir():
        return FOLDER
    endings = {
        ending: each
        for each in (DEFAULT, *FORMATS.values(), *more)
        for ending in each.outputs
        if ending not in unclear
    }
    if path.suffix.lower() not in endings:
        raise InputError(
            f"{target}: no format has this ending; use one of {', '.join(endings)}, / for "
            f"{FOLDER.name}, or {option}"
        )
    return endings[path.suffix.lower()]


def check_place(path: Path, form: Format) -> None:
    """Raise if a format cannot be written to a path, because that is a folder or is none.

    Raises:
        InputError: The format is for a folder and the path is a file, or the other way round.
    """
    if path == STANDARD:
        if not form.streams:
            kind = "folder" if form.folder else "file"
            raise InputError(f"{form.name} cannot be written to -; give a {kind}")
    elif form.folder and path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; {form.name} is written to a folder")
    elif not form.folder and path.is_dir():
        raise InputError(f"{path} is a folder; {form.name} is written to a file")


def check_apart(path: Path, sources: Iterable[Path]) -> None:
    """Raise if an output is part of what is read.

    Raises:
        InputError: The output is one of the sources, or is in one of them.
    """
    for source in sources:
        if STANDARD not in (source, path) and _real(path).is_relative_to(_real(source)):
            raise InputError(f"{path} is part of what is read, {source}; write elsewhere")


def check_free(path: Path, advice: str, *, texts_only: bool = False) -> None:
    """Raise if an output already exists.

    Args:
        path: The output.
        advice: What to do then, for the message.
        texts_only: Whether the output may be a folder of texts to which annotations are added.

    Raises:
        DiscotagError: The output is a file or folder that is not empty, or has annotations.
    """
    if texts_only and path.is_dir():
        taken = brat.annotated(path)
        if taken:
            have = counted(len(taken), "file has", "files have")
            raise DiscotagError(f"{path}: {have} annotations, such as {taken[0].name}; {advice}")
    elif path.is_dir() and any(path.iterdir()):
        raise DiscotagError(f"{path}: the folder already exists, and is not empty; {advice}")
    elif path.is_file() and path.stat().st_size:
        raise DiscotagError(f"{path}: the file already exists; {advice}")


class Losses:
    """Counts what a format does not keep of documents."""

    def __init__(self, form: Format) -> None:
        self.form = form
        self.texts = 0
        self.scores = 0
        self.candidates = 0
        self.extra: Counter[str] = Counter()

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the same documents, and count what is not kept."""
        for document in documents:
            alone = len(document.sentences) == 1 and document.sentences[0].text is None
            self.texts += not alone or document.id is not None
            self.extra.update(document.extra.keys())
            self.scores += any(
                mention.score is not None
                for sentence in document.sentences
                for mention in sentence.mentions
            )
            self.candidates += bool(document.candidates)
            yield document

    def lines(self) -> Iterator[str]:
        """Yield a line for each kind of information that is not kept."""
        name = self.form.name
        if self.form.keeps_details:
            return
        if self.texts and not self.form.keeps_text:
            yield (
                f"{name} keeps words and mentions only: texts, ids and boundaries of "
                f"{counted(self.texts, 'document')} are lost"
            )
        if self.extra:
            shown = self.extra.most_common(SHOWN_FIELDS)
            names = [f"{field} ({count:,})" for field, count in shown]
            more = len(self.extra) - len(names)
            names += [f"{more:,} more"] if more else []
            yield f"{name} does not keep these fields of documents: {', '.join(names)}"
        if self.scores:
            have = counted(self.scores, "document has", "documents have")
            yield f"{name} does not keep scores, which {have}"
        if self.candidates:
            have = counted(self.candidates, "document has", "documents have")
            yield f"{name} does not keep candidates to review, which {have}"


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # which does not fail for circular links
