"""Test the tagging layer: brute force, all kinds of masks, bad input, other precisions."""

import copy
import pickle

import numpy as np
import pytest
import torch

from brute import Truth, all_mentions, random_scores
from discotag import (
    DiscotagError,
    IllFormedError,
    IncompatibleError,
    Mention,
    MentionError,
    Scheme,
    TaggingLayer,
)
from discotag.inference import algorithms, probability
from discotag.model.layer import ScoresError, find_gold
from discotag.model.objectives import Objective
from discotag.scheme import UnknownLabelError
from oracle import SCHEMES, name

every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=name)
STRUCTURAL, SEMANTIC = SCHEMES[1], SCHEMES[0]
PAIN = [Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])]  # pain in arms and shoulders


def layer_for(scheme, weighted):
    layer = TaggingLayer(scheme, arc_weights=weighted).double()
    if weighted:
        torch.manual_seed(0)
        torch.nn.init.normal_(layer.arc_weights)
    return layer


def truths(layer, scores):
    weights = None if layer.arc_weights is None else layer.arc_weights.detach().numpy()
    return [Truth(layer.scheme, row.numpy(), weights) for row in scores]


@pytest.mark.parametrize("weighted", [False, True])
@every_scheme
def test_against_brute_force(scheme, weighted):
    layer = layer_for(scheme, weighted)
    random = np.random.default_rng(0)
    for length in range(5 if weighted else 6):
        scores = torch.from_numpy(random_scores(random, 2, length, len(scheme.tags)))
        known = truths(layer, scores)
        with torch.no_grad():
            total, marginals = layer.log_partition(scores), layer.marginals(scores)
            entropy = layer.entropy(scores)
            every = sorted(set().union(*all_mentions(scheme, length)))
            probability = layer.mention_probability(scores, [every, every])
        for row, truth in enumerate(known):
            assert total[row].item() == pytest.approx(truth.partition)
            np.testing.assert_allclose(marginals[row], truth.marginals, atol=1e-9)
            assert entropy[row].item() == pytest.approx(truth.entropy, abs=1e-9)
            expected = [truth.of_mention(mention) for mention in every]
            np.testing.assert_allclose(probability[row], expected, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@every_scheme
def test_losses_against_brute_force(scheme, weighted):
    layer = layer_for(scheme, weighted)
    random = np.random.default_rng(1)
    for length in range(5 if weighted else 6):
        shape = (1, length, len(scheme.tags))
        scores = torch.from_numpy(random_scores(random, *shape, forbid=0.0))
        (truth,) = truths(layer, scores)
        every = sorted(set(all_mentions(scheme, length)), key=sorted)
        for mentions in every[:: 1 + len(every) // 30]:
            check_losses(layer, scores, truth, mentions)


def check_losses(layer, scores, truth, mentions):
    scheme, length = layer.scheme, truth.length
    logs = truth.of_mentions(mentions)
    found = {
        objective: layer.loss(
            scores,
            [mentions],
            objective=objective,
            known_slots=[{}] if objective.startswith("weakly") else None,
        ).item()
        for objective in Objective
    }
    assert found["soft_em"] == pytest.approx(-np.logaddexp.reduce(logs), abs=1e-9)
    assert found["hard_em"] == pytest.approx(-logs.max(), abs=1e-9)
    assert found["weakly_soft_em"] == pytest.approx(found["soft_em"])
    assert found["weakly_hard_em"] == pytest.approx(found["hard_em"])
    names = scheme.encode(length, mentions)
    tags = torch.tensor([[scheme.tags.index(tag) for tag in names]], dtype=torch.long)
    sequence = truth.sequences.tolist().index(tags[0].tolist())
    expected = truth.partition - truth.totals[sequence]
    assert found["nll"] == pytest.approx(expected, abs=1e-9)
    assert layer.loss(scores, tags).item() == pytest.approx(expected, abs=1e-9)
    for objective in ("soft_em", "hard_em"):
        loss = layer.loss(scores, tags, objective=objective)
        assert loss.item() == pytest.approx(found[objective])


def test_samples_have_the_right_frequencies():
    scheme = Scheme(("ADR",))
    scores = torch.from_numpy(random_scores(np.random.default_rng(2), 1, 3, 9))
    layer = TaggingLayer(scheme)
    number = 20_000
    drawn = layer.sample(scores, number=number, generator=torch.Generator().manual_seed(0))
    assert drawn.shape == (1, number, 3)
    truth = Truth(scheme, scores[0].numpy())
    for sequence, share in zip(truth.sequences.tolist(), truth.probabilities, strict=True):
        seen = (drawn[0] == torch.tensor(sequence)).all(1).float().mean().item()
        assert seen == pytest.approx(share, abs=4 * (share * (1 - share) / number) ** 0.5 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scheme", [SEMANTIC, SCHEMES[4]], ids=name)
def test_gradients(scheme, weighted):
    layer = layer_for(scheme, weighted)
    torch.manual_seed(1)
    scores = torch.randn(2, 5, len(scheme.tags), dtype=torch.double, requires_grad=True)
    mask = torch.tensor([[1, 1, 1, 1, 1], [0, 1, 0, 1, 1]], dtype=torch.bool)
    gold = [PAIN, [Mention("ADR", [(0, 1), (2, 3)])]]
    inputs = [scores, *layer.parameters()]
    works = [
        lambda *_: layer.log_partition(scores, mask),
        lambda *_: layer.entropy(scores, mask),
        lambda *_: layer.mention_probability(scores, gold, mask),
        *(
            lambda *_, objective=objective: layer.loss(scores, gold, mask, objective=objective)
            for objective in ("nll", "soft_em", "hard_em")
        ),
    ]
    for work in works:
        assert torch.autograd.gradcheck(work, inputs)


def test_the_gradient_of_the_partition_is_the_marginals():
    layer = TaggingLayer(STRUCTURAL)
    scores = torch.randn(3, 6, 9, requires_grad=True)
    layer.log_partition(scores).sum().backward()
    torch.testing.assert_close(scores.grad, layer.marginals(scores))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("power", [1, 2])
def test_a_second_gradient_raises(weighted, power):
    layer = TaggingLayer(STRUCTURAL, arc_weights=weighted)
    scores = torch.randn(1, 3, 9, requires_grad=True)
    for loss in (layer.log_partition(scores).sum(), layer.loss(scores, [[]])):
        inputs = [scores, *layer.parameters()]
        gradients = torch.autograd.grad(loss**power, inputs, create_graph=True)
        for gradient in gradients:
            with pytest.raises(DiscotagError, match="only be differentiated once"):
                (gradient**2).sum().backward(retain_graph=True)


def test_entropy_is_right_for_long_sentences_and_large_scores():
    layer = TaggingLayer(STRUCTURAL)
    torch.manual_seed(0)
    scores = torch.randn(1, 500, 9) * 10
    exact = layer.entropy(scores.double())
    torch.testing.assert_close(layer.entropy(scores).double(), exact, rtol=1e-3, atol=0)


def test_losses_of_long_sentences_are_precise():
    layer = TaggingLayer(STRUCTURAL)
    torch.manual_seed(0)
    scores = torch.randn(1, 500, 9) * 3
    gold = [[Mention("ADR", [(3, 4), (6, 7)])]]
    exact = layer.loss(scores.double(), gold)
    torch.testing.assert_close(layer.loss(scores, gold).double(), exact, rtol=0, atol=1e-3)


def test_training_works_after_inference_mode():
    scheme = Scheme(("Unseen",))
    layer = TaggingLayer(scheme)
    with torch.inference_mode():
        layer.sample(torch.zeros(1, 3, 9))
        layer.decode(torch.zeros(1, 3, 9))
    scores = torch.zeros(1, 3, 9, requires_grad=True)
    layer.entropy(scores).sum().backward()
    assert scores.grad.isfinite().all()


def test_the_probability_of_decoded_mentions():
    """Compare with the sum over all sequences; one sentence has more mentions than the other."""
    layer = TaggingLayer(STRUCTURAL).double()
    scores = torch.from_numpy(random_scores(np.random.default_rng(0), 2, 6, 9))
    found = [sorted(each) for each in layer.decode_mentions(scores)]
    assert [len(each) for each in found] == [2, 4]
    probability = layer.mention_probability(scores, found)
    assert probability.shape == (2, 4)
    for row, mentions in enumerate(found):
        truth = Truth(STRUCTURAL, scores[row].numpy())
        for place, mention in enumerate(mentions):
            assert probability[row, place].item() == pytest.approx(truth.of_mention(mention))


def test_many_mentions_are_computed_in_chunks(monkeypatch):
    instance = TaggingLayer(STRUCTURAL)
    scores = torch.randn(2, 5, 9)
    mentions = [[Mention("ADR", [(n, n + 1)]) for n in range(5)], PAIN]
    whole = instance.mention_probability(scores, mentions)
    monkeypatch.setattr(probability, "CELLS", 1)
    torch.testing.assert_close(instance.mention_probability(scores, mentions), whole)


def test_the_layer_can_be_called():
    layer, scores = TaggingLayer(STRUCTURAL), torch.randn(1, 5, 9)
    assert layer(scores, [PAIN]) == layer.loss(scores, [PAIN])


def test_several_labels_and_gap_mentions():
    scheme = Scheme(("ADR", "Drug"), 2, gap_mentions=True)
    layer = TaggingLayer(scheme).double()
    random = np.random.default_rng(3)
    for length in (3, 4):
        scores = torch.from_numpy(random_scores(random, 1, length, len(scheme.tags)))
        truth = Truth(scheme, scores[0].numpy())
        every = sorted(set().union(*all_mentions(scheme, length)))
        found = layer.mention_probability(scores, [every])[0]
        np.testing.assert_allclose(found, [truth.of_mention(m) for m in every], atol=1e-9)


def test_arcs_are_counted_over_all_words(monkeypatch):
    layer = layer_for(STRUCTURAL, weighted=True)
    scores = torch.randn(2, 7, 9, dtype=torch.double)
    (whole,) = torch.autograd.grad(layer.log_partition(scores).sum(), layer.arc_weights)
    monkeypatch.setattr(algorithms, "MARGINAL_CELLS", 1)  # one word at a time
    (in_chunks,) = torch.autograd.grad(layer.log_partition(scores).sum(), layer.arc_weights)
    torch.testing.assert_close(in_chunks, whole)
    assert whole.sum().item() == pytest.approx(14)  # one arc per word


def test_masked_out_words_are_ignored():
    layer = TaggingLayer(STRUCTURAL)
    torch.manual_seed(2)
    short = torch.randn(1, 5, 9)
    wide = torch.full((3, 9, 9), torch.nan)
    mask = torch.zeros(3, 9, dtype=torch.long)
    places = [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8], [1, 2, 5, 6, 8]]
    for row, place in enumerate(places):
        wide[row, place] = short[0]
        mask[row, place] = 1
    gold = torch.full((3, 9), -100)
    tags = torch.tensor([STRUCTURAL.tags.index(tag) for tag in STRUCTURAL.encode(5, PAIN)])
    for row, place in enumerate(places):
        gold[row, place] = tags
        assert layer.decode(wide, mask)[row, place].tolist() == layer.decode(short)[0].tolist()
        many = layer.k_best(wide, mask, k=5)[0][row][:, place]
        assert many.tolist() == layer.k_best(short, k=5)[0][0].tolist()
    assert (layer.decode(wide, mask)[mask == 0] == -1).all()
    assert (layer.sample(wide, mask, number=2).movedim(1, -1)[mask == 0] == -1).all()
    assert (layer.k_best(wide, mask, k=2)[0].movedim(1, -1)[mask == 0] == -1).all()
    assert (layer.marginals(wide, mask)[mask == 0] == 0).all()
    for ours, alone in [
        (layer.log_partition(wide, mask), layer.log_partition(short)),
        (layer.entropy(wide, mask), layer.entropy(short)),
        (layer.k_best(wide, mask, k=3)[1], layer.k_best(short, k=3)[1]),
        (layer.loss(wide, [PAIN] * 3, mask, reduction="none"), layer.loss(short, [PAIN])),
        (layer.loss(wide, gold, mask, reduction="none"), layer.loss(short, [PAIN])),
        (
            layer.mention_probability(wide, [PAIN] * 3, mask),
            layer.mention_probability(short, [PAIN]),
        ),
    ]:
        torch.testing.assert_close(ours, alone.expand(ours.shape))
    assert layer.decode_mentions(wide, mask) == layer.decode_mentions(short) * 3


def test_reductions():
    layer = TaggingLayer(STRUCTURAL)
    scores, mask = torch.randn(2, 5, 9), torch.tensor([[1] * 5, [1, 1, 0, 0, 0]])
    gold = [PAIN, []]
    losses = layer.loss(scores, gold, mask, reduction="none")
    assert losses.shape == (2,)
    assert layer.loss(scores, gold, mask, reduction="sum") == losses.sum()
    assert layer.loss(scores, gold, mask) == losses.mean()
    assert layer.loss(scores, gold, mask, reduction="word_mean") == losses.sum() / 7


def test_impossible_mentions_have_probability_0():
    layer = TaggingLayer(Scheme(("ADR",), 2))
    three_parts = Mention("ADR", [(0, 1), (2, 3), (4, 5)])
    found = layer.mention_probability(torch.randn(2, 5, 9), [[three_parts], []])
    assert found.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("objective", ["soft_em", "hard_em"])
def test_known_slots_leave_out_namings(objective):
    layer = TaggingLayer(SEMANTIC).double()
    scores = torch.randn(1, 3, 10, dtype=torch.double)
    gold = [[Mention("ADR", [(0, 1), (2, 3)])]]
    first, second = SEMANTIC.encodings(3, gold[0])

    def of(tags):
        return layer.loss(scores, torch.tensor([[SEMANTIC.tags.index(tag) for tag in tags]]))

    def weakly(**slots):
        known = [{int(word[1:]): slot for word, slot in slots.items()}]
        return layer.loss(scores, gold, objective=f"weakly_{objective}", known_slots=known)

    either = layer.loss(scores, gold, objective=objective)
    torch.testing.assert_close(weakly(w0=0), of(first))
    torch.testing.assert_close(
        weakly(w2=0), of(second)
    )  # one slot fixes the naming of the whole set
    torch.testing.assert_close(weakly(w0=1, w2=0), of(second))
    torch.testing.assert_close(weakly(w0=0, w2=0), either)  # a contradiction is ignored
    torch.testing.assert_close(weakly(w1=0), either)  # not in any component
    longer = torch.randn(1, 4, 10, dtype=torch.double)
    wide = [[Mention("ADR", [(0, 2), (3, 4)])]]
    by_first, by_second = (
        layer.loss(longer, wide, objective=f"weakly_{objective}", known_slots=[{word: 1}])
        for word in (0, 1)
    )
    torch.testing.assert_close(by_first, by_second)  # any word of a component can fix the naming
    assert by_first != layer.loss(longer, wide, objective=objective)
    known = [{0: 1}]
    torch.testing.assert_close(layer.loss(scores, gold, known_slots=known), of(second))


def test_gold_is_encoded_once():
    layer = TaggingLayer(STRUCTURAL)
    find_gold.cache_clear()
    for _ in range(3):
        layer.loss(torch.randn(2, 5, 9), [PAIN, []])
    assert find_gold.cache_info().misses == 2


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (
            lambda layer, s: layer.decode(s[0]),
            ScoresError,
            r"\(batch, words, 9\), got .* \(4, 9\)",
        ),
        (lambda layer, s: layer.decode(s[..., :8]), ScoresError, r"\(2, 4, 8\)"),
        (lambda layer, s: layer.decode(s.long()), ScoresError, "torch.int64"),
        (
            lambda layer, s: layer.decode(s, torch.ones(2, 3)),
            ScoresError,
            r"\(2, 4\), got \(2, 3\)",
        ),
        (lambda layer, s: layer.k_best(s, k=0), ScoresError, "k must be at least 1"),
        (lambda layer, s: layer.sample(s, number=0), ScoresError, "at least 1"),
        (
            lambda layer, s: layer.loss(s, [[]]),
            ScoresError,
            "scores are for 2 sentences, but gold for 1",
        ),
        (lambda layer, s: layer.loss(s, [[], []], objective="crf"), ScoresError, "nll, soft_em"),
        (
            lambda layer, s: layer.loss(s, [[], []], reduction="max"),
            ScoresError,
            "mean, word_mean",
        ),
        (
            lambda layer, s: layer.loss(s, [[], []], objective="weakly_soft_em"),
            ScoresError,
            "needs known_slots",
        ),
        (
            lambda layer, s: layer.loss(s, [[], []], known_slots=[{}]),
            ScoresError,
            "scores are for 2 sentences, but known slots for 1",
        ),
        (
            lambda layer, s: layer.loss(s, torch.zeros(2, 3)),
            ScoresError,
            "gold tags must have shape",
        ),
        (
            lambda layer, s: layer.loss(s, torch.full((2, 4), 2)),
            IllFormedError,
            "sentence 0 of the batch: word 0",
        ),
        (
            lambda layer, s: layer.loss(
                s, [[], [Mention("ADR", [(0, 2)]), Mention("ADR", [(0, 1)])]]
            ),
            IncompatibleError,
            "sentence 1 of the batch: uneven_components",
        ),
        (
            lambda layer, s: layer.loss(s, [[Mention("ADR", [(0, 1)])] * 2, []]),
            IncompatibleError,
            "same_words",
        ),
        (
            lambda layer, s: layer.loss(s, [[Mention("ADR", [(3, 5)])], []]),
            MentionError,
            "sentence 0 of the batch: .* past the end",
        ),
        (
            lambda layer, s: layer.mention_probability(s, [[Mention("B", [(0, 1)])], []]),
            UnknownLabelError,
            "sentence 0 of the batch: the label of B .* not one of ADR",
        ),
        (
            lambda layer, s: layer.mention_probability(s, [[Mention("ADR", [(0, 5)])], []]),
            MentionError,
            "past the end",
        ),
    ],
)
def test_bad_input_raises_errors_of_one_line(work, error, message):
    layer = TaggingLayer(STRUCTURAL)
    with pytest.raises(error, match=message) as caught:
        work(layer, torch.zeros(2, 4, 9))
    assert "\n" not in str(caught.value)


