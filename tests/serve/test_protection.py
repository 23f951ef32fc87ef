"""Who may use the service: hosts, sites, tokens, and what responses and logs have in them."""

import csv
import io
import json

import httpx
import pytest

from discotag.web.protection import HEADERS
from services import TEXT, TOKEN

PREDICT = {"json": {"text": TEXT}}


@pytest.mark.parametrize("path", ["/", "/docs", "/api/models", "/nothing", "/assets/page.css"])
def test_headers_of_every_response(service, path):
    headers = service.get(path).headers
    for name, value in HEADERS.items():
        assert headers[name] == value or name == "cache-control"
    assert "unsafe" not in headers["content-security-policy"]
    assert "server" not in headers
    assert not [name for name in headers if name.startswith("access-control")]
    assert headers["cache-control"] in ("no-store", "no-cache")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "a@b",
        "localhost:@evil.example",
        "localhost:80@evil.example",
        "[::1]evil.example",
        "[::1",
    ],
)
def test_other_hosts_are_refused(service, host):
    for path in ("/", "/api/models", "/assets/page.css", "/metrics"):
        answer = service.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert answer.json()["error"]["code"] == "wrong_host"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1", "localhost.:8000", "[::1]:8000"]
)
def test_own_hosts_are_answered(service, host):
    assert service.get("/api/models", headers={"Host": host}).status_code == 200


def test_host_tricks(service):
    two = b"GET /api/models HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\nConnection: close\r\n\r\n"
    none = b"GET /api/models HTTP/1.0\r\n\r\n"
    full = b"GET http://evil/api/models HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n"
    assert service.raw(two).startswith(b"HTTP/1.1 400")
    assert service.raw(none).startswith(b"HTTP/1.1 400")
    assert service.raw(full).startswith(b"HTTP/1.1 421")
    forwarded = {"X-Forwarded-Host": "localhost", "Forwarded": "host=localhost", "Host": "evil"}
    assert service.get("/api/models", headers=forwarded).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": "http://evil@127.0.0.1"},
        {"Origin": "http://localhost"},  # another port is another origin
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_cross_site_requests_are_refused(service, headers):
    answer = service.post(**PREDICT, headers=headers)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "cross_site"
    assert service.get("/api/models", headers=headers).status_code == 403
    assert service.get("/metrics", headers=headers).status_code == 403


def test_preflights_get_no_permission(service):
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = httpx.options(service.url + "/api/predict", headers=headers)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_own_page_is_answered(service):
    host, port = service.address
    own = {"Origin": f"http://{host}:{port}", "Sec-Fetch-Site": "same-origin"}
    assert service.post(**PREDICT, headers=own).status_code == 200
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert service.get("/", headers=linked).status_code == 200


def test_token(guarded):
    right = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.post(**PREDICT, headers=right).status_code == 200
    assert guarded.get("/metrics", headers=right).status_code == 200
    for path in ("/", "/docs", "/openapi.json", "/healthz", "/readyz", "/assets/page.css"):
        assert guarded.get(path).status_code == 200


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Bearer",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN.upper()}",
        f"Basic {TOKEN}",
        TOKEN,
        b"Bearer \xff\xfe",
        "Bearer " + "a" * 5000,
    ],
)
def test_wrong_tokens(guarded, value):
    headers = {} if value is None else {"Authorization": value}
    answer = guarded.post(**PREDICT, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["code"] == "unauthorized"
    for path in ("/metrics", "/api/models", "/api/nothing", "/API/models", "//api/models"):
        assert guarded.get(path, headers=headers).status_code == 401


def test_two_tokens_are_refused(guarded):
    lines = f"Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer x\r\n"
    sent = f"GET /api/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}\r\n"
    assert guarded.raw(sent.encode()).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../pyproject.toml",
        "/assets/..%2f..%2f..%2fetc%2fpasswd",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets/....//....//etc/passwd",
        "/assets//etc/passwd",
        "/assets/..\\..\\etc\\passwd",
        "/assets/page.css%00.html",
        "/assets/try.html",
        "/assets/",
        "/assets/__init__.py",
        "/../../etc/passwd",
    ],
)
def test_paths_do_not_leave_the_assets(service, path):
    sent = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = service.raw(sent.encode())
    assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400")), answer[:200]
    assert b"root:" not in answer


