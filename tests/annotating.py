"""Annotation projects for tests: small corpora, and servers in a thread or in a process."""

import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from uuid import uuid4

import httpx
import uvicorn

from discotag.annotate.app import make_app
from discotag.annotate.corpus import Source
from discotag.annotate.project import Plan, open_project
from discotag.web.protection import Policy
from waiting import wait_for

TEXTS = {
    "a": "I had pain in arms and shoulders. It was bad.",
    "b": "My knees hurt. I felt dizzy.",
    "c": "No sleep.",
}

PATIENCE = 60.0
"""Seconds that a server has to start or to stop."""


def write_texts(folder, texts=TEXTS):
    """Write a folder of text files, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    return folder


@contextmanager
def project_of(folder, **plan):
    """Open a project without a model, unless told otherwise."""
    settings = {"use_model": False, "labels": ("ADR", "Drug")} | plan
    with open_project(Plan(Source(Path(folder)), **settings)) as project:
        yield project


class Client(httpx.Client):
    """A client that makes actions, and fails if an answer is not as expected."""

    def ok(self, method, path, **given):
        answer = self.request(method, path, **given)
        assert answer.status_code == 200, (path, answer.text)
        return answer.json()

    def enter(self, *names):
        for name in names:
            self.ok("POST", "/api/annotators", json={"name": name})

    def state(self, number, annotator="Ann"):
        return self.ok("GET", f"/api/documents/{number}", params={"annotator": annotator})

    @cached_property
    def project(self):
        """The id of the project."""
        return self.ok("GET", "/api/project")["id"]

    def post_action(self, number, kind, annotator="Ann", base=None, id=None, **more):
        """Make an action on the document as it is now, or as `base` and `model_version` say."""
        body = {"id": id or str(uuid4()), "project": self.project, "annotator": annotator}
        body |= {"base": base, "kind": kind}
        if base is None:
            state = self.state(number, annotator)
            body |= {"base": state["revision"], "model_version": state["model_version"]}
        return self.post(f"/api/documents/{number}/actions", json=body | more)

    def act(self, number, kind, annotator="Ann", **more):
        answer = self.post_action(number, kind, annotator, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()["state"]

    def add(self, number, *fragments, annotator="Ann", sentence=0, label="ADR", **more):
        mention = {"label": label, "fragments": [list(each) for each in fragments]}
        return self.act(number, "add", annotator, sentence=sentence, mention=mention, **more)


@contextmanager
def served(project, policy=None):
    """Serve a project in a thread of its own, and return a client."""
    app = make_app(project, policy or Policy())
    config = uvicorn.Config(app, port=0, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


class Running:
    """A `discotag annotate` in a process of its own."""

    def __init__(self, corpus, *options):
        command = [sys.executable, "-m", "discotag", "annotate", str(corpus), "--port", "0"]
        self.process = subprocess.Popen(
            [*command, *map(str, options)], stderr=subprocess.PIPE, text=True
        )
        self.said = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        self.said.extend(self.process.stderr)

    @property
    def url(self):
        """The address, as soon as the server says it."""
        wait_for(lambda: any("annotating at" in line for line in self.said) or self.process.poll())
        (line,) = (line for line in list(self.said) if "annotating at" in line)
        return line.split("annotating at ")[1].split(";")[0]

    def kill(self):
        """End it as SIGKILL does."""
        self.process.kill()
        self.close()

    def stop(self):
        """End it as Ctrl-C does."""
        self.process.terminate()
        self.close()

    def close(self):
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self.process.stderr.close()


@contextmanager
def running(corpus, *options):
    """Run `discotag annotate` until the block ends."""
    server = Running(corpus, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
