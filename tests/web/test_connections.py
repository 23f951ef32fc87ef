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
    wait_for(lambda: small_app.raw(GET.format("/api/wrong").encode()).startswith(b"HTTP/1.1 500"))


@pytest.mark.parametrize("close", ["", "Connection: close\r\n"])
@pytest.mark.parametrize("further", ["", GET.format("/api/slow")])
def test_answers_that_nobody_takes(small_app, further, close):
    """Large answers wait for clients to take them, but not forever; further requests help not."""
    with socket.create_connection(small_app.address, timeout=20) as connection:
        sent = GET.format("/api/large").replace("\r\n\r\n", f"\r\n{close}\r\n")
        connection.sendall(sent.encode())
        sleep(0.2)
        assert is_open(small_app, connection)
        connection.sendall(further.encode())
        wait_for(lambda: not is_open(small_app, connection), 10)


def test_rest_of_an_answer_that_nobody_takes(small_app):
    """Also if the rest is so small that the service need not wait for the client to write more.

    The system takes some 500,000 bytes; what it leaves of one of these answers is small.
    """
    connections = [slow_reader(small_app) for _ in range(14)]
    try:
        for number, connection in enumerate(connections):
            path = f"/api/large?size={60_000 * number}"
            sent = GET.format(path).replace(HOST, f"{HOST}Connection: close\r\n")
            connection.sendall(sent.encode())
        sleep(0.2)
        still = [is_open(small_app, each) for each in connections]
        assert {True, False} == set(still), "this test needs other sizes"
        wait_for(lambda: not any(is_open(small_app, each) for each in connections), 10)
    finally:
        for connection in connections:
            connection.close()


def test_slow_readers_may_take_their_time(small_app):
    """The time is for some progress, not for all of an answer."""
    with slow_reader(small_app) as connection:
        connection.sendall(GET.format("/api/large").encode())
        found, end = 0, monotonic() + 3
        while monotonic() < end:  # three times the limit
            found += len(connection.recv(1 << 15))
            sleep(0.02)
        assert found < 40_000_000, "this test needs more to read"
        while found < 50_000_000:
            part = connection.recv(1 << 20)
            assert part, "the connection was closed"
            found += len(part)


def slow_reader(running):
    """Return a connection whose own system keeps little for it."""
    connection = socket.socket()
    connection.settimeout(20)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 15)
    connection.connect(running.address)
    return connection


def is_open(running, connection):
    """Return whether a service has a connection, also if its client does not read."""
    port = connection.getsockname()[1]
    found = psutil.Process(running.process.pid).net_connections("tcp")
    return any(each.raddr and each.raddr.port == port for each in found)


@pytest.mark.parametrize("head", ["Host: evil", "Host: localhost\r\nOrigin: http://evil"])
def test_refused_requests_with_a_body_that_does_not_end(small_app, head):
    """The answer comes at once; the rest of the body is awaited, but not forever."""
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(f"POST /api/size HTTP/1.1\r\n{head}\r\n{LENGTH}\r\n".encode())
        assert read_until(connection, b"error")
        begun = monotonic()
        with suppress(OSError):
            while monotonic() - begun < 12:
                connection.sendall(b"a")
                sleep(0.1)
        assert 1 < monotonic() - begun < 10


def test_connection_goes_on_after_a_body_that_was_refused(small_app):
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(f"POST /api/size HTTP/1.1\r\nHost: evil\r\n{LENGTH}\r\n".encode())
        assert read_until(connection, b"wrong_host")
        connection.sendall(b"a" * 900 + GET.format("/api/slow").encode())
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


def test_stray_line_after_a_body_does_not_end_the_request(small_app):
    """The time for headers, 0.5 seconds here, does not begin while a request is answered."""
    sent = GET.format("/api/slow?seconds=1.5").encode()
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(sent)
        sleep(0.1)
        connection.sendall(b"\r\n")
        assert read_until(connection, b"done")
        begun = monotonic()
        with suppress(OSError):
            while monotonic() - begun < 12:  # such lines do not keep the connection either
                connection.sendall(b"\r\n")
                sleep(0.1)
        assert monotonic() - begun < 10


def test_next_headers_may_begin_while_a_request_is_answered(small_app):
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(GET.format("/api/slow?seconds=1.5").encode() + b"GET /")
        assert read_until(connection, b"done")
        assert closed_after(connection) < 10


def test_all_requests_of_a_client_that_goes_away_are_dropped(small_app):
    """Not only the last of those that it has sent one after the other."""

    def dropped():
        return small_app.log.read_text().count("GET /api/watched 499")

    before = dropped()
    with socket.create_connection(small_app.address, timeout=20) as connection:
        connection.sendall(GET.format("/api/watched").encode() * 3)
        sleep(0.3)
    wait_for(lambda: dropped() > before, 10)


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
