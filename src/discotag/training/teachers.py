"""Teachers: the probabilities that trained models give, for another model to learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from discotag.errors import InputError
from discotag.mentions import Mention, Sentence
from discotag.model.calibration import Calibration
from discotag.prediction.loading import load
from discotag.prediction.tagger import Tagger
from discotag.scheme import Scheme
from discotag.training.batching import Taught
from discotag.training.processes import divide


def teach(
    models: Sequence[str | Path],
    sentences: Sequence[Sentence],
    scheme: Scheme,
    *,
    mentions: bool = True,
) -> list[Taught]:
    """Return the probabilities of tags and mentions, as the mean over the teachers.

    The mean of marginals is the marginal of the mean distribution, so several teachers are the same
    as one teacher that mixes them.

    Args:
        models: The teachers: folders, names on the hub, or `bundled`.
        sentences: Sentences with words.
        scheme: The scheme of the student; the teachers must have the same.
        mentions: Whether to ask for the probabilities of mentions too.

    Raises:
        InputError: A teacher cannot be loaded, or has another scheme.
    """
    sums = [np.zeros((len(each.words), len(scheme.tags)), np.float32) for each in sentences]
    chances: list[Counter[Mention]] = [Counter() for _ in sentences]
    for model in models:
        tagger = load(model, runtime="torch")
        if tagger.scheme != scheme:
            raise InputError(
                f"{model}: a teacher must have the scheme of the student, {scheme}, but has "
                f"{tagger.scheme}"
            )
        for total, table in zip(
            sums, divide(sentences, partial(tagger.marginals, plain=True)), strict=True
        ):
            total += table
        if mentions:
            found = divide(sentences, partial(_mentions, tagger))
            for known, new in zip(chances, found, strict=True):
                known.update(new)
    return [
        Taught(
            (table / len(models)).astype(np.float16),
            {mention: value / len(models) for mention, value in known.items()},
        )
        for table, known in zip(sums, chances, strict=True)
    ]


def _mentions(tagger: Tagger, sentences: Sequence[Sentence]) -> list[dict[Mention, float]]:
    """Return the mentions that a teacher considers in each sentence, with their probabilities."""
    calibration = tagger.config.calibration or Calibration()
    found = []
    for regions in tagger.options(sentences):
        chances: dict[Mention, float] = {}
        for options, odds in regions:
            discontinuous = np.array([each.discontinuous for each in options.mentions], dtype=bool)
            values = calibration.probability(
                np.array(options.probabilities()), np.array(odds), discontinuous
            )
            chances.update(zip(options.mentions, values.tolist(), strict=True))
        found.append(chances)
    return found
