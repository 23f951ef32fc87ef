"""Teachers: the tag probabilities of trained models, for another model to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from discotag.errors import InputError
from discotag.mentions import Sentence
from discotag.prediction.loading import load
from discotag.scheme import Scheme
from discotag.training.batching import Marginals


def teach(
    models: Sequence[str | Path], sentences: Sequence[Sentence], scheme: Scheme
) -> list[Marginals]:
    """Return the probability of each tag of each word, as the mean over the teachers.

    The mean of marginals is the marginal of the mean distribution, so several teachers are the same
    as one teacher that mixes them.

    Args:
        models: The teachers: folders, names on the hub, or `bundled`.
        sentences: Sentences with words.
        scheme: The scheme of the student; the teachers must have the same.

    Returns:
        For each sentence, probabilities of shape (words, tags).

    Raises:
        InputError: A teacher cannot be loaded, or has another scheme.
    """
    sums = [np.zeros((len(each.words), len(scheme.tags)), np.float32) for each in sentences]
    for model in models:
        tagger = load(model, runtime="torch")
        if tagger.scheme != scheme:
            raise InputError(
                f"{model}: a teacher must have the scheme of the student, {scheme}, but has "
                f"{tagger.scheme}"
            )
        for total, table in zip(sums, tagger.marginals(sentences), strict=True):
            total += table
    return [(each / len(models)).astype(np.float16) for each in sums]
