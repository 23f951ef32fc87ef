"""Connections: HTTP as uvicorn reads it, with bounds on headers and on slow or idle clients.

uvicorn bounds neither the size nor the time of headers, nor the time that an answer waits for a
client to take it. Here, a connection has two timers. One is for what the client has to send: the
headers of a request, the rest of a body that was answered before it was read, or the next request.
It stops while the client waits for an answer; meanwhile, `bodies` and the application have limits
of their own. The other timer is for what the client has to take.
"""

from __future__ import annotations

import asyncio
from asyncio.events import TimerHandle
from collections import deque
from enum import Enum, auto
from typing import Any, ClassVar

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from discotag.web.errors import ServiceError
from discotag.web.limits import Limits


def connection_class(limits: Limits) -> type[asyncio.Protocol]:
    """Return the class of connections for uvicorn."""
    return type("Connection", (_Connection,), {"limits": limits})


class _Phase(Enum):
    """What a client has to send next."""

    HEADERS = auto()
    BODY = auto()
    REQUEST = auto()


class _Connection(HttpToolsProtocol):
    """A connection that is closed if its client sends or takes something too slowly."""

    limits: ClassVar[Limits]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._phase = _Phase.HEADERS
        self._header_bytes = 0
        self._in_trailer = False
        self._is_upgrade = False
        self._open: deque[RequestResponseCycle] = deque()  # requests without a complete answer
        self._awaited: _Phase | None = None
        self._sending: TimerHandle | None = None
        self._taking: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
            return
        self._expect_sending()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection, and tell all its requests, of which uvicorn tells only the last."""
        for timer in (self._sending, self._taking):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)
        self.pipeline.clear()
        for cycle in self._open:
            cycle.disconnected = True
            cycle.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        if self._phase is not _Phase.BODY or self._in_trailer:
            self._header_bytes += len(data)
        try:
            self._parse(data)
        except httptools.HttpParserError:
            self._refuse(400, "bad_request", "this is not a valid HTTP request")
            return
        if self._header_bytes > self.limits.header_bytes:
            most = f"{self.limits.header_bytes:,}"
            self._refuse(431, "headers_too_large", f"headers may have up to {most} bytes")
            return
        self._expect_sending()

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        super().on_message_begin()
        self._phase = _Phase.HEADERS
        self._is_upgrade = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; ignore trailers, which come after the body."""
        if self._phase is _Phase.HEADERS:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start to answer a request; what comes now is a body, which has bounds of its own."""
        if self.parser.should_upgrade():
            self._is_upgrade = True  # see _parse
            return
        super().on_headers_complete()
        self._open.append(self.cycle)
        self._phase = _Phase.BODY
        self._header_bytes = 0

    def on_chunk_header(self) -> None:
        """Note that a trailer may follow; if a body does instead, `on_body` is called."""
        self._in_trailer = True

    def on_body(self, body: bytes) -> None:
        """Read a part of a body."""
        self._in_trailer = False
        self._header_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Get ready for the next request."""
        if self._is_upgrade:
            return
        super().on_message_complete()
        self._phase = _Phase.REQUEST
        self._in_trailer = False
        self._header_bytes = 0

    def on_response_complete(self) -> None:
        """Wait for the client to take the answer, and to send something."""
        while self._open and self._open[0].response_complete:
            self._open.popleft()
        super().on_response_complete()
        self._unset_keepalive_if_required()  # uvicorn's timer, which any byte would stop
        self._expect_sending()
        self._expect_taking()

    def pause_writing(self) -> None:
        """Wait for a client to take what was written."""
        super().pause_writing()
        self._expect_taking()

    def _parse(self, data: bytes) -> None:
        """Read a part of a request.

        Some clients ask for another protocol on their first request, as Java's does for HTTP/2. The
        parser then skips the body, so it reads these headers again, without the one that asks.
        """
        while data:
            try:
                self.parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as upgrade:
                method = self.parser.get_method()
                if method == b"CONNECT":
                    raise httptools.HttpParserError("not a proxy") from None
                version = self.parser.get_http_version().encode()
                kept = [pair for pair in self.headers if pair[0] != b"upgrade"]
                head = b"%b %b HTTP/%b\r\n" % (method, self.url, version)
                lines = b"".join(b"%b: %b\r\n" % pair for pair in kept)
                data = head + lines + b"\r\n" + data[upgrade.args[0] :]

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Answer a request that the application never gets, and close the connection.

        If an answer is awaited or complete already, the client would take this one for another.
        """
        if self.transport.is_closing():
            return
        own = len(self._open) == (self._phase is _Phase.BODY)
        if not own or (self._open and self._open[0].response_started):
            self.transport.abort()
            return
        response = ServiceError(status, code, message).response()
        lines = [f"HTTP/1.1 {status} Refused", "connection: close"]
        lines += [f"{name.decode()}: {value.decode()}" for name, value in response.raw_headers]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + bytes(response.body))
        self.transport.close()
        self._expect_taking()

    def _expect_sending(self) -> None:
        """Set the timer for what the client has to send; more bytes of it do not start it again."""
        awaited = None if self._open or self.transport.is_closing() else self._phase
        if awaited is self._awaited:
            return
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        self._awaited = awaited
        if awaited is not None:
            seconds = {
                _Phase.HEADERS: self.limits.header_seconds,
                _Phase.BODY: self.limits.body_seconds,
                _Phase.REQUEST: self.limits.idle_seconds,
            }[awaited]
            self._sending = self.loop.call_later(seconds, self._check_sending)

    def _check_sending(self) -> None:
        """Give up, unless the client is still busy with the last answer."""
        if self._awaited is _Phase.REQUEST and self.transport.get_write_buffer_size():
            self._awaited = None
            self._expect_sending()
        else:
            self.transport.abort()

    def _expect_taking(self) -> None:
        """Set the timer for what was written and the client has to take.

        It starts again with an answer, because much may be written then. That does not help clients
        that take nothing: there are no more answers while many bytes wait for the client.
        """
        if self._taking is not None:
            self._taking.cancel()
        left = self.transport.get_write_buffer_size()
        self._taking = self.loop.call_later(self.limits.idle_seconds, self._check_taking, left)

    def _check_taking(self, before: int) -> None:
        """Give up if the client has taken nothing since the timer was set."""
        self._taking = None
        left = self.transport.get_write_buffer_size()
        if left >= before and left:
            self.transport.abort()
        elif left:
            self._expect_taking()
