"""Jobs that write one output: locks, records, and going on."""

from pathlib import Path
from threading import Timer

import pytest

from discotag.corpora.formats.jsonl import to_line
from discotag.corpora.jobs import JobError, check_same, compared, locked, record, repair
from discotag.words import Splitter
from locks import held


def test_an_output_has_one_writer(tmp_path):
    out = tmp_path / "out.jsonl"
    (tmp_path / "link.jsonl").symlink_to(out)
    with held(out):
        for path in (out, tmp_path / "link.jsonl", tmp_path / "." / "out.jsonl"):
            with pytest.raises(JobError, match="another process is writing it"), locked(path):
                pass
        with locked(tmp_path / "other.jsonl"):
            pass
    with locked(out):
        pass
    assert list(tmp_path.iterdir()) == [tmp_path / "link.jsonl"]


def test_a_lock_ends_with_its_process(tmp_path):
    out = tmp_path / "out.jsonl"
    with held(out) as other:
        other.kill()
        other.wait()
    with locked(out):
        pass


def test_a_patient_process_waits_for_the_lock(tmp_path):
    out = tmp_path / "out.jsonl"
    with held(out) as other:
        with pytest.raises(JobError, match="another process"), locked(out, patience=0.1):
            pass
        timer = Timer(0.3, other.kill)
        timer.start()
        with locked(out, patience=30):
            assert other.wait(30) != 0
        timer.join()


def test_no_place_to_write(tmp_path):
    with pytest.raises(JobError, match="does not exist"), locked(tmp_path / "no" / "out.jsonl"):
        pass


def test_the_root_folder_is_not_an_output():
    with pytest.raises(JobError, match="/: is the root of the file system"), locked(Path("/")):
        pass


def test_settings_must_be_the_same(tmp_path):
    out = tmp_path / "out.jsonl"
    settings = {"model": "a", "--min-score": 0.5, "input": ("x", "y")}
    record(out, settings)
    check_same(out, settings)
    with pytest.raises(JobError) as caught:
        check_same(out, {**settings, "--min-score": 0.0, "new": 1})
    message = str(caught.value)
    assert "--min-score was 0.5, now 0.0; new was None, now 1" in message
    assert "model" not in message
    with pytest.raises(JobError, match="has no record of its settings"):
        check_same(tmp_path / "other.jsonl", settings)
    (tmp_path / ".out.jsonl.job.json").write_text("[")
    with pytest.raises(JobError, match="has no record of its settings"):
        check_same(out, settings)


def test_half_a_line_is_cut_off(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"{}\n{}\n{")
    assert repair(out) == 2
    assert out.read_bytes() == b"{}\n{}\n"
    assert repair(out) == 2


def test_documents_that_are_done_are_compared(tmp_path):
    out = tmp_path / "out.jsonl"
    documents = [Splitter().document(text, id=text) for text in ("sore arms", "no sleep", "pain")]
    out.write_text("".join(map(to_line, documents[:2])))
    assert list(compared(iter(documents), out, 2)) == documents
    for other in (documents[::-1], documents[:1]):
        with pytest.raises(JobError):
            list(compared(iter(other), out, 2))
