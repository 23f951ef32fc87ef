"""The list of formats, and recognition of the format of a path."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from discotag.corpora.formats import (
    bigbio,
    bioc_json,
    bioc_xml,
    brat,
    conll,
    inline,
    jsonl,
    knowtator,
    w2ner,
)
from discotag.corpora.formats.format import Format
from discotag.corpora.parsing.files import STANDARD, failed, files_in, head
from discotag.corpora.parsing.problems import CorpusError, Problem

FORMATS: Final[dict[str, Format]] = {
    module.FORMAT.name: module.FORMAT
    for module in (
        knowtator,
        bioc_xml,
        bigbio,
        bioc_json,
        w2ner,  # before jsonl: its sentences may have a text
        jsonl,
        brat,
        conll,  # before inline: '0,1 B-ADR' may be a word and its tag
        inline,
    )
}
"""The formats by name, in the order in which they are tried to recognise a file."""

TRIED: Final = 100
"""The number of files of a folder that are tried to recognise its format."""


class UnrecognisedError(CorpusError):
    """A file or a folder whose format was not recognised."""


def named_format(name: str) -> Format:
    """Return the format with this name.

    Raises:
        CorpusError: The format is unknown.
    """
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise CorpusError(Problem("syntax", f"unknown format; known formats are {known}", name))
    return FORMATS[name]


def recognise(path: Path) -> Format | None:
    """Return the format of a file or folder if its content shows it with certainty.

    The formats `inline` and `conll`, which prose can look like, are never returned. None means that
    the file may be plain text or is empty, or that the folder is not in brat's format. Standard
    input can still be read afterwards.

    Raises:
        CorpusError: The path cannot be read, is not text, or is a pipe, which can only be read
            once.

    Example:
        >>> from tempfile import NamedTemporaryFile
        >>> file = NamedTemporaryFile(suffix=".txt")
        >>> _ = Path(file.name).write_text('[{"id": 7, "text": "Sore toes"}]')
        >>> recognise(Path(file.name)).name
        'jsonl'
    """
    return _recognised(path, [each for each in FORMATS.values() if each.certain])


def find_format(path: Path) -> Format:
    """Recognise the format of a file or folder from its content.

    Raises:
        UnrecognisedError: No format was recognised.
        CorpusError: The path cannot be read, is not text, or is empty.
    """
    found = _recognised(path, FORMATS.values())
    if found is not None:
        return found
    if path != STANDARD and path.is_dir():
        return _format_inside(path)
    if not head(path).strip():
        raise CorpusError(Problem("missing", "the file is empty", str(path)))
    known = ", ".join(FORMATS)
    message = f"the format was not recognised; name it, one of {known}"
    raise UnrecognisedError(Problem("syntax", message, str(path)))


def _recognised(path: Path, formats: Iterable[Format]) -> Format | None:
    try:
        if path != STANDARD and path.is_dir():
            return next(
                (each for each in formats if each.folder and each.recognises(path, "")), None
            )
        if path.is_fifo():
            message = "a pipe can only be read once: name its format, or use standard input"
            raise CorpusError(Problem("syntax", message, str(path)))
        start = head(path)
        if not start.strip():
            return None
        return next((each for each in formats if each.recognises(path, start)), None)
    except OSError as error:  # a name that is too long, a folder that cannot be read
        raise failed(error, path) from None


def _format_inside(folder: Path) -> Format:
    """Return the format of the first recognised file in a folder; others may be a README."""
    files = files_in(
        folder, report=lambda problem: None
    )  # they are reported when the files are read
    if not files:
        raise CorpusError(Problem("missing", "the folder has no files", str(folder)))
    for file in files[:TRIED]:
        with suppress(CorpusError):
            found = find_format(file)
            if file.name.endswith(found.endings):
                return found
    known = ", ".join(FORMATS)
    message = f"no file in this folder was recognised; name the format, one of {known}"
    raise UnrecognisedError(Problem("syntax", message, str(folder)))
