"""What must be set before other libraries are imported.

Without a GPU, Triton's kernels run in its interpreter, which it must be told before its import.
Importing discotag turns off the telemetry of onnxruntime, which some tests import themselves.
"""

import os

import pytest
import torch

import discotag  # noqa: F401

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture
def one_thread():
    """Run PyTorch on one thread: more cost more than they save on matrices this small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
