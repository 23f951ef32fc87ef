import itertools
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from discotag import Mention, Scheme, Sentence, TaggingLayer
from discotag.described import described
from discotag.model.config import ModelConfig
from discotag.model.network import Network
from discotag.training import batching, losses
from discotag.training.batching import Batches, Taught
from discotag.training.examples import make_examples
from discotag.training.initial_network import make_network
from discotag.training.losses import (
    GoldTerm,
    Learner,
    MentionTerm,
    Step,
    TeacherTerm,
    Term,
    make_terms,
)
from discotag.training.progress import ignore
from discotag.training.settings import LEARNING, Settings
from discotag.training.trainer import fit
from learnable import SENTENCES, learnable_encoder, sentence


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return learnable_encoder(tmp_path_factory.mktemp("encoder"))


@dataclass(frozen=True)
class MoreSettings(Settings):
    """The line in the settings that a new term needs."""

    presence_weight: float = described(0.0, "The weight of `Presence`.", group=LEARNING, least=0)


class Presence(Term):
    """A head for training only: whether a sentence has mentions."""

    def __init__(self, size, weight):
        super().__init__()
        self.head = nn.Linear(size, 1)
        self.weight = weight

    @classmethod
    def from_settings(cls, settings, network, *, taught):
        if not settings.presence_weight:
            return None
        return cls(network.encoder.config.hidden_size, settings.presence_weight)

    def forward(self, step):
        rows, tags = step.gold.row, step.gold.gold.tag
        present = torch.zeros(len(step.mask)).index_add(0, rows, (tags > 0).float()) > 0
        mean = (step.vectors * step.mask[..., None]).sum(1) / step.mask.sum(1, keepdim=True)
        guessed = self.head(mean.float())[:, 0]
        return self.weight * nn.functional.binary_cross_entropy_with_logits(
            guessed, present.float(), reduction="none"
        )


@pytest.fixture
def presence(monkeypatch):
    """List the new term, and keep those that are made."""
    made = []

    class Kept(Presence):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append((self, self.head.weight.detach().clone()))

    monkeypatch.setattr(losses, "TERMS", [*losses.TERMS, Kept])
    return made


def test_the_terms_are_those_that_the_settings_ask_for(encoder, presence):
    network = Network.from_encoder(encoder, ModelConfig(Scheme(("ADR",))))
    (gold,) = make_terms(MoreSettings(objective="soft_em"), network, taught=False)
    assert (type(gold), gold.objective, gold.weight) == (GoldTerm, "soft_em", 1.0)
    settings = MoreSettings(teacher_weight=0.3, presence_weight=2.0)
    gold, teacher, new = make_terms(settings, network, taught=True)
    assert (type(gold), gold.weight) == (GoldTerm, 0.7)
    assert (type(teacher), teacher.weight) == (TeacherTerm, 0.3)
    assert (new, new.weight) == (presence[0][0], 2.0)


def test_a_new_term_is_trained_and_leaves_no_trace_in_the_model(encoder, presence, tmp_path):
    fast = {"num_train_epochs": 20, "learning_rate": 5e-3, "batch_size": 2, "dropout": 0.0}
    fast["head_learning_rate"] = 5e-3
    settings = MoreSettings(encoder=str(encoder), presence_weight=0.5, **fast)
    network = make_network(settings, settings.scheme(("ADR",)), 1)
    names = {*network.state_dict()}
    examples = make_examples(network, SENTENCES, settings)
    assert fit(network, examples, SENTENCES, settings, seed=1).best.f1 == 1.0
    ((term, before),) = presence
    assert not torch.equal(term.head.weight, before)
    (batch,) = Batches(examples, len(SENTENCES), seed=1).epoch(0)
    learner = Learner(network.eval(), [term])
    with torch.no_grad():
        after = learner(**batch).item()
        term.head.weight.copy_(before)
        assert after < 0.8 * learner(**batch).item()  # the head has learned
    assert {*network.state_dict()} == names


