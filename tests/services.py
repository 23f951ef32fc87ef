"""Services in processes of their own, for tests; they listen on a free port of this machine."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil

from waiting import wait_for

TEXT = "The pain I was experiencing around the hipjoints was incredible."
TOKEN = "a-token-of-twenty-four-c"

PATIENCE = 60.0
"""Seconds that a service has to start or to stop, also on a machine that is busy."""


@dataclass(frozen=True)
class Running:
    """A service that runs.

    Attributes:
        url: Its URL.
        process: Its process.
        log: The file with its messages.
    """

    url: str
    process: subprocess.Popen
    log: Path

    @property
    def address(self):
        """Host and port."""
        parts = urlsplit(self.url)
        return parts.hostname, parts.port

    @property
    def engines(self):
        """The processes that tag."""
        return psutil.Process(self.process.pid).children()

    def post(self, path="/api/predict", **given):
        """Post JSON, or what is given."""
        return httpx.post(self.url + path, timeout=PATIENCE, **given)

    def get(self, path, **given):
        """Get a path."""
        return httpx.get(self.url + path, timeout=PATIENCE, **given)

    def figure(self, name, headers=None):
        """Return a figure of `/metrics`, 0 if it is not there."""
        lines = self.get("/metrics", headers=headers).text.splitlines()
        found = [line.rpartition(" ")[2] for line in lines if line.rpartition(" ")[0] == name]
        return float(found[0]) if found else 0.0

    def raw(self, sent, seconds=10.0):
        """Send bytes, and return all that comes until the connection is closed."""
        with socket.create_connection(self.address, timeout=seconds) as connection:
            connection.sendall(sent)
            found = b""
            try:
                while part := connection.recv(1 << 16):
                    found += part
            except ConnectionResetError:
                pass
            return found

    def stop(self, name=signal.SIGTERM):
        """Ask the service to end, and return its status."""
        self.process.send_signal(name)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(folder, *options, token=None, workers=1):
    """Start `discotag serve` and yield it; it is killed at the end if it still runs."""
    log = Path(folder) / "log.txt"
    environment = {key: value for key, value in os.environ.items() if key != "DISCOTAG_TOKEN"}
    if token is not None:
        environment["DISCOTAG_TOKEN"] = token
    command = [sys.executable, "-m", "discotag", "serve", "--port", "0", "-v"]
    with log.open("w") as stream:
        process = subprocess.Popen(
            [*command, "--workers", str(workers), *map(str, options)],
            stderr=stream,
            env=environment,
        )
    try:
        yield Running(_url(process, log), process, log)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _url(process, log):
    """Return the URL that a service prints when it is ready."""

    def found():
        assert process.poll() is None, log.read_text()
        return re.search(r"serving at (http://\S+);", log.read_text())

    wait_for(found)
    return found()[1]
