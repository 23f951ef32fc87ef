"""Whatever the bytes are, only the library's own errors come out of these readers."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discotag.corpora import CorpusError, read

DATA = Path(__file__).parents[2] / "data"
SAMPLES = {
    "bioc-xml": DATA / "bioc/posts.xml",
    "bioc-json": DATA / "bioc/posts.json",
    "bigbio": DATA / "bigbio/posts.jsonl",
    "knowtator": DATA / "knowtator/annotations/case1.txt.knowtator.xml",
}
PIECES = st.one_of(
    st.binary(max_size=4),
    st.sampled_from(
        [b"<", b"&", b'"', b"-1", b"99999999999999999999", b"\\ud800", b"null", b"[]", b"{}", b"[",
         b"<!ENTITY a 'b'>", b"</document>", b"\xff", b"\x00", b"\xc2\x85", b"1e400", b"true"]
    ),
)  # fmt: skip


@pytest.mark.parametrize("format", SAMPLES)
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_changed_samples(tmp_path, format, data):
    content = SAMPLES[format].read_bytes()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = min(start + data.draw(st.sampled_from([0, 1, 2, 20])), len(content))
        content = content[:start] + data.draw(PIECES) + content[end:]
    (tmp_path / "case1.txt").write_bytes((DATA / "knowtator/articles/txt/case1.txt").read_bytes())
    path = tmp_path / "file"
    path.write_bytes(content)
    found = []
    try:
        for document in read(path, format, report=found.append):
            str(document).encode()
    except CorpusError as error:  # the file cannot be read at all, such as a damaged gzip file
        found.append(error.problem)
    errors = [problem for problem in found if problem.severity == "error"]
    try:
        list(read(path, format))
    except CorpusError as error:
        assert str(error) == str(errors[0])
        assert len(str(error).split("\n")) == 1
    else:
        assert not errors
