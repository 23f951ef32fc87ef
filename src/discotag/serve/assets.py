"""Static files of the pages: those of the package, and the drawings' script and styles.

All of them are read when the application is made, so no path of a request ever reaches the disk.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import Response

from discotag.render.html import PAGE_STYLE
from discotag.render.html_drawing import DRAWING_SCRIPT, DRAWING_STYLE
from discotag.serve.errors import ServiceError

FOLDER: Final = Path(__file__).with_name("assets")

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


def mount_assets(app: FastAPI) -> None:
    """Serve `GET /assets/NAME`: the files of the package, `drawing.js`, `drawing.css`, `page.css`.

    Browsers ask each time whether a file has changed, so an upgrade is never mixed with old files.
    """
    files = _files()

    @app.get("/assets/{name}", include_in_schema=False)
    async def asset(name: str, request: Request) -> Response:
        """Return a static file."""
        if name not in files or name.endswith(".html"):
            raise ServiceError(404, "not_found", "there is no such file")
        return _response(name, files[name], request)


def html_page(name: str, request: Request | None = None) -> Response:
    """Return an HTML file of the package as the response to a request for a page.

    Args:
        name: The name of the file, such as `try.html`; never taken from a request.
        request: The request, which may have an older version of the page.
    """
    return _response(name, _files()[name], request)


@cache
def _files() -> dict[str, bytes]:
    """Return the content of all files by name."""
    found = {name: text.encode() for name, text in GENERATED.items()}
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in KINDS:
            found[path.name] = path.read_bytes()
    return found


def _response(name: str, content: bytes, request: Request | None = None) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request is not None and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=KINDS[Path(name).suffix], headers=headers)
