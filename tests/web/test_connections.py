"""Connections: idle clients, too many of them, bodies, and the end of a service."""

import asyncio
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

import pytest
from fastapi import FastAPI

from discotag.web.bodies import Body
from discotag.web.limits import Limits
from discotag.web.protection import Policy, protect
from services import Running
from waiting import wait_for

PROGRAM = Path(__file__).with_name("small_app.py")
HOST = "Host: localhost\r\n"
GET = f"GET {{}} HTTP/1.1\r\n{HOST}\r\n"
LENGTH = "Content-Length: 900\r\n"


@contextmanager
def started(folder):
    log = Path(folder) / "log.txt"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM)], stdout=subprocess.PIPE, stderr=stream, text=True
        )
    try:
        yield Running(process.stdout.readline().split()[2].rstrip(";"), process, log)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def small_app(tmp_path_factory):
    with started(tmp_path_factory.mktemp("small_app")) as running:
        yield running


def closed_after(connection):
    """Return the seconds until the other side closes a connection."""
    begun = monotonic()
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    return monotonic() - begun


def read_until(connection, wanted):
    """Return whether some bytes come before the other side closes a connection."""
    found = b""
    while wanted not in found:
        part = connection.recv(1 << 16)
        if not part:
            return False
        found += part
    return True


def test_idle_connections(small_app):
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(GET.format("/api/slow").encode())
        assert read_until(connection, b"done")
        assert 0.5 < closed_after(connection) < 10


def test_too_many_connections(small_app):
    connections = [socket.create_connection(small_app.address, timeout=20) for _ in range(40)]
    try:
        connections[-1].sendall(GET.format("/api/slow").encode())
        assert connections[-1].recv(100).startswith(b"HTTP/1.1 503")
    finally:
        for connection in connections:
            connection.close()
    wait_for(lambda: small_app.raw(GET.format("/api/wrong").encode()).startswith(b"HTTP/1.1 500"))


@pytest.mark.parametrize("head", ["Host: evil", "Host: localhost\r\nOrigin: http://evil"])
def test_refused_requests_with_a_body_that_does_not_end(small_app, head):
    """The rest of the body is awaited, but not forever."""
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(f"POST /api/size HTTP/1.1\r\n{head}\r\n{LENGTH}\r\n".encode())
        begun = monotonic()
        with suppress(OSError):
            while monotonic() - begun < 12:
                connection.sendall(b"a")
                sleep(0.1)
        assert 1 < monotonic() - begun < 10


def test_connection_goes_on_after_a_body_that_was_refused(small_app):
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(f"POST /api/size HTTP/1.1\r\nHost: evil\r\n{LENGTH}\r\n".encode())
        connection.sendall(b"a" * 900)
        assert read_until(connection, b"wrong_host")
        connection.sendall(GET.format("/api/slow").encode())
        assert read_until(connection, b"done")


def test_refused_request_that_waits_to_send_its_body(small_app):
    """Nobody knows whether it sends the body; so the connection ends."""
    sent = f"POST /api/size HTTP/1.1\r\nHost: evil\r\nExpect: 100-continue\r\n{LENGTH}\r\n"
    begun = monotonic()
    answer = small_app.raw(sent.encode())
    assert answer.startswith(b"HTTP/1.1 421")
    assert b"connection: close" in answer
    assert monotonic() - begun < 1


def test_trailers_are_bounded(small_app):
    head = "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    for trailer in (b"X: y\r\n" * 1000, b"a" * 6000):
        with socket.create_connection(small_app.address, timeout=20) as connection:
            connection.sendall(head.encode() + b"X: ")
            sent = 0
            with suppress(OSError):
                while sent < 20_000_000:
                    connection.sendall(trailer)
                    sent += len(trailer)
            assert sent < 10_000_000


def test_trailers_are_no_headers(small_app):
    head = "GET /api/headers HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    answer = small_app.raw(f"{head}Connection: close\r\n\r\n0\r\nX-Late: yes\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"x-late" not in answer


def test_many_small_chunks_are_no_trailers(small_app):
    """Also if each of their lines arrives alone."""
    head = "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(head.encode())
        for _ in range(200):
            connection.sendall(b"5;" + b"x" * 300 + b"\r\n")
            connection.sendall(b"abcde\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert read_until(connection, b"abcde" * 200)


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("chunked", [True, False])
def test_offers_of_another_protocol_are_ignored(small_app, chunked, apart):
    """Java's client offers HTTP/2 with its first request."""
    body = "5\r\nhello\r\n0\r\n\r\n" if chunked else "hello"
    length = "Transfer-Encoding: chunked" if chunked else "Content-Length: 5"
    head = (
        f"POST /api/echo HTTP/1.1\r\nHost: localhost\r\n{length}\r\nUpgrade: h2c\r\n"
        "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
    )
    with socket.create_connection(small_app.address, timeout=20) as connection:
        for _ in range(2):
            connection.sendall(head.encode())
            if apart:
                sleep(0.1)
            connection.sendall(body.encode())
            assert read_until(connection, b"\r\n\r\nhello")


def test_requests_of_a_client_that_goes_away_are_dropped(small_app):
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(GET.format("/api/watched").encode())
        sleep(0.3)
    wait_for(lambda: "GET /api/watched 499" in small_app.log.read_text(), 10)


def test_too_many_open_files(small_app):
    answer = small_app.get("/api/full")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "overloaded")


def test_bodies_in_memory_are_bounded(small_app):
    head = b"POST /api/size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n"
    connections = [socket.create_connection(small_app.address, timeout=20) for _ in range(2)]
    try:
        connections[0].sendall(head + b"a" * 899)
        sleep(0.3)
        connections[1].sendall(head + b"a" * 899)
        assert connections[1].recv(100).startswith(b"HTTP/1.1 503")
        assert connections[0].recv(100).startswith(b"HTTP/1.1 408")
    finally:
        for connection in connections:
            connection.close()


def test_a_slow_body_has_its_time_once(monkeypatch):
    """What was too slow to be read is not waited for again, to be thrown away."""
    discarded = []

    async def discard(body, seconds):
        discarded.append(seconds)

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        statuses.append(message.get("status"))

    monkeypatch.setattr(Body, "discard", discard)
    statuses = []
    headers = [(b"host", b"localhost"), (b"content-length", b"9")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers, "raw_path": b"/"}
    app = protect(FastAPI(), Policy(limits=Limits(max_body_seconds=0.01)))
    with ThreadPoolExecutor(1) as pool:  # other tests may leave a loop running in this thread
        pool.submit(asyncio.run, app(scope, receive, send)).result()
    assert statuses[0] == 408
    assert not discarded


def test_unexpected_errors_are_not_shown(small_app):
    answer = small_app.get("/api/wrong")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "secret" not in answer.text
    log = small_app.log.read_text()
    assert "unexpected ValueError in wrong" in log
    assert "secret" not in log


@pytest.mark.parametrize(("path", "answered"), [("/api/slow", True), ("/api/endless", False)])
def test_shutdown_is_bounded(tmp_path, path, answered):
    """Requests have some time to end; then the service ends without them."""
    with (
        started(tmp_path) as running,
        socket.create_connection(running.address, timeout=20) as connection,
    ):
        connection.sendall(GET.format(path).encode())
        sleep(0.2)
        begun = monotonic()
        assert running.stop(signal.SIGTERM) == 0
        assert monotonic() - begun < 15
        assert read_until(connection, b"done" if answered else b'"code": "stopping"')
        assert f"GET {path} {200 if answered else 503}" in running.log.read_text()
