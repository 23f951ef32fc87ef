"""Documents as data frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from discotag.corpora.tables.columns import ID
from discotag.corpora.tables.table import CARRIED, Rows
from discotag.corpora.tables.writing import (
    OWN_COLUMNS,
    PLACES,
    header_of,
    own_columns,
    rows_of,
)
from discotag.errors import DiscotagError, InputError
from discotag.mentions import Document

LIBRARIES: Final = ("pandas", "polars")

POSITION: Final = "document"
"""The column with the position of the document, counted from 0."""


def to_dataframe(
    documents: Iterable[Document], *, rows: Rows = "mentions", library: str | None = None
) -> Any:
    """Return documents as a data frame.

    The columns are those of the tables that `discotag predict` writes, with the fields of the
    documents (`extra`). The first one, `document`, is the position of the document, counted from
    0, with which the frame can be joined to the one that the texts came from.

    Args:
        documents: The documents.
        rows: `mentions` for a row for each mention; `documents` for a row for each document.
        library: `pandas` or `polars`; by default, pandas if it is installed, else polars.

    Raises:
        DiscotagError: The library is not installed.
        InputError: An argument has another value.

    Example:
        >>> from discotag import Mention, Sentence
        >>> tired = Document([Sentence(["So", "tired"], [Mention("ADR", [(1, 2)])])], id="7")
        >>> to_dataframe([tired])[["id", "label", "text"]].to_dict("records")
        [{'id': '7', 'label': 'ADR', 'text': 'tired'}]
    """
    if rows not in OWN_COLUMNS:
        raise InputError(f"rows must be one of {', '.join(OWN_COLUMNS)}; got {rows!r}")
    module = _library(library)
    found: list[tuple[int, list[Any], Any]] = []
    fields: dict[str, Any] = {}
    listed = list(documents)
    candidates = any(document.candidates for document in listed)
    for number, document in enumerate(listed):
        fields |= dict.fromkeys(document.extra, CARRIED)
        found += [(number, cells, document.extra) for cells in rows_of(document, rows, candidates)]
    header = header_of(rows, fields, candidates)
    places = [key for key in PLACES if key in fields]
    own = own_columns(rows, candidates)
    columns: dict[str, list[Any]] = {POSITION: [number for number, _, _ in found]}
    columns |= {key: [extra.get(key) for _, _, extra in found] for key in places}
    for at, name in enumerate(own):
        columns[name] = [cells[at] for _, cells, _ in found]
    carried = [key for key in fields if key not in (*PLACES, ID)]
    for key, name in zip(carried, list(header)[len(places) + len(own) :], strict=True):
        columns[name] = [extra.get(key) for _, _, extra in found]
    if module.__name__ == "polars":
        return module.DataFrame(columns, strict=False)
    return module.DataFrame(columns)


def _library(name: str | None) -> Any:
    if name is not None and name not in LIBRARIES:
        raise InputError(f"library must be one of {', '.join(LIBRARIES)}; got {name!r}")
    for each in LIBRARIES if name is None else (name,):
        if find_spec(each) is not None:
            return import_module(each)
    wanted = " or ".join(LIBRARIES) if name is None else name
    raise DiscotagError(f"to_dataframe needs {wanted}: pip install {name or LIBRARIES[0]}")
