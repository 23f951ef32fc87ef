"""Ray on two local nodes: workers, nodes and drivers are lost, and no document is."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from archives import BLOCK, kill_one, parts_of, receipts_in, started
from discotag.corpora.jobs import JobError
from discotag.errors import DiscotagError
from discotag.scale import read_manifest, run_job
from discotag.scale.ray_engine import BASE_MEMORY, _Actor, _Attempts, _memory
from discotag.scale.sources import find_sources
from discotag.scale.storage import file_system
from discotag.scale.work import Range, Work
from discotag.words import Splitter
from waiting import wait_for

pytest.importorskip("ray", reason="needs Ray")

ACTOR = "ray::MapWorker"
"""How the processes of workers begin."""


@pytest.fixture(scope="module")
def bucket():
    """The address of a bucket of an S3 server on this machine; None where there is none."""
    if find_spec("moto") is None or find_spec("s3fs") is None:
        yield None
        return
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    patch = pytest.MonkeyPatch()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        patch.setenv(name, value)
    file_system("s3://archive")[0].mkdir("archive")
    yield "s3://archive"
    patch.undo()
    server.stop()


@pytest.fixture(scope="module")
def cluster(bucket):
    """A cluster whose nodes have a core each, and know of the bucket."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    found = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80 << 20},
    )
    yield found
    found.shutdown()


def add_node(cluster):
    return cluster.add_node(num_cpus=1, object_store_memory=80 << 20)


def test_a_worker_and_a_node_are_lost(cluster, model, posts, done, tmp_path):
    node = add_node(cluster)
    out = tmp_path / "out"
    options = {"model": model, "block_bytes": BLOCK, "engine": "ray", "address": cluster.address}
    with started(posts, out, **options) as driver:
        wait_for(lambda: receipts_in(out) >= 2, job=driver)
        assert kill_one(ACTOR, os.getpid()) is not None
        wait_for(lambda: receipts_in(out) >= 6, job=driver)
        cluster.remove_node(node, allow_graceful=False)
        assert receipts_in(out) < len(parts_of(done))
        assert driver.wait(90) == 0, driver.stderr.read()
    cluster.wait_for_nodes(timeout=60)  # else a later driver hears of the loss
    assert parts_of(out) == parts_of(done)
    assert (out / "_manifest.json").read_bytes() == (done / "_manifest.json").read_bytes()


def test_the_driver_is_lost(cluster, bucket, model, posts, done, tmp_path):
    """On S3 where moto and s3fs are installed."""
    given, out = str(posts), str(tmp_path / "out")
    if bucket is not None:
        given, out = f"{bucket}/posts/posts.jsonl", f"{bucket}/out"
        file_system(given)[0].pipe_file(given, posts.read_bytes())
    options = {"model": model, "block_bytes": BLOCK, "engine": "ray", "address": cluster.address}
    with started(given, out, **options) as driver:
        wait_for(lambda: receipts_in(out) >= 3, job=driver)
        driver.kill()
        driver.wait()
    with pytest.raises(JobError, match="the job is not complete"):
        read_manifest(out)
    with started(given, out, **options, resume=True) as driver:
        assert driver.wait(90) == 0, driver.stderr.read()
    assert parts_of(out) == parts_of(done)
    assert read_manifest(out) == read_manifest(done)


def test_the_command_says_only_what_users_need(cluster, model, tmp_path):
    (tmp_path / "posts.jsonl").write_text('{"text": "my arms"}\n{\n')

    def discotag(*options):
        command = [sys.executable, "-m", "discotag", "predict", "posts.jsonl", "--model", model]
        return subprocess.run(
            [*command, "--engine", "ray", "--address", cluster.address, "--out", "out", *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    done = discotag()
    assert done.stderr == (
        "discotag: posts.jsonl:2: not JSON: expecting property name enclosed in double quotes; use "
        "--skip-bad to leave out what is invalid (0 of 1 parts are complete; --resume continues)\n"
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert not (tmp_path / "out" / "_manifest.json").exists()
    done = discotag("--resume", "--skip-bad")
    assert (done.returncode, done.stdout) == (0, "")
    first, second, third = done.stderr.splitlines()
    assert first == "out: 0 of 1 parts are already done"
    assert second.startswith("warning: 1 error in the input")
    assert third.endswith("mentions in 1 document, 1 part")


def test_no_cluster(model, posts, tmp_path):
    with pytest.raises(DiscotagError, match="127.0.0.1:9: there is no Ray cluster"):
        run_job(posts, tmp_path / "out", model=model, engine="ray", address="127.0.0.1:9")
    assert not (tmp_path / "out").exists()


def test_attempts_are_counted():
    attempts = _Attempts()
    assert [attempts.begin(each) for each in (3, 3, 5, 3)] == [0, 1, 0, 2]


def test_a_block_is_not_tried_without_end(monkeypatch, model, posts, tmp_path):
    class Begin:
        @staticmethod
        def remote(block):
            return 4

    class Attempts:
        begin = Begin

    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "get", lambda value: value)
    work = Work(
        str(tmp_path), "jsonl", tuple(find_sources([str(posts)])), None, 9, ((Range(0, 0, 9),),),
        model, "", "onnx", "cpu", Splitter(),
    )  # fmt: skip
    answer = _Actor(work, Attempts)({"block": 0})
    assert answer["receipt"] == ""
    assert "posts.jsonl, bytes 0 to 9: the worker was lost 4 times" in answer["error"]


def test_memory_of_workers(model):
    """Of the tiny model: what every worker needs, and its weights."""
    work = Work("", "jsonl", (), None, 9, (), model, "", "onnx", "cpu", Splitter())
    assert BASE_MEMORY < _memory(work) < BASE_MEMORY + (2 << 20)