def test_a_term_with_weights_goes_on_from_a_checkpoint(encoder, presence, tmp_path):
    fast = {"num_train_epochs": 4, "learning_rate": 5e-3, "batch_size": 2, "dropout": 0.1}
    settings = MoreSettings(encoder=str(encoder), presence_weight=0.5, **fast)

    def stop(now):
        if now.epoch == 3:
            raise KeyboardInterrupt

    def trained(folder, *listeners):
        folder.mkdir()
        for listener in listeners:
            network = make_network(settings, settings.scheme(("ADR",)), 1)
            examples = make_examples(network, SENTENCES, settings)
            try:
                fit(
                    network, examples, SENTENCES, settings, seed=1, folder=folder, listener=listener
                )
            except KeyboardInterrupt:
                continue
        return presence[-1][0].head.weight

    whole = trained(tmp_path / "whole", ignore)
    again = trained(tmp_path / "again", stop, ignore)
    assert torch.equal(whole, again)


def test_cross_entropy_with_teachers_is_that_of_distributions_over_sequences(encoder):
    """Against a sum over all well-formed sequences."""
    scheme = Scheme(("ADR",))
    network = Network.from_encoder(encoder, ModelConfig(scheme)).eval()
    torch.manual_seed(3)
    teacher_scores = torch.randn(1, 4, len(scheme.tags))
    marginals = network.layer.marginals(teacher_scores)
    words = sentence("pain in my arms")
    teacher = [Taught(marginals[0].numpy().astype(np.float16), {})]
    settings = Settings()
    examples = make_examples(network, [], settings, unlabelled=[words], teacher=teacher)
    (batch,) = Batches(examples, 1, seed=1).epoch(0)
    with torch.no_grad():
        learner = Learner(network, make_terms(settings, network, taught=True))
        found = learner(**batch).item()
        arrays = ("input_ids", "attention_mask", "windows", "positions", "mask")
        scores = network(**{name: batch[name] for name in arrays})

    def log_probabilities(of):
        tags, best = network.layer.k_best(of, k=scheme.grammar.count(4))
        order = sorted(range(tags.shape[1]), key=lambda n: tags[0, n].tolist())
        return (best - network.layer.log_partition(of))[0, order]

    truth = -(log_probabilities(teacher_scores).exp() * log_probabilities(scores)).sum().item()
    assert found == pytest.approx(truth, abs=2e-3)  # the teacher is kept in half precision


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_gold_and_teachers_are_mixed_by_weight(encoder, weight):
    scheme = Scheme(("ADR",))
    network = Network.from_encoder(encoder, ModelConfig(scheme)).eval()
    torch.manual_seed(3)
    marginals = network.layer.marginals(torch.randn(1, 4, len(scheme.tags)))
    teacher = Taught(marginals[0].numpy().astype(np.float16), {})
    gold = Sentence(("pain", "in", "my", "arms"), (Mention("ADR", ((0, 1), (3, 4))),))
    settings = Settings(teacher_weight=weight)

    def loss(labelled, unlabelled, teacher):
        examples = make_examples(
            network, labelled, settings, unlabelled=unlabelled, teacher=teacher
        )
        (batch,) = Batches(examples, 1, seed=1).epoch(0)
        with torch.no_grad():
            learner = Learner(network, make_terms(settings, network, taught=teacher is not None))
            return learner(**batch).item()

    of_gold, of_teacher = loss([gold], [], None), loss([], [gold], [teacher])
    assert abs(of_gold - of_teacher) > 0.1
    mixed = (1 - weight) * of_gold + weight * of_teacher
    assert loss([gold], [], [teacher]) == pytest.approx(mixed, rel=1e-5)


ARMS, SHOULDERS, PAIN = (Mention("ADR", each) for each in ([(0, 4)], [(0, 3), (5, 6)], [(0, 1)]))


@pytest.mark.parametrize("labelled", [True, False])
def test_targets_of_candidates_mix_gold_and_teachers(labelled):
    term = MentionTerm(0.25)
    batch = {"mentions": [[ARMS], []]}
    step = Step(network_of(2), None, None, None, batch)
    # Two rounds of two sentences.
    drawn = [[ARMS, PAIN], [PAIN], [PAIN], []]
    assert term._targets(step, drawn) == [{ARMS: 1.0, PAIN: 0.0}, {PAIN: 0.0}]
    batch |= {
        "chances": [{ARMS: 0.5, SHOULDERS: 0.8}, {}],
        "labelled_rows": [labelled, labelled],
    }
    first, second = term._targets(step, drawn)
    weight = 0.25 if labelled else 1.0
    wanted = {ARMS: (1 - weight) + weight * 0.5, PAIN: 0.0, SHOULDERS: weight * 0.8}
    assert first == pytest.approx(wanted)
    assert second == {PAIN: 0.0}


