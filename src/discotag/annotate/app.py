"""The application of the annotation tool, and its addresses.

Functions that read the journal run in threads, so SQLite never holds up other requests.
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, FastAPI, Path, Query, Request
from fastapi.responses import FileResponse, Response
from starlette.types import ASGIApp

from discotag import __version__
from discotag.annotate import exporting, listing
from discotag.annotate.editing import ConflictError, check_annotator
from discotag.annotate.journal import FullError, JournalError
from discotag.annotate.listing import Order, Part
from discotag.annotate.project import Project
from discotag.annotate.schemas import (
    LARGEST,
    ActionBody,
    AnnotatorBody,
    ContentBody,
    DecisionBody,
    PresenceBody,
    TrainingBody,
    mentions_of,
)
from discotag.corpora.parsing.problems import CorpusError
from discotag.web.assets import mount_page
from discotag.web.downloads import download, format_names
from discotag.web.errors import ServiceError
from discotag.web.protection import Policy, protect
from discotag.web.schemas import ErrorAnswer

MOST_LISTED: Final = 200
"""The most documents of a list."""

Number = Annotated[int, Path(ge=1, le=LARGEST)]
Who = Annotated[str, Query(min_length=1, max_length=200)]
Search = Annotated[str, Query(max_length=200)]
Offset = Annotated[int, Query(ge=0, le=LARGEST)]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
After = Annotated[int | None, Query(ge=0, le=LARGEST)]
Which = Literal["finished", "all"]
Format = Annotated[str, Query(max_length=50)]

ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorAnswer} for status in (400, 401, 404, 409, 413, 422, 503, 507)
}


def make_app(project: Project, policy: Policy) -> ASGIApp:
    """Return the application of an open project, with all checks around it.

    Args:
        project: The project; it must stay open as long as the application is used.
        policy: Who may use the application.
    """
    app = FastAPI(title="discotag annotate", version=__version__, docs_url=None, redoc_url=None)
    app.include_router(make_router(project))
    app.add_exception_handler(JournalError, _answer_journal_error)
    mount_page(app, FilePath(__file__).with_name("assets"), "annotate.html")

    @app.get("/healthz", include_in_schema=False)
    async def health() -> dict[str, str]:
        """Return that the process is alive."""
        return {"status": "ok"}

    return protect(app, policy)


async def _answer_journal_error(request: Request, error: Exception) -> Response:
    if isinstance(error, FullError):
        return ServiceError(507, "disk_full", str(error)).response()
    return ServiceError(503, "journal", str(error), {"Retry-After": "1"}).response()


def make_router(project: Project) -> APIRouter:
    """Return the addresses of a project."""
    router = APIRouter(prefix="/api", responses=ERRORS)
    journal, opened = project.journal, project.open_documents

    @router.get("/project")
    def get_project() -> dict[str, Any]:
        """Return the project: its labels, counts, people, model and training."""
        return project.summary()

    @router.post("/annotators")
    def enter(body: AnnotatorBody) -> dict[str, str]:
        """Enter with a name, which is created if it is new."""
        return {"name": project.enter(body.name)}

    @router.get("/documents")
    def list_documents(
        annotator: Annotated[str | None, Query(max_length=200)] = None,
        order: Order = "uncertainty",
        status: Part = "all",
        search: Search = "",
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> dict[str, Any]:
        """Return a part of the list of documents."""
        with journal.reading() as db:
            found = listing.list_documents(
                db,
                annotator=annotator,
                order=order,
                part=status,
                search=_clean(search),
                offset=offset,
                limit=limit,
            )
        holders = opened.by_document()
        for document in found["documents"]:
            document["holders"] = holders.get(document["number"], [])
        return found

    @router.get("/next")
    def next_document(
        annotator: Who, after: After = None, order: Order = "uncertainty"
    ) -> dict[str, int | None]:
        """Return the most useful document for an annotator."""
        held = opened.by_document(besides=annotator)
        with journal.reading() as db:
            check_annotator(db, annotator)
            number = listing.next_document(
                db, annotator=annotator, order=order, after=after, held=held
            )
        return {"number": number}

    @router.get("/documents/{number}")
    def get_document(number: Number, annotator: Who) -> dict[str, Any]:
        """Return a document as an annotator has it."""
        return project.see(number, annotator)

    @router.post("/documents/{number}/actions")
    def act(number: Number, body: ActionBody) -> dict[str, Any]:
        """Record and apply an action."""
        project.check_id(body.project)
        edit = body.edit(number)
        try:
            seen, repeated, moved = project.editor.act(edit)
        except ConflictError as error:
            raise ServiceError(
                error.status, error.code, error.message, state=project.state(error.seen)
            ) from None
        opened.enter(number, edit.annotator)
        return {"state": project.state(seen), "repeated": repeated, "moved": moved}

    @router.post("/documents/{number}/presence")
    def stay(number: Number, body: PresenceBody) -> dict[str, Any]:
        """Note that an annotator still has a document open."""
        project.check_id(body.project)
        return project.signs(number, body.annotator)

    @router.delete("/documents/{number}/presence")
    def leave(number: Number, annotator: Who) -> dict[str, Any]:
        """Note that an annotator has closed a document."""
        opened.leave(number, annotator)
        return {}

    @router.get("/documents/{number}/versions")
    def get_versions(number: Number) -> dict[str, Any]:
        """Return all versions of a document side by side."""
        return project.versions(number)

    @router.post("/documents/{number}/decision")
    def decide(number: Number, body: DecisionBody) -> dict[str, Any]:
        """Decide which mentions a document has."""
        project.check_id(body.project)
        sentences = mentions_of(body.sentences)
        project.editor.decide(body.id, number, body.annotator, body.base, sentences)
        return project.versions(number)

    @router.post("/documents/{number}/problems")
    def find_problems(number: Number, body: ContentBody) -> dict[str, Any]:
        """Return what the scheme cannot hold of mentions, such as those of a decision."""
        return {"problems": project.problems(number, mentions_of(body.sentences))}

    @router.get("/progress")
    def get_progress() -> dict[str, Any]:
        """Return what each annotator has done, and how far they agree."""
        return project.progress.report()

    @router.get("/export/summary")
    def summarise(
        which: Which = "finished",
        format: Annotated[str | None, Query(max_length=50)] = None,
        annotator: Annotated[str | None, Query(max_length=200)] = None,
    ) -> dict[str, Any]:
        """Return what an export would have, and what it would leave out."""
        if format is not None:
            _check_format(format)
        with journal.reading() as db:
            return exporting.summary(db, which, annotator or None, format)

    @router.get("/export", response_class=FileResponse)
    def export(
        format: Format = "jsonl",
        which: Which = "finished",
        annotator: Annotated[str | None, Query(max_length=200)] = None,
    ) -> FileResponse:
        """Download the annotations."""
        _check_format(format)

        def made(folder: FilePath) -> FilePath:
            with journal.reading() as db:
                return exporting.export_to_folder(db, which, annotator or None, format, folder)

        try:
            return download(made)
        except exporting.NothingError as error:
            raise ServiceError(409, "nothing", str(error)) from None
        except CorpusError as error:
            raise ServiceError(422, "unwritable", error.problem.message) from None

    @router.post("/training")
    def train(body: TrainingBody) -> dict[str, Any]:
        """Begin a training now."""
        if project.trainer is None:
            raise ServiceError(
                409, "no_training", "training is off; start discotag annotate with --train"
            )
        project.trainer.ask()
        return project.trainer.progress()

    return router


def _check_format(name: str) -> None:
    if name not in format_names():
        known = ", ".join(format_names())
        raise ServiceError(422, "invalid", f"the format must be one of {known}")


def _clean(search: str) -> str:
    """Return what to search for; SQLite cannot take half a surrogate pair."""
    return search.encode("utf-8", "ignore").decode().replace("\0", "")
