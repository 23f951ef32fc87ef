"""What importing discotag costs, and that what its docstrings show is true."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
import time

import pytest

import discotag

MODULES = [
    module.name
    for module in pkgutil.walk_packages(discotag.__path__, "discotag.")
    if not module.name.endswith("__main__")
]


def test_import_is_light():
    code = "import sys, discotag; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"torch", "transformers", "numpy", "onnxruntime", "typer", "rich"})


def test_import_is_quick():
    def seconds(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    # The best of several: a busy machine must not fail this.
    with_it, without = (
        min(seconds(code) for _ in range(5)) for code in ("import discotag", "pass")
    )
    assert with_it - without < 0.3


def test_public_names_are_there():
    for name in discotag.__all__:
        assert getattr(discotag, name).__doc__


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
