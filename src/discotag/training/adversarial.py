"""Adversarial training: a second pass of each step, with embeddings that make the loss larger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from transformers import PreTrainedModel

LEAST_NORM: Final = 1e-12
"""Gradients with a smaller norm move nothing: there is no direction in them."""


@contextmanager
def worse_embeddings(encoder: PreTrainedModel, distance: float) -> Iterator[None]:
    """Let an encoder read embeddings that are moved towards a larger loss.

    The embeddings E of subwords become E + distance * g / |g|, where g is the gradient of the loss
    that the last backward pass has left, over all subwords of the batch (Miyato et al. 2017). The
    weights themselves do not change. Gradients of passes inside of this context are added to g.

    Args:
        encoder: The encoder, after a backward pass.
        distance: The norm of the whole change.
    """
    embeddings = encoder.get_input_embeddings()
    weight = embeddings.weight
    assert isinstance(weight, nn.Parameter)
    gradient = weight.grad
    assert gradient is not None
    scale = distance / gradient.norm().clamp_min(LEAST_NORM)

    def move(_: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor:
        # Looked up in the forward pass, before a backward pass changes the gradient.
        with torch.no_grad():
            change: Tensor = nn.functional.embedding(inputs[0], gradient) * scale
        moved: Tensor = output + change
        return moved

    handle = embeddings.register_forward_hook(move)
    try:
        yield
    finally:
        handle.remove()
