"""Faster attention for DeBERTa-v2 and v3.

Hugging Face's attention multiplies every subword by the vectors of all 512 relative positions,
copies them for each sentence of the batch, and gathers from the products. A batch of sentences of n
subwords has only 2n - 1 relative positions. This attention multiplies by these only, and addresses
the product of a pair of subwords by strides instead of an index. The results are the same up to
rounding. On an NVIDIA H200, in bfloat16, the encoder as a whole takes less than half the time:
62,000 sentences of patient posts per second instead of 27,000.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.models.deberta_v2 import modeling_deberta_v2
from transformers.models.deberta_v2.modeling_deberta_v2 import (
    DebertaV2Encoder,
    DisentangledSelfAttention,
)

from discotag.model.encoder import replace_modules


def speed_up(encoder: PreTrainedModel) -> None:
    """Replace the attention of a DeBERTa encoder by the faster one; its weights do not change."""
    if getattr(encoder.config, "relative_attention", False):
        kinds = {DebertaV2Encoder: _Encoder, DisentangledSelfAttention: _Attention}
        replace_modules(encoder, kinds)


class _Encoder(DebertaV2Encoder):
    def get_rel_pos(self, *arguments: Any, **named: Any) -> None:
        """Return nothing: `_Attention` does not need the table of relative positions.

        Building it would make the host wait for the GPU.
        """


class _Attention(DisentangledSelfAttention):
    """Attention whose scores are (q·k + q·P[i-j] + k·P'[i-j]) / sqrt(terms · size)."""

    def forward(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor,
        output_attentions: bool = False,
        query_states: Tensor | None = None,
        relative_pos: Tensor | None = None,
        rel_embeddings: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the vectors, (batch, subwords, size); the arguments are Hugging Face's."""
        if output_attentions or query_states is not None or rel_embeddings is None:
            return super().forward(  # type: ignore[no-any-return, no-untyped-call]
                hidden_states,
                attention_mask,
                output_attentions,
                query_states,
                relative_pos,
                rel_embeddings,
            )
        batch, length, _ = hidden_states.shape
        query, key = self.query_proj(hidden_states), self.key_proj(hidden_states)
        terms = 1 + ("c2p" in self.pos_att_type) + ("p2c" in self.pos_att_type)
        scale = (self.attention_head_size * terms) ** -0.5
        rows = _relative_rows(
            length,
            self.position_buckets,
            self.max_relative_positions,
            self.pos_ebd_size,
            hidden_states.device,
        )
        bias = query.new_zeros(())
        if "c2p" in self.pos_att_type:
            project = self.key_proj if self.share_att_key else self.pos_key_proj
            table = project(self.pos_dropout(rel_embeddings[rows[0]])) * scale
            bias = self._shifted(query, table)
        if "p2c" in self.pos_att_type:
            project = self.query_proj if self.share_att_key else self.pos_query_proj
            table = project(self.pos_dropout(rel_embeddings[rows[1]])) * scale
            bias = bias + self._shifted(key, table).transpose(-1, -2)
        bias = bias.masked_fill(~attention_mask.bool(), torch.finfo(bias.dtype).min)
        value = self.value_proj(hidden_states)
        query, key, value = map(self._heads, (query, key, value))
        context = self._attend(query, key, value, bias, scale)
        return context.transpose(1, 2).reshape(batch, length, -1), None

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor, scale: float
    ) -> Tensor:
        """Return softmax(scale · q·k + bias) · v, (batch, heads, subwords, size)."""
        if not bias.requires_grad:
            return functional.scaled_dot_product_attention(
                query, key, value, attn_mask=bias, scale=scale
            )
        # Not all of PyTorch's fused kernels have a gradient for the bias.
        scores = torch.matmul(query * scale, key.transpose(-1, -2)) + bias
        chances: Tensor = self.dropout(functional.softmax(scores, dim=-1))
        return torch.matmul(chances, value)

    def _heads(self, vectors: Tensor) -> Tensor:
        """Return vectors, (batch, subwords, heads · size), as (batch, heads, subwords, size)."""
        return vectors.view(*vectors.shape[:-1], self.num_attention_heads, -1).transpose(1, 2)

    def _shifted(self, vectors: Tensor, table: Tensor) -> Tensor:
        """Return (batch, heads, i, j): the product of vector i and row j - i + n - 1 of a table.

        Args:
            vectors: (batch, n, heads · size).
            table: (2n, heads · size).
        """
        batch, length, _ = vectors.shape
        heads = self.num_attention_heads
        flat = vectors.reshape(batch * length, heads, -1).transpose(0, 1)
        # (heads, batch · n, 2n), without a copy of the table for each sentence
        products = torch.bmm(flat, table.view(2 * length, heads, -1).permute(1, 2, 0))
        # The position of (i, j) in memory: i · 2n + (j - i + n - 1) = i · (2n - 1) + j + n - 1.
        width = 2 * length - 1
        found = products.view(heads, batch, -1)[..., length - 1 : length - 1 + length * width]
        found = found.view(heads, batch, length, width)[..., :length]
        return found.transpose(0, 1)


@lru_cache(maxsize=1024)
def _relative_rows(length: int, buckets: int, most: int, size: int, device: torch.device) -> Tensor:
    """Return the rows of the relative embeddings for j - i = 1 - n, …, n; then for i - j."""
    distances = torch.arange(1 - length, length + 1)
    forms = []
    for distance in (-distances, distances):
        if buckets > 0 and most > 0:
            distance = modeling_deberta_v2.make_log_bucket_position(distance, buckets, most)
        forms.append((distance.long() + size).clamp(0, 2 * size - 1))
    with torch.inference_mode(False):
        return torch.stack(forms).to(device)
