"""What must be set before other libraries are imported.

PyTorch and onnxruntime compute with one thread: the tests run side by side on all cores, their
matrices are small, and threads that wait for each other would take most of the time. Without a GPU,
Triton's kernels run in its interpreter. Importing discotag turns off the telemetry of onnxruntime,
which some tests import themselves.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch

import discotag

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture(scope="module")
def tagger():
    """The bundled model."""
    return discotag.load()
