"""What must be set before other libraries are imported, and which tests are slow.

PyTorch and onnxruntime compute with one thread: the tests run side by side on all cores, their
matrices are small, and threads that wait for each other would take most of the time. Without a GPU,
Triton's kernels run in its interpreter. Importing discotag turns off the telemetry of onnxruntime,
which some tests import themselves. Processes that tests start import discotag and the helpers from
this tree, like the tests themselves, whatever is installed.
"""

import os
from pathlib import Path
from types import ModuleType

os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parents[1] / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
)
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch

import discotag
from slow import mark_slow

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the slow tests; see `slow`."""
    plugins = (each for each in config.pluginmanager.get_plugins() if isinstance(each, ModuleType))
    mark_slow(items, [each for each in plugins if each.__name__.endswith("conftest")])


@pytest.fixture(scope="module")
def tagger():
    """The bundled model."""
    return discotag.load()