def _labelled(mentions):
    return [Mention("ADR", each) for each in mentions]


def test_words_that_are_joined_across_a_conjunction_are_candidates():
    # "chest pain and dry mouth , rash"
    gold = _labelled([[(0, 2)], [(3, 5)], [(6, 7)]])
    assert list(losses.find_joined(gold)) == _labelled(
        [
            [(0, 2), (4, 5)],  # "chest pain … mouth"
            [(0, 1), (3, 5)],  # "chest … dry mouth"
            [(3, 4), (6, 7)],  # "dry … rash"
        ]
    )
    others = [Mention("Drug", [(0, 2)]), *_labelled([[(3, 5)]])]
    assert not list(losses.find_joined(others))  # other labels
    assert not list(losses.find_joined(_labelled([[(0, 2)], [(4, 6)]])))  # two words between
    assert not list(losses.find_joined(_labelled([[(0, 1), (4, 5)], [(6, 8)]])))  # a set


def test_joined_words_are_wrong_unless_they_are_gold():
    gold = _labelled([[(0, 2)], [(3, 5)], [(0, 1), (3, 5)]])
    joined = {Mention("ADR", [(0, 2), (4, 5)]): 0.0}
    # Without two slots there are no discontinuous mentions.
    for slots, more in ((0, {}), (1, {}), (2, joined)):
        step = Step(network_of(slots), None, None, None, {"mentions": [gold]})
        (targets,) = MentionTerm()._targets(step, [[]])
        assert targets == dict.fromkeys(gold, 1.0) | more


def network_of(slots):
    """Return what terms ask of a network."""
    return SimpleNamespace(layer=SimpleNamespace(scheme=Scheme(("ADR",), slots)))


def test_the_loss_of_the_mention_scorer_is_the_sum_over_candidates(encoder):
    """With a scorer that says 0, each candidate costs log 2."""
    settings = Settings(encoder=str(encoder))
    network = make_network(settings, settings.scheme(("ADR",)), 1).eval()
    nn.init.zeros_(network.scorer.out.weight)
    nn.init.zeros_(network.scorer.out.bias)
    nn.init.zeros_(network.linear.weight)
    with torch.no_grad():
        network.linear.bias.zero_()[0] = 100.0  # no tag but O, with or without noise
    examples = make_examples(network, SENTENCES, settings)
    (batch,) = Batches(examples, len(SENTENCES), seed=1).epoch(0)
    with torch.no_grad():
        loss = Learner(network, [MentionTerm()])(**batch).item()
    gold = sum(len(each.mentions) for each in SENTENCES)
    assert loss == pytest.approx(gold * np.log(2) / len(SENTENCES), rel=1e-5)


def test_sentences_with_discontinuous_mentions_weigh_more(encoder):
    settings = Settings(encoder=str(encoder), mention_scorer=0)
    network = make_network(settings, settings.scheme(("ADR",)), 1).eval()

    def loss(one, weight):
        examples = make_examples(network, [one], settings)
        (batch,) = Batches(examples, 1, seed=1).epoch(0)
        with torch.no_grad():
            term = GoldTerm(settings.objective, discontinuous_weight=weight)
            return Learner(network, [term])(**batch).item()

    for each in SENTENCES:
        factor = 5 if any(mention.discontinuous for mention in each.mentions) else 1
        assert loss(each, 5.0) == pytest.approx(factor * loss(each, 1.0), rel=1e-5)


@pytest.mark.parametrize("options", [{}, {"mention_scorer": 0}, {"arc_weights": True}])
def test_every_parameter_has_a_gradient_even_without_a_mention_or_a_candidate(encoder, options):
    """Otherwise, processes that train together would wait for the others' gradients in vain."""
    settings = Settings(encoder=str(encoder), **options)
    network = make_network(settings, settings.scheme(("ADR",)), 1)
    with torch.no_grad():
        network.linear.bias[0] = 1000.0  # all words are outside of mentions, whatever the noise
    examples = make_examples(network, [sentence("the sleep was in my arms")], settings)
    learner = Learner(network, make_terms(settings, network, taught=False))
    (batch,) = Batches(examples, 1, seed=1).epoch(0)
    learner(**batch).backward()
    assert all(each.grad is not None for each in learner.parameters())


