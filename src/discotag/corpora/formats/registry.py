"""The list of formats, and recognition of the format of a path."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from discotag.corpora.formats import (
    bigbio,
    bioc_json,
    bioc_xml,
    bionlp,
    brat,
    conll,
    doccano,
    hugging_face,
    inline,
    jsonl,
    knowtator,
    label_studio,
    prodigy,
    pubannotation,
    pubtator,
    standoff_files,
    text,
    w2ner,
)
from discotag.corpora.formats.format import Format, always
from discotag.corpora.formats.tabular import TABULAR
from discotag.corpora.parsing.files import STANDARD, failed, files_in, head
from discotag.corpora.parsing.problems import CorpusError, Problem, Report, strict
from discotag.corpora.parsing.streams import HEAD
from discotag.corpora.tables.table import TableOptions

FORMATS: Final[dict[str, Format]] = {
    each.name: each
    for each in (
        knowtator.FORMAT,
        bioc_xml.FORMAT,
        bigbio.FORMAT,
        bioc_json.FORMAT,
        w2ner.FORMAT,  # before jsonl: its sentences may have a text
        doccano.FORMAT,  # before jsonl: its documents have a text
        prodigy.FORMAT,  # these, too
        label_studio.FORMAT,
        pubannotation.FORMAT,
        hugging_face.FORMAT,
        jsonl.FORMAT,
        pubtator.FORMAT,
        brat.FORMAT,
        bionlp.FORMAT,
        conll.FORMAT,  # before inline: '0,1 B-ADR' may be a word and its tag
        inline.FORMAT,
        *TABULAR,
        text.FORMAT,
    )
}
"""The formats by name, in the order in which they are tried to recognise a file."""

TEXT: Final = text.FORMAT
"""Plain text, which is everything that is not recognised, where plain text is read."""

TRIED: Final = 100
"""The number of files of a folder that are tried to recognise its format."""

NOT_A_TABLE: Final = (
    "this is not a table, which --text-column, --id-column and --sheet are for; use --from if it "
    "is one"
)


class UnrecognisedError(CorpusError):
    """A file or a folder whose format was not recognised."""


def names(wanted: Callable[[Format], object] = lambda each: True) -> str:
    """Return the names of the formats for which a function is true, as messages list them.

    Example:
        >>> names(lambda each: each.table and each.read)
        'csv, tsv, xlsx, parquet'
    """
    return ", ".join(name for name, each in FORMATS.items() if wanted(each))


READABLE: Final = names(lambda each: each.read)
WRITABLE: Final = names(lambda each: each.write)
TABLES: Final = names(lambda each: each.table)
"""The names of the formats that can be read, that can be written, and of tables."""


def named_format(name: str) -> Format:
    """Return the format with this name.

    Raises:
        CorpusError: The format is unknown.
    """
    if name not in FORMATS:
        message = f"unknown format; known formats are {names()}"
        raise CorpusError(Problem("syntax", message, name))
    return FORMATS[name]


def format_to_read(
    path: Path,
    name: str | None = None,
    table: TableOptions | None = None,
    *,
    prose: bool = False,
    report: Report = strict,
) -> Format:
    """Return the format to read a path in: the one with this name, or the one recognised.

    Args:
        path: The file or folder.
        name: The name of a format; by default it is recognised.
        table: Where the texts of a table are: if this is given, the path must be a table.
        prose: Whether the file may be plain text; see `find_format`.
        report: Called if the file may be of another format, too.

    Raises:
        CorpusError: The format is unknown, cannot be read, or was not recognised.
    """
    found = find_format(path, prose=prose, report=report) if name is None else named_format(name)
    problem = None
    if found.read is None:
        problem = Problem("syntax", "this format can only be written, not read", found.name)
    elif path == STANDARD and not found.streams and not found.folder:
        message = f"{found.name} cannot be read from standard input; give the file"
        problem = Problem("syntax", message, str(path))
    elif table and found.table is None:
        problem = Problem("syntax", NOT_A_TABLE, str(path))
    if problem is not None:
        raise CorpusError(problem)
    return found


def find_format(path: Path, *, prose: bool = False, report: Report = strict) -> Format:
    """Recognise the format of a file or folder from its content, or else from its ending.

    Standard input can still be read afterwards.

    Args:
        path: The file or folder.
        prose: Whether the file may be plain text, which is what remains. Then files are recognised
            as `inline` or `conll` only with certainty, or if their ending is not one of plain text.
        report: Called if a file that may be plain text may also be of another format.

    Raises:
        UnrecognisedError: No format was recognised.
        CorpusError: The path cannot be read, is not text, is empty, or is a pipe, which can only be
            read once.

    Example:
        >>> from tempfile import NamedTemporaryFile
        >>> file = NamedTemporaryFile(suffix=".txt")
        >>> _ = Path(file.name).write_text('[{"id": 7, "text": "Sore toes"}]')
        >>> find_format(Path(file.name)).name
        'jsonl'
    """
    try:
        if path != STANDARD and path.is_dir():
            return _format_of_folder(path)
        if path.is_fifo():
            message = "a pipe can only be read once: name its format, or use standard input"
            raise CorpusError(Problem("syntax", message, str(path)))
        return _format_of_file(path, prose, report)
    except OSError as error:  # a name that is too long, a folder that cannot be read
        raise failed(error, path) from None


def _format_of_folder(folder: Path) -> Format:
    for each in FORMATS.values():
        if each.folder and each.recognises(folder, ""):
            return each
    # The first recognised file shows the format; others may be a README.
    files = files_in(folder, report=lambda problem: None)  # reported when the files are read
    if not files:
        raise CorpusError(Problem("missing", "the folder has no files", str(folder)))
    table = None  # which may be a list of the documents, beside them
    for file in files[:TRIED]:
        with suppress(CorpusError):
            found = find_format(file)
            if file.name.endswith(found.endings):
                if found.table is None:
                    return found
                table = table or found
    if table is not None:
        return table
    message = f"no file in this folder was recognised; name the format, one of {READABLE}"
    raise UnrecognisedError(Problem("syntax", message, str(folder)))


def _format_of_file(path: Path, prose: bool, report: Report) -> Format:
    binary = _binary(path)
    if binary is not None:
        return binary
    start = head(path)
    ending = _first(lambda each: each.by_ending and _ends(path, each))
    if not start.strip() and ending is None and not prose:
        raise CorpusError(Problem("missing", "the file is empty", str(path)))
    found = _first(lambda each: each.recognises(path, start)) if start.strip() else None
    if prose and found in (brat.FORMAT, bionlp.FORMAT) and path.name.endswith(standoff_files.TEXT):
        return TEXT  # the annotations in the file beside it are not read
    if found is None or found.certain is always:
        found = found or ending or (TEXT if prose else None)
    elif ending is not None:
        found = found if _ends(path, found) or found.certain(start) else ending
    elif prose and (is_plain(path) or not _ends(path, found)):
        certain = found.certain(start)
        other, found = (TEXT, found) if certain else (found, TEXT)
        message = f"the file is read as {found.name}; if it is {other.name}"
        report(Problem("guessed", f"{message}, use --from {other.name}", str(path)))
    if found is None:
        message = f"the format was not recognised; name it, one of {READABLE}"
        raise UnrecognisedError(Problem("syntax", message, str(path)))
    return found


def _binary(path: Path) -> Format | None:
    """Return the format of a file that is not text, by its first bytes or its ending."""
    if path == STANDARD or not path.is_file():
        return None
    with path.open("rb") as stream:
        start = stream.read(HEAD)
    return _first(lambda each: each.mark and each.mark(start)) or _first(
        lambda each: each.mark and _ends(path, each)
    )


def is_plain(path: Path) -> bool:
    """Return whether plain text has files with such an ending, or with none."""
    name = path.with_suffix("") if path.suffix == ".gz" else path
    return name.suffix.lower() in ("", *TEXT.suffixes)


def _ends(path: Path, form: Format) -> bool:
    return path.name.lower().endswith(form.endings)


def _first(wanted: Callable[[Format], object]) -> Format | None:
    return next((each for each in FORMATS.values() if wanted(each)), None)
