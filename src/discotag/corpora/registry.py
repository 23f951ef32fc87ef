"""Which formats there are, and which of them a path is in."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from discotag.corpora import (
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
from discotag.corpora.files import STANDARD, files_in, head
from discotag.corpora.formats import Format
from discotag.corpora.problems import CorpusError, Problem

FORMATS: Final[dict[str, Format]] = {
    module.FORMAT.name: module.FORMAT
    for module in (
        knowtator,
        bioc_xml,
        bigbio,
        bioc_json,
        jsonl,
        brat,
        w2ner,
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


def find_format(path: Path) -> Format:
    """The format a file or folder is in, from its content.

    Raises:
        CorpusError: None of them recognises it.
    """
    if path != STANDARD and path.is_dir():
        for each in FORMATS.values():
            if each.folder and each.recognises(path, ""):
                return each
        return _format_inside(path)
    if path.is_fifo():
        message = "a pipe is read only once: say which format it is, or give it as standard input"
        raise CorpusError(Problem("syntax", message, str(path)))
    start = head(path)
    if not start.strip():
        raise CorpusError(Problem("missing", "there is nothing in this file", str(path)))
    for each in FORMATS.values():
        if each.recognises(path, start):
            return each
    known = ", ".join(FORMATS)
    message = f"the format was not recognised; say which it is: {known}"
    raise CorpusError(Problem("syntax", message, str(path)))


def _format_inside(folder: Path) -> Format:
    """The format of the first file in a folder that has one; there may be a README beside it."""
    files = files_in(folder)
    if not files:
        raise CorpusError(Problem("missing", "there is no file in this folder", str(folder)))
    for file in files[:TRIED]:
        with suppress(CorpusError):
            found = find_format(file)
            if file.name.endswith(found.suffixes):
                return found
    known = ", ".join(FORMATS)
    message = f"no file in this folder was recognised; say which format it is: {known}"
    raise CorpusError(Problem("syntax", message, str(folder)))
