"""Where requests come from: the host that they are for, and the web site that makes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers
from starlette.types import Scope

from discotag.web.errors import ServiceError, shown

OPEN: Final = frozenset({"/", "/docs", "/openapi.json", "/healthz", "/readyz"})
"""Paths that need no bearer token, besides assets: they have no data."""

SAME: Final = frozenset({"same-origin", "none"})
"""What browsers send as `Sec-Fetch-Site` for a page's own requests and for typed addresses."""

HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+?)\.?)(?::[0-9]{1,5})?")
"""A `Host` header in lower case: an address in brackets, or a name, and perhaps a port."""


def check_host(hosts: Sequence[str], headers: Headers) -> None:
    """Raise `ServiceError` if a request is not for one of these hosts, unless there are none."""
    given = headers.getlist("host")
    if len(given) != 1 or not given[0]:
        raise ServiceError(400, "bad_host", "a request needs exactly one Host header")
    if hosts and _name(given[0]) not in hosts:
        raise ServiceError(
            421,
            "wrong_host",
            f"this service does not answer for the host {shown(given[0])!r}; start it with "
            "--allow-host if it should",
        )


def check_origin(scope: Scope, headers: Headers) -> None:
    """Raise `ServiceError` if a page of another site makes this request.

    A link on another site to a page of this one is fine, because the answer goes to the user.
    """
    if is_page(scope["path"]) and scope["method"] in ("GET", "HEAD"):
        return
    host = headers["host"].lower()
    origins = [each.lower().partition("://")[2] for each in headers.getlist("origin")]
    sites = {each.lower() for each in headers.getlist("sec-fetch-site")}
    if any(origin != host for origin in origins) or sites - SAME:
        raise ServiceError(
            403, "cross_site", "pages of other web sites may not use this service from a browser"
        )


def is_page(path: str) -> bool:
    """Return whether a path is of a page or of its files, which have no data."""
    return path in OPEN or path.startswith("/assets/")


def _name(host: str) -> str:
    """Return the name in a `Host` header, without its port; empty if it is not valid.

    Example:
        >>> _name("LOCALHOST:8000"), _name("[::1]:8000"), _name("[::1]")
        ('localhost', '::1', '::1')
        >>> _name("localhost:@example.com")
        ''
    """
    found = HOST.fullmatch(host.lower())
    return "" if found is None else found[1] or found[2]
