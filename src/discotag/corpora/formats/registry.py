"""Which formats there are, and which of them a path is in."""

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
        w2ner,  # ahead of jsonl: its sentences may come with a text
        jsonl,
        brat,
        conll,  # ahead of inline: '0,1 B-ADR' may be a word and its tag
        inline,
    )
}
"""By name; the first that recognises a file is taken."""

TRIED: Final = 100
"""So many files of a folder are looked at to find out their format."""


def named_format(name: str) -> Format:
    """The format of this name.

    Raises:
        CorpusError: There is none.
    """
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise CorpusError(Problem("syntax", f"unknown format; there are {known}", name))
    return FORMATS[name]


def recognise(path: Path) -> Format | None:
    """Return the format that a file or folder is certainly in, from its content.

    Formats that prose can look like, `inline` and `conll`, are never returned. None means
    that the file may be plain text, or is empty, or that the folder is not one of brat. What was
    looked at of standard input stays to be read.

    Raises:
        CorpusError: The path cannot be read, is not text, or is a pipe, which can be read only
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
    """The format a file or folder is in, from its content.

    Raises:
        CorpusError: None of them recognises it.
    """
    found = _recognised(path, FORMATS.values())
    if found is not None:
        return found
    if path != STANDARD and path.is_dir():
        return _format_inside(path)
    if not head(path).strip():
        raise CorpusError(Problem("missing", "there is nothing in this file", str(path)))
    known = ", ".join(FORMATS)
    message = f"the format was not recognised; say which it is: {known}"
    raise CorpusError(Problem("syntax", message, str(path)))


def _recognised(path: Path, formats: Iterable[Format]) -> Format | None:
    try:
        if path != STANDARD and path.is_dir():
            return next(
                (each for each in formats if each.folder and each.recognises(path, "")), None
            )
        if path.is_fifo():
            message = "a pipe is read only once: say which format it is, or use standard input"
            raise CorpusError(Problem("syntax", message, str(path)))
        start = head(path)
        if not start.strip():
            return None
        return next((each for each in formats if each.recognises(path, start)), None)
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise failed(error, path) from None


def _format_inside(folder: Path) -> Format:
    """The format of the first file in a folder that has one; there may be a README beside it."""
    files = files_in(folder, report=lambda problem: None)  # reading them will tell
    if not files:
        raise CorpusError(Problem("missing", "there is no file in this folder", str(folder)))
    for file in files[:TRIED]:
        with suppress(CorpusError):
            found = find_format(file)
            if file.name.endswith(found.endings):
                return found
    known = ", ".join(FORMATS)
    message = f"no file in this folder was recognised; say which format it is: {known}"
    raise CorpusError(Problem("syntax", message, str(folder)))
