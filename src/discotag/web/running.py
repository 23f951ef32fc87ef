"""Run an application: its socket, the rule for listening beyond this machine, and its end."""

from __future__ import annotations

import errno
import logging
import math
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from ipaddress import ip_address
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from discotag.errors import DiscotagError, InputError
from discotag.web.connections import connection_class
from discotag.web.limits import Limits

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
"""The names of this machine in a `Host` header."""

LEAST_TOKEN: Final = 16
"""The fewest characters of a token: a shorter one can be guessed."""

BACKLOG: Final = 512
"""The most connections that wait to be accepted."""

SEND_BUFFER: Final = 1 << 18
"""The bytes of answers that the system keeps for a connection. It asks for more when about a third
is taken; with its default of megabytes, a slow client would seem to take nothing for minutes."""

OTHER_FILES: Final = 256
"""The open files that are not connections: pipes of engines, libraries, files of exports."""

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
    limits = _fitted(limits or Limits())
    with listen(host, port, token) as sock:
        app = _Watched(factory())
        config = uvicorn.Config(
            app,
            http=connection_class(limits),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=math.ceil(limits.shutdown_seconds),
        )
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # its messages may have texts
        usual = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            with suppress(SystemExit, KeyboardInterrupt):  # uvicorn's way to say that it failed
                _Server(config, lambda: on_ready(_url(sock))).run(sockets=[sock])
        finally:
            sys.setswitchinterval(usual)
        if app.failure is not None:
            raise app.failure


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
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
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


def _fitted(limits: Limits) -> Limits:
    """Let this process open the files that all connections need, or return a lower limit."""
    if sys.platform == "win32":  # it has no such limit
        return limits
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = limits.connections + OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return limits
    wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    most = max(soft - OTHER_FILES, soft // 2)
    return replace(limits, connections=min(limits.connections, most))


class _Watched:
    """An application that remembers why it could not start."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.failure: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            if scope["type"] == "lifespan":
                self.failure = error
            raise


class _Server(uvicorn.Server):
    """A server that says when it is ready, and does not end its process by the signal it got."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, then accept connections."""
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to stop; a second Ctrl-C stops at once."""
        super().handle_exit(sig, frame)
        self._captured_signals.clear()


def _url(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
