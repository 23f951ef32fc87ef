"""Pages and their files: those of a package, those that pages share, and the drawings' own.

All of them are read when the application is made, so no path of a request ever reaches the disk.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import Response

from discotag.render.html import PAGE_STYLE
from discotag.render.html_drawing import DRAWING_SCRIPT, DRAWING_STYLE
from discotag.web.errors import ServiceError

SHARED: Final = Path(__file__).with_name("assets")

KINDS: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
}
"""The kinds of files that are served, by ending."""

GENERATED: Final = {
    "drawing.js": DRAWING_SCRIPT,
    "drawing.css": DRAWING_STYLE,
    "page.css": PAGE_STYLE,
}
"""Files that are made from constants, which pages in files use too."""


def mount_page(app: FastAPI, folder: Path, page: str) -> None:
    """Serve a page as `GET /`, and its files and those that pages share as `GET /assets/NAME`.

    Browsers ask each time whether a file has changed, so an upgrade is never mixed with old files.

    Args:
        app: The application.
        folder: The folder with the page and its files.
        page: The name of the page, such as `try.html`.
    """
    files = {name: text.encode() for name, text in GENERATED.items()}
    for path in (*SHARED.iterdir(), *folder.iterdir()):
        if path.suffix in KINDS:
            files[path.name] = path.read_bytes()

    @app.get("/", include_in_schema=False)
    async def root(request: Request) -> Response:
        """Return the page."""
        return _response(page, files[page], request)

    @app.get("/assets/{name}", include_in_schema=False)
    async def asset(name: str, request: Request) -> Response:
        """Return a static file."""
        if name not in files or name.endswith(".html"):
            raise ServiceError(404, "not_found", "there is no such file")
        return _response(name, files[name], request)


def _response(name: str, content: bytes, request: Request) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=KINDS[Path(name).suffix], headers=headers)
