from dataclasses import replace

import pytest
import torch

from discotag.training.adversarial import worse_embeddings
from discotag.training.batching import Loader
from discotag.training.examples import make_examples
from discotag.training.initial_network import make_network
from discotag.training.losses import Learner, make_terms
from discotag.training.settings import Settings
from discotag.training.trainer import make_trainer
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
    return next(iter(Loader(examples, settings.batch_size, seed=1)))


def _learner(settings):
    network = make_network(settings, settings.scheme(("ADR",)), seed=1)
    return Learner(network, make_terms(settings, network, taught=False))


def _pass(learner, batch):
    loss = learner(**batch)["loss"]
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
    assert learner(**batch)["loss"].item() == pytest.approx(loss)


def test_without_a_gradient_nothing_moves(learner, batch):
    loss = learner(**batch)["loss"].item()
    _embeddings(learner).grad = torch.zeros_like(_embeddings(learner))
    with worse_embeddings(learner.network.encoder, DISTANCE):
        assert learner(**batch)["loss"].item() == loss


def test_embeddings_are_released_after_an_error(learner, batch):
    loss = _pass(learner, batch)
    with (
        pytest.raises(RuntimeError, match="stop"),
        worse_embeddings(learner.network.encoder, DISTANCE),
    ):
        raise RuntimeError("stop")
    assert learner(**batch)["loss"].item() == pytest.approx(loss)


@pytest.mark.parametrize(("size", "distance"), [(4, 0.36), (100, 0.18 * len(SENTENCES) ** 0.5)])
def test_the_change_grows_with_the_batch(settings, tmp_path, size, distance):
    settings = replace(settings, batch_size=size)
    network = make_network(settings, settings.scheme(("ADR",)), seed=1)
    examples = make_examples(network, SENTENCES, settings)
    trainer = make_trainer(
        network, examples, SENTENCES, settings, 1, folder=tmp_path, resumable=False
    )
    assert trainer.adversarial == pytest.approx(distance)
