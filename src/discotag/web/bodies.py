"""Bodies of requests: read before the application runs, with bounds on size, time and memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Protocol

from starlette.types import Message, Receive

from discotag.web.errors import ServiceError, overloaded
from discotag.web.limits import Limits

DRAINED: Final = 32 << 20
"""The most bytes of a body that is too large that are read and thrown away. Clients that only read
the answer after they have sent everything would otherwise see a broken connection."""

CLOSE: Final = {"Connection": "close"}


class ClientGone(Exception):  # noqa: N818
    """The client has closed its connection."""


class HasHeaders(Protocol):
    """Returns the values of a header."""

    def all(self, name: bytes) -> list[str]:
        """Return all values of a header."""


class Bodies:
    """Reads bodies, and counts the bytes of those that are in memory.

    Args:
        limits: The bounds.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._buffered = 0

    async def read(self, headers: HasHeaders, receive: Receive) -> bytes | None:
        """Read the body of a request; None if it has none. Its bytes count until `release`.

        Raises:
            ServiceError: The body is too large or too slow, or there are too many of them.
            ClientGone: The client went away meanwhile.
        """
        lengths = headers.all(b"content-length")
        if lengths in ([], ["0"]) and not headers.all(b"transfer-encoding"):
            return None
        length = int(lengths[0]) if lengths and lengths[0].isdecimal() else 0
        if length > self._limits.body:
            if "100-continue" not in [each.lower() for each in headers.all(b"expect")]:
                await self._drain(receive)
            raise self._too_large()
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                await self._fill(body, receive)
        except BaseException as error:
            self._buffered -= len(body)
            if not isinstance(error, TimeoutError):
                raise
            seconds = f"{self._limits.body_seconds:g} s"
            raise ServiceError(
                408, "too_slow", f"the body did not arrive within {seconds}", CLOSE
            ) from None
        return bytes(body)

    def release(self, body: bytes | None) -> None:
        """Stop counting a body."""
        self._buffered -= len(body or b"")

    async def _fill(self, body: bytearray, receive: Receive) -> None:
        more = True
        while more:
            chunk, more = _content(await receive())
            if self._buffered + len(chunk) > self._limits.buffered:
                raise overloaded("too many large requests at a time")
            if len(body) + len(chunk) > self._limits.body:
                if more:
                    await self._drain(receive)
                raise self._too_large()
            body += chunk
            self._buffered += len(chunk)

    async def _drain(self, receive: Receive) -> None:
        """Read the rest of a body and throw it away, up to some size and time."""
        passed, more = 0, True
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while more and passed < DRAINED:
                    chunk, more = _content(await receive())
                    passed += len(chunk)
        except TimeoutError:
            pass

    def _too_large(self) -> ServiceError:
        return ServiceError(
            413, "too_large", f"a body may have up to {self._limits.body:,} bytes", CLOSE
        )


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a function that first returns a body that was read, and then what comes after it."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _content(message: Message) -> tuple[bytes, bool]:
    """Return the bytes of a message, and whether more of them follow."""
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message.get("body", b""), message.get("more_body", False)


@asynccontextmanager
async def until_gone(receive: Receive) -> AsyncIterator[None]:
    """Cancel the work in a block if the client closes its connection.

    Args:
        receive: The function that receives messages of the client, whose body has been read.

    Raises:
        ClientGone: The client went away.
    """
    working = asyncio.current_task()
    assert working is not None
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        working.cancel()

    watching = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if gone:
            working.uncancel()
            raise ClientGone from None
        raise
    finally:
        watching.cancel()
