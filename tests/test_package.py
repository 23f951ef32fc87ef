"""What importing discotag costs, and that what its docstrings show is true."""

import doctest
import importlib
import pkgutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import discotag
from shell import python

MOST_MODULES = 100
"""That importing discotag imports too: some 60, 14 of them its own. NumPy alone has over 100."""

MODULES = {
    module.name: Path(find_spec(module.name).origin).read_text("utf-8")
    for module in pkgutil.walk_packages(discotag.__path__, "discotag.")
    if not module.name.endswith("__main__")
}
"""The text of each module."""


def test_import_is_light():
    code = "import sys, discotag; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = set(python(code).split())
    assert loaded.isdisjoint({"torch", "transformers", "numpy", "onnxruntime", "typer", "rich"})


def test_import_needs_few_modules():
    def modules(code):
        return int(python(f"{code}; import sys; print(len(sys.modules))"))

    assert modules("import discotag") - modules("pass") < MOST_MODULES


ENVIRONMENT = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DISABLE_TELEMETRY")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_predicting_writes_nothing_to_the_home_folder_and_opens_no_socket(tmp_path):
    """Python's sockets are seen by an audit hook, those of libraries among the open files."""
    home, log = tmp_path / "home", tmp_path / "sockets"
    home.mkdir()
    program = f"""
        import os, sys
        seen = []
        sys.addaudithook(lambda event, _: event.startswith("socket.") and seen.append(event))
        from discotag.cli import main
        sys.argv = ["discotag", "predict", "I had pain in arms and shoulders."]
        try:
            main()
        except SystemExit as end:
            assert not end.code, end.code
        for number in os.listdir("/proc/self/fd"):
            try:
                name = os.readlink(f"/proc/self/fd/{{number}}")
            except FileNotFoundError:  # of the listing itself
                continue
            if name.startswith("socket:"):
                seen.append(name)
        open({str(log)!r}, "w").write(repr(seen))
        """
    shown = python(program, without=(*ENVIRONMENT, "XDG_CACHE_HOME"), HOME=str(home))
    assert "shoulders" in shown
    assert list(home.iterdir()) == []
    assert log.read_text() == "[]"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, ["1", "1", "1"]),
        ({"ORT_DISABLE_TELEMETRY": "0"}, ["0", "1", "1"]),
        ({"HF_HUB_DISABLE_TELEMETRY": "0"}, ["1", "0", None]),
        ({"DO_NOT_TRACK": "0"}, ["1", None, "0"]),
    ],
)
def test_telemetry_is_off_unless_the_user_has_chosen(given, wanted):
    names = ["ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK"]
    code = f"import os, discotag; print([os.environ.get(name) for name in {names}])"
    found = python(code, without=(*ENVIRONMENT, *names), **given)
    assert found.strip() == str(wanted)


def test_onnxruntime_is_imported_in_one_place():
    """Where discotag, and with it what turns telemetry off, is sure to be imported before."""
    package = Path(discotag.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "import onnxruntime" in path.read_text("utf-8")
    }
    assert found == {"model/onnx_session.py"}


def test_only_bad_input_is_a_value_error():
    from discotag.cli.messages import Interrupted
    from discotag.corpora.jobs import JobError
    from discotag.errors import DiscotagError, InputError

    assert issubclass(InputError, ValueError)
    assert not issubclass(DiscotagError, ValueError)
    assert not issubclass(JobError, ValueError)
    assert not issubclass(Interrupted, DiscotagError)
    for name in ("MentionError", "SentenceError", "IncompatibleError", "IllFormedError"):
        assert issubclass(getattr(discotag, name), InputError)


def test_public_names_are_there():
    for name in discotag.__all__:
        assert getattr(discotag, name).__doc__


def test_every_module_can_be_imported():
    for name in MODULES:
        importlib.import_module(name)


@pytest.mark.parametrize("name", [name for name, text in MODULES.items() if ">>> " in text])
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
