"""Compare every backend with brute force, for lengths 0 to 5."""

import numpy as np
import pytest
import torch

from brute import Truth, random_scores
from discotag import Scheme
from discotag.inference.arrays import compile_grammar
from discotag.inference.backends import torch_backend
from oracle import SCHEMES, name

pytestmark = pytest.mark.slow  # Triton's interpreter

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=name)
BATCH = 3
# Triton is not available on every system.
needs_triton = pytest.mark.skipif(
    not torch_backend.triton_is_installed(), reason="Triton is not installed"
)


def lengths(backend):
    """Return the lengths to test: fewer for Triton, whose interpreter is slow."""
    return range(1, 4) if backend == "triton" else range(6)


def on(backend, scores):
    """Return scores as a tensor for the backend; Triton's kernels need single precision."""
    tensor = torch.from_numpy(scores)
    return tensor.to(DEVICE, torch.float32) if backend == "triton" else tensor


def close(found, expected, backend):
    np.testing.assert_allclose(
        found.cpu().numpy(), expected, atol=1e-5 if backend == "triton" else 1e-9
    )


@pytest.fixture(params=["numpy", "torch", pytest.param("triton", marks=needs_triton)])
def backend(request):
    return request.param


@every_scheme
def test_best_path(scheme, backend):
    random = np.random.default_rng(1)
    for length in lengths(backend):
        scores = random_scores(random, BATCH, length, len(scheme.tags))
        tags, best = torch_backend.best_tags(scheme.grammar, on(backend, scores), backend=backend)
        for row in range(BATCH):
            score, sequence = Truth(scheme, scores[row]).ranked[0]
            assert tags[row].tolist() == sequence
            close(best[row], score, backend)


@every_scheme
def test_partition_and_marginals(scheme, backend):
    random = np.random.default_rng(2)
    for length in lengths(backend):
        scores = random_scores(random, BATCH, length, len(scheme.tags))
        given = on(backend, scores)
        found, total = torch_backend.marginals(scheme.grammar, given, backend=backend)
        alone = torch_backend.log_partition(scheme.grammar, given, backend=backend)
        for row in range(BATCH):
            truth = Truth(scheme, scores[row])
            close(found[row], truth.marginals, backend)
            close(total[row], truth.partition, backend)
            close(alone[row], truth.partition, backend)


@every_scheme
def test_k_best(scheme, backend):
    random = np.random.default_rng(3)
    for length in lengths(backend):
        scores = random_scores(random, BATCH, length, len(scheme.tags))
        tags, best = torch_backend.k_best(
            scheme.grammar, on(backend, scores), None, None, 7, backend=backend
        )
        assert tags.shape == (BATCH, 7, length)
        for row in range(BATCH):
            ranked = Truth(scheme, scores[row]).ranked[:7]
            assert tags[row, : len(ranked)].tolist() == [sequence for _, sequence in ranked]
            close(best[row, : len(ranked)], [score for score, _ in ranked], backend)
            # The rest is padding.
            assert (best[row, len(ranked) :] == -torch.inf).all()
            assert (tags[row, len(ranked) :] == -1).all()


@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=name)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_arc_weights(scheme, library):
    random = np.random.default_rng(4)
    arcs = compile_grammar(scheme.grammar, weighted=True).arcs
    weights = random.integers(-2, 3, arcs).astype(np.float64)
    for length in range(5):
        scores = random_scores(random, BATCH, length, len(scheme.tags))
        given = (scheme.grammar, torch.from_numpy(scores), None, torch.from_numpy(weights))
        tags, best = torch_backend.best_tags(*given, backend=library)
        found, total = torch_backend.marginals(*given, backend=library)
        _, scores_of_best = torch_backend.k_best(*given, 3, backend=library)
        for row in range(BATCH):
            truth = Truth(scheme, scores[row], weights)
            assert tags[row].tolist() == truth.ranked[0][1]
            close(best[row], truth.ranked[0][0], library)
            close(found[row], truth.marginals, library)
            close(total[row], truth.partition, library)
            expected = [score for score, _ in truth.ranked[:3]]
            close(scores_of_best[row, : len(expected)], expected, library)


def test_a_scheme_large_enough_to_share_arcs():
    scheme = Scheme(tuple("ABCDE"), 3, gap_mentions=True)
    assert len(compile_grammar(scheme.grammar).plan.levels) > 1
    assert len(compile_grammar(scheme.grammar, weighted=True).plan.levels) > 1
    random = np.random.default_rng(5)
    for library in ("numpy", "torch"):
        for length in (0, 1, 2, 3):
            scores = random_scores(random, 2, length, len(scheme.tags))
            given = torch.from_numpy(scores)
            tags, _ = torch_backend.best_tags(scheme.grammar, given, backend=library)
            found, total = torch_backend.marginals(scheme.grammar, given, backend=library)
            many, best = torch_backend.k_best(scheme.grammar, given, None, None, 3, library)
            for row in range(2):
                truth = Truth(scheme, scores[row])
                assert tags[row].tolist() == truth.ranked[0][1]
                assert many[row, 0].tolist() == truth.ranked[0][1]
                expected = [score for score, _ in truth.ranked[:3]]
                close(best[row, : len(expected)], expected, library)
                close(found[row], truth.marginals, library)
                close(total[row], truth.partition, library)
