"""Starting and stopping: addresses, tokens, signals, engines that die, and several models."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import psutil
import pytest
import uvloop

from discotag.errors import DiscotagError
from discotag.serve.engine import Task
from discotag.serve.engines import Engine, EngineDied, choose_engines
from discotag.serve.models import find_models
from discotag.web.running import LOOPBACK, allowed_hosts, listen
from services import TEXT, TOKEN, serving
from waiting import wait_for


def failed(*options, port=0, token=None, python_path=None):
    """Return the messages of a service that does not start."""
    environment = {key: value for key, value in os.environ.items() if key != "DISCOTAG_TOKEN"}
    if token is not None:
        environment["DISCOTAG_TOKEN"] = token
    if python_path is not None:
        environment["PYTHONPATH"] = python_path
    done = subprocess.run(
        [sys.executable, "-m", "discotag", "serve", "--port", str(port), *map(str, options)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "8.8.8.8", "0", "::ffff:0.0.0.0"])
def test_other_machines_need_a_token(host):
    with pytest.raises(DiscotagError, match="token"), listen(host, 0, None):
        pass


def test_names_that_lead_elsewhere_need_a_token(monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(DiscotagError, match="token"), listen("localhost", 0, None):
        pass


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.8.8"])
def test_this_machine_needs_none(host):
    with listen(host, 0, None) as sock:
        assert sock.getsockname()[0].startswith("127.")


def test_with_a_token_others_may_connect():
    with listen("0.0.0.0", 0, TOKEN) as sock:
        assert sock.getsockname()[0] == "0.0.0.0"


def test_the_command_refuses_too(tmp_path):
    assert "DISCOTAG_TOKEN" in failed("--host", "0.0.0.0")
    assert "at least 16 characters" in failed("--host", "0.0.0.0", token="short")
    assert "ASCII" in failed(token="ä" * 20)
    (tmp_path / "token").write_text("\n")
    assert "no token" in failed("--token-file", tmp_path / "token")
    assert "cannot be read" in failed("--token-file", tmp_path / "missing")


def test_wrong_starts(tmp_path):
    assert "no such folder" in failed("--model", tmp_path / "nothing")
    assert "no such address" in failed("--host", "no.such.host.invalid")
    assert "two models" in failed("--model", "bundled", "--model", "bundled")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "in use" in failed(port=taken.getsockname()[1])


def test_broken_model_is_named_before_anything_is_served(tmp_path):
    from discotag.model.files import BUNDLED, copy_model

    copy_model(BUNDLED, tmp_path / "broken")
    (tmp_path / "broken" / "model_int8.onnx").write_bytes(b"nonsense")
    assert "model_int8.onnx" in failed("--model", tmp_path / "broken", "--workers", "2")


def test_engine_that_ends_while_it_loads(tmp_path):
    """As if there was too little memory: whatever an engine imports first ends its process."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif '-c' in sys.orig_argv: os.kill(os.getpid(), 9)\n"
    )
    assert "is there enough memory" in failed(python_path=str(tmp_path))


def test_allowed_hosts():
    assert allowed_hosts("localhost", ["Proxy.Example"])[-1] == "proxy.example"
    assert allowed_hosts("0.0.0.0") == ()
    assert allowed_hosts("0.0.0.0", ["a.example"]) == (*LOOPBACK, "a.example")
    assert "127.8.8.8" in allowed_hosts("127.8.8.8")
    with pytest.raises(DiscotagError, match="no such address"):
        allowed_hosts("no.such.host.invalid")


@pytest.mark.parametrize("host", ["127.1", "localhost", "0x7f000001", "2130706433"])
def test_names_of_this_machine_are_checked_however_they_are_written(host):
    """Otherwise, a web site whose name is made to point to this machine gets answers."""
    assert allowed_hosts(host) == tuple(dict.fromkeys((*LOOPBACK, host)))


