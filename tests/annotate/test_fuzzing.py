"""Requests that schemathesis makes from the OpenAPI description: no answer is a 500.

`python tests/annotate/test_fuzzing.py 500` tries 500 requests for each operation.
"""

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from annotating import project_of, served, write_texts
from discotag.annotate.schemas import ContentBody

EXAMPLES = 12
"""Requests for each operation that the tests try."""

PEOPLE = st.sampled_from(["Ann", "Ben"])


@contextmanager
def fuzzed(folder):
    """Serve a project with something in it, without training."""
    with project_of(write_texts(folder / "posts")) as project, served(project) as client:
        client.enter("Ann", "Ben")
        client.add(1, (2, 5))
        for name in ("Ann", "Ben"):
            client.act(1, "finish", name)
        yield client


def operations(client):
    schema = schemathesis.openapi.from_dict(client.ok("GET", "/openapi.json"))
    return [each.ok() for each in schema.get_all_operations()]


def try_operation(client, operation, examples):
    """Make requests of one operation, half of them with documents and people that exist."""
    statuses = set()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=examples == EXAMPLES,  # a suite that fails by chance is of no use
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(), st.booleans(), st.integers(1, 3), PEOPLE, st.data())
    def run(case, existing, number, name, data):
        path, query, body = dict(case.path_parameters or {}), dict(case.query or {}), case.body
        if existing:
            if path:
                path["number"] = number
            if "annotator" in query or not case.body:
                query["annotator"] = name
            if operation.path.startswith("/api/export"):
                query |= {"format": "jsonl", "which": "all"}  # all: some request may reopen
            if isinstance(body, dict):
                likely(body, client.project, name, data.draw)
        address = operation.path
        for key, value in path.items():
            address = address.replace(f"{{{key}}}", httpx.URL(f"/{value}").path.lstrip("/") or "0")
        answer = client.request(
            operation.method.upper(),
            address,
            params=query,
            content=json.dumps(body) if isinstance(body, dict | list | str) else b"{",
            headers={"content-type": "application/json"},
        )
        statuses.add(answer.status_code)
        assert answer.status_code < 500, (operation.label, query, body, answer.text)

    run()
    return statuses


def likely(body, project, name, draw):
    """Change a body so that some of its fields fit the project."""
    body["annotator"] = name
    if "project" in body:
        body["project"] = project
    if "base" in body:
        body["base"] = draw(st.integers(0, 5))
    if "sentence" in body:
        body["sentence"] = draw(st.integers(0, 2))
    for mention in (body.get("mention"), body.get("to")):
        if isinstance(mention, dict):
            mention["label"] = draw(st.sampled_from(["ADR", "Drug", "Other"]))
            start = draw(st.integers(0, 8))
            mention["fragments"] = [[start, start + draw(st.integers(0, 2))]]


def test_no_request_is_answered_with_500(tmp_path):
    with fuzzed(tmp_path) as client:
        seen = {each.label: try_operation(client, each, EXAMPLES) for each in operations(client)}
    assert len(seen) == 15
    never = [label for label, found in seen.items() if label.startswith("GET") and 200 not in found]
    assert never == []
    assert seen["POST /api/training"] <= {409, 422}


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b"[]", 422),
        (b"null", 422),
        (b'{"name": 7}', 422),
        (b'{"name": "\\ud800"}', 422),
        (b'{"name": "a", "name2": "b"}', 422),
        (b"\xff\xfe", 422),
        (b'{"name": "' + b"x" * (5 << 20) + b'"}', 413),
        (b"[" * 100_000, 400),
    ],
    ids=range(10),
)
def test_broken_bodies(tmp_path, content, status):
    with fuzzed(tmp_path) as client:
        answer = client.post(
            "/api/annotators", content=content, headers={"content-type": "application/json"}
        )
        assert (answer.status_code, set(answer.json())) == (status, {"error"}), answer.text


@pytest.mark.parametrize(
    "body",
    [
        {"sentences": [0] * 9},
        {"sentences": [[0] * 9]},
        {"sentences": [[{"label": "ADR", "fragments": [0] * 9}]]},
        {"sentences": [[{"label": "ADR", "fragments": [["0", "0"]]}]]},
        {str(name): 0 for name in range(9)},
    ],
    ids=["sentences", "mentions", "fragments", "words", "fields"],
)
def test_only_the_first_error_is_reported(body):
    """All errors of a body of some megabytes would take many seconds, and gigabytes."""
    with pytest.raises(ValidationError) as found:
        ContentBody.model_validate(body)
    assert found.value.error_count() == 1


def test_half_characters(tmp_path):
    with fuzzed(tmp_path) as client:
        half = f'{{"project": "{client.project}", "annotator": "\\ud800"}}'.encode()
        headers = {"content-type": "application/json"}
        answer = client.post("/api/documents/1/presence", content=half, headers=headers)
        assert answer.status_code == 422
        answer = client.get("/api/documents?search=%ed%a0%80")
        assert answer.status_code in (200, 422)


def test_paths_of_files_lead_nowhere(tmp_path):
    with fuzzed(tmp_path) as client:
        for path in (
            "/assets/../app.py",
            "/assets/..%2f..%2fapp.py",
            "/assets/%2e%2e/__init__.py",
            "/api/documents/..%2f1",
            "/api/export?format=..%2f..%2fetc",
            "/posts.journal",
        ):
            answer = client.get(path)
            assert answer.status_code in (404, 422), path


if __name__ == "__main__":
    with TemporaryDirectory() as folder, fuzzed(Path(folder)) as opened:
        for each in operations(opened):
            print(each.label, sorted(try_operation(opened, each, int(sys.argv[1]))), flush=True)