def test_assets(service):
    answer = service.get("/assets/drawing.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "function drawWords" in answer.text
    again = service.get("/assets/drawing.js", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert service.get("/assets/page.css").status_code == 200
    assert service.get("/assets/drawing.css").status_code == 200


def test_page_that_has_not_changed(service):
    answer = service.get("/")
    again = service.get("/", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/models", "/assets/page.css"])
def test_heads(service, path):
    answer = httpx.head(service.url + path)
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) == len(service.get(path).content)
    assert httpx.head(service.url + "/api/predict").status_code == 405


def test_refused_requests_are_counted_under_their_path(guarded):
    right = {"Authorization": f"Bearer {TOKEN}"}
    name = 'discotag_requests_total{path="/api/predict",status="401"}'
    before = guarded.figure(name, right)
    guarded.post(**PREDICT)
    assert guarded.figure(name, right) == before + 1


def test_wrong_methods(service):
    for path in ("/api/predict", "/api/export"):
        answer = service.get(path)
        assert answer.status_code == 405
        assert answer.json()["error"]["code"] == "bad_method"
    assert service.post("/", json={}).status_code == 405


def test_script_in_texts_and_names_is_only_data(service):
    script = "</script><script>alert(1)</script>"
    answer = service.post(json={"text": f"{script} dry mouth", "draw": True})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    wrong = service.post(json={"text": "a", "model": script})
    assert wrong.status_code == 422
    assert wrong.headers["content-type"] == "application/json"
    named = service.post("/api/export", json={"text": f"{script}\r\nX: y", "format": "csv"})
    assert named.headers["content-disposition"] == 'attachment; filename="mentions.csv"'
    for path in (f"/{script}", "/%0d%0aX-Evil:1", "/assets/%3Cscript%3E"):
        assert "alert" not in service.get(path).text
        assert "x-evil" not in service.get(path).headers


def test_formulas_in_texts_are_not_run_by_spreadsheets(service):
    request = {"words": ["=HYPERLINK(1)", "dry", "mouth"], "format": "csv"}
    rows = list(csv.reader(io.StringIO(service.post("/api/export", json=request).text)))
    cells = [cell for row in rows for cell in row]
    assert any("=HYPERLINK" in cell for cell in cells)
    assert not any(cell.startswith("=") for cell in cells)


def test_texts_are_not_logged(service):
    secret = "Xyzzyplugh"
    service.post(json={"text": f"{secret} dry mouth"})
    service.post(json={"text": 3, secret: 1})
    service.post(
        content=f'{{"text": "{secret}'.encode(), headers={"Content-Type": "application/json"}
    )
    service.get(f"/api/{secret}?text={secret}")
    service.get(f"/api/models?{secret}", headers={"Host": secret, "User-Agent": secret})
    service.post("/api/export", json={"text": secret, "format": "conll"})
    log = service.log.read_text()
    assert "POST /api/predict 200" in log
    assert secret.lower() not in log.lower()


def test_errors_do_not_repeat_long_input(service):
    long = "z" * 10_000
    for request in ({long: 1}, {"text": "a", "model": long}, {"text": [long]}, {"bias": long}):
        answer = service.post(json=request)
        assert answer.status_code == 422
        assert len(answer.text) < 500
    assert len(service.get(f"/{long}").text) < 500
    assert len(service.get("/", headers={"Host": long}).text) < 500


def test_unknown_model_is_named(service):
    error = service.post(json={"text": "a", "model": "other"}).json()["error"]
    assert error["code"] == "unknown_model"
    assert "bundled" in error["message"]
    json.dumps(error)