METHODS = {
    "decode": lambda layer, scores: layer.decode(scores),
    "log_partition": lambda layer, scores: layer.log_partition(scores),
    "marginals": lambda layer, scores: layer.marginals(scores),
    "k_best": lambda layer, scores: layer.k_best(scores, k=2),
    "sample": lambda layer, scores: layer.sample(scores),
    "entropy": lambda layer, scores: layer.entropy(scores),
    "loss": lambda layer, scores: layer.loss(scores, [[], [], []]),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_errors_say_which_score_is_not_a_number(method, value):
    scores = torch.zeros(3, 4, 9)
    scores[1, 2, 3] = value
    with pytest.raises(ScoresError, match="sentence 1, position 2, tag DB-Bx: the score is"):
        method(TaggingLayer(STRUCTURAL), scores)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_errors_say_which_sentence_has_no_sequence(method):
    scores = torch.zeros(3, 4, 9)
    scores[2, 0] = -torch.inf
    with pytest.raises(ScoresError, match="sentence 2: no well-formed tag sequence"):
        method(TaggingLayer(STRUCTURAL), scores)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_empty_batches_and_sentences(method):
    layer = TaggingLayer(STRUCTURAL)
    method(layer, torch.zeros(3, 0, 9))
    weighted = TaggingLayer(STRUCTURAL, arc_weights=True)
    weighted.loss(torch.zeros(3, 0, 9, requires_grad=True), [[], [], []]).backward()
    if method is not METHODS["loss"]:
        method(layer, torch.zeros(0, 4, 9))
    assert layer.loss(torch.zeros(0, 4, 9), []).item() == 0
    assert layer.mention_probability(torch.zeros(0, 4, 9), []).shape == (0, 0)


def test_only_parameters_are_in_the_state_dict():
    assert TaggingLayer(STRUCTURAL).state_dict() == {}
    assert list(TaggingLayer(STRUCTURAL, arc_weights=True).state_dict()) == ["arc_weights"]
    layer = TaggingLayer(STRUCTURAL)
    layer.decode(torch.zeros(1, 2, 9))
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert other.scheme == layer.scheme
    assert "slots=2" in repr(layer)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision(kind):
    layer = TaggingLayer(STRUCTURAL)
    torch.manual_seed(3)
    scores = torch.randn(4, 20, 9).to(kind)
    assert torch.equal(layer.decode(scores), layer.decode(scores.float()))
    scores.requires_grad_()
    loss = layer.loss(scores, [[]] * 4)
    loss.backward()
    assert loss.dtype == torch.float32
    assert scores.grad.dtype == kind
    assert scores.grad.isfinite().all()


def test_autocast():
    layer = TaggingLayer(STRUCTURAL, arc_weights=True)
    linear = torch.nn.Linear(8, 9)
    with torch.autocast("cpu", torch.bfloat16):
        loss = layer.loss(linear(torch.randn(2, 5, 8)), [PAIN, []])
    loss.backward()
    assert loss.dtype == torch.float32
    assert linear.weight.grad.isfinite().all()
    assert layer.arc_weights.grad.isfinite().all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["decode", "log_partition", "marginals"])
