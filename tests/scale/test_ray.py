"""Ray on two local nodes: workers, nodes and drivers are lost, and no document is."""

import os

import pytest

from archives import (
    BLOCK,
    kill_one,
    parts_of,
    receipts_in,
    started,
    wait_for,
)
from discotag.errors import DiscotagError
from discotag.scale import run_job
from discotag.scale.ray_engine import _Attempts

pytest.importorskip("ray", reason="needs Ray")

ACTOR = "ray::MapWorker"
"""How the processes of workers begin."""


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two nodes with a core each."""
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
        assert kill_one(ACTOR) is not None
        wait_for(lambda: receipts_in(out) >= 6, job=driver)
        cluster.remove_node(node, allow_graceful=False)
        assert receipts_in(out) < len(parts_of(done))
        assert driver.wait(90) == 0, driver.stderr.read()
    assert parts_of(out) == parts_of(done)
    assert (out / "_manifest.json").read_bytes() == (done / "_manifest.json").read_bytes()


def test_the_driver_is_lost(cluster, model, posts, done, tmp_path):
    out = tmp_path / "out"
    options = {"model": model, "block_bytes": BLOCK, "engine": "ray", "address": cluster.address}
    with started(posts, out, **options) as driver:
        wait_for(lambda: receipts_in(out) >= 3, job=driver)
        driver.kill()
        driver.wait()
    assert not (out / "_manifest.json").exists()
    with started(posts, out, **options, resume=True) as driver:
        assert driver.wait(90) == 0, driver.stderr.read()
    assert parts_of(out) == parts_of(done)


def test_a_bad_document_ends_the_job(cluster, model, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": "my arms"}\n{\n')
    options = {"model": model, "engine": "ray", "address": cluster.address}
    with started(tmp_path / "bad.jsonl", tmp_path / "out", **options) as driver:
        said = driver.stderr.read()
        assert driver.wait(90) == 1
    assert "bad.jsonl:2: not JSON" in said
    assert not (tmp_path / "out" / "_manifest.json").exists()


def test_no_cluster(model, posts, tmp_path):
    with pytest.raises(DiscotagError, match="127.0.0.1:9: there is no Ray cluster"):
        run_job(posts, tmp_path / "out", model=model, engine="ray", address="127.0.0.1:9")
    assert not (tmp_path / "out").exists()


def test_attempts_are_counted():
    attempts = _Attempts()
    assert [attempts.begin(each) for each in (3, 3, 5, 3)] == [0, 1, 0, 2]
