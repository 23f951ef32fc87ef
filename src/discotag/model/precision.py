"""What an export in eight bits computes with; importing this is cheap."""

from __future__ import annotations

from enum import StrEnum


class EightBits(StrEnum):
    """What an export in eight bits computes with.

    Attributes:
        PRODUCTS: The large matrix products are computed in eight bits, weights and vectors alike:
            the fastest on a CPU.
        WEIGHTS: Weights are kept in eight bits, in small blocks, and everything is computed in
            floats: the closest to the model that was exported.
    """

    PRODUCTS = "products"
    WEIGHTS = "weights"
