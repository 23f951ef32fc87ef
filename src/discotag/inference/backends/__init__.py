"""Backends: the algorithms on NumPy, PyTorch and Triton.

`numpy_backend` and `torch_backend` have the same functions, for arrays and for tensors, so that
callers can use either. `torch_backend` runs Triton kernels where they apply.
"""
