"""BioNLP shared tasks: a text in a `.txt` file, with its annotations in `.a1` and `.a2` files.

The lines of `.a1` and `.a2` are those of brat, and are read in the same way: the `T` lines of both
files are mentions, those of triggers of events included, and relations of the type `frag` join the
`T` lines of one mention. One of the two files may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from discotag.corpora.formats import standoff_files
from discotag.corpora.formats.format import Format, Reading
from discotag.mentions import Document

MARKS: Final = (".a1", ".a2")


def recognises(path: Path, head: str) -> bool:
    """Return whether a folder has such files, or a file is one or is the text of one."""
    return standoff_files.recognises(path, MARKS)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield a document for each text with its annotations; see `standoff_files.read`."""
    return standoff_files.read(path, FORMAT.name, MARKS, reading)


FORMAT: Final = Format(
    name="bionlp",
    about="BioNLP shared tasks: a folder of .txt, .a1 and .a2 files (read only)",
    suffixes=MARKS,
    recognises=recognises,
    read=read,
    folder=True,
    streams=False,
)
