"""A tiny exported model, and a job whose output others are compared with."""

import pytest

from archives import BLOCK, made_up, write_lines
from discotag.export import export
from discotag.scale import run_job
from tiny import tiny_model


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A tiny model that onnxruntime reads, so that workers start quickly."""
    folder = tmp_path_factory.mktemp("model")
    export(tiny_model(folder, window=64, overlap=16), folder / "exported", ["my arms hurt"])
    (folder / "exported" / "model_int8.onnx").unlink()
    return str(folder / "exported")


@pytest.fixture(scope="session")
def posts(tmp_path_factory):
    """A file of JSON lines."""
    return write_lines(tmp_path_factory.mktemp("posts") / "posts.jsonl", made_up(1200))


@pytest.fixture(scope="session")
def done(tmp_path_factory, model, posts):
    """The folder of a job on these posts, by one worker."""
    out = tmp_path_factory.mktemp("done") / "out"
    run_job(posts, out, model=model, workers=1, block_bytes=BLOCK)
    return out
