"""Tables as formats: each row is a document, or a mention where mentions are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from discotag.corpora.formats.format import Format, Reading, Writing
from discotag.corpora.tables.delimited import CSV, TSV
from discotag.corpora.tables.markdown import MARKDOWN
from discotag.corpora.tables.parquet import PARQUET
from discotag.corpora.tables.parquet import recognises as is_parquet
from discotag.corpora.tables.reading import documents_of
from discotag.corpora.tables.table import Table
from discotag.corpora.tables.workbook import EXCEL
from discotag.corpora.tables.workbook import recognises as is_workbook
from discotag.corpora.tables.writing import write_rows
from discotag.mentions import Document


def _tabular(table: Table, about: str, outputs: tuple[str, ...], **more: Any) -> Format:
    """Return the format of a kind of table."""

    def read(path: Path, reading: Reading) -> Iterator[Document]:
        return documents_of(
            table,
            path,
            reading.table,
            reading.splitter,
            reading.report,
            name=reading.name,
            file=reading.file,
        )

    def write(documents: Iterable[Document], path: Path, writing: Writing) -> None:
        write_rows(documents, path, table, writing.rows, writing.columns, writing.candidates)

    return Format(
        name=table.name,
        about=f"{about}, a row for each mention",
        outputs=outputs,
        read=None if table.rows is None else read,
        write=write,
        table=table,
        keeps_details=True,
        **more,
    )


TABULAR: Final = (
    _tabular(CSV, "CSV", (".csv",), suffixes=(".csv",), by_ending=True),
    _tabular(TSV, "TSV", (".tsv",), suffixes=(".tsv", ".tab"), by_ending=True),
    _tabular(
        EXCEL,
        "Excel",
        (".xlsx",),
        suffixes=(".xlsx", ".xlsm", ".xls"),
        mark=is_workbook,
        streams=False,
        needs="openpyxl",
    ),
    _tabular(
        PARQUET,
        "Parquet",
        (".parquet",),
        suffixes=(".parquet", ".pq"),
        mark=is_parquet,
        streams=False,
        needs="pyarrow",
    ),
    _tabular(MARKDOWN, "a table in Markdown", (".md",)),
)
"""The kinds of tables."""
