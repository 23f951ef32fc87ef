"""Documents as files that browsers download, with names that do not depend on the input."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from discotag.corpora import FORMATS, write
from discotag.corpora.tables import TABLES, write_table
from discotag.mentions import Document

NEEDS: Final = {"xlsx": "openpyxl", "parquet": "pyarrow"}
"""Packages that kinds of tables need."""

MEDIA: Final = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml",
    ".zip": "application/zip",
}
"""The types of files by ending; others are `application/octet-stream`."""


@cache
def format_names() -> dict[str, str]:
    """Return the formats that can be written here, each with a description for people."""
    found = {"jsonl": FORMATS["jsonl"].about}
    found |= {each.name: each.about for each in FORMATS.values() if each.write is not None}
    tables = {"csv": "CSV", "tsv": "TSV", "xlsx": "Excel", "parquet": "Parquet"}
    for name in TABLES:
        if name not in NEEDS or find_spec(NEEDS[name]) is not None:
            found[name] = f"{tables.get(name, name)}, a row for each mention"
    return found


def file_name(stem: str, format: str) -> str:
    """Return the name of a download; a folder of files is downloaded as a ZIP archive.

    Example:
        >>> file_name("mentions", "jsonl"), file_name("mentions", "brat")
        ('mentions.jsonl', 'mentions.zip')
    """
    if format in TABLES:
        return stem + TABLES[format].suffixes[0]
    chosen = FORMATS[format]
    return stem + (".zip" if chosen.folder else chosen.suffixes[0])


def write_as(
    documents: Iterable[Document], path: Path, format: str, *, candidates: bool = False
) -> None:
    """Write documents to a path in a format or kind of table.

    Raises:
        CorpusError: The format cannot represent a document.
    """
    if format in TABLES:
        write_table(documents, path, format, candidates=candidates)
    else:
        write(documents, path, format)


def write_download(
    documents: Iterable[Document], folder: Path, name: str, format: str, *, candidates: bool = False
) -> Path:
    """Write documents into a folder, and return the file.

    Args:
        documents: The documents.
        folder: The folder.
        name: The name of the file, from `file_name`.
        format: The name of a format that can be written, or of a kind of table.
        candidates: Whether a table has columns for candidates.

    Raises:
        CorpusError: The format cannot represent a document.
    """
    path = folder / name
    if format in TABLES or not FORMATS[format].folder:
        write_as(documents, path, format, candidates=candidates)
        return path
    files = path.with_suffix("")
    write_as(documents, files, format)
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
