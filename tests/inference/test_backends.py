"""Compare the backends with each other: long sentences, all kinds of masks, large scores."""

import numpy as np
import pytest
import torch

from discotag import DiscotagError, Scheme
from discotag.inference.backends import torch_backend
from oracle import SCHEMES, name

pytestmark = pytest.mark.slow  # Triton's interpreter

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
needs_triton = pytest.mark.skipif(
    not torch_backend.triton_is_installed(), reason="Triton is not installed"
)
LARGE = Scheme(tuple("ABCDE"), 3, gap_mentions=True)


def masks(random, batch, words):
    """Yield masks with padding on the right and on the left, with holes, all False and all True."""
    lengths = random.integers(0, words + 1, (batch, 1))
    place = np.arange(words)
    yield place < lengths
    yield place >= words - lengths
    yield random.random((batch, words)) < 0.7
    yield np.zeros((batch, words), dtype=bool)
    yield np.ones((batch, words), dtype=bool)


def answers(scheme, scores, mask, backend):
    tags, best = torch_backend.best_tags(scheme.grammar, scores, mask, backend=backend)
    found, total = torch_backend.marginals(scheme.grammar, scores, mask, backend=backend)
    alone = torch_backend.log_partition(scheme.grammar, scores, mask, backend=backend)
    return tags.cpu(), *(each.cpu().float() for each in (best, found, total, alone))


def same(first, second, tolerance):
    assert torch.equal(first[0], second[0])
    for ours, theirs in zip(first[1:], second[1:], strict=True):
        torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=1e-5)


@pytest.mark.parametrize("words", [1, 2, 7, 64, 300])
@pytest.mark.parametrize("scheme", [*SCHEMES, LARGE], ids=name)
def test_numpy_and_pytorch_agree(scheme, words):
    random = np.random.default_rng(words)
    scores = torch.from_numpy(random.normal(size=(4, words, len(scheme.tags))))
    for mask in masks(random, 4, words):
        given = torch.from_numpy(mask)
        same(
            answers(scheme, scores, given, "numpy"),
            answers(scheme, scores, given, "torch"),
            1e-5,
        )


def test_k_best_agrees_under_any_mask():
    scheme = SCHEMES[4]
    random = np.random.default_rng(7)
    scores = torch.from_numpy(random.integers(-2, 3, (5, 7, len(scheme.tags))).astype(float))
    for mask in masks(random, 5, 7):
        found = [
            torch_backend.k_best(scheme.grammar, scores, torch.from_numpy(mask), None, 6, library)
            for library in ("numpy", "torch")
        ]
        assert torch.equal(found[0][0], found[1][0])
        torch.testing.assert_close(found[0][1], found[1][1])


@needs_triton
@pytest.mark.parametrize(("scheme", "k"), [(SCHEMES[4], 6), (LARGE, 2), (SCHEMES[1], 40)])
def test_the_kernel_of_k_best_agrees_with_numpy(scheme, k):
    random = np.random.default_rng(8)
    scores = torch.from_numpy(random.integers(-2, 3, (3, 4, len(scheme.tags))).astype(np.float32))
    for mask in (None, *masks(random, 3, 4)):
        given = None if mask is None else torch.from_numpy(mask)
        there = None if given is None else given.to(DEVICE)
        expected = torch_backend.k_best(scheme.grammar, scores, given, None, k, "numpy")
        found = torch_backend.k_best(scheme.grammar, scores.to(DEVICE), there, None, k, "triton")
        assert torch.equal(found[0].cpu(), expected[0])
        torch.testing.assert_close(found[1].cpu(), expected[1])


def test_masked_out_scores_may_be_anything():
    scores = torch.randn(2, 4, 9)
    mask = torch.tensor([[1, 1, 0, 1]] * 2, dtype=torch.bool)
    for value in (torch.nan, torch.inf, -torch.inf):
        scores[:, 2] = value
        for library in ("numpy", "torch"):
            for answer in answers(SCHEMES[1], scores, mask, library):
                assert answer.float().isfinite().all()


