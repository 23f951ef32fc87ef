"""Clients that go away: the work for them is dropped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import Receive

from discotag.serve.bodies import ClientGone


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