@pytest.mark.parametrize("write", [torch.jit.trace, torch.export.export])
def test_models_that_are_traced_or_exported_are_refused(method, write):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = TaggingLayer(Scheme(labels=("A",)))

        def forward(self, scores):
            return getattr(self.layer, method)(scores)

    with pytest.raises(DiscotagError, match="cannot be traced or exported"):
        write(Model(), (torch.randn(2, 3, 9),))


def test_compiled_models():
    layer = TaggingLayer(STRUCTURAL)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.layer = torch.nn.Linear(8, 9), layer

        def forward(self, words):
            return self.layer.loss(self.linear(words), [PAIN, []])

    model, words = Model(), torch.randn(2, 5, 8)
    expected = model(words)
    found = torch.compile(model, backend="eager")(words)
    torch.testing.assert_close(found, expected)
    found.backward()
    assert model.linear.weight.grad is not None


@every_scheme
def test_soundness_under_fuzzing(scheme):
    """Test that decoding 100,000 score matrices of all schemes gives well-formed tags."""
    random = np.random.default_rng(6)
    layer = TaggingLayer(scheme)
    accepts = scheme.grammar.accepts
    for words in (1, 2, 3, 5, 8, 13):
        shape = (1_400, words, len(scheme.tags))
        for kind in (random.normal(size=shape) * 5, random_scores(random, *shape)):
            for row in layer.decode(torch.from_numpy(kind)).tolist():
                tags = [scheme.tags[tag] for tag in row]
                assert accepts(tags)
                scheme.decode(tags)


def test_encode_is_the_inverse_of_decode_mentions():
    scheme = Scheme(("A", "B"), slots=3, gap_mentions=True)
    layer = TaggingLayer(scheme)
    torch.manual_seed(0)
    scores = torch.randn(6, 9, len(scheme.tags))
    mask = torch.rand(6, 9) > 0.3
    mask[2] = False
    mentions = layer.decode_mentions(scores, mask)
    tags = layer.encode(mentions, mask)
    assert tags.dtype == torch.long
    assert torch.equal(tags, layer.decode(scores, mask))


def test_encode_says_which_sentence_is_wrong():
    layer = TaggingLayer(Scheme(("A",)))
    mask = torch.ones(2, 3, dtype=torch.bool)
    with pytest.raises(DiscotagError, match="sentence 1 of the batch: the label of B"):
        layer.encode([[], [Mention("B", [(0, 1)])]], mask)
    with pytest.raises(DiscotagError, match="got 1 sentence for a mask of 2 rows"):
        layer.encode([[]], mask)
