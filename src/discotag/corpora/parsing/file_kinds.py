"""Recognise files that are not text by their first bytes."""

from __future__ import annotations

import re
from typing import Final

SAVE_TABLE: Final = "save it as CSV or JSON lines"
READ_TABLE: Final = "give it as a file, without the name of another format"
SAVE_TEXT: Final = "save it as plain text"
UNPACK: Final = "unpack it first"
CONVERT: Final = "convert it to text first"

ZIP: Final = rb"PK\x03\x04"

KINDS: Final = tuple(
    (re.compile(pattern, re.DOTALL), about, advice)
    for pattern, about, advice in (
        (ZIP + rb".*xl/", "an Excel workbook", READ_TABLE),
        (ZIP + rb".*word/", "a Word document", SAVE_TEXT),
        (ZIP + rb".*ppt/", "a PowerPoint file", SAVE_TEXT),
        (ZIP + rb".{26}mimetypeapplication/vnd.oasis.opendocument", "an OpenDocument file",
         SAVE_TEXT),
        (rb"PK(?:\x03\x04|\x05\x06|\x07\x08)", "a zip archive", UNPACK),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file (.xls, .doc)",
         "save it as CSV, JSON lines or plain text"),
        (rb"\{\\rtf", "an RTF document", SAVE_TEXT),
        (rb"%PDF-", "a PDF document", CONVERT),
        (rb"\x89PNG\r\n\x1a\n", "a PNG image", CONVERT),
        (rb"\xff\xd8\xff", "a JPEG image", CONVERT),
        (rb"GIF8[79]a", "a GIF image", CONVERT),
        (rb"(?:II\*\x00|MM\x00\*)", "a TIFF image", CONVERT),
        # Text on protease-activated receptors may begin with PAR1, too.
        (rb"PAR1[\x00-\x1f]", "a Parquet table", READ_TABLE),
        (rb"ARROW1\x00\x00", "an Arrow table", SAVE_TABLE),
        (rb"SQLite format 3\x00", "an SQLite database", SAVE_TABLE),
        (rb"\x1f\x8b\x08", "a gzip file inside another", UNPACK),
        (rb"BZh[1-9]1AY&SY", "a bzip2 file", UNPACK),
        (rb"\xfd7zXZ\x00", "an xz file", UNPACK),
        (rb"\x28\xb5\x2f\xfd", "a Zstandard file", UNPACK),
        (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
        (rb"Rar!\x1a\x07", "a RAR archive", UNPACK),
        (rb".{257}ustar[\x00 ]", "a tar archive", UNPACK),
        (rb"\x7fELF", "a program", CONVERT),
    )
)  # fmt: skip
"""The first bytes of files, what they are, and what to do with them; the first match is used."""


def describe(start: bytes) -> str | None:
    r"""Describe a file that begins with these bytes, or return None if it may be text.

    Example:
        >>> describe(b"%PDF-1.7")
        'a PDF document, not text; convert it to text first'
        >>> describe(b"PAR1 is a receptor.")
    """
    for pattern, about, advice in KINDS:
        if pattern.match(start):
            return f"{about}, not text; {advice}"
    return None