def test_hosts_are_checked_if_the_name_of_the_machine_is_given(monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.1.1", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert allowed_hosts("Laptop") == (*LOOPBACK, "laptop")


def test_cores_are_used_once():
    for wanted in (None, 1, 2, 1000):
        engines, threads = choose_engines(wanted, None)
        assert threads >= 1
        assert engines == wanted or wanted is None
    assert choose_engines(None, "cuda")[0] == 1


def test_names_of_models(tmp_path):
    from discotag.model.files import BUNDLED, copy_model

    for name in ("run/model", "other"):
        copy_model(BUNDLED, tmp_path / name)
    found = find_models([str(tmp_path / "run/model"), str(tmp_path / "other"), "bundled"])
    assert [each.name for each in found] == ["run", "other", "bundled"]


def test_several_models_and_further_hosts(tmp_path):
    from discotag.model.files import BUNDLED, copy_model

    copy_model(BUNDLED, tmp_path / "<script>")
    options = ("--model", tmp_path / "<script>", "--model", "bundled", "--allow-host", "a.example")
    with serving(tmp_path, *options) as service:
        names = [each["name"] for each in service.get("/api/models").json()["models"]]
        assert names == ["<script>", "bundled"]
        for name in (None, *names):
            answer = service.post(json={"text": TEXT, "model": name}).json()
            assert answer["model"] == (name or names[0])
            assert answer["documents"][0]["mentions"]
        assert service.get("/healthz", headers={"Host": "a.example"}).status_code == 200
        assert service.get("/healthz", headers={"Host": "b.example"}).status_code == 421


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_graceful_shutdown(tmp_path, name):
    """What was accepted is answered; then all processes end."""
    answers = []
    request = {"texts": ["Pain in arms and shoulders, and dry mouth."] * 400}
    with serving(tmp_path, workers=2) as service:
        engines = service.engines
        assert len(engines) == 2
        threads = [
            threading.Thread(target=lambda: answers.append(service.post(json=request)))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        wait_for(lambda: service.figure("discotag_waiting_words") > 8_000)
        for engine in engines:  # as systemd does, which signals all processes
            engine.send_signal(name)
        assert service.stop(name) == 0
        for thread in threads:
            thread.join()
        assert [each.status_code for each in answers] == [200] * 3
        assert all(len(each.json()["documents"]) == 400 for each in answers)
        assert psutil.wait_procs(engines, 10)[1] == []
        assert service.log.read_text().endswith("stopped\n")


def test_engines_end_with_the_service(tmp_path):
    with serving(tmp_path, workers=2) as service:
        engines = service.engines
        service.process.kill()
        service.process.wait(10)
        assert psutil.wait_procs(engines, 10)[1] == []


def test_engines_that_die_are_replaced(tmp_path):
    request = {"texts": ["Pain in arms and shoulders, and dry mouth."] * 400}
    with serving(tmp_path, workers=2) as service:
        expected = service.post(json=request).json()
        answers = []
        thread = threading.Thread(target=lambda: answers.append(service.post(json=request)))
        thread.start()
        wait_for(lambda: service.figure("discotag_waiting_words") > 1_000)
        dead = service.engines[0]
        dead.kill()
        thread.join()
        assert answers[0].status_code == 200
        assert answers[0].json() == expected
        wait_for(lambda: service.figure("discotag_engines") == 2)
        assert service.figure("discotag_engine_restarts_total") == 1
        assert dead.pid not in [each.pid for each in service.engines]
        assert "replaced" in service.log.read_text()


def test_engine_that_has_ended_is_not_asked():
    """The service's event loop refuses to write to it."""
    failures = []

    async def play():
        engine = Engine([find_models([])[0].source], 1)
        ended = asyncio.Event()
        await engine.start(ended.set)
        psutil.Process(engine._process.pid).kill()
        await asyncio.wait_for(ended.wait(), 10)
        await asyncio.sleep(0.1)
        with pytest.raises(EngineDied):
            await engine.tag(Task("bundled"), [["dry", "mouth"]])
        await engine.stop()

    def played():
        try:
            uvloop.run(play())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=played)  # a browser's loop may run in this one
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert failures == []


def test_not_ready_without_engines(tmp_path):
    with serving(tmp_path) as service:
        service.engines[0].kill()
        wait_for(lambda: service.get("/readyz").status_code == 503, 10)
        assert service.get("/healthz").status_code == 200
        wait_for(lambda: service.get("/readyz").status_code == 200, 30)
        assert json.loads(service.post(json={"text": TEXT}).text)["documents"][0]["mentions"]
