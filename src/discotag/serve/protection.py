"""What every application of the service is wrapped in: checks before, and headers after.

In this order: the `Host` header, cross-site requests, the bearer token, the size and the time of
the body, the number of requests at a time. What goes wrong is answered as JSON, and logged without
any text of the request.
"""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discotag.serve.bodies import Bodies, ClientGone, replay
from discotag.serve.errors import ServiceError, overloaded, shown
from discotag.serve.limits import Limits

logger = logging.getLogger("discotag.serve")

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content-security policy: pages load nothing from elsewhere, and run no script in markup."""

HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
"""Headers of every response."""

OPEN: Final = frozenset({"/", "/docs", "/openapi.json", "/healthz", "/readyz"})
"""Paths that need no bearer token, besides assets: they have no data."""

SAME: Final = frozenset({"same-origin", "none"})
"""What browsers send as `Sec-Fetch-Site` for a page's own requests and for typed addresses."""

GONE: Final = 499
"""The status in the log for clients that went away, as nginx has it."""

Observe = Callable[[str, int, float], None]
"""Called after each request with the path of its route, the status and the seconds."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Who may use an application, and how much.

    Attributes:
        token: The bearer token that requests for data need; None: they need none.
        hosts: The names that a `Host` header may have, without ports; empty: any. On loopback, a
            web site whose name is made to point to this machine must not get an answer.
        limits: The bounds.
    """

    token: str | None = None
    hosts: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


def protect(app: FastAPI, policy: Policy, observe: Observe | None = None) -> ASGIApp:
    """Return an application with all checks around it.

    Args:
        app: The application; it gets handlers that answer errors as JSON.
        policy: Who may use it.
        observe: Called after each request, for metrics.
    """
    app.add_exception_handler(ServiceError, _answer_service_error)
    app.add_exception_handler(ClientGone, _answer_nobody)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(Exception, _answer_unexpected)
    return _Protection(app, policy, observe)


class _Protection:
    def __init__(self, app: ASGIApp, policy: Policy, observe: Observe | None) -> None:
        self._app = app
        self._policy = policy
        self._observe = observe
        self._bodies = Bodies(policy.limits)
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        begun = perf_counter()
        status = 0

        async def secured(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_headers(message["headers"])
            await send(message)

        try:
            await self._checked(scope, receive, secured)
        except ServiceError as error:
            await error.response()(scope, receive, secured)
        except ClientGone:
            status = GONE
        except Exception as error:
            _log_unexpected(error)
            if not status:
                await _unexpected().response()(scope, receive, secured)
        finally:
            self._finish(scope, status, perf_counter() - begun)

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _Headers(scope)
        self._check_host(headers)
        _check_origin(scope, headers)
        self._check_token(scope, headers)
        body = await self._bodies.read(headers, receive)
        try:
            if self._running >= self._policy.limits.requests:
                raise overloaded("too many requests at a time")
            self._running += 1
            try:
                given = receive if body is None else replay(body, receive)
                await self._app(scope, given, send)
            finally:
                self._running -= 1
        finally:
            self._bodies.release(body)

    def _check_host(self, headers: _Headers) -> None:
        hosts = self._policy.hosts
        given = headers.all(b"host")
        if len(given) != 1 or not given[0]:
            raise ServiceError(400, "bad_host", "a request needs exactly one Host header")
        if hosts and _name(given[0]) not in hosts:
            raise ServiceError(
                421,
                "wrong_host",
                f"this service does not answer for the host {shown(given[0])!r}; start it with "
                "--allow-host if it should",
            )

    def _check_token(self, scope: Scope, headers: _Headers) -> None:
        token = self._policy.token
        path = scope["path"]
        if token is None or path in OPEN or path.startswith("/assets/"):
            return
        given = headers.all(b"authorization")
        kind, _, value = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        right = secrets.compare_digest(value.strip().encode(), token.encode())
        if kind.lower() != "bearer" or not right:
            raise ServiceError(
                401,
                "unauthorized",
                "this service needs its token: send the header Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )

    def _finish(self, scope: Scope, status: int, seconds: float) -> None:
        path = getattr(scope.get("route"), "path", "other")
        logger.info("%s %s %d %.1f ms", scope["method"], path, status, 1000 * seconds)
        if self._observe is not None:
            self._observe(path, status, seconds)


class _Headers:
    """The headers of a request, as text."""

    def __init__(self, scope: Scope) -> None:
        self._values: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            self._values.setdefault(name, []).append(value.decode("latin-1"))

    def all(self, name: bytes) -> list[str]:
        """Return all values of a header; the name must be in lower case."""
        return self._values.get(name, [])


def _check_origin(scope: Scope, headers: _Headers) -> None:
    """Raise `ServiceError` if a page of another site makes this request.

    A link on another site to a page of this one is fine, because the answer goes to the user.
    """
    path = scope["path"]
    is_page = path in OPEN or path.startswith("/assets/")
    if is_page and scope["method"] in ("GET", "HEAD"):
        return
    host = headers.all(b"host")[0].lower()
    origins = [each.lower().partition("://")[2] for each in headers.all(b"origin")]
    sites = {each.lower() for each in headers.all(b"sec-fetch-site")}
    if any(origin != host for origin in origins) or sites - SAME:
        raise ServiceError(
            403, "cross_site", "pages of other web sites may not use this service from a browser"
        )


def _name(host: str) -> str:
    """Return the name in a `Host` header, without its port.

    Example:
        >>> _name("LOCALHOST:8000"), _name("[::1]:8000"), _name("[::1]")
        ('localhost', '::1', '::1')
    """
    host = host.lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].removesuffix(".")


def _with_headers(given: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    present = {name.lower() for name, _ in given}
    more = [pair for pair in _ENCODED if pair[0] not in present]
    if b"cache-control" not in present:
        more.append((b"cache-control", b"no-store"))
    return [*given, *more]


_ENCODED: Final = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


async def _answer_service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    return error.response()


async def _answer_nobody(request: Request, error: Exception) -> Response:
    """Return what is logged for a client that went away; nobody reads it."""
    return Response(status_code=GONE)


async def _answer_invalid(request: Request, error: Exception) -> Response:
    """Answer a request whose parameters are wrong, without repeating what was sent."""
    assert isinstance(error, RequestValidationError)
    return invalid(error.errors()).response()


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    codes = {404: ("not_found", "there is no such page"), 405: ("bad_method", "wrong method")}
    code, message = codes.get(error.status_code, ("error", str(error.detail)))
    return ServiceError(error.status_code, code, message, error.headers).response()


async def _answer_unexpected(request: Request, error: Exception) -> Response:
    return _unexpected().response()


def _unexpected() -> ServiceError:
    return ServiceError(500, "internal", "the service made a mistake; its log says where")


def _log_unexpected(error: Exception) -> None:
    """Log where an error occurred; its message may have parts of a text, so it is left out."""
    places = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{each.name}:{each.lineno}" for each in reversed(places))
    logger.error("discotag: unexpected %s in %s", type(error).__name__, where)


def invalid(errors: list[Any] | Any, status: int = 422) -> ServiceError:
    """Return the error for a request with a wrong field, from what pydantic found.

    Args:
        errors: What `ValidationError.errors()` returns; the first one is shown.
        status: The status.
    """
    first: Mapping[str, Any] = errors[0]
    parts = [str(part) for part in first["loc"] if part not in ("body", "query", "path")]
    where = f"{shown('.'.join(parts))}: " if parts else ""
    message = str(first["msg"]).removeprefix("Value error, ")
    return ServiceError(status, "invalid", f"{where}{message[:1].lower()}{message[1:]}")
