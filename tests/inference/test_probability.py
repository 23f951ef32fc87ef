"""Compare probabilities of mentions on NumPy with brute force and with the tagging layer."""

import numpy as np
import pytest
import torch

from brute import Truth, all_mentions, random_scores
from discotag import Mention, Scheme, TaggingLayer
from discotag.inference import probability
from discotag.inference.backends.numpy_backend import mention_probabilities
from oracle import SCHEMES, name


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES, ids=name)
def test_against_brute_force(scheme, weighted):
    random = np.random.default_rng(0)
    weights = random.normal(size=len(scheme.grammar.arcs)) if weighted else None
    for length in range(5):
        scores = random_scores(random, 2, length, len(scheme.tags))
        every = sorted(set().union(*all_mentions(scheme, length)))
        found = mention_probabilities(scheme, scores, [length] * 2, [every, every], weights)
        for row, each in zip(scores, found.reshape(2, len(every)), strict=True):
            truth = Truth(scheme, row, weights)
            wanted = [truth.of_mention(mention) for mention in every]
            np.testing.assert_allclose(each, wanted, atol=1e-9)


def some_mentions(random, length, labels, number):
    for _ in range(number):
        places = np.sort(random.choice(length + 1, size=2 * random.integers(1, 4), replace=False))
        fragments = [(int(a), int(b)) for a, b in places.reshape(-1, 2)]
        yield Mention(str(random.choice(labels)), fragments)


@pytest.mark.parametrize("cells", [1, probability.CELLS])
def test_against_the_layer(cells, monkeypatch):
    """Test sentences of different lengths, with mentions computed together or one at a time."""
    monkeypatch.setattr(probability, "CELLS", cells)
    scheme = Scheme(labels=("A", "B"), gap_mentions=True)
    random = np.random.default_rng(1)
    lengths = [30, 7, 0, 12, 30]
    scores = random.normal(size=(5, 30, len(scheme.tags))).astype(np.float32)
    mentions = [list(some_mentions(random, n, scheme.labels, 9)) if n else [] for n in lengths]
    mentions[4] = []
    mask = torch.arange(30) < torch.tensor(lengths)[:, None]
    wanted = TaggingLayer(scheme).mention_probability(torch.from_numpy(scores), mentions, mask)
    found = mention_probabilities(scheme, scores, lengths, mentions)
    sizes = [len(each) for each in mentions]
    parts = np.split(found, np.cumsum(sizes)[:-1])
    for each, row in zip(parts, wanted.tolist(), strict=True):
        np.testing.assert_allclose(each, row[: len(each)], atol=1e-5)


def test_long_sentences():
    """Test that probabilities in long sentences are as precise as in double precision."""
    scheme = Scheme(labels=("ADR",))
    random = np.random.default_rng(2)
    scores = random.normal(size=(1, 3000, 9)).astype(np.float32) * 3 - 50
    mentions = [Mention("ADR", [(at, at + 1)]) for at in range(0, 3000, 150)]
    found = mention_probabilities(scheme, scores, [3000], [mentions])
    with torch.no_grad():
        exact = TaggingLayer(scheme).mention_probability(
            torch.from_numpy(scores).double(), [mentions]
        )
    np.testing.assert_allclose(found, exact[0].numpy(), atol=1e-6)


@pytest.mark.parametrize("padding", [0, 1e30, -np.inf])
def test_scores_after_a_sentence_are_ignored(padding):
    scheme = Scheme(labels=("ADR",))
    scores = np.random.default_rng(3).normal(size=(2, 4, 9)).astype(np.float32)
    mentions = [[Mention("ADR", [(0, 1)])], [Mention("ADR", [(0, 1), (2, 3)])]]
    (alone,) = mention_probabilities(scheme, scores[:1, :2], [2], mentions[:1])
    scores[0, 2:] = padding
    found = mention_probabilities(scheme, scores, [2, 4], mentions)
    assert found[0] == pytest.approx(alone, abs=1e-6)


def test_mentions_are_computed_together_within_a_limit():
    by_word, arcs = 100, 1000
    mentions = [Mention("ADR", [(0, width)]) for width in range(1, 300) for _ in range(20)]
    wanted = [probability._Wanted(n, 0, each, each.end) for n, each in enumerate(mentions)]
    portions = list(probability._portions(wanted, by_word, arcs))
    listed = sorted(each.number for portion in portions for each in portion)
    assert listed == list(range(len(wanted)))
    assert len(portions) < len(wanted) / 20
    for portion in portions:
        widest = max(each.width for each in portion)
        assert len(portion) * (widest * by_word + arcs) <= probability.CELLS
