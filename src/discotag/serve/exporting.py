"""Documents to files that browsers download, with names that do not depend on the input."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from discotag.corpora import FORMATS, write
from discotag.mentions import Document

NAME: Final = "mentions"
"""The name of each file, without its ending."""

MEDIA: Final = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".md": "text/markdown; charset=utf-8",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml",
    ".zip": "application/zip",
}
"""The types of files by ending; others are `application/octet-stream`."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file for a browser.

    Attributes:
        name: The name of the file.
        content: What is in it.
    """

    name: str
    content: bytes

    @property
    def media_type(self) -> str:
        """The type for the header `Content-Type`."""
        return MEDIA.get(Path(self.name).suffix, "application/octet-stream")


def write_download(
    documents: Iterable[Document], format: str, *, candidates: bool = False
) -> Download:
    """Write documents in a format; a format of several files becomes an archive.

    Args:
        documents: The documents.
        format: The name of a format that can be written.
        candidates: Whether a table has columns for candidates.

    Raises:
        CorpusError: The format cannot represent a document.
    """
    with TemporaryDirectory(prefix="discotag-") as made:
        ending = FORMATS[format].ending
        path = Path(made) / f"{NAME}{ending}"
        write(documents, path, format, candidates=candidates)
        if not ending:
            return Download(f"{NAME}.zip", _archive(path))
        return Download(path.name, path.read_bytes())


def numbered(documents: Sequence[Document]) -> list[Document]:
    """Return documents with ids, which several formats need: `text-1` and so on."""
    return [replace(each, id=f"text-{number}") for number, each in enumerate(documents, 1)]


def _archive(folder: Path) -> bytes:
    """Return a ZIP archive of the files in a folder."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return found.getvalue()
