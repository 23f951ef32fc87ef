"""Export a model to ONNX, in floats and in eight bits, and compare its answers."""

from discotag.export.agreement import SAMPLE, Agreement
from discotag.export.onnx import export

__all__ = ["SAMPLE", "Agreement", "export"]
