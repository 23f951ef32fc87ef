"""An annotation project: a corpus, its journal, a model and the people who work on it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any, Final
from uuid import uuid4

from discotag.annotate import listing, records
from discotag.annotate.corpus import Source, default_journal
from discotag.annotate.editing import Editor, Snapshot, check_annotator
from discotag.annotate.exporting import NAME
from discotag.annotate.importing import Imported, import_corpus
from discotag.annotate.journal import Journal, open_journal
from discotag.annotate.labels import project_scheme
from discotag.annotate.models import load_model
from discotag.annotate.open_documents import OpenDocuments
from discotag.annotate.progress import Progress
from discotag.annotate.proposals import Proposer
from discotag.annotate.training import Trainer, TrainingPlan
from discotag.annotate.views import Viewer, problems
from discotag.errors import InputError
from discotag.mentions import Mention
from discotag.web.downloads import file_name, format_names
from discotag.web.errors import ServiceError

PROJECT: Final = "project"
"""The name of the fact that keeps the id of the project."""

MOST_NAME: Final = 50
"""The most characters of an annotator's name, so that lists stay readable."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a project is opened.

    Attributes:
        source: The corpus.
        journal: The file of the journal; None: beside the corpus.
        model: The model to begin with; None: the bundled one.
        use_model: Whether there is a model at all.
        labels: Further labels.
        training: How to train; None: never.
    """

    source: Source
    journal: Path | None = None
    model: str | None = None
    use_model: bool = True
    labels: Sequence[str] = ()
    training: TrainingPlan | None = None

    @property
    def journal_path(self) -> Path:
        """The file of the journal."""
        return self.journal or default_journal(self.source.path)


@dataclass(slots=True)
class Project:
    """An open project. Use `open_project` to open one.

    Attributes:
        id: Tells the project from others that may be served at the same address.
        name: The name of the corpus.
        journal: The journal.
        imported: What reading the corpus has done.
        viewer: Turns versions into plain data, with the labels and the scheme.
        editor: Changes versions.
        open_documents: Knows who has which document open.
        proposer: Knows the model, and asks it for proposals.
        progress: Reports what annotators have done, and how far they agree.
        trainer: Trains the next model; None: never.
    """

    id: str
    name: str
    journal: Journal
    imported: Imported
    viewer: Viewer
    editor: Editor
    open_documents: OpenDocuments
    proposer: Proposer
    progress: Progress
    trainer: Trainer | None = field(default=None)

    def enter(self, given: str) -> str:
        """Add an annotator, or welcome one back; return the name as it is kept.

        Raises:
            ServiceError: The name is empty, too long, or has control characters.
        """
        name = unicodedata.normalize("NFC", given).strip()
        if not name or len(name) > MOST_NAME or not name.isprintable():
            raise ServiceError(
                422,
                "invalid",
                f"a name has 1 to {MOST_NAME} characters, without control characters",
            )
        with self.journal.writing() as db:
            db.execute("INSERT OR IGNORE INTO annotators (name, at) VALUES (?, ?)", (name, time()))
        return name

    def summary(self) -> dict[str, Any]:
        """Return what the page shows of the project as a whole."""
        with self.journal.reading() as db:
            counts = listing.count_documents(db)
            people = listing.count_by_annotator(db)
        scheme, model = self.viewer.scheme, self.proposer.model
        return {
            "id": self.id,
            "name": self.name,
            "labels": list(self.viewer.labels),
            "scheme": {
                "labels": list(scheme.labels),
                "slots": scheme.slots,
                "naming": scheme.naming,
                "gap_mentions": scheme.gap_mentions,
            },
            "annotators": [
                {"name": name, "finished": finished} for name, (finished, _) in people.items()
            ],
            "counts": counts,
            "model": None
            if model is None
            else {"name": model.name, "version": model.version, "problem": self.proposer.failure},
            "training": None if self.trainer is None else self.trainer.progress(),
            "formats": [
                {"name": name, "label": label, "file": file_name(NAME, name)}
                for name, label in format_names().items()
            ],
            "can_train": self.trainer is not None,
        }

    def see(self, number: int, annotator: str) -> dict[str, Any]:
        """Return a document as an annotator has it, and note that it is open."""
        self.proposer.need(number)
        seen = self.editor.see(number, annotator)
        self.open_documents.enter(number, annotator)
        return self.state(seen)

    def state(self, seen: Snapshot) -> dict[str, Any]:
        """Return a version as plain data."""
        holders = self.open_documents.holders(seen.number, besides=seen.annotator)
        return {"id": self.id, **self.viewer.state(seen, holders)}

    def check_id(self, given: str) -> None:
        """Raise `ServiceError` if a page was loaded from another project."""
        if given != self.id:
            raise ServiceError(
                409,
                "other_project",
                "this address now serves another project than the one this page was loaded from; "
                "load the page again",
            )

    def problems(
        self, number: int, sentences: Sequence[Sequence[Mention]]
    ) -> list[list[dict[str, Any]]]:
        """Return what the scheme cannot hold of mentions of a document, for each sentence.

        Raises:
            ServiceError: There is no such document, or a mention is invalid.
        """
        with self.journal.reading() as db:
            document = self.editor.document(db, number)
        self.editor.check_mentions(document, sentences)
        return [
            problems(self.viewer.scheme, sentence.with_mentions(mentions))
            for sentence, mentions in zip(document.sentences, sentences, strict=True)
        ]

    def versions(self, number: int) -> dict[str, Any]:
        """Return all versions of a document side by side."""
        with self.journal.reading() as db:
            document = self.editor.document(db, number)
            _, status, _ = self.editor.status(db, number)
            kept = records.versions_of(db, number)
            decision = records.decision_of(db, number)
            revision = records.revision_of(db, number)
        return {"status": status, **self.viewer.versions(document, revision, kept, decision)}

    def signs(self, number: int, annotator: str) -> dict[str, Any]:
        """Note that somebody still has a document open, and return what others have done to it."""
        with self.journal.reading() as db:
            check_annotator(db, annotator)
            _, status, model = self.editor.status(db, number)
            kept = records.versions_of(db, number)
        self.open_documents.enter(number, annotator)
        mine = next((each.revision for each in kept if each.annotator == annotator), 0)
        return {
            "holders": self.open_documents.holders(number, besides=annotator),
            "revision": mine,
            "versions": [each.annotator for each in kept],
            "finished_by": [each.annotator for each in kept if each.finished],
            "disagreement": status == "disagreement",
            "model_version": model,
        }


@contextmanager
def open_project(plan: Plan, progress: Callable[[int], None] | None = None) -> Iterator[Project]:
    """Open a project until the block ends; its work in the background begins at once.

    Args:
        plan: How to open it.
        progress: Called with the number of sentences that have been read.

    Raises:
        DiscotagError: The corpus, the journal or the model cannot be used.
    """
    path = plan.journal_path
    corpus = plan.source.path
    if corpus.is_dir() and path.resolve().is_relative_to(corpus.resolve()):
        raise InputError(
            f"{path}: a journal must not be inside the corpus, which is only read; give another "
            "file with --journal"
        )
    with open_journal(path) as journal:
        imported = import_corpus(journal, plan.source, progress)
        model = load_model(journal, plan.model, use_model=plan.use_model)
        base = None if model is None else model.tagger.scheme
        scheme = project_scheme(journal, base, plan.labels, corpus)
        opened = OpenDocuments()
        proposer = Proposer(journal, model, lambda: opened.by_document().keys())
        project = Project(
            _project_id(journal),
            corpus.absolute().name,
            journal,
            imported,
            Viewer(scheme.labels, scheme),
            Editor(journal, scheme.labels),
            opened,
            proposer,
            Progress(journal),
        )
        if plan.training is not None:
            project.trainer = Trainer(journal, plan.training, scheme.labels, proposer)
        proposer.start()
        if project.trainer is not None:
            project.trainer.start()
        try:
            yield project
        finally:
            if project.trainer is not None:
                project.trainer.stop()
            proposer.stop()
            project.progress.stop()


def _project_id(journal: Journal) -> str:
    """Return the id of a project, made at random when its journal is new.

    Pages send it with what they change, so that nothing gets into the journal of another project
    that is served at the same address later.
    """
    with journal.writing() as db:
        known = records.read_fact(db, PROJECT)
        if known is None:
            known = uuid4().hex
            records.keep_fact(db, PROJECT, known)
    return known
