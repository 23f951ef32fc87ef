"""Candidates as arrays, and the mention scorer that reads them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Mention
from discotag.export.scorer import write_scorer
from discotag.model.candidates import COUNTS, Bag, features, tabulate
from discotag.model.mention_scorer import MentionScorer
from discotag.model.onnx_session import FEATURES, open_scorer

LABELS = ("A", "B")


@st.composite
def batches(draw):
    """Sentences of up to nine words, with any mentions."""
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    mentions = []
    for length in lengths:
        chosen = draw(st.lists(st.sets(st.integers(0, length - 1), min_size=1), max_size=4))
        mentions.append([_mention(words, draw(st.sampled_from(LABELS))) for words in chosen])
    return np.array(lengths), mentions


def _mention(words, label):
    listed = sorted(words)
    fragments = []
    for word in listed:
        if fragments and fragments[-1][1] == word:
            fragments[-1][1] = word + 1
        else:
            fragments.append([word, word + 1])
    return Mention(label, fragments)


def _bags(mention, length):
    """The words of each bag, read off the definition."""
    inside = [word for start, end in mention.fragments for word in range(start, end)]
    first, last = inside[0], inside[-1]
    return {
        Bag.FIRST: [first],
        Bag.LAST: [last],
        Bag.WORDS: inside,
        Bag.GAP: [word for word in range(first, last) if word not in inside],
        Bag.BEFORE: [first - 1] if first else [],
        Bag.AFTER: [last + 1] if last + 1 < length else [],
        Bag.LEAVING: [end - 1 for _, end in mention.fragments[:-1]],
        Bag.ENTERING: [start for start, _ in mention.fragments[1:]],
        Bag.OPENING: [end for _, end in mention.fragments[:-1]],
        Bag.CLOSING: [start - 1 for start, _ in mention.fragments[1:]],
    }


@settings(deadline=None)
@given(batches())
def test_bags_and_counts_are_those_of_the_definition(batch):
    lengths, mentions = batch
    bases = np.cumsum(lengths) - lengths
    found = tabulate(mentions, lengths, bases, LABELS)
    bags = iter(np.split(found.words, found.offsets[1:]))
    listed = [(row, mention) for row, each in enumerate(mentions) for mention in each]
    assert len(found.labels) == len(listed)
    for number, (row, mention) in enumerate(listed):
        wanted = _bags(mention, lengths[row])
        for bag in Bag:
            assert next(bags).tolist() == [bases[row] + word for word in wanted[bag]]
        sizes = [len(wanted[Bag.WORDS]), len(wanted[Bag.GAP]), len(mention.fragments) - 1]
        assert found.counts[number, :3] == pytest.approx(np.log1p(sizes))
        assert found.counts[number, 3] == mention.discontinuous
        assert LABELS[found.labels[number]] == mention.label


@pytest.fixture(scope="module")
def scorers(tmp_path_factory):
    """A mention scorer, and its export as a session of onnxruntime."""
    path = tmp_path_factory.mktemp("scorer") / "scorer.onnx"
    torch.manual_seed(0)
    scorer = MentionScorer(6, len(LABELS), 5).eval()
    write_scorer(scorer, path)
    return scorer, open_scorer(path, len(Bag) * 6 + COUNTS + len(LABELS))


@settings(deadline=None, max_examples=30)
@given(batch=batches())
def test_numpy_and_onnxruntime_score_as_pytorch_does(scorers, batch):
    scorer, session = scorers
    lengths, mentions = batch
    found = tabulate(mentions, lengths, np.cumsum(lengths) - lengths, LABELS)
    vectors = np.random.default_rng(0).normal(size=(lengths.sum(), 6)).astype(np.float32)
    with torch.no_grad():
        wanted = scorer(torch.from_numpy(vectors), found)
    (scores,) = session.run(None, {FEATURES: features(vectors, found, len(LABELS))})
    np.testing.assert_allclose(scores[:, 0], wanted.numpy(), atol=1e-5)


def test_the_gradient_reaches_the_vectors():
    scorer = MentionScorer(4, 1, 3)
    vectors = torch.randn(5, 4, requires_grad=True)
    mention = Mention("A", [(1, 2), (3, 4)])
    found = tabulate([[mention]], np.array([5]), np.array([0]), ["A"])
    scorer(vectors, found).sum().backward()
    assert (vectors.grad != 0).any(1).tolist() == [True] * 5  # the neighbours too


def test_no_candidates_have_no_scores():
    found = tabulate([[], []], np.array([2, 3]), np.array([0, 2]), LABELS)
    assert features(np.zeros((5, 4), np.float32), found, 2).shape == (0, len(Bag) * 4 + COUNTS + 2)
    assert MentionScorer(4, 2, 3)(torch.zeros(5, 4), found).shape == (0,)
