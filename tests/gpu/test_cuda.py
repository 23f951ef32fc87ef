"""Compare the kernels, the layer and the tagger on a GPU with the same on the CPU."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest
import torch
import transformers

from discotag import Mention, Scheme, Sentence, TaggingLayer, load
from discotag.inference.backends import torch_backend
from discotag.model.config import ModelConfig
from discotag.model.encoder import speed_up, trainable_attention
from discotag.model.network import Network
from discotag.prediction.runtimes import TorchRuntime
from discotag.prediction.tagger import Tagger
from discotag.training.batching import Batches, encode_batch, in_shared_rows
from discotag.training.examples import make_examples
from discotag.training.losses import Learner, make_terms
from discotag.training.settings import Settings
from discotag.training.trainer import Trainer
from oracle import SCHEMES, name
from tiny import tiny_network, tiny_tokenizer

if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

LARGE = Scheme(tuple("ABCDEFGHIJ"), 3, gap_mentions=True)
PAIN = [Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])]


# Kernels are compiled for each scheme, kind of mask and kind of length: a few seconds each.
@pytest.mark.parametrize("scheme", [SCHEMES[1], LARGE], ids=name)
def test_kernels_agree_with_numpy(scheme):
    random = np.random.default_rng(0)
    for words in (64, 301):
        scores = torch.from_numpy(random.integers(-3, 4, (70, words, len(scheme.tags)))).float()
        mask = torch.from_numpy(random.random((70, words)) < 0.8)
        grammar = scheme.grammar
        assert torch_backend.choose_backend(grammar, scores.cuda(), None) == "triton"
        for given in (None, mask):
            there = None if given is None else given.cuda()
            tags, best = torch_backend.best_tags(grammar, scores.cuda(), there)
            expected_tags, expected_best = torch_backend.best_tags(grammar, scores, given)
            assert torch.equal(tags.cpu(), expected_tags)
            torch.testing.assert_close(best.cpu(), expected_best)
            found, total = torch_backend.marginals(grammar, scores.cuda(), there)
            expected, expected_total = torch_backend.marginals(grammar, scores, given)
            torch.testing.assert_close(total.cpu(), expected_total, rtol=1e-5, atol=1e-3)
            torch.testing.assert_close(found.cpu(), expected, rtol=0, atol=2e-3)
            alone = torch_backend.log_partition(grammar, scores.cuda(), there)
            torch.testing.assert_close(alone, total)


def test_pytorch_is_the_fallback_for_double_precision_and_arc_weights():
    scheme = SCHEMES[1]
    scores = torch.randn(2, 6, 9, device="cuda", dtype=torch.double)
    assert torch_backend.choose_backend(scheme.grammar, scores, None) == "torch"
    layer = TaggingLayer(scheme, arc_weights=True).cuda()
    torch.nn.init.normal_(layer.arc_weights)
    other = TaggingLayer(scheme, arc_weights=True)
    other.load_state_dict(layer.state_dict())
    single = scores.float()
    assert torch.equal(layer.decode(single).cpu(), other.decode(single.cpu()))
    layer.loss(single, [[], []]).backward()
    other.loss(single.cpu(), [[], []]).backward()
    torch.testing.assert_close(layer.arc_weights.grad.cpu(), other.arc_weights.grad)


def test_the_layer_answers_as_on_the_cpu():
    layer = TaggingLayer(SCHEMES[1])
    torch.manual_seed(0)
    scores = torch.randn(2, 6, 9)
    mask = torch.tensor([[1, 1, 1, 0, 1, 1], [0, 1, 1, 0, 0, 0]])
    gold = [PAIN, []]
    results = []
    for device in ("cpu", "cuda"):
        given = scores.to(device).detach().requires_grad_()
        there = mask.to(device)
        loss = layer.loss(given, gold, there)
        loss.backward()
        results.append(
            [
                loss,
                given.grad,
                layer.entropy(given, there),
                layer.marginals(given, there),
                layer.mention_probability(given, gold, there),
                *layer.k_best(given, there, k=3),
                layer.decode(given, there),
            ]
        )
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(theirs.cpu(), ours, atol=1e-5, rtol=1e-4)
    drawn = layer.sample(scores.cuda(), mask.cuda(), number=50)
    assert drawn.shape == (2, 50, 6)
    assert (drawn.movedim(1, -1)[mask == 0] == -1).all()


def test_autocast_and_half_precision():
    layer = TaggingLayer(SCHEMES[1])
    linear = torch.nn.Linear(16, 9).cuda()
    with torch.autocast("cuda", torch.bfloat16):
        scores = linear(torch.randn(4, 20, 16, device="cuda"))
    assert scores.dtype == torch.bfloat16
    assert torch.equal(layer.decode(scores), layer.decode(scores.float()))
    loss = layer.loss(scores, [[]] * 4)
    loss.backward()
    assert loss.dtype == torch.float32
    assert linear.weight.grad.isfinite().all()


def test_large_scores_and_long_sentences_stay_finite():
    scores = (torch.randn(2, 4096, 9, device="cuda").clamp(-1, 1) * 1e4).requires_grad_()
    total = torch_backend.log_partition(SCHEMES[1].grammar, scores)
    total.sum().backward()
    assert total.isfinite().all()
    torch.testing.assert_close(
        scores.grad.sum(2), torch.ones(2, 4096, device="cuda"), atol=1e-3, rtol=0
    )


WORDS = "i had pain in my arms and shoulders knees swollen stiff hurt was bad no sleep".split()


@pytest.fixture(scope="module", params=["structural", "semantic, arc weights", "mention scorer"])
def taggers(request, tmp_path_factory):
    """Return taggers of one network: on the CPU, and on the GPU in float32 and in bfloat16."""
    folder = tmp_path_factory.mktemp("tiny")
    semantic = request.param.startswith("semantic")
    scheme = Scheme(("A", "B"), naming="semantic" if semantic else "structural")
    scorer = 16 if request.param == "mention scorer" else 0
    network = tiny_network(
        folder, scheme, window=64, overlap=16, arc_weights=semantic, mention_scorer=scorer
    )
    network.save_pretrained(folder)
    cpu = Tagger.from_network(Network.from_pretrained(folder), "cpu")
    network = Network.from_pretrained(folder)
    exact = Tagger(network.config, network.tokenizer, TorchRuntime(network, "cuda", half=False))
    return cpu, exact, load(folder, device="cuda")


def sentences(number):
    random = np.random.default_rng(5)
    return [list(random.choice(WORDS, size=random.integers(0, 90))) for _ in range(number)]


def test_the_tagger_answers_as_on_the_cpu(taggers):
    cpu, exact, half = taggers
    given = sentences(300)
    wanted = cpu(given)
    assert sum(bool(document.mentions) for document in wanted) > 100
    found = exact(given)
    assert [each.mentions for each in found] == [each.mentions for each in wanted]
    for one, other in zip(wanted, found, strict=True):
        for left, right in zip(one.mentions, other.mentions, strict=True):
            assert right.score == pytest.approx(left.score, abs=2e-3)
    rounded = half(given)
    same = sum(one.mentions == other.mentions for one, other in zip(wanted, rounded, strict=True))
    assert same > 0.5 * len(given)  # with random weights, many scores are close


def test_small_batches_give_the_same_mentions(taggers):
    _, exact, _ = taggers
    given = sentences(120)
    wanted = exact(given)
    before = exact.runtime.budget
    try:
        exact.runtime.budget = 128
        found = exact(given)
    finally:
        exact.runtime.budget = before
    assert [each.mentions for each in found] == [each.mentions for each in wanted]


def test_alternatives_and_marginals_as_on_the_cpu(taggers):
    cpu, exact, _ = taggers
    given = sentences(30)
    for ours, theirs in zip(
        cpu.alternatives(given, k=4), exact.alternatives(given, k=4), strict=True
    ):
        for one, other in zip(ours, theirs, strict=True):
            assert [each.probability for each in one] == pytest.approx(
                [each.probability for each in other], abs=2e-3
            )
    listed = [Sentence(tuple(each)) for each in given]
    for one, other in zip(cpu.marginals(listed), exact.marginals(listed), strict=True):
        np.testing.assert_allclose(one, other, atol=5e-3)


def test_threads_give_the_same_mentions(taggers):
    _, exact, _ = taggers
    given = sentences(40)
    wanted = exact(given)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(exact, [given] * 8):
            assert [each.mentions for each in found] == [each.mentions for each in wanted]


@pytest.mark.parametrize("objective", ["nll", "soft_em", "hard_em"])
def test_loss_and_gradients_of_a_training_are_those_on_the_cpu(tmp_path, objective):
    settings = Settings(objective=objective)
    network = tiny_network(tmp_path, settings.scheme(("ADR",)))
    network.layer.check = False
    sentences = [Sentence("pain in my arms too".split(), PAIN), Sentence(["pain"])]
    examples = make_examples(network, sentences, settings)
    learner = Learner(network, make_terms(settings, network, taught=False))
    (batch,) = Batches(examples, 2, seed=1, pin=True).epoch(0)
    found = []
    for device in ("cpu", "cuda"):
        learner.to(device).zero_grad()
        loss = learner(**batch.to(torch.device(device)))
        loss.backward()
        given = [each.grad for each in learner.parameters() if each.grad is not None]
        found.append((loss.detach().cpu(), [each.clone().cpu() for each in given]))
    torch.testing.assert_close(found[1], found[0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("half", [False, True], ids=["float32", "bf16"])
@pytest.mark.parametrize("kind", ["Bert", "MPNet", "Roberta"])
def test_windows_have_the_vectors_of_the_plain_encoder(kind, half):
    """Vectors and gradients, each window by itself and several in a row."""
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=300,
        hidden_size=128,
        num_hidden_layers=3,
        num_attention_heads=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.1,
    )
    torch.manual_seed(1)
    encoder = getattr(transformers, f"{kind}Model")(config)
    plain, fast = (
        Network(each, ModelConfig(Scheme(("ADR",))), tiny_tokenizer())
        for each in (encoder, deepcopy(encoder))
    )
    speed_up(fast.cuda().encoder)
    words = "the pain in my arms and shoulders was bad".split()
    sentences = [[words[n * n % 7] for n in range(k, 2 * k)] for k in (60, 33, 20, 9, 7, 2)]
    encoded = plain.tokenizer.encode(sentences)
    batch = encoded.batch(np.arange(len(sentences)))
    alone = {name: torch.from_numpy(each) for name, each in batch.arguments().items()}
    shared = in_shared_rows(batch, encoded.pad_id)
    together = {name: torch.from_numpy(each) for name, each in shared.items()}
    there = alone["mask"]
    weights = torch.randn(*there.shape, 128)

    def finish(network, hidden, batch):
        found = hidden[batch["windows"], batch["positions"]].float()
        network.zero_grad()
        (found * weights.to(found.device))[there].sum().backward()
        last = [each.grad.cpu() for each in network.encoder.parameters() if each.grad is not None]
        return found.detach().cpu()[there], last[-1], last[0]

    wanted = finish(plain, plain.encode(alone["input_ids"], alone["attention_mask"]), alone)
    for given in (alone, together):
        placed = {name: each.cuda() for name, each in given.items()}
        with trainable_attention(), torch.autocast("cuda", torch.bfloat16, enabled=half):
            got = finish(fast, encode_batch(fast, placed), placed)
        for one, other in zip(got, wanted, strict=True):
            error = (one - other).norm() / other.norm()
            assert error < (0.05 if half else 0.002), float(error)


def test_sentences_share_rows_in_a_training(tmp_path):
    settings = Settings()
    network = tiny_network(tmp_path / "encoder", settings.scheme(("ADR",)))
    sentences = [Sentence("pain in my arms too".split(), PAIN), Sentence(["pain"])]
    examples = make_examples(network, sentences, settings)
    (batch,) = Trainer(network, examples, sentences, settings, seed=1).batches.epoch(0)
    assert "owners" in batch
