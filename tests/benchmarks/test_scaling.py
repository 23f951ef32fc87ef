"""Tests for the benchmark of how cost grows."""

import json
import math
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "scaling.py"


@pytest.fixture
def scaling(benchmark):
    return benchmark("scaling")


def test_texts_are_the_same_each_time_and_have_different_ids(scaling):
    first, second = list(scaling.texts(50)), list(scaling.texts(50))
    assert first == second
    assert len({each["id"] for each in first}) == 50


def test_long_sentences_have_as_many_words_as_asked_for(scaling):
    assert len(scaling.long_sentence(1000)) == 1000


def test_the_fit_needs_two_sizes(scaling):
    assert math.isnan(scaling.slope([{"n": 10, "s": 1.0}], "n", "s"))
    rows = [{"n": n, "s": 0.5 * n} for n in (1, 100, 1000)]
    assert scaling.slope(rows, "n", "s", least=100) == pytest.approx(1)


def test_workers_are_compared(scaling):
    given = Namespace(texts=60, repeat=1, model=None)
    one, two = scaling.measure_workers(given)
    assert (one["workers"], two["workers"]) == (1, 2)
    assert scaling.verdict("workers", [{"seconds": 3.0}, {"seconds": 2.0}]).startswith(
        "two workers are 1.50 times"
    )


def test_parts_replace_their_earlier_results_and_keep_those_of_others(tmp_path):
    out = tmp_path / "scaling.json"
    out.write_text(json.dumps({"parts": {"batch": {"rows": []}, "length": {"rows": []}}}))
    command = [sys.executable, str(SCRIPT), "length", "--words", "64", "--out", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = json.loads(out.read_text("utf-8"))["parts"]
    assert found["batch"] == {"rows": []}
    assert [row["words"] for row in found["length"]["rows"]] == [16, 64]
    assert all(row["seconds"] > 0 and row["megabytes"] > 0 for row in found["length"]["rows"])
    assert out.with_suffix(".png").exists()
