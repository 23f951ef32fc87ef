"""The configuration of nginx: what the service leaves to a proxy is bounded by it."""

import json
import re
import shutil
import socket
import subprocess
from pathlib import Path
from time import monotonic

import httpx
import pytest

from services import TEXT, TOKEN, serving
from waiting import wait_for

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx" / "discotag.conf"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/sbin:/bin")
NAME = "discotag.example"

MAIN = """
pid {folder}/nginx.pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {server}
}}
"""

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """The port of nginx before a service, as the file configures it, but quicker to refuse."""
    folder = tmp_path_factory.mktemp("nginx")
    port = free_port()
    with serving(folder, "--allow-host", NAME, token=TOKEN) as service:
        server = CONFIGURATION.read_text("utf-8")
        for pattern, other in (
            (r"listen 443 ssl;", f"listen 127.0.0.1:{port};"),
            (r"ssl_\w+ [^;]*;", ""),
            (r"http://127.0.0.1:8000", service.url),
            (r"rate=20r/s", "rate=1r/s"),
            (r"(client_header_timeout|client_body_timeout|send_timeout) \d+s;", r"\1 1s;"),
        ):
            server, count = re.subn(pattern, other, server)
            assert count, pattern
        main = folder / "nginx.conf"
        main.write_text(MAIN.format(folder=folder, server=server))
        command = [NGINX, "-p", folder, "-c", main, "-e", folder / "error.log", "-g", "daemon off;"]
        process = subprocess.Popen(command)
        try:
            wait_for(lambda: is_up(port) or process.poll() is not None)
            assert process.poll() is None, (folder / "error.log").read_text()
            yield port
        finally:
            process.terminate()
            process.wait(20)


def is_up(port):
    try:
        return get(port, "/readyz").is_success
    except httpx.TransportError:
        return False


def get(port, path, **headers):
    return httpx.get(f"http://127.0.0.1:{port}{path}", headers={"Host": NAME, **headers})


def post(port, content, **headers):
    given = {"Host": NAME, "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    url = f"http://127.0.0.1:{port}/api/predict"
    return httpx.post(url, content=content, headers=given | headers)


def closed_after(connection):
    """Return what comes until the other side closes a connection, and after how many seconds."""
    begun, found = monotonic(), b""
    try:
        while part := connection.recv(1 << 16):
            found += part
    except ConnectionResetError:
        pass
    return found, monotonic() - begun


def test_requests_pass(port):
    answer = post(port, json.dumps({"text": TEXT}), Origin=f"http://{NAME}")
    assert answer.json()["documents"][0]["mentions"]
    assert get(port, "/").headers["content-security-policy"]
    assert get(port, "/api/models").status_code == 401
    assert get(port, "/readyz", Host="other.example").status_code == 421
    assert post(port, "{}", Origin="http://other.example").status_code == 403


@pytest.mark.parametrize("sent", [b"GET / HT", b"GET / HTTP/1.1\r\nHost: discotag.example\r\n"])
def test_slow_headers(port, sent):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(sent)
        _, seconds = closed_after(connection)
        assert seconds < 5


def test_slow_bodies_never_get_to_the_service(port):
    head = f"POST /api/predict HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 100\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.encode() + b"{")
        found, seconds = closed_after(connection)
        assert found == b"" or found.startswith(b"HTTP/1.1 408")
        assert seconds < 5


def test_sizes(port):
    assert post(port, b"a" * 5_000_000).status_code == 413
    assert get(port, "/readyz", X="a" * 50_000).status_code in (400, 414, 431)


def test_a_single_client_gets_its_share(port):
    """Of many requests at once, only some are answered; soon after, all are again."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Host": NAME}) as client:
        statuses = [client.get("/healthz").status_code for _ in range(200)]
    assert set(statuses) == {200, 429}
    wait_for(lambda: get(port, "/healthz").status_code == 200)
