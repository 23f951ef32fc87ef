"""Adversarial training: a second pass of each step, with embeddings that make the loss larger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn

from discotag.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

LEAST_NORM: Final = 1e-12
"""Gradients with a smaller norm move embeddings by less, so that a gradient of 0 moves nothing."""


@contextmanager
def worse_embeddings(encoder: PreTrainedModel, distance: float) -> Iterator[None]:
    """Let an encoder read embeddings that are moved towards a larger loss.

    The embeddings E of subwords become E + distance * g / |g|, where g is the gradient of the loss
    that the last backward pass has left, over all subwords of the batch (Miyato et al. 2017). The
    weights themselves do not change. Gradients of passes inside of this context are added to g.

    Args:
        encoder: The encoder, after a backward pass.
        distance: The norm of the whole change.

    Raises:
        InputError: The embeddings are not trained, or the encoder does not use them as they are.
    """
    embeddings = encoder.get_input_embeddings()
    gradient = getattr(embeddings, "weight", torch.empty(0)).grad
    if gradient is None:
        raise _not_movable(encoder)
    scale = distance / gradient.norm().clamp_min(LEAST_NORM)

    def move(_: nn.Module, inputs: tuple[Any, ...], output: Any) -> Tensor:
        if not isinstance(output, Tensor):  # I-BERT rounds its embeddings, and returns the scale
            raise _not_movable(encoder)
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


def _not_movable(encoder: PreTrainedModel) -> InputError:
    kind = encoder.config.model_type
    return InputError(
        f"the embeddings of this {kind} encoder cannot be moved for adversarial training; use "
        "--adversarial 0"
    )
