"""Documents as files that browsers download, with names that do not depend on the input."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from discotag.corpora import FORMATS, write
from discotag.mentions import Document

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


def format_names() -> dict[str, str]:
    """Return the formats that can be written here, each with a description for people."""
    first = FORMATS["jsonl"]
    return {each.name: each.about for each in (first, *FORMATS.values()) if each.can_write}


def file_name(stem: str, format: str) -> str:
    """Return the name of a download; a folder of files is downloaded as a ZIP archive.

    Example:
        >>> file_name("mentions", "jsonl"), file_name("mentions", "brat")
        ('mentions.jsonl', 'mentions.zip')
    """
    return stem + (FORMATS[format].ending or ".zip")


def write_download(
    documents: Iterable[Document], folder: Path, name: str, format: str, *, candidates: bool = False
) -> Path:
    """Write documents into a folder, and return the file.

    Args:
        documents: The documents.
        folder: The folder.
        name: The name of the file, from `file_name`.
        format: The name of a format that can be written.
        candidates: Whether a table has columns for candidates.

    Raises:
        CorpusError: The format cannot represent a document.
    """
    path = folder / name
    if FORMATS[format].ending:
        write(documents, path, format, candidates=candidates)
        return path
    files = path.with_suffix("")
    write(documents, files, format)
    return Path(shutil.make_archive(str(files), "zip", files))


def download(make: Callable[[Path], Path]) -> FileResponse:
    """Return a response with a file, which is removed when it has been sent.

    Args:
        make: Writes the file into a folder that is made for it, and returns its path. Its name must
            be one of ours: no text of users may get into a header.
    """
    folder = TemporaryDirectory(prefix="discotag-")
    try:
        path = make(Path(folder.name))
    except BaseException:
        folder.cleanup()
        raise
    media_type = MEDIA.get(path.suffix, "application/octet-stream")
    cleaning = BackgroundTask(folder.cleanup)
    return FileResponse(path, media_type=media_type, filename=path.name, background=cleaning)
