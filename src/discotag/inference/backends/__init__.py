"""Backends: the algorithms on NumPy, PyTorch and Triton.

`numpy_backend` and `torch_backend` have the same functions, for arrays and for tensors, so that a
caller can take either as its backend. `torch_backend` runs Triton's kernels where they apply.
"""