def test_unknown_and_unsuitable_backends():
    scores = torch.zeros(1, 2, 9)
    with pytest.raises(DiscotagError, match="auto, numpy, torch, triton, got 'tirton'"):
        torch_backend.best_tags(SCHEMES[1].grammar, scores, backend="tirton")
    with pytest.raises(DiscotagError, match="arc weights"):
        torch_backend.best_tags(SCHEMES[1].grammar, scores, None, torch.zeros(39), "triton")


@needs_triton
@pytest.mark.parametrize(
    ("scheme", "batch", "words"),
    [(SCHEMES[1], 4, 1), (SCHEMES[1], 4, 4), (SCHEMES[4], 2, 4), (LARGE, 2, 3)],
)
def test_triton_agrees_with_numpy(scheme, batch, words):
    random = np.random.default_rng(words)
    numbers = random.integers(-3, 4, (batch, words, len(scheme.tags)))
    scores = torch.from_numpy(numbers).float()
    for mask in masks(random, batch, words):
        given = torch.from_numpy(mask)
        same(
            answers(scheme, scores.to(DEVICE), given.to(DEVICE), "triton"),
            answers(scheme, scores, given, "numpy"),
            1e-4,
        )


@needs_triton
def test_triton_accepts_scores_that_are_not_contiguous():
    scheme = SCHEMES[1]
    wide = torch.randn(3, 9, 7, device=DEVICE)
    scattered = wide.transpose(1, 2)[:, :5]
    ours = answers(scheme, scattered, None, "triton")
    same(ours, answers(scheme, scattered.contiguous().cpu(), None, "numpy"), 1e-4)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("backend", ["numpy", "torch", pytest.param("triton", marks=needs_triton)])
def test_half_precision_is_computed_in_single(kind, backend):
    scheme = SCHEMES[1]
    device = DEVICE if backend == "triton" else torch.device("cpu")
    scores = torch.randn(3, 5, 9, device=device).to(kind)
    same(
        answers(scheme, scores, None, backend),
        answers(scheme, scores.float(), None, backend),
        0.0,
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_autocast_rounds_nothing(weighted):
    scheme = SCHEMES[1]
    scores = torch.randn(3, 5, 9)
    weights = torch.randn(len(scheme.grammar.arcs)) if weighted else None

    def found(enabled):
        leaves = [each.clone().requires_grad_() for each in (scores, weights) if each is not None]
        given = (scheme.grammar, leaves[0], None, leaves[1] if weighted else None)
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            total = torch_backend.log_partition(*given, backend="torch").sum()
            gradients = torch.autograd.grad(total, leaves)
            entropy = torch_backend.entropy(*given).detach()
            marginals, _ = torch_backend.marginals(*given, backend="torch")
        return [*gradients, entropy, marginals]

    for ours, theirs in zip(found(True), found(False), strict=True):
        assert ours.dtype == torch.float32
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("scale", [1e4, 1.0])
def test_large_scores_and_long_sentences_stay_finite(backend, scale):
    scheme = SCHEMES[1]
    scores = torch.randn(2, 4096, 9).clamp(-1, 1) * scale
    scores.requires_grad_()
    total = torch_backend.log_partition(scheme.grammar, scores, backend=backend)
    total.sum().backward()
    assert total.isfinite().all()
    assert scores.grad.isfinite().all()
    # The probabilities of the tags of a word add up to 1.
    torch.testing.assert_close(scores.grad.sum(2), torch.ones(2, 4096), atol=1e-3, rtol=0)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_empty_batches_and_sentences(shape, backend):
    scheme = SCHEMES[1]
    scores = torch.zeros(*shape, 9)
    tags, best, found, total, alone = answers(scheme, scores, None, backend)
    assert tags.shape == shape
    assert found.shape == (*shape, 9)
    assert best.tolist() == total.tolist() == alone.tolist() == [0.0] * shape[0]
