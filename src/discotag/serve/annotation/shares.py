"""Which finished documents are trained on, and which measure the training.

A document keeps its share for good, so that no later model is measured on what an earlier one, from
which it continues, has learned.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Final, Literal

from discotag.corpora import write
from discotag.serve.annotation.exporting import settled_documents

Share = Literal["train", "dev"]

ONE_IN: Final = 5
"""One document of so many measures the training."""


def share_documents(db: sqlite3.Connection) -> None:
    """Give a share to each finished document that has none.

    Documents with and without mentions are divided alike. The order is by a hash of the name, so
    that it depends neither on the corpus's order nor on that of the work.
    """
    given = dict(db.execute("SELECT document, share FROM shares"))
    counts: Counter[tuple[bool, str]] = Counter()
    waiting = []
    for number, document in settled_documents(db, "finished", None):
        marked = any(sentence.mentions for sentence in document.sentences)
        if number in given:
            counts[marked, given[number]] += 1
        else:
            key = hashlib.sha256((document.id or "").encode("utf-8", "surrogatepass")).digest()
            waiting.append((key, number, marked))
    for _, number, marked in sorted(waiting):
        total = counts[marked, "train"] + counts[marked, "dev"]
        share: Share = "dev" if counts[marked, "dev"] * ONE_IN <= total else "train"
        counts[marked, share] += 1
        db.execute("INSERT INTO shares (document, share) VALUES (?, ?)", (number, share))


def write_share(db: sqlite3.Connection, share: Share, path: Path) -> None:
    """Write the finished documents of a share as JSON lines."""
    chosen = {n for (n,) in db.execute("SELECT document FROM shares WHERE share = ?", (share,))}
    write(
        (each for number, each in settled_documents(db, "finished", None) if number in chosen),
        path,
    )


def has_enough(db: sqlite3.Connection) -> bool:
    """Return whether two finished documents have mentions: one to learn from, one to measure on."""
    ((found,),) = db.execute(
        "SELECT count(*) FROM (SELECT number FROM documents JOIN versions ON document = number "
        "WHERE status IN ('finished', 'decided') AND finished AND versions.mentions > 0 "
        "GROUP BY number LIMIT 2)"
    )
    return bool(found == 2)
