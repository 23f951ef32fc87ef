"""The labels of a project, and the scheme that its mentions should fit."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from discotag.annotate.journal import Journal
from discotag.annotate.records import keep_fact, read_fact
from discotag.corpora.parsing.problems import shown
from discotag.errors import InputError
from discotag.scheme import Scheme, SchemeError

LABELS: Final = "labels"
"""The name of the fact that keeps the labels of the project."""

SLOTS: Final = 3
"""Slots of the scheme without a model, as in the preset `best` of training."""


def project_scheme(
    journal: Journal, base: Scheme | None, given: Sequence[str], corpus: Path
) -> Scheme:
    """Return the scheme of a project, and keep its labels in the journal.

    A label that was used once stays.

    Args:
        journal: The journal.
        base: The scheme of the model; None without one.
        given: Further labels.
        corpus: The corpus, for messages.

    Raises:
        InputError: There is no label, or the corpus has one that no scheme can have.
        SchemeError: A given label is invalid.
    """
    with journal.writing() as db:
        known = known_labels(db)
        labels = tuple(dict.fromkeys([*(() if base is None else base.labels), *given, *known]))
        if not labels:
            raise InputError("the corpus has no labels, and there is no model: give some, --labels")
        for label in known:
            try:
                Scheme((label,))
            except SchemeError:
                raise InputError(
                    f"{corpus}: its mentions have the label {shown(label)}, but a label must be "
                    "printable, without white space; annotate a copy of the corpus in which it has "
                    "another name"
                ) from None
        if base is None:
            scheme = Scheme(labels, SLOTS, gap_mentions=True)
        else:
            scheme = Scheme(labels, base.slots, base.naming, base.gap_mentions)
        keep_labels(db, labels)
    return scheme


def known_labels(db: sqlite3.Connection) -> list[str]:
    """Return the labels that the journal keeps, in alphabetical order.

    These are the labels of the corpus's mentions, and all that the project has had so far.
    """
    found = read_fact(db, LABELS)
    return [] if found is None else sorted(json.loads(found))


def keep_labels(db: sqlite3.Connection, labels: Iterable[str]) -> None:
    """Add labels to those that the journal keeps."""
    known = set(known_labels(db))
    if not known.issuperset(labels):
        keep_fact(db, LABELS, json.dumps(sorted(known.union(labels)), ensure_ascii=False))
