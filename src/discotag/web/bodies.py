"""Bodies of requests: read before the application runs, with bounds on size, time and memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from starlette.types import Message, Receive

from discotag.web.errors import ServiceError, overloaded
from discotag.web.limits import Limits

MOST_DISCARDED: Final = 32 << 20
"""The most bytes of a refused body that are read and thrown away. Clients that only read the answer
after they have sent everything would otherwise see a broken connection."""


class ClientGone(Exception):  # noqa: N818
    """The client has closed its connection."""


class Body:
    """The body of a request that is being read.

    Args:
        receive: The function that receives messages of the client.

    Attributes:
        content: What has been read.
        complete: Whether nothing of the body is left to be read.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._given = False
        self.content = bytearray()
        self.complete = False

    async def next_chunk(self) -> bytes:
        """Return the next bytes.

        Raises:
            ClientGone: The client went away.
        """
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        self.complete = not message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        return chunk

    async def discard(self, seconds: float) -> None:
        """Read the rest and throw it away, up to some size and time."""
        passed = 0
        try:
            async with asyncio.timeout(seconds):
                while not self.complete and passed < MOST_DISCARDED:
                    passed += len(await self.next_chunk())
        except TimeoutError:
            pass

    async def replay(self) -> Message:
        """Return what was read as a single message, and then what the client does after it."""
        if self._given:
            return await self._receive()
        self._given = True
        return {"type": "http.request", "body": bytes(self.content), "more_body": False}


class Bodies:
    """Reads bodies, and counts the bytes of those that are in memory.

    Args:
        limits: The bounds.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._buffered = 0

    async def read(self, body: Body, length: str) -> None:
        """Read a body; its bytes count until `release`, also if this raises.

        Args:
            body: The body.
            length: Its length as the client declares it; empty if it does not.

        Raises:
            ServiceError: The body is too large or too slow, or there are too many of them.
            ClientGone: The client went away meanwhile.
        """
        if length.isdecimal() and int(length) > self._limits.max_body:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._limits.max_body_seconds):
                while not body.complete:
                    chunk = await body.next_chunk()
                    if self._buffered + len(chunk) > self._limits.buffered:
                        raise overloaded("too many large requests at a time")
                    if len(body.content) + len(chunk) > self._limits.max_body:
                        raise self._too_large()
                    body.content += chunk
                    self._buffered += len(chunk)
        except TimeoutError:
            seconds = f"{self._limits.max_body_seconds:g} s"
            message = f"the body did not arrive within {seconds}"
            raise ServiceError(408, "too_slow", message) from None

    def release(self, body: Body) -> None:
        """Stop counting a body."""
        self._buffered -= len(body.content)

    def _too_large(self) -> ServiceError:
        return ServiceError(
            413, "too_large", f"a body may have up to {self._limits.max_body:,} bytes"
        )


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
