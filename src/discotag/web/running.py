"""Run an application: its socket, the rule for listening beyond this machine, and its end."""

from __future__ import annotations

import errno
import logging
import math
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discotag.errors import DiscotagError, InputError
from discotag.web.limits import Limits

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
"""The names of this machine in a `Host` header."""

LEAST_TOKEN: Final = 16
"""The fewest characters of a token: a shorter one can be guessed."""

BACKLOG: Final = 512
"""The most connections that wait to be accepted."""

SWITCH_SECONDS: Final = 0.0005
"""How long a thread with long work keeps others waiting; Python's default is ten times as much,
which a request would notice."""


def run(
    factory: Callable[[], ASGIApp],
    *,
    host: str,
    port: int,
    token: str | None,
    on_ready: Callable[[str], None],
    limits: Limits | None = None,
) -> None:
    """Serve an application until SIGTERM or SIGINT, then finish what was accepted and return.

    Args:
        factory: Makes the application, with `discotag.web.protection.protect` around it.
        host: The address or name to listen on. Beyond this machine, a token is necessary.
        port: The port; 0 for any that is free.
        token: The token that the application asks for, or None.
        on_ready: Called with the URL when requests are accepted.
        limits: The bounds; by default, those of `Limits`.

    Raises:
        DiscotagError: The address cannot be used or is not safe, or the application cannot start.
    """
    limits = limits or Limits()
    with listen(host, port, token) as sock, _ignored_signals(), _switching_fast():
        app = _Watched(factory(), lambda: on_ready(_url(sock)))
        config = uvicorn.Config(
            app,
            http="h11",  # it bounds headers
            h11_max_incomplete_event_size=limits.header_bytes,
            limit_concurrency=limits.connections,
            timeout_keep_alive=math.ceil(limits.idle_seconds),
            timeout_graceful_shutdown=math.ceil(limits.shutdown_seconds),
            backlog=BACKLOG,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
        )
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # its messages may have texts
        with suppress(SystemExit):  # uvicorn's way to say that it failed
            uvicorn.Server(config).run(sockets=[sock])
        if app.failure is not None:
            raise app.failure


@contextmanager
def _ignored_signals() -> Iterator[None]:
    """Do nothing about SIGINT and SIGTERM, which uvicorn sends again when it has stopped."""
    before = {
        name: signal.signal(name, lambda number, frame: None)
        for name in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


@contextmanager
def _switching_fast() -> Iterator[None]:
    """Keep threads with long work from holding up requests."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@contextmanager
def listen(host: str, port: int, token: str | None) -> Iterator[socket.socket]:
    """Open a listening socket.

    Raises:
        DiscotagError: The address is in use or unknown, or others can reach it and there is no
            token.
    """
    check_token(token)
    family, address = _resolve(host, port)
    if token is None and not _is_local(address):
        raise DiscotagError(
            f"{host} can be reached from other machines: set a token in DISCOTAG_TOKEN or "
            "--token-file, or listen on 127.0.0.1"
        )
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(address)
            sock.listen(BACKLOG)
        except OSError as error:
            reason = "the port is in use" if error.errno == errno.EADDRINUSE else error.strerror
            raise DiscotagError(f"cannot listen on {host}, port {port}: {reason}") from None
        yield sock
    finally:
        sock.close()


def check_token(token: str | None) -> None:
    """Raise `InputError` if a token is too short or cannot be in a header."""
    if token is None:
        return
    if len(token) < LEAST_TOKEN:
        raise InputError(f"the token needs at least {LEAST_TOKEN} characters")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InputError("the token may have letters, digits and punctuation of ASCII only")


def allowed_hosts(host: str, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names that a `Host` header may have, for `Policy`.

    Args:
        host: The address that the application listens on.
        more: Further names. Beyond this machine, only these and the machine's own are allowed; by
            default, any, because the token protects it.

    Raises:
        DiscotagError: There is no such address.

    Example:
        >>> allowed_hosts("127.0.0.1")
        ('localhost', '127.0.0.1', '::1')
        >>> allowed_hosts("0.0.0.0")
        ()
    """
    given = [each.lower() for each in more]
    if _is_local(_resolve(host, 0)[1]):
        given.insert(0, host.lower())
    return tuple(dict.fromkeys((*LOOPBACK, *given))) if given else ()


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    """Return the family and the address of a name to listen on.

    Raises:
        DiscotagError: There is no such address.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError):
        raise DiscotagError(f"cannot listen on {host!r}: there is no such address") from None
    if not host or not found:
        raise InputError("give an address to listen on, such as 127.0.0.1")
    best = min(found, key=lambda each: each[0] != socket.AF_INET)
    return best[0], best[4]


def _is_local(address: Any) -> bool:
    """Return whether only this machine can reach an address."""
    return ip_address(str(address[0]).partition("%")[0]).is_loopback


class _Watched:
    """An application that says when it has started, and remembers why it could not start."""

    def __init__(self, app: ASGIApp, on_ready: Callable[[], None]) -> None:
        self._app = app
        self._on_ready = on_ready
        self.failure: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return

        async def watched(message: Message) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                self._on_ready()  # the socket takes connections already

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            self.failure = error
            raise


def _url(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
