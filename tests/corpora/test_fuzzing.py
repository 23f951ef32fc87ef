"""Whatever bytes come in, only CorpusError comes out; for text, not even that if it is reported."""

import shutil

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from any_corpora import CORPORA
from discotag.corpora import CorpusError, read
from discotag.corpora.parsing.problems import KINDS
from samples import DATA, SAMPLES

fuzz = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

SPICE = [
    b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\n", b"\n\n\n", b"\t", b" ", b"|",
    b"-1", b"9" * 30, b"9" * 5000, b"1e999", b"NaN", b"null", b"true", b"{}", b"[]", b'"', b"\\",
    b"\\ud800", b"\\u0000", b"[" * 300, b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"<", b"]]>",
    b"&", b"<!ENTITY a 'b'>", b"</document>", b"\xc2\x85", b"1e400",
    b"I-", b"B-X", b"-DOCSTART-", b"# ", b"T1\t", b";", b"0,0", "\u2028".encode(),
    "\u0085".encode(), "\u200b".encode(), "\u0663".encode(), "🙂".encode(),
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, raw: bytes) -> bytes:
    """A file that was cut, swapped, doubled or had something put into it, up to three times."""
    for _ in range(draw(st.integers(1, 3))):
        first, second = sorted(draw(st.tuples(*[st.integers(0, len(raw))] * 2)))
        way = draw(st.sampled_from(["cut", "end", "double", "swap", "insert", "replace"]))
        if way == "cut":
            raw = raw[:first] + raw[second:]
        elif way == "end":
            raw = raw[:first]
        elif way == "double":
            raw = raw[:second] + raw[first:]
        elif way == "swap":
            raw = raw[second:] + raw[first:second] + raw[:first]
        elif way == "insert":
            raw = raw[:first] + draw(st.sampled_from(SPICE)) + raw[first:]
        else:
            raw = raw[:first] + draw(st.sampled_from(SPICE)) + raw[first + 1 :]
    return raw


def check(path, format):
    """Read with and without mercy."""
    problems = []
    try:
        documents = list(read(path, format, report=problems.append))
    except CorpusError as error:  # a PDF document, for example: there is nothing to be read
        assert error.problem.kind == "binary"
        return
    assert all(problem.kind in KINDS for problem in problems)
    assert all("\n" not in str(problem) for problem in problems)
    for document in documents:
        str(document).encode()
    errors = [problem for problem in problems if problem.severity == "error"]
    try:
        strictly = list(read(path, format))
    except CorpusError as error:
        assert error.problem.kind in KINDS
        assert str(error) == str(errors[0])
    else:
        assert strictly == documents
        assert not errors


def test_every_format_has_a_sample():
    assert set(SAMPLES.values()) == CORPORA.keys() - {"text"}


@pytest.fixture(params=SAMPLES, ids=lambda path: path.name)
def sample(request, tmp_path):
    """A copy of a sample, with what belongs to it."""
    folder = tmp_path / request.param.parent.name
    shutil.copytree(request.param.parent, folder)
    if request.param.is_relative_to(DATA / "knowtator"):
        shutil.copytree(DATA / "knowtator/articles", tmp_path / "articles")
    return folder / request.param.name, SAMPLES[request.param]


@given(data=st.data())
@fuzz
def test_broken_files(sample, data):
    path, format = sample
    original = path.read_bytes()
    try:
        path.write_bytes(data.draw(mutated(original)))
        check(path, format)
    finally:
        path.write_bytes(original)


@given(data=st.data())
@fuzz
def test_broken_texts_of_brat(tmp_path, data):
    path = tmp_path / "joints.txt"
    path.write_bytes(data.draw(mutated((DATA / "brat/good/joints.txt").read_bytes())))
    shutil.copy(DATA / "brat/good/joints.ann", tmp_path)
    check(tmp_path, "brat")


@pytest.mark.parametrize("format", CORPORA)
@given(raw=st.binary(max_size=200) | st.lists(st.sampled_from(SPICE), max_size=8).map(b"".join))
@example(raw=b"%PDF-")
@fuzz
def test_random_bytes(format, tmp_path, raw):
    path = tmp_path / ("any.a1" if format == "bionlp" else "any.ann")
    path.write_bytes(raw)
    (tmp_path / "any.txt").write_bytes(raw[::-1])
    check(path, format)


@given(raw=st.binary(max_size=100) | st.lists(st.sampled_from(SPICE), max_size=5).map(b"".join))
@fuzz
def test_recognising_random_bytes(tmp_path, raw):
    path = tmp_path / "any"
    path.write_bytes(raw)
    try:
        list(read(path, report=lambda problem: None))
    except CorpusError as error:
        assert error.problem.kind in ("missing", "syntax", "binary")


HOSTILE = {
    "deep lists": b"[" * 200_000,
    "deep objects": b'{"a":' * 200_000,
    "closed deep lists": b"[" * 990 + b"]" * 990,
    "deep version": b'{"discotag":' + b"[" * 985 + b"]" * 985 + b"}",
    "deep elements": b"<a>" * 100_000,
    "long number": b'{"sentences":[{"words":[],"start":' + b"9" * 5000 + b"}]}",
    "huge score": b'{"sentences":[{"words":["a"],"mentions":[{"label":"A","words":[[0,1]],"score":'
    + b"9" * 400
    + b"}]}]}",
    "number of W2NER": b'[{"sentence":["a"],"ner":[{"index":[' + b"9" * 5000 + b'],"type":"A"}]}]',
    "large number of W2NER": b'[{"sentence":["a"],"ner":[{"index":[99999999999999999999]}]}]',
    "half a character": rb'{"sentences":[{"words":["\ud83d"]}]}',
    "half a character of W2NER": rb'[{"sentence":["\ud83d"],"ner":[]}]',
    "NULs": bytes(1000),
    "a lone carriage return": b"a\rb\r",
    "only a byte-order mark": b"\xef\xbb\xbf",
    "UTF-16": "Sore toes\n0,1 ADR\n\n".encode("utf-16"),
    "nothing": b"",
    "line ends": b"\n" * 1000,
    "tabs": b"\t\t\n\t\n",
}


@pytest.mark.parametrize("format", CORPORA)
@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(format, raw, tmp_path):
    path = tmp_path / ("any.a1" if format == "bionlp" else "any.ann")
    path.write_bytes(raw)
    (tmp_path / "any.txt").write_bytes(raw)
    check(path, format)
