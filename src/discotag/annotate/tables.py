"""The tables of a journal."""

from __future__ import annotations

from typing import Final

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
