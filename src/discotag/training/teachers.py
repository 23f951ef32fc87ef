"""What trained models say of sentences, for a smaller one to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from discotag.errors import DiscotagError
from discotag.mentions import Sentence
from discotag.model.files import find_model
from discotag.model.network import Network
from discotag.scheme import Scheme
from discotag.training.batches import Marginals
from discotag.training.figures import Examined


def teach(
    models: Sequence[str | Path],
    sentences: Sequence[Sentence],
    scheme: Scheme,
    *,
    bf16: bool = False,
) -> list[Marginals]:
    """The probability of each tag of each word, as the mean over the teachers.

    The mean of marginals is the marginal of the mean distribution, so several teachers are one
    that mixes them.

    Args:
        models: The teachers: folders, names on the hub, or `bundled`.
        sentences: With words.
        scheme: Of the student; the teachers must have the same.
        bf16: Compute in half precision.

    Returns:
        For each sentence (words, tags).

    Raises:
        DiscotagError: A teacher cannot be loaded, or has another scheme.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    sums = [np.zeros((len(each.words), len(scheme.tags)), np.float32) for each in sentences]
    for model in models:
        network = Network.from_pretrained(find_model(model)).to(device)
        if network.layer.scheme != scheme:
            raise DiscotagError(
                f"{model}: a teacher must have the scheme of the student, {scheme}, but has "
                f"{network.layer.scheme}"
            )
        examined = Examined(network, sentences)
        for numbers, found in examined.over_scores(network, network.layer.marginals, bf16):
            for number, table in zip(numbers, found.float().cpu().numpy(), strict=True):
                sums[number] += table[: len(sums[number])]
    return [(each / len(models)).astype(np.float16) for each in sums]
