"""Errors of the service: a status, a code for programs and a sentence for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi.responses import Response

from discotag.errors import DiscotagError

MOST_SHOWN = 80
"""The most characters of a client's own text that a message repeats, such as a wrong name."""


class ServiceError(DiscotagError):
    """A request cannot be answered as it is.

    Args:
        status: The HTTP status.
        code: A short name of the reason for programs, such as `too_long`.
        message: A sentence for people; it must not repeat long or private input.
        headers: Further headers of the response, such as `Retry-After`.
        extra: Further fields of the error, beside its code and message.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})
        self.extra = extra

    def response(self) -> Response:
        """Return the response: `{"error": {"code": ..., "message": ...}}`.

        Example:
            >>> ServiceError(404, "not_found", "there is no such page").response().body
            b'{"error": {"code": "not_found", "message": "there is no such page"}}'
        """
        error = {"code": self.code, "message": self.message, **self.extra}
        return Response(
            json.dumps({"error": error}),
            status_code=self.status,
            headers=self.headers,
            media_type="application/json",
        )


def overloaded(message: str, seconds: int = 1) -> ServiceError:
    """Return the error for a request that may succeed later.

    Args:
        message: What there is too much of.
        seconds: When the client should try again.
    """
    return ServiceError(
        503, "overloaded", f"{message}; try again later", {"Retry-After": str(seconds)}
    )


def shown(text: str) -> str:
    """Return the beginning of a client's text for a message, without control characters.

    Example:
        >>> shown("a" * 100) == "a" * 80 + "…"
        True
    """
    from discotag.characters import printable

    short = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return printable(short.encode("utf-8", "replace").decode())
