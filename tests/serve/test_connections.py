"""Connections: slow and idle clients, too many of them, and the end of a service."""

import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from services import Running, until

PROGRAM = Path(__file__).with_name("small_app.py")
GET = "GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n"


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


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_slow_headers(small_app, sent):
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(sent)
        assert closed_after(connection) < 10


def test_headers_in_drops(small_app):
    """The time is for all headers; a byte now and then does not make it longer."""
    with socket.create_connection(small_app.address, timeout=20) as connection:
        begun = monotonic()
        with suppress(OSError):
            for letter in "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "a" * 1000:
                connection.sendall(letter.encode())
                sleep(0.05)
        assert monotonic() - begun < 10


def test_idle_connections(small_app):
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(GET.format("/api/slow").encode())
        assert read_until(connection, b"done")
        assert 0.5 < closed_after(connection) < 10


def test_second_request_on_a_connection_may_be_slow_to_answer_but_not_to_send(small_app):
    with socket.create_connection(small_app.address, timeout=20) as connection:
        for _ in range(2):
            connection.sendall(GET.format("/api/slow").encode())
            assert read_until(connection, b"done")
        connection.sendall(b"GET /")
        assert closed_after(connection) < 10


def test_too_many_connections(small_app):
    connections = [socket.create_connection(small_app.address, timeout=20) for _ in range(40)]
    try:
        assert closed_after(connections[-1]) < 0.4  # at once, not after the time for headers
    finally:
        for connection in connections:
            connection.close()
    until(lambda: small_app.raw(GET.format("/api/wrong").encode()).startswith(b"HTTP/1.1 500"))


def test_answers_that_nobody_takes(small_app):
    """Large answers wait for clients to take them, but not forever."""
    process = psutil.Process(small_app.process.pid)
    connection = socket.create_connection(small_app.address, timeout=20)
    connection.sendall(GET.format("/api/large").encode())
    until(lambda: process.memory_info().rss > 100_000_000 or _idle(process), 10)
    until(lambda: not _sends(process, connection), 20)
    connection.close()


def _idle(process):
    return process.cpu_percent(0.2) < 1


def _sends(process, connection):
    port = connection.getsockname()[1]
    found = [each for each in process.net_connections("tcp") if each.raddr]
    return any(each.raddr.port == port for each in found)


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
        assert read_until(connection, b"done") == answered
