"""The engine of worker processes: they share the work, and may die."""

import signal

import psutil
import pytest

from archives import BLOCK, kill_one, parts_of, receipts_in, started
from discotag.corpora.jobs import JobError
from discotag.errors import DiscotagError
from discotag.scale import processes, read_manifest, run_job
from waiting import wait_for


def job(given, out, model, **options):
    return run_job(given, out, model=model, **{"block_bytes": BLOCK, "workers": 2} | options)


def test_the_number_of_workers_changes_nothing(model, posts, done, tmp_path):
    manifest = job(posts, tmp_path / "out", model)
    assert len(manifest.parts) > 20
    assert parts_of(tmp_path / "out") == parts_of(done)
    assert (tmp_path / "out" / "_manifest.json").read_bytes() == (
        done / "_manifest.json"
    ).read_bytes()
    assert read_manifest(tmp_path / "out") == manifest == read_manifest(done)


def test_a_job_that_was_killed_is_resumed(model, posts, done, tmp_path):
    out = tmp_path / "out"
    with started(posts, out, model=model, block_bytes=BLOCK, workers=2) as other:
        wait_for(lambda: receipts_in(out) >= 3, job=other)
        children = psutil.Process(other.pid).children()
        other.kill()
        other.wait()
    assert not (out / "_manifest.json").exists()
    psutil.wait_procs(children, timeout=20)
    assert not any(child.is_running() for child in children)
    (out / ".part-000000.jsonl.0123abcd.tmp").write_text("half a part")
    with pytest.raises(JobError, match="was begun and is not complete; use --resume"):
        job(posts, out, model)
    receipts = (out / "_receipts").glob("[!.]*")
    before = {path.name: path.stat().st_mtime_ns for path in receipts}
    told = []
    job(posts, out, model, resume=True, workers=1, tell=told.append)
    assert f"{len(before)} of {len(parts_of(done))} parts are already done" in told[0]
    assert parts_of(out) == parts_of(done)
    assert (out / "_manifest.json").read_bytes() == (done / "_manifest.json").read_bytes()
    assert list(out.glob(".*")) == []
    for name, time in before.items():  # nothing was done twice
        assert (out / "_receipts" / name).stat().st_mtime_ns == time


def test_ctrl_c_ends_all_workers(model, posts, tmp_path):
    out = tmp_path / "out"
    with started(posts, out, model=model, block_bytes=BLOCK, workers=2) as other:
        wait_for(lambda: receipts_in(out) >= 1, job=other)
        children = psutil.Process(other.pid).children()
        assert len(children) == 2
        other.send_signal(signal.SIGINT)
        assert other.wait(20) != 0
        assert "KeyboardInterrupt" in other.stderr.read()
    assert not any(child.is_running() for child in children)
    assert not (out / "_manifest.json").exists()
    assert list(out.glob(".*")) == []


def test_a_worker_that_is_killed_is_replaced(model, posts, done, tmp_path):
    out = tmp_path / "out"
    with started(posts, out, model=model, block_bytes=BLOCK, workers=2) as other:
        for number in (2, 6):
            wait_for(lambda number=number: receipts_in(out) >= number, job=other)
            assert kill_one("discotag.scale.processes", other.pid) is not None
        assert other.wait(60) == 0, other.stderr.read()
    assert parts_of(out) == parts_of(done)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("raise SystemExit('no such library')", "no such library"),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9, perhaps for lack of memory"),
    ],
)
def test_a_block_is_tried_a_few_times(monkeypatch, model, posts, tmp_path, command, reason):
    monkeypatch.setattr(processes, "COMMAND", command)
    with pytest.raises(DiscotagError) as caught:
        job(posts, tmp_path / "out", model, workers=1)
    message = str(caught.value)
    assert "posts.jsonl, bytes 0 to " in message
    assert "the worker ended 4 times" in message
    assert reason in message


def test_a_worker_for_each_gpu(monkeypatch, model, posts, tmp_path):
    monkeypatch.setattr(processes, "_count_gpus", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert processes._places("cuda") == [
        {"CUDA_VISIBLE_DEVICES": "0"},
        {"CUDA_VISIBLE_DEVICES": "1"},
    ]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5,7")
    assert len(processes._places("cuda")) == 3
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setattr(processes, "_count_gpus", lambda: 0)
    with pytest.raises(DiscotagError, match="finds no GPU"):
        processes._places("cuda")
    with pytest.raises(DiscotagError, match="finds no GPU"):
        job(posts, tmp_path / "out", model, device="cuda", runtime="onnx")
    assert not (tmp_path / "out").exists()
    assert processes._places("cpu") == [{"OMP_NUM_THREADS": "1"}] * processes.count_cores()
