"""The application of the annotation tool."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.types import ASGIApp

from discotag import __version__
from discotag.annotate.journal import FullError, JournalError
from discotag.annotate.project import Project
from discotag.annotate.routes import make_router
from discotag.web.assets import mount_page
from discotag.web.errors import ServiceError
from discotag.web.protection import Policy, protect


def make_app(project: Project, policy: Policy) -> ASGIApp:
    """Return the application of an open project, with all checks around it.

    Args:
        project: The project; it must stay open as long as the application is used.
        policy: Who may use the application.
    """
    app = FastAPI(title="discotag annotate", version=__version__, docs_url=None, redoc_url=None)
    app.include_router(make_router(project))
    app.add_exception_handler(JournalError, _answer_journal_error)
    mount_page(app, Path(__file__).with_name("assets"), "annotate.html")

    @app.get("/healthz", include_in_schema=False)
    async def health() -> dict[str, str]:
        """Return that the process is alive."""
        return {"status": "ok"}

    return protect(app, policy)


async def _answer_journal_error(request: Request, error: Exception) -> Response:
    if isinstance(error, FullError):
        return ServiceError(507, "disk_full", str(error)).response()
    return ServiceError(503, "journal", str(error), {"Retry-After": "1"}).response()
