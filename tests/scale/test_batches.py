"""A callable for batches: tables, frames and dictionaries; pipelines of Ray and Spark."""

import os
import pickle
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discotag import load
from discotag.errors import InputError
from discotag.scale import TagBatches, batches
from discotag.scale.columns import mentions_type
from discotag.words import Splitter

TEXTS = ["I had pain in my arms and shoulders.", None, "", "my knees"]


def wanted(model, texts=TEXTS, **options):
    return [
        [(m.label, m.text, m.score) for m in each.mentions]
        for each in load(model).predict(texts, **options)
    ]


def found(column):
    return [[(m["label"], m["text"], m["score"]) for m in each] for each in column]


def test_tables(model):
    table = pa.table({"n": [1, 2, 3, 4], "comment": TEXTS})
    tagged = TagBatches("comment", model=model)(table)
    assert tagged.column_names == ["n", "comment", "mentions"]
    assert tagged.schema.field("mentions").type == mentions_type()
    assert found(tagged["mentions"].to_pylist()) == wanted(model)
    assert table.column_names == ["n", "comment"]
    empty = TagBatches("comment", model=model)(table.slice(0, 0))
    assert empty.schema == tagged.schema


def test_frames(model):
    frame = pd.DataFrame({"text": TEXTS}, index=[4, 5, 6, 7])
    tagged = TagBatches(model=model, mentions_column="found")(frame)
    assert list(frame) == ["text"]
    assert list(tagged.index) == [4, 5, 6, 7]
    assert found(tagged["found"]) == wanted(model)
    several = TagBatches(model=model).frames([frame, frame[:1]])
    assert [len(each) for each in several] == [4, 1]


@pytest.mark.parametrize("make", [list, lambda texts: np.array(texts, dtype=object)])
def test_dictionaries(model, make):
    batch = {"text": make(TEXTS), "n": np.arange(4)}
    tagged = TagBatches(model=model)(batch)
    assert list(tagged) == ["text", "n", "mentions"]
    assert found(tagged["mentions"].to_pylist()) == wanted(model)
    assert tagged["mentions"].type == mentions_type()
    words = TagBatches(model=model)({"text": np.array(["my knees", "arms"])})
    assert found(words["mentions"].to_pylist()) == wanted(model, ["my knees", "arms"])


def test_options(model):
    frame = pd.DataFrame({"text": TEXTS})
    options = {"min_score": 0.3, "bias": 1.0, "batch_size": 1}
    tagged = TagBatches(model=model, **options)(frame)
    assert found(tagged["mentions"]) == wanted(model, **options)
    lines = TagBatches(model=model, splitter=Splitter("lines"))(pd.DataFrame({"text": ["a\nb"]}))
    assert len(lines) == 1
    with pytest.raises(InputError, match="min_score must be from"):
        TagBatches(min_score=2)


def test_it_is_small_and_loads_the_model_once(monkeypatch, model):
    tag = TagBatches(model=model)
    assert len(pickle.dumps(tag)) < 1000
    batches._loaded.cache_clear()
    for copy in (tag, pickle.loads(pickle.dumps(tag))):
        copy(pd.DataFrame({"text": ["my arms"]}))
    assert batches._loaded.cache_info().misses == 1


def test_wrong_batches(model):
    tag = TagBatches("comment", model=model)
    with pytest.raises(InputError, match="no column named 'comment'; columns are text, n"):
        tag({"text": ["a"], "n": [1]})
    with pytest.raises(InputError, match="there is a column named 'mentions' already"):
        tag(pd.DataFrame({"comment": ["a"], "mentions": [1]}))
    with pytest.raises(InputError, match="got list"):
        tag(["a"])


RAY = """
import os, sys
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
import ray
from discotag.scale import TagBatches
ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
posts = ray.data.from_items([{"text": f"my arms {n}"} for n in range(40)] + [{"text": ""}])
tag = TagBatches(model=sys.argv[1])
for form in ("numpy", "pyarrow", "pandas"):
    found = posts.map_batches(tag, batch_size=10, batch_format=form).take_all()
    assert len(found) == 41, len(found)
    mentions = {row["text"]: row["mentions"] for row in found}
    assert len(mentions[""]) == 0
    print(form, sum(map(len, mentions.values())))
"""


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
def test_in_a_pipeline_of_ray(model):
    done = subprocess.run([sys.executable, "-c", RAY, model], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    texts = [f"my arms {n}" for n in range(40)]
    number = sum(map(len, wanted(model, texts)))
    assert done.stdout.split("\n")[:3] == [
        f"{form} {number}" for form in ("numpy", "pyarrow", "pandas")
    ]


SPARK = """
import sys
from pyspark.sql import SparkSession
from discotag.scale import TagBatches
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
rows = [(n, f"my arms {n}") for n in range(40)] + [(40, None)]
posts = spark.createDataFrame(rows, "`a b` int, text string")
tag = TagBatches(model=sys.argv[1])
found = posts.repartition(4).mapInPandas(tag.frames, tag.spark_schema(posts))
print(found.schema.simpleString())
rows = found.orderBy("a b").collect()
assert [row["a b"] for row in rows] == list(range(41))
assert len(rows[40]["mentions"]) == 0
print(sum(len(row["mentions"]) for row in rows))
"""


@pytest.mark.skipif(find_spec("pyspark") is None, reason="needs pyspark")
def test_in_a_pipeline_of_spark(model):
    done = subprocess.run(
        [sys.executable, "-c", SPARK, model],
        capture_output=True,
        text=True,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr
    schema, number = done.stdout.split("\n")[:2]
    assert schema == (
        "struct<a b:int,text:string,mentions:array<struct<label:string,text:string,"
        "spans:array<array<bigint>>,fragments:array<array<bigint>>,score:double>>>"
    )
    assert int(number) == sum(map(len, wanted(model, [f"my arms {n}" for n in range(40)])))
