"""Test the bounds on mentions that cross a boundary, against enumeration."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from brute import Truth
from discotag import Scheme
from discotag.inference.backends import numpy_backend, torch_backend
from oracle import SCHEMES, name

SMALL = [
    Scheme(("A",)),
    Scheme(("A",), gap_mentions=True),
    Scheme(("A",), naming="semantic"),
    Scheme(("A", "B"), slots=0),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=name)
def test_what_comes_after_a_mention_does_not_depend_on_it(scheme):
    grammar = scheme.grammar
    first = grammar.steps[grammar.start]
    assert next(iter(scheme.tags)) == "O"
    for state, steps in enumerate(grammar.steps):
        assert steps.get("O", grammar.start) == grammar.start
        begun = {tag: target for tag, target in steps.items() if tag in first}
        assert begun == (first if state in grammar.finals else {})


def crosses(scheme, sequences, place, weighted):
    """Return which sequences cross the boundary before a word, as `Walls.apart` has it."""
    if weighted:
        return sequences[:, place - 1] != 0
    first = [scheme.tags.index(tag) for tag in scheme.grammar.steps[scheme.grammar.start]]
    return ~np.isin(sequences[:, place], first)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(SMALL),
    st.booleans(),
    st.integers(1, 3),
    st.integers(1, 2),
    st.integers(0, 2),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
)
def test_bounds_hold_whatever_follows(scheme, weighted, before, margin, more, k, seed):
    random = np.random.default_rng(seed)
    scores = random.normal(size=(1, before + margin + more, len(scheme.tags))) * 3
    scores[..., 0] += random.integers(0, 4)
    weights = random.normal(size=len(scheme.grammar.arcs)) if weighted else None
    seen = scores[:, : before + margin]
    mask = np.ones(seen.shape[:2], dtype=bool)
    given = (scheme.grammar, seen, mask, weights, margin, k)
    (odds,), (lead,) = numpy_backend.crossings(*given)
    truth = Truth(scheme, scores[0], weights)
    across = crosses(scheme, truth.sequences, before, weighted)
    share = truth.probabilities[across].sum()
    assert np.log(share) - np.log1p(-share) <= odds + 1e-4 or share == 0
    if lead < 0:
        best = np.argsort(-truth.totals, kind="stable")[:k]
        assert not across[best].any()


def test_the_odds_are_those_of_the_worst_state():
    scheme = Scheme(("A",), slots=0)  # O, CB, CI
    scores = np.array([[[0.0, -5.0, 0.0], [0.0, -5.0, -1.0]]])
    mask = np.ones((1, 2), dtype=bool)
    (odds,), (lead,) = numpy_backend.crossings(scheme.grammar, scores, mask, None, 1, 1)
    # A further CI can follow CB CI, which crosses the boundary, and O CB and CB CB, which do not.
    assert odds == pytest.approx(-6 - np.logaddexp(-5, -10), abs=1e-6)
    assert lead == pytest.approx(-6 + 5, abs=1e-6)
    (_,), (lead,) = numpy_backend.crossings(scheme.grammar, scores, mask, None, 1, 2)
    assert lead == pytest.approx(-6 + 10, abs=1e-6)
    (_,), (lead,) = numpy_backend.crossings(scheme.grammar, scores, mask, None, 1, 3)
    assert lead == np.inf
    (_,), (lead,) = numpy_backend.crossings(scheme.grammar, scores, mask, None, 1, 0)
    assert lead == -np.inf


@pytest.mark.parametrize("scheme", SCHEMES[:6], ids=name)
@pytest.mark.parametrize("weighted", [False, True])
def test_numpy_and_pytorch_agree(scheme, weighted):
    random = np.random.default_rng(5)
    scores = random.normal(size=(4, 9, len(scheme.tags))).astype(np.float32) * 2
    mask = np.arange(9) >= random.integers(0, 4, (4, 1))
    scores[~mask] = np.nan
    weights = None
    if weighted:
        weights = random.normal(size=len(scheme.grammar.arcs)).astype(np.float32)
    one = numpy_backend.crossings(scheme.grammar, scores, mask, weights, 4, 3)
    given = [None if each is None else torch.from_numpy(each) for each in (scores, mask, weights)]
    other = torch_backend.crossings(scheme.grammar, *given, 4, 3)
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-4)
    guess = numpy_backend.guess_crossings(scheme.grammar, scores[0, 4:])
    again = torch_backend.guess_crossings(scheme.grammar, given[0][0, 4:])
    np.testing.assert_allclose(guess, again.numpy(), rtol=1e-6)


def test_the_guess_is_exact_for_short_mentions():
    scheme = Scheme(("A",), slots=0)
    random = np.random.default_rng(1)
    scores = random.normal(size=(5, 3))
    truth = Truth(scheme, scores)
    outside = truth.totals[(truth.sequences == 0).all(1)].item()
    guess = numpy_backend.guess_crossings(scheme.grammar, scores)
    for place in range(5):
        # One mention across the place, and O elsewhere.
        single = (truth.sequences == 1).sum(1) == 1
        chosen = single & crosses(scheme, truth.sequences, place, False)
        assert guess[place] == pytest.approx(np.exp(truth.totals[chosen] - outside).sum())
