"""Rows of tables: which columns have what, cells as text, documents to rows and back."""

from discotag.corpora.tables.table import TableOptions

__all__ = ["TableOptions"]
