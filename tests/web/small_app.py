"""A service with a small application and low limits, for tests of connections.

Prints its URL. Run by test_connections.py in a process of its own.
"""

import asyncio
import errno
import logging

from fastapi import FastAPI, Request
from fastapi.responses import Response

from discotag.web.bodies import until_gone
from discotag.web.limits import Limits
from discotag.web.protection import Policy, protect
from discotag.web.running import allowed_hosts, run

LIMITS = Limits(
    idle_seconds=1.0,
    connections=20,
    shutdown_seconds=1.0,
    max_body=1000,
    buffered=1500,
    max_body_seconds=2.0,
)


def make_app():
    """Return the application."""
    app = FastAPI()

    @app.get("/api/wrong")
    async def wrong():
        raise ValueError("a secret text")

    @app.get("/api/endless")
    async def endless():
        await asyncio.sleep(3600)

    @app.get("/api/slow")
    async def slow(seconds: float = 0.5):
        await asyncio.sleep(seconds)
        return "done"

    @app.get("/api/watched")
    async def watched(request: Request):
        async with until_gone(request.receive):
            await asyncio.sleep(3600)

    @app.get("/api/headers")
    async def headers(request: Request):
        return dict(request.headers)

    @app.get("/api/full")
    async def full():
        raise OSError(errno.EMFILE, "Too many open files")

    @app.post("/api/echo")
    async def echo(request: Request):
        return Response(await request.body())

    @app.post("/api/size")
    async def size(given: dict):
        return len(given)

    return protect(app, Policy(hosts=allowed_hosts("127.0.0.1"), limits=LIMITS))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    run(
        make_app,
        host="127.0.0.1",
        port=0,
        token=None,
        on_ready=lambda url: print(f"serving at {url};", flush=True),
        limits=LIMITS,
    )
    print("stopped")
