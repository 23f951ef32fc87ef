"""What importing discotag costs, and that what its docstrings show is true."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import discotag

MOST_MODULES = 100
"""That importing discotag imports too; some 60 are, 14 of them its own. NumPy alone has more than 100."""

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


def test_import_needs_few_modules():
    def modules(code):
        command = [sys.executable, "-c", f"{code}; import sys; print(len(sys.modules))"]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert modules("import discotag") - modules("pass") < MOST_MODULES


def test_public_names_are_there():
    for name in discotag.__all__:
        assert getattr(discotag, name).__doc__


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
