"""The journal: an SQLite file that holds documents, actions and what follows from them.

An action is in the file before it is answered: transactions are synchronous, and the write-ahead
log survives a process that is killed at any time. One connection writes, others read.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty, LifoQueue
from threading import RLock
from typing import Final, Literal

from discotag.corpora.jobs import JobError, locked
from discotag.errors import DiscotagError

READERS: Final = 4
"""The most idle connections for reading; each keeps some pages in memory."""

PRIVATE: Final = 0o600
"""The mode of a new journal, which has the texts: others on this machine cannot read it."""

PATIENCE: Final = 10.0
"""Seconds to wait for another process that has locked the file, such as a backup."""


class JournalError(DiscotagError):
    """A journal that cannot be used."""


class FullError(JournalError):
    """The disk of the journal is full; what was to be written is not in it."""


class Journal:
    """An open journal. Use `open_journal` to open one.

    Args:
        path: The file.
        writable: Whether to open it for writing, too.
    """

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self._lock = RLock()
        self._readers: LifoQueue[sqlite3.Connection] = LifoQueue()
        self._closed = False
        self._writer = _connect(path, "rwc") if writable else None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Begin a transaction; it is in the file when the block ends, or not at all.

        Raises:
            FullError: The disk is full.
            JournalError: The journal cannot be written for another reason.
        """
        if self._writer is None:
            raise JournalError(f"{self.path}: was opened for reading only")
        with self._lock:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self._writer.execute("COMMIT")
            except sqlite3.Error as error:
                self._give_up()
                raise self._explained(error) from error
            except BaseException:
                self._give_up()
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one state of the journal until the block ends."""
        try:
            connection = self._readers.get_nowait()
        except Empty:
            # A connection that may write removes the write-ahead log when it is the last one.
            writable = os.access(self.path, os.W_OK) and os.access(
                self.path.absolute().parent, os.W_OK
            )
            connection = _connect(self.path, "rw" if writable else "ro")
            connection.execute("PRAGMA query_only = ON")
        try:
            connection.execute("BEGIN")
            yield connection
        except sqlite3.Error as error:
            raise self._explained(error) from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if self._closed or self._readers.qsize() >= READERS:
                connection.close()
            else:
                self._readers.put(connection)

    def close(self) -> None:
        """Close the file; SQLite then folds the write-ahead log into it."""
        self._closed = True
        while not self._readers.empty():
            self._readers.get_nowait().close()
        if self._writer is not None:
            with self._lock:
                self._writer.close()

    def _give_up(self) -> None:
        if self._writer is not None and self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    def _explained(self, error: sqlite3.Error) -> JournalError:
        if error.sqlite_errorname in ("SQLITE_FULL", "SQLITE_IOERR_WRITE"):
            return FullError(
                f"{self.path}: the disk is full, so this was not saved; free some space and try "
                "again: everything before it is safe"
            )
        return JournalError(f"{self.path}: {str(error).lower()}")


@contextmanager
def open_journal(path: Path) -> Iterator[Journal]:
    """Open a journal for one process, and create it if it does not exist.

    A new journal is removed if the block fails before anybody has begun to work.

    Raises:
        JournalError: It is used by another process, is not a journal, or has another version.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(path))
        except JobError as error:
            if "another process" in str(error):
                raise JournalError(
                    f"{path}: another discotag annotate uses this journal; stop it, or give "
                    "another file with --journal"
                ) from None
            raise JournalError(str(error)) from None
        check_journal(path)
        fresh = not path.exists()
        path.touch(mode=PRIVATE)
        journal = Journal(path, writable=True)
        stack.callback(journal.close)
        try:
            try:
                _prepare(journal)
            except sqlite3.Error as error:
                raise JournalError(f"{path}: cannot be written: {str(error).lower()}") from None
            yield journal
        except BaseException:
            if fresh and not _has_work(journal):
                journal.close()
                path.unlink(missing_ok=True)
            raise


@contextmanager
def read_journal(path: Path) -> Iterator[Journal]:
    """Open a journal for reading, which another process may be writing.

    Raises:
        JournalError: The file does not exist, is not a journal, or has another version.
    """
    if not path.is_file():
        raise JournalError(f"{path}: there is no such journal; discotag annotate CORPUS begins one")
    check_journal(path)
    journal = Journal(path, writable=False)
    try:
        yield journal
    finally:
        journal.close()


def check_journal(path: Path) -> None:
    """Raise `JournalError` if a file is something else than a journal of this version."""
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return
    try:
        with path.open("rb") as stream:
            is_database = stream.read(16) == b"SQLite format 3\0"
    except OSError as error:
        raise JournalError(f"{path}: {(error.strerror or '').lower()}") from None
    if not is_database:
        raise JournalError(f"{path}: is not a journal; give another file with --journal")
    try:
        connection = _connect(path, "ro")
        try:
            ((application,),) = connection.execute("PRAGMA application_id")
            ((version,),) = connection.execute("PRAGMA user_version")
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise JournalError(f"{path}: cannot be read: {str(error).lower()}") from None
    if application != APPLICATION:
        raise JournalError(f"{path}: is not a journal; give another file with --journal")
    if version != VERSION:
        raise JournalError(
            f"{path}: is a journal of version {version}, but this discotag has version {VERSION}; "
            "use the discotag that wrote it"
        )


