"""Which finished documents are trained on, and which measure the training.

A document keeps its share for good, so that no later model is measured on what an earlier one, from
which it continues, has learned. For the same reason, documents with the same text have one share.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Final, Literal

from discotag.annotate.exporting import settled_documents
from discotag.annotate.records import decision_of, settled_content, versions_of
from discotag.corpora import write

Share = Literal["train", "dev"]

ONE_IN: Final = 5
"""Out of this many documents, one is for measuring the training."""


def share_documents(db: sqlite3.Connection) -> None:
    """Give a share to each finished document that has none.

    Documents with and without mentions are divided alike. The order is by the digest of the text,
    so that it depends neither on the corpus's order nor on that of the work.
    """
    digests = dict(db.execute("SELECT number, digest FROM documents"))
    known: dict[int, Share] = dict(db.execute("SELECT document, share FROM shares"))
    by_text = {digests[number]: share for number, share in known.items()}
    counts: Counter[tuple[bool, Share]] = Counter()
    waiting = []
    for number, document in settled_documents(db, "finished", None):
        marked = any(sentence.mentions for sentence in document.sentences)
        if number in known:
            counts[marked, known[number]] += 1
        else:
            waiting.append((digests[number], number, marked))
    for digest, number, marked in sorted(waiting):
        total = counts[marked, "train"] + counts[marked, "dev"]
        share: Share = "dev" if counts[marked, "dev"] * ONE_IN <= total else "train"
        share = by_text.setdefault(digest, share)
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
    """Return whether two finished texts have mentions: one to train on, and one to measure on."""
    rows = db.execute(
        "SELECT number, digest FROM documents WHERE status IN ('finished', 'decided')"
    )
    texts = set()
    for number, digest in rows:
        content = settled_content(versions_of(db, number), decision_of(db, number))
        if content is not None and any(content):
            texts.add(digest)
        if len(texts) > 1:
            return True
    return False
