from dataclasses import replace

import pytest
import torch

from discotag.errors import InputError
from discotag.training.adversarial import worse_embeddings
from discotag.training.batching import Batches
from discotag.training.examples import make_examples
from discotag.training.initial_network import make_network
from discotag.training.losses import Learner, make_terms
from discotag.training.settings import Settings
from discotag.training.trainer import Trainer, fit
from learnable import SENTENCES, learnable_encoder

DISTANCE = 0.1


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    encoder = learnable_encoder(tmp_path_factory.mktemp("encoder"))
    # The candidates of a mention scorer are drawn at random.
    return Settings(encoder=str(encoder), mention_scorer=0, dropout=0.0, batch_size=4)


@pytest.fixture
def learner(settings):
    return _learner(settings)


@pytest.fixture
def batch(settings, learner):
    examples = make_examples(learner.network, SENTENCES, settings)
    return next(Batches(examples, settings.batch_size, seed=1).epoch(0))


def _learner(settings):
    network = make_network(settings, settings.scheme(("ADR",)), seed=1)
    return Learner(network, make_terms(settings, network, taught=False))


def _pass(learner, batch):
    loss = learner(**batch)
    loss.backward()
    return loss.item()


def _embeddings(learner):
    return learner.network.encoder.get_input_embeddings().weight


def test_the_second_pass_is_that_of_a_network_with_moved_embeddings(settings, learner, batch):
    moved = _learner(settings)
    before = {name: each.clone() for name, each in learner.state_dict().items()}
    loss = _pass(learner, batch)
    first = {name: each.grad.clone() for name, each in learner.named_parameters()}
    gradient = _embeddings(learner).grad.clone()
    with worse_embeddings(learner.network.encoder, DISTANCE):
        worse = _pass(learner, batch)
    # The same by hand: another network whose weights are changed.
    with torch.no_grad():
        change = DISTANCE * gradient / gradient.norm()
        _embeddings(moved).add_(change)
    assert change.norm().item() == pytest.approx(DISTANCE)
    assert worse == pytest.approx(_pass(moved, batch))
    assert worse > loss + 0.5 * DISTANCE * gradient.norm().item()
    for name, each in moved.named_parameters():
        second = dict(learner.named_parameters())[name].grad - first[name]
        torch.testing.assert_close(second, each.grad, rtol=1e-3, atol=1e-4)
    # Nothing is left of it.
    after = learner.state_dict()
    assert all(torch.equal(each, after[name]) for name, each in before.items())
    assert learner(**batch).item() == pytest.approx(loss)


def test_the_mention_scorer_learns_in_the_first_pass_alone(settings, batch):
    learner = _learner(replace(settings, mention_scorer=8))
    plain = Learner(learner.network, [each for each in learner.terms if each.in_second_pass])
    wanted = plain(**batch).item()
    assert learner(**batch).item() > wanted
    with learner.second_pass():
        assert _pass(learner, batch) == pytest.approx(wanted)
    assert all(each.grad is None for each in learner.network.scorer.parameters())
    # Afterwards it learns again.
    _pass(learner, batch)
    assert all(each.grad is not None for each in learner.network.scorer.parameters())


def test_without_a_gradient_nothing_moves(learner, batch):
    loss = learner(**batch).item()
    _embeddings(learner).grad = torch.zeros_like(_embeddings(learner))
    with worse_embeddings(learner.network.encoder, DISTANCE):
        assert learner(**batch).item() == loss


def test_embeddings_are_released_after_an_error(learner, batch):
    loss = _pass(learner, batch)
    with (
        pytest.raises(RuntimeError, match="stop"),
        worse_embeddings(learner.network.encoder, DISTANCE),
    ):
        raise RuntimeError("stop")
    assert learner(**batch).item() == pytest.approx(loss)


@pytest.mark.parametrize(("size", "sentences"), [(3, 3), (4, 3), (5, 3), (6, 6), (100, 6)])
def test_the_change_grows_with_the_sentences_of_a_batch(settings, learner, size, sentences):
    examples = make_examples(learner.network, SENTENCES, settings)
    given = replace(settings, batch_size=size)
    trainer = Trainer(learner.network, examples, SENTENCES, given, seed=1)
    assert trainer.adversarial == pytest.approx(0.18 * sentences**0.5)


@pytest.mark.parametrize("distance", [0.0, 0.18])
def test_the_second_pass_of_a_step_has_a_larger_loss(settings, monkeypatch, distance):
    losses, real = [], Learner.forward

    def forward(self, **batch):
        found = real(self, **batch)
        losses.append(found.item())
        return found

    monkeypatch.setattr(Learner, "forward", forward)
    settings = replace(settings, adversarial=distance, num_train_epochs=2)
    network = make_network(settings, settings.scheme(("ADR",)), seed=1)
    examples = make_examples(network, SENTENCES, settings)
    epochs = fit(network, examples, SENTENCES, settings, seed=1).epochs
    if not distance:
        assert len(losses) == 4  # one for each step
        return
    assert len(losses) == 8
    first, second = losses[::2], losses[1::2]
    assert all(worse > 1.01 * loss for loss, worse in zip(first, second, strict=True))
    # The loss that is reported is that of the first passes.
    assert [each.loss for each in epochs] == pytest.approx(
        [sum(first[:2]) / 2, sum(first[2:]) / 2], rel=1e-4
    )


def test_embeddings_that_cannot_be_moved_get_one_line(settings, learner, batch):
    encoder = learner.network.encoder
    message = r"^the embeddings of this bert encoder cannot be moved .* use --adversarial 0$"
    with pytest.raises(InputError, match=message), worse_embeddings(encoder, DISTANCE):
        pytest.fail("there is no gradient yet")
    _pass(learner, batch)
    embeddings = encoder.get_input_embeddings()
    pair = embeddings.register_forward_hook(lambda *given: (given[-1], 1.0))
    with pytest.raises(InputError, match=message), worse_embeddings(encoder, DISTANCE):
        learner(**batch)
    pair.remove()
