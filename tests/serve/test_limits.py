"""Limits: each is answered by its status, and the service lives on within its memory."""

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic

import psutil
import pytest

from services import TEXT, serving
from waiting import wait_for

JSON = {"Content-Type": "application/json"}


def code(answer):
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json()["error"]["code"]


def chunks(total, size=1 << 16):
    for _ in range(total // size):
        yield b"a" * size


def test_bodies_of_10_megabytes(service):
    """Also without a length: it is not collected to find out that it is too long."""
    before = psutil.Process(service.process.pid).memory_info().rss
    assert code(service.post(content=b"a" * 10_000_000, headers=JSON)) == (413, "too_large")
    assert code(service.post(content=chunks(10_000_000), headers=JSON)) == (413, "too_large")
    assert service.get("/healthz").status_code == 200
    assert psutil.Process(service.process.pid).memory_info().rss - before < 30_000_000


def test_body_that_is_announced_as_too_large(small):
    head = "POST /api/predict HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
    answer = small.raw(f"{head}Content-Length: 99999999999\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 413")


def test_body_without_end(small):
    """A client that never stops to send is cut off."""
    with socket.create_connection(small.address, timeout=20) as connection:
        connection.sendall(
            b"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        sent = 0
        with suppress(OSError):
            while sent < 200_000_000:
                connection.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")
                sent += 65536
        assert sent < 100_000_000


def test_slow_bodies(small):
    head = b"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    begun = monotonic()
    answer = small.raw(head + b'Content-Length: 100\r\n\r\n{"text"')
    assert answer.startswith(b"HTTP/1.1 408")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "too_slow"
    assert monotonic() - begun < 5


def test_slow_clients_do_not_keep_others_waiting(small):
    head = b"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
    slow = [socket.create_connection(small.address, timeout=10) for _ in range(300)]
    try:
        for each in slow:
            each.sendall(head)
        assert small.post(json={"text": TEXT}).status_code == 200
        assert slow[0].recv(100).startswith(b"HTTP/1.1 408")
    finally:
        for each in slow:
            each.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000,
        b"GET /" + b"a" * 100_000,
    ],
    ids=["long", "many", "path"],
)
def test_large_headers(service, sent):
    answer = service.raw(sent)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")
    assert service.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n\r\n",
        b"GET  HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT evil:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"\x00" * 100,
    ],
)
def test_what_is_not_http(service, sent):
    answer = service.raw(sent.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
    refusals = tuple(b"HTTP/1.1 %d" % status for status in (400, 404, 405, 415))
    assert answer == b"" or answer.startswith(refusals)
    assert service.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"text": "a"', 400),
        (b'{"text": "a"} {}', 400),
        (b'{"text": "\xff"}', 400),
        (b'{"text": "\\ud800"}', 400),
        (b"[" * 15_000, 400),
        (b'{"a":' * 3_000 + b"1" + b"}" * 3_000, 400),
        (b"nonsense", 400),
        (b"[]", 422),
        (b"null", 422),
        (b"3", 422),
        (b"{}", 422),
        (b'{"text": null}', 422),
        (b'{"text": 3}', 422),
        (b'{"texts": "a"}', 422),
        (b'{"texts": ["a", 3]}', 422),
        (b'{"words": [["a"]]}', 422),
        (b'{"sentences": ["a"]}', 422),
        (b'{"text": "a", "texts": ["b"]}', 422),
        (b'{"text": "a", "nonsense": 1}', 422),
        (b'{"text": "a", "min_score": 2}', 422),
        (b'{"text": "a", "min_score": "0.5"}', 422),
        (b'{"text": "a", "min_score": NaN}', 422),
        (b'{"text": "a", "bias": Infinity}', 422),
        (b'{"text": "a", "bias": 1e999}', 422),
        (b'{"text": "a", "bias": 21}', 422),
        (b'{"text": "a", "alternatives": 11}', 422),
        (b'{"text": "a", "alternatives": 1.5}', 422),
        (b'{"text": "a", "alternatives": true}', 422),
        (b'{"text": "a", "alternatives": ' + b"9" * 10_000 + b"}", (400, 422)),
        (b'{"text": "a", "tags": 1}', 422),
        (b'{"text": "a", "model": ["bundled"]}', 422),
    ],
)
def test_wrong_bodies(small, body, status):
    for path in ("/api/predict", "/api/export"):
        answer = small.post(path, content=body, headers=JSON)
        assert answer.status_code in (status if isinstance(status, tuple) else (status,))
        assert code(answer)[1] == "invalid"


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "json"])
def test_wrong_content_types(service, kind):
    """Pages of other sites can post these types without asking; JSON they cannot."""
    headers = {} if kind is None else {"Content-Type": kind}
    answer = service.post(content=b'{"text": "a"}', headers=headers)
    assert code(answer) == (415, "not_json")


def test_content_type_with_parameters(service):
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert service.post(content=b'{"text": "a"}', headers=headers).status_code == 200


def test_sizes(small):
    assert code(small.post(json={"texts": ["a"] * 6})) == (413, "too_many_texts")
    assert code(small.post(json={"sentences": [["a"]] * 6})) == (413, "too_many_texts")
    assert code(small.post(json={"text": "a" * 2_001})) == (413, "too_long")
    assert code(small.post(json={"words": ["a" * 1_001] * 2})) == (413, "too_long")
    assert code(small.post(json={"text": "a. " * 160})) == (413, "too_many_words")
    assert small.post(json={"text": "a " * 300}).status_code == 200
    assert small.post(json={"text": "a" * 2_000}).status_code == 200