def _connect(path: Path, mode: Literal["ro", "rw", "rwc"]) -> sqlite3.Connection:
    folder = path.absolute().parent
    log = folder / f"{path.name}-wal"
    # SQLite writes a file beside the log also to read; without a log, nobody else has it open.
    fixed = mode == "ro" and not os.access(folder, os.W_OK) and not log.exists()
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' if fixed else ''}",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _has_work(journal: Journal) -> bool:
    """Return whether somebody has entered a name."""
    try:
        with journal.reading() as db:
            return db.execute("SELECT 1 FROM annotators LIMIT 1").fetchone() is not None
    except JournalError:  # not even the tables were made
        return False


def _prepare(journal: Journal) -> None:
    """Turn on the write-ahead log, and create the tables of a new file."""
    writer = journal._writer
    assert writer is not None
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA synchronous = FULL")
    with journal.writing() as db:
        ((version,),) = db.execute("PRAGMA user_version")
        if version == VERSION:
            return
        for statement in TABLES.split(";\n"):
            if statement.strip():
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION}")


APPLICATION: Final = 0x64697363
"""What marks an SQLite file as a journal, `disc` in ASCII."""

VERSION: Final = 1
"""The version of the tables below."""

TABLES: Final = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  digest TEXT NOT NULL,
  annotations TEXT NOT NULL,
  gone INTEGER NOT NULL DEFAULT 0,
  words INTEGER NOT NULL,
  mentions INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'untouched',
  part TEXT NOT NULL DEFAULT 'open',
  settled INTEGER NOT NULL DEFAULT 0,
  uncertainty REAL,
  priority REAL NOT NULL DEFAULT -1,
  model INTEGER
);
CREATE INDEX by_priority ON documents (priority DESC, number);
CREATE INDEX by_part ON documents (part, number, status, gone);
CREATE INDEX by_part_and_priority ON documents (part, priority DESC, number);
CREATE INDEX by_status ON documents (status, settled, gone);
CREATE INDEX by_model ON documents (status, model, priority DESC, number);
CREATE TABLE texts (
  number INTEGER PRIMARY KEY REFERENCES documents, text TEXT NOT NULL, data TEXT NOT NULL
);
CREATE TABLE proposals (
  number INTEGER PRIMARY KEY REFERENCES documents, model INTEGER NOT NULL, data TEXT NOT NULL
);
CREATE TABLE annotators (name TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE actions (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  document INTEGER NOT NULL REFERENCES documents,
  annotator TEXT NOT NULL REFERENCES annotators,
  kind TEXT NOT NULL,
  data TEXT NOT NULL,
  base INTEGER NOT NULL,
  at REAL NOT NULL,
  refused TEXT
);
CREATE INDEX by_version ON actions (document, annotator, sequence);
CREATE INDEX by_annotator ON actions (annotator, sequence, at);
CREATE TABLE versions (
  document INTEGER NOT NULL REFERENCES documents,
  annotator TEXT NOT NULL REFERENCES annotators,
  revision INTEGER NOT NULL,
  sequence INTEGER NOT NULL REFERENCES actions,
  finished INTEGER NOT NULL,
  mentions INTEGER NOT NULL,
  content TEXT NOT NULL,
  accepted TEXT,
  PRIMARY KEY (document, annotator)
) WITHOUT ROWID;
CREATE INDEX by_finished ON versions (annotator, finished);
CREATE TABLE decisions (
  document INTEGER PRIMARY KEY REFERENCES documents,
  sequence INTEGER NOT NULL REFERENCES actions,
  annotator TEXT NOT NULL,
  at REAL NOT NULL,
  content TEXT NOT NULL,
  compared TEXT NOT NULL
);
CREATE TABLE models (
  version INTEGER PRIMARY KEY, base TEXT NOT NULL, folder TEXT, at REAL NOT NULL
);
CREATE TABLE trainings (
  number INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  state TEXT NOT NULL,
  message TEXT NOT NULL,
  base TEXT NOT NULL,
  at REAL NOT NULL
);
CREATE TABLE shares (document INTEGER PRIMARY KEY REFERENCES documents, share TEXT NOT NULL);
"""
"""The tables. `actions` is what people did, and is only ever added to. `versions`, `decisions`,
and the status of documents follow from it and are written in the same transaction, so that lists
need no fold. `digest` and `annotations` are digests of the text and the mentions of the corpus;
`gone` is 1 for documents that the corpus no longer has. `part` groups documents for lists: open,
finished, disagreement. `settled` is the last action that changed the status, `sequence` the last
one of a version or the one of a decision. `compared` has the versions that a decision was made
on."""