def test_windows_that_are_encoded_apart_have_the_same_loss(encoder, monkeypatch):
    settings = Settings(encoder=str(encoder), mention_scorer=0, dropout=0.0, window=16, overlap=2)
    network = make_network(settings, settings.scheme(("ADR",)), 1)
    long = sentence("my arms and shoulders hurt " * 5, [(1, 2), (4, 5)])  # has several windows
    examples = make_examples(network, [*SENTENCES, long], settings)
    batch = next(Batches(examples, len(examples), seed=1).epoch(0))
    assert [*batch["attention_mask"].sum(1)] != [16] * len(batch["attention_mask"])
    learner = Learner(network, make_terms(settings, network, taught=False))
    found, widths = {}, []
    real = network.encode

    def encode(input_ids, attention_mask):
        widths.append(input_ids.shape[1])
        return real(input_ids, attention_mask)

    monkeypatch.setattr(network, "encode", encode)
    for similar in (0.0, 0.6, 1.0):
        monkeypatch.setattr(batching, "SIMILAR", similar)
        widths.clear()
        learner.zero_grad()
        loss = learner(**batch)
        loss.backward()
        assert len(widths) == 1 if similar == 0 else len(set(widths)) > 1
        found[similar] = [loss, *(each.grad for each in learner.parameters())]
    for similar in (0.6, 1.0):
        torch.testing.assert_close(found[similar], found[0.0], rtol=1e-4, atol=1e-5)
    shared = next(Batches(examples, len(examples), seed=1, share_rows=True).epoch(0))
    assert len(shared["input_ids"]) < len(batch["input_ids"])
    widths.clear()
    learner.zero_grad()
    loss = learner(**shared)
    loss.backward()
    assert not widths
    together = [loss, *(each.grad for each in learner.parameters())]
    torch.testing.assert_close(together, found[0.0], rtol=1e-4, atol=1e-5)


@dataclass(frozen=True)
class DropSettings(Settings):
    r_drop: float = described(0.0, "The weight of R-Drop.", group=LEARNING, least=0)


def documented_term():
    """Return the example of docs/training.md."""
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    code = next(
        part for part in text.split("```python\n") if part.startswith("from discotag.training")
    )
    namespace = {}
    exec(code.partition("```")[0], namespace)
    return namespace["RDrop"], namespace["divergence"]


def test_a_term_can_score_again(encoder):
    kind, _ = documented_term()
    settings = DropSettings(encoder=str(encoder), r_drop=2.0, dropout=0.4)
    network = make_network(settings, settings.scheme(("ADR",)), 1)
    term = kind.from_settings(settings, network, taught=False)
    assert kind.from_settings(DropSettings(encoder=str(encoder)), network, taught=False) is None
    learner = Learner(network, [term])
    (batch,) = Batches(make_examples(network, SENTENCES[:4], settings), 1000, seed=1).epoch(0)
    loss = learner.train()(**batch)
    assert loss > 0.01
    loss.backward()
    assert network.linear.weight.grad.abs().max() > 0
    assert learner.eval()(**batch).item() == pytest.approx(0, abs=1e-5)  # without dropout


def test_the_documented_divergence_is_that_of_all_tag_sequences():
    _, divergence = documented_term()
    scheme = Scheme(("A",), 0)
    layer = TaggingLayer(scheme)
    generator = torch.Generator().manual_seed(0)
    mask = torch.ones(1, 4, dtype=torch.bool)
    network = SimpleNamespace(layer=layer)
    one, other = (
        Step(network, None, torch.randn(1, 4, len(scheme.tags), generator=generator), mask, {})
        for _ in range(2)
    )
    sequences = [
        each
        for each in itertools.product(range(len(scheme.tags)), repeat=4)
        if scheme.grammar.accepts([scheme.tags[tag] for tag in each])
    ]

    def logs(step):
        totals = torch.stack(
            [sum(step.scores[0, at, tag] for at, tag in enumerate(each)) for each in sequences]
        )
        return totals.log_softmax(0)

    wanted = (logs(one).exp() * (logs(one) - logs(other))).sum()
    assert divergence(one, other).item() == pytest.approx(wanted.item(), rel=1e-4)
