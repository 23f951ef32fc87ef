"""Connections: HTTP as uvicorn reads it, with bounds on headers and on slow or idle clients."""

from __future__ import annotations

import asyncio
from asyncio.events import TimerHandle
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from discotag.serve.errors import ServiceError
from discotag.serve.limits import Limits


def connection_class(limits: Limits) -> type[asyncio.Protocol]:
    """Return the class of connections for uvicorn."""
    return type("Connection", (_Connection,), {"limits": limits})


class _Connection(HttpToolsProtocol):
    """A connection that is closed if its client sends headers or takes answers too slowly.

    uvicorn bounds neither the size nor the time of headers, nor the time that an answer waits for a
    client to take it.
    """

    limits: ClassVar[Limits]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._in_body = False
        self._header_bytes = 0
        self._patience: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
            return
        self._hurry(self.limits.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._relax()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        if not self._in_body:
            if not self._header_bytes and self._patience is None:
                self._hurry(self.limits.header_seconds)
            self._header_bytes += len(data)
        super().data_received(data)
        if self._header_bytes > self.limits.header_bytes and not self.transport.is_closing():
            most = f"{self.limits.header_bytes:,}"
            self._refuse(431, "headers_too_large", f"headers may have up to {most} bytes")

    def on_headers_complete(self) -> None:
        """Start to answer a request; what comes now is a body, which has bounds of its own."""
        super().on_headers_complete()
        self._in_body = True
        self._header_bytes = 0
        self._relax()

    def on_message_complete(self) -> None:
        """Get ready for the headers of the next request."""
        super().on_message_complete()
        self._in_body = False

    def pause_writing(self) -> None:
        """Wait for a client to take what was written."""
        super().pause_writing()
        self._hurry(self.limits.idle_seconds)

    def resume_writing(self) -> None:
        """Continue to write."""
        super().resume_writing()
        self._relax()

    def timeout_keep_alive_handler(self) -> None:
        """End an idle connection, also if its client has not taken the last answer."""
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP."""
        self._refuse(400, "bad_request", "this is not a valid HTTP request")

    def _refuse(self, status: int, code: str, message: str) -> None:
        response = ServiceError(status, code, message).response()
        lines = [f"HTTP/1.1 {status} Refused", "connection: close"]
        lines += [f"{name.decode()}: {value.decode()}" for name, value in response.raw_headers]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + bytes(response.body))
        self.transport.close()

    def _hurry(self, seconds: float) -> None:
        self._relax()
        self._patience = self.loop.call_later(seconds, self.transport.abort)

    def _relax(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
