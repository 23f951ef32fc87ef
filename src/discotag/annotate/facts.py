"""Facts about a project that its journal keeps: single values, each with a name."""

from __future__ import annotations

import sqlite3
from typing import Final
from uuid import uuid4

from discotag.annotate.journal import Journal

PROJECT: Final = "project"
"""The name of the fact that keeps the id of the project."""


def read_fact(db: sqlite3.Connection, name: str) -> str | None:
    """Return the value of a fact; None if the journal does not have it."""
    found = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if found is None else str(found[0])


def keep_fact(db: sqlite3.Connection, name: str, value: str) -> None:
    """Write the value of a fact."""
    db.execute(
        "INSERT INTO facts (name, value) VALUES (?, ?) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def project_id(journal: Journal) -> str:
    """Return the id of a project, made at random when its journal is new.

    Pages send it with what they change, so that nothing gets into the journal of another project
    that is served at the same address later.
    """
    with journal.writing() as db:
        known = read_fact(db, PROJECT)
        if known is None:
            known = uuid4().hex
            keep_fact(db, PROJECT, known)
    return known
