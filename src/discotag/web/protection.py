"""What every application of the service is wrapped in: checks before, and headers after.

In this order: the `Host` header, cross-site requests, the bearer token, the size and the time of
the body, the number of requests at a time. What goes wrong is answered as JSON, and logged without
any text of the request.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import secrets
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discotag.web.bodies import Bodies, Body, ClientGone
from discotag.web.errors import ServiceError, overloaded, shown
from discotag.web.limits import Limits
from discotag.web.origins import check_host, check_origin, is_page

logger = logging.getLogger("discotag.web")

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
    "cache-control": "no-store",
}
"""Headers of every response that does not have its own."""

CLOSE: Final = {"Connection": "close"}
"""The header of an answer after which no further request is read from the connection."""

STATE: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that are answered even if there are too many requests, so that this can be observed."""

GONE: Final = 499
"""The status in the log for clients that went away, as nginx has it."""

HTTP_ERRORS: Final = {
    404: ("not_found", "there is no such page"),
    405: ("bad_method", "wrong method"),
}
"""The codes and messages of errors that the framework raises."""

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
    for kind in (ServiceError, ClientGone, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _answer)
    return _Protection(app, policy, observe)


class _Protection:
    def __init__(self, app: FastAPI, policy: Policy, observe: Observe | None) -> None:
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
        method = scope["method"]
        if method == "HEAD":  # answered like GET; uvicorn leaves out the body
            scope = {**scope, "method": "GET"}

        async def secured(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = MutableHeaders(raw=message["headers"])
                for name, value in HEADERS.items():
                    given.setdefault(name, value)
            await send(message)

        try:
            await self._checked(scope, receive, secured)
        except ServiceError as error:
            await error.response()(scope, receive, secured)
        except ClientGone:
            status = GONE
        except asyncio.CancelledError:
            if not status:
                await _stopping().response()(scope, receive, secured)
            raise
        except Exception as error:
            _log_unexpected(error)
            if not status:
                await _unexpected().response()(scope, receive, secured)
        finally:
            self._finish(scope, method, status, perf_counter() - begun)

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        limits, headers = self._policy.limits, Headers(scope=scope)
        body = Body(receive)
        try:
            try:
                check_host(self._policy.hosts, headers)
                check_origin(scope, headers)
                self._check_token(scope, headers)
                await self._bodies.read(body, headers.get("content-length", ""))
            except ServiceError as error:
                # A client that expects to be told to go on waits, and a slow one had its time.
                if "expect" not in headers and error.status != 408:
                    await body.discard(limits.max_body_seconds)
                if not body.complete:
                    error.headers.update(CLOSE)
                raise
            if self._running >= limits.max_requests and scope["path"] not in STATE:
                raise overloaded("too many requests at a time")
            self._running += 1
            try:
                await self._app(scope, body.replay, send)
            finally:
                self._running -= 1
        finally:
            self._bodies.release(body)

    def _check_token(self, scope: Scope, headers: Headers) -> None:
        token = self._policy.token
        if token is None or is_page(scope["path"]):
            return
        given = headers.getlist("authorization")
        kind, _, value = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        right = secrets.compare_digest(value.strip().encode(), token.encode())
        if kind.lower() != "bearer" or not right:
            raise ServiceError(
                401,
                "unauthorized",
                "this service needs its token: send the header Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )

    def _finish(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        path = getattr(scope.get("route") or self._route(scope["path"]), "path", "other")
        logger.info("%s %s %d %.1f ms", method, path, status, 1000 * seconds)
        if self._observe is not None:
            self._observe(path, status, seconds)

    def _route(self, path: str) -> Route | None:
        """Return the route of a request that was refused before it got there."""
        routes = (each for each in self._app.routes if isinstance(each, Route))
        return next((each for each in routes if each.path_regex.match(path)), None)


async def _answer(request: Request, error: Exception) -> Response:
    """Answer a request that failed, without repeating what was sent."""
    match error:
        case ServiceError():
            return error.response()
        case ClientGone():  # for the log; nobody reads this
            return Response(status_code=GONE)
        case RequestValidationError():
            return invalid(error.errors()).response()
        case HTTPException():
            code, message = HTTP_ERRORS.get(error.status_code, ("error", str(error.detail)))
            return ServiceError(error.status_code, code, message, error.headers).response()
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            return overloaded("too many files are open").response()
    return _unexpected().response()


def _unexpected() -> ServiceError:
    return ServiceError(500, "internal", "the service made a mistake; its log says where")


def _stopping() -> ServiceError:
    headers = {"Retry-After": "1", **CLOSE}
    return ServiceError(503, "stopping", "the service is being stopped; try again later", headers)


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