def test_10000_texts(service):
    assert code(service.post(json={"texts": ["Dry mouth."] * 10_000})) == (413, "too_many_texts")


def test_sentences_that_are_too_long(service):
    answer = service.post(json={"words": ["a"] * 5_001})
    assert code(answer) == (413, "sentence_too_long")


def test_large_requests_leave_room_for_small_ones(service):
    """While 2,000 texts are tagged, a single text is answered soon."""
    done = []

    def large():
        answer = service.post(json={"texts": ["Pain in arms and shoulders, and dry mouth."] * 2000})
        done.append((answer.status_code, monotonic()))

    thread = threading.Thread(target=large)
    thread.start()
    wait_for(lambda: service.figure("discotag_waiting_words") > 0)
    begun = monotonic()
    assert service.post(json={"text": TEXT}).status_code == 200
    small_end = monotonic()
    thread.join()
    ((status, large_end),) = done
    assert status == 200
    assert small_end < large_end
    assert small_end - begun < (large_end - begun) / 2


def test_too_late(tmp_path):
    with serving(tmp_path, "--max-seconds", 0.5) as service:
        answer = service.post(json={"texts": ["Pain in arms and shoulders."] * 2000})
        assert code(answer) == (504, "too_late")
        wait_for(lambda: service.figure("discotag_waiting_words") == 0)
        assert service.post(json={"text": "a"}).status_code == 200


def test_full_queue_and_too_many_requests(tmp_path):
    with serving(tmp_path, "--max-waiting", 500, "--max-requests", 4) as service:
        request = {"texts": ["Pain in arms and shoulders."] * 60}
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: service.post(json=request), range(32)))
        statuses = {each.status_code for each in answers}
        assert statuses == {200, 503}
        refused = [each for each in answers if each.status_code == 503]
        assert {code(each)[1] for each in refused} == {"overloaded"}
        assert all(each.headers["retry-after"] == "1" for each in refused)
        assert service.post(json=request).status_code == 200


def test_clients_that_go_away(service):
    """Their work is dropped, and their memory freed."""
    body = json.dumps({"texts": ["Pain in arms and shoulders, and dry mouth."] * 2000}).encode()
    head = (
        "POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connections = []
    for _ in range(10):
        connection = socket.create_connection(service.address, timeout=10)
        connection.sendall(head.encode() + body)
        connections.append(connection)
    wait_for(lambda: service.figure("discotag_waiting_words") > 100_000)
    for connection in connections:
        connection.close()
    begun = monotonic()
    wait_for(lambda: service.figure("discotag_waiting_words") == 0)
    assert monotonic() - begun < 5
    assert service.post(json={"text": TEXT}).status_code == 200
    name = 'discotag_requests_total{path="/api/predict",status="499"}'
    assert service.figure(name) >= 10


def test_clients_that_send_half_a_body_and_go_away(service):
    for _ in range(50):
        with socket.create_connection(service.address, timeout=10) as connection:
            connection.sendall(
                b"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n{"
            )
    assert service.post(json={"text": TEXT}).status_code == 200


def test_pipelined_requests(service):
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert service.raw(one * 3 + last).count(b'{"status":"ok"}') == 4


@pytest.mark.parametrize(
    "body",
    [
        b'{"texts":[' + b"0," * 2_000_000 + b"0]}",
        b'{"sentences":[[' + b"0," * 2_000_000 + b"0]]}",
        b'{"sentences":[' + b"[0]," * 700_000 + b"0]}",
        b"{" + b",".join(b'"%x":0' % number for number in range(400_000)) + b"}",
    ],
    ids=["texts", "sentence", "sentences", "fields"],
)
def test_bodies_with_many_errors(service, body):
    """One of them is reported; to collect all of them takes seconds and gigabytes."""
    process = psutil.Process(service.process.pid)
    peaks = [process.memory_info().rss]
    done = threading.Event()

    def watch():
        while not done.wait(0.01):
            peaks.append(process.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    cpu = sum(process.cpu_times()[:2])
    try:
        answer = service.post(content=body, headers=JSON)
    finally:
        done.set()
        watching.join()
    assert code(answer) == (422, "invalid")
    assert len(answer.text) < 200
    assert sum(process.cpu_times()[:2]) - cpu < 2
    assert max(peaks) - peaks[0] < 200_000_000


def test_state_is_answered_while_there_are_too_many_requests(tmp_path):
    body = json.dumps({"texts": ["Pain in arms and shoulders, and dry mouth."] * 2000}).encode()
    head = f"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    with serving(tmp_path, "--max-requests", 1) as service:
        with socket.create_connection(service.address, timeout=10) as connection:
            connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
            wait_for(lambda: service.figure("discotag_waiting_words") > 0)
            for path in ("/healthz", "/readyz", "/metrics"):
                assert service.get(path).status_code == 200
            assert code(service.get("/api/models")) == (503, "overloaded")
        name = 'discotag_requests_total{path="/api/models",status="503"}'
        assert service.figure(name) == 1  # also what is refused is counted under its name
