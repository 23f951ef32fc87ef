import numpy as np
import pytest
import torch

from discotag import Mention, Scheme, Sentence, load
from discotag.errors import DiscotagError, InputError
from discotag.evaluation import SLICES, score
from discotag.export import export
from discotag.model.network import Network
from discotag.model.objectives import Objective
from discotag.prediction.regions import Options
from discotag.prediction.tagger import Tagger
from discotag.training import trainer
from discotag.training.development import best_bias, calibrate, find, least_score, make_tagger, tag
from discotag.training.examples import make_examples
from discotag.training.initial_network import make_network
from discotag.training.losses import Learner
from discotag.training.settings import Settings
from discotag.training.teachers import teach
from discotag.training.trainer import DivergedError, Trainer, fit
from learnable import CROSSED, SENTENCES, learnable_encoder, sentence

FAST = {"num_train_epochs": 20, "learning_rate": 5e-3, "batch_size": 2, "dropout": 0.0}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return learnable_encoder(tmp_path_factory.mktemp("encoder"))


def _network(settings, seed=1):
    return make_network(settings, settings.scheme(("ADR",)), seed)


@pytest.mark.parametrize("objective", Objective)
def test_every_objective_learns_by_heart(encoder, objective):
    settings = Settings(encoder=str(encoder), objective=objective, **FAST)
    network = _network(settings)
    dev = [*SENTENCES, CROSSED]
    trained = fit(network, make_examples(network, SENTENCES, settings), dev, settings, seed=1)
    assert len(trained.epochs) == 20
    assert [epoch.step for epoch in trained.epochs] == list(range(3, 61, 3))
    assert find(make_tagger(network), SENTENCES) == [each.mentions for each in SENTENCES]
    # What does not fit the scheme is still evaluated.
    assert trained.best.dev["all"]["gold"] == 10
    assert trained.best.dev["all"]["correct"] == 8


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize(("tolerance", "kept"), [(1.0, 3), (0.0, 2)])
def test_the_weights_of_the_best_epoch_are_kept(
    encoder, tmp_path, monkeypatch, tolerance, kept, interrupted
):
    weights, scores, stop = [], [0.6, 0.8, 0.785, 0.5], interrupted

    def figures(_):
        nonlocal stop
        if stop and len(weights) == 3:
            stop = False
            raise KeyboardInterrupt
        weights.append(network.linear.weight.detach().clone())
        return {part: {"f1": scores[len(weights) - 1], "gold": 400} for part in SLICES}

    monkeypatch.setattr(trainer, "to_dict", figures)
    given = FAST | {"num_train_epochs": 4, "epoch_tolerance": tolerance}
    settings = Settings(encoder=str(encoder), **given)

    examples = make_examples(_network(settings), SENTENCES, settings)
    if interrupted:
        network = _network(settings)
        with pytest.raises(KeyboardInterrupt):
            fit(network, examples, SENTENCES, settings, seed=1, folder=tmp_path)
    network = _network(settings)
    trained = fit(network, examples, SENTENCES, settings, seed=1, folder=tmp_path)
    assert trained.best.number == kept
    assert [torch.equal(network.linear.weight, each) for each in weights] == [
        number == kept for number in range(1, 5)
    ]


def test_the_mention_scorer_learns_and_everything_is_saved(encoder, tmp_path):
    settings = Settings(encoder=str(encoder), **FAST)
    network = _network(settings)
    fit(network, make_examples(network, SENTENCES, settings), SENTENCES, settings, seed=1)
    tagger = Tagger.from_network(network)
    odds = {True: [], False: []}
    for each, regions in zip(SENTENCES, tagger.options(SENTENCES), strict=True):
        for options, own in regions:
            for mention, value in zip(options.mentions, own, strict=True):
                odds[mention in each.mentions].append(value)
    assert np.mean(odds[True]) > np.mean(odds[False]) + 1
    assert 0 < network.config.least_discontinuous <= 0.5
    calibration = network.config.calibration
    assert calibration is not None
    for weights in (calibration.continuous, calibration.discontinuous):
        assert min(weights.tagger, weights.scorer + weights.sure) > 0
    network.save_pretrained(tmp_path / "model")
    export(tmp_path / "model", tmp_path / "exported")
    wanted = tagger(SENTENCES)
    for runtime in ("torch", "onnx"):
        folder = tmp_path / ("model" if runtime == "torch" else "exported")
        found = load(folder, runtime=runtime)(SENTENCES)
        assert found == wanted
        for one, other in zip(wanted, found, strict=True):
            scores = [[m.score for m in each.mentions] for each in (one, other)]
            assert scores[1] == pytest.approx(scores[0], abs=1e-3)
    eight_bits = load(tmp_path / "exported", runtime="onnx-int8")
    assert eight_bits(SENTENCES) == wanted  # the matrices are too small to be quantised
    # An export is enough to continue from, the mention scorer included.
    restored = Network.from_pretrained(tmp_path / "exported")
    assert Tagger.from_network(restored)(SENTENCES) == wanted
    (tmp_path / "exported" / "mention_scorer.onnx").unlink()
    for runtime in ("torch", "onnx"):
        with pytest.raises(InputError, match="mention_scorer.onnx: there is no such file"):
            load(tmp_path / "exported", runtime=runtime)


def test_bias_is_what_is_best_on_development_data():
    pain, sleep = Mention("ADR", [(0, 1)]), Mention("ADR", [(0, 2)])
    judged = [[(Options(0, [pain, sleep], [(0.7, []), (0.2, [0]), (0.1, [1])]), [0.0, 0.0])]]
    words = ("pain", "was")
    assert best_bias([Sentence(words, (pain,))], judged) == 1.5
    assert best_bias([Sentence(words)], judged) == 0.0


def test_the_least_score_of_discontinuous_mentions_is_half_their_f1():
    numb, cold, hands = (Mention("ADR", [(n, n + 1), (4, 5)]) for n in range(3))
    judged = [[(Options(0, [numb, cold, hands], [(1.0, [0, 1, 2])]), [0.0] * 3)]]
    words = ("numb", "cold", "sore", "my", "hands")
    assert least_score([Sentence(words, (numb, cold))], judged, 0.0) == 0.4  # precision 2 of 3
    assert least_score([Sentence(words)], judged, 0.0) == 0.0
    assert least_score([Sentence(words)], [[]], 0.0) == 0.0


def test_a_scorer_that_is_larger_than_the_files_is_not_built(encoder, tmp_path):
    settings = Settings(encoder=str(encoder), mention_scorer=4)
    _network(settings).save_pretrained(tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    path.write_text(path.read_text().replace('"mention_scorer": 4', '"mention_scorer": 65536'))
    with pytest.raises(
        InputError, match="a mention scorer of 65536 has more weights than the files"
    ):
        Network.from_pretrained(tmp_path / "model")


@pytest.mark.parametrize("scorer", [0, 8])
def test_what_is_found_in_development_data_is_what_the_calibrated_tagger_finds(encoder, scorer):
    settings = Settings(encoder=str(encoder), mention_scorer=scorer, **FAST | {"fold": 0})
    network = _network(settings)
    dev = [*SENTENCES, CROSSED, sentence("")]
    trained = fit(network, make_examples(network, SENTENCES, settings), dev, settings, seed=1)
    documents = Tagger.from_network(network)(dev)
    for found, document in zip(trained.found, documents, strict=True):
        wanted = {each: each.score for each in document.mentions}
        assert {each: each.score for each in found} == pytest.approx(wanted, abs=1e-5)
    scores = score(dev, trained.found)
    assert scores.all.micro.f1 > 0.7
    # A tagger with a calibration and a bias is tagged as one without them.
    again = calibrate(tag(make_tagger(network), dev))
    assert again.config == network.config
    assert again.mentions == trained.found


@pytest.mark.parametrize(
    ("bias", "message"),
    [("much", "a number"), (21, "from -20 to 20"), (float("nan"), "a number"), (True, "a number")],
)
def test_a_bad_bias_is_an_error_at_once(encoder, bias, message):
    tagger = Tagger.from_network(_network(Settings(encoder=str(encoder))))
    with pytest.raises(InputError, match=f"bias must be {message}"):
        tagger.predict(["pain"], bias=bias)


def test_without_a_mention_scorer_the_best_tags_are_taken(encoder):
    settings = Settings(encoder=str(encoder), mention_scorer=0, **FAST)
    network = _network(settings)
    fit(network, make_examples(network, SENTENCES, settings), SENTENCES, settings, seed=1)
    assert network.config.bias == 0
    assert network.config.least_discontinuous == 0
    assert network.config.calibration is not None
    assert network.config.calibration.continuous.scorer == 0
    found = Tagger.from_network(network)(SENTENCES)
    scores = Tagger.from_network(network).scores(SENTENCES)
    for document, table in zip(found, scores, strict=True):
        (best,) = network.layer.decode_mentions(torch.from_numpy(table)[None])
        assert {*document.sentences[0].mentions} == best


def test_the_encoder_and_the_layers_on_it_have_their_own_rates(encoder):
    settings = Settings(encoder=str(encoder), **FAST | {"head_learning_rate": 0.25})
    network = _network(settings)
    examples = make_examples(network, SENTENCES, settings)
    trainer = Trainer(network, examples, SENTENCES, settings, seed=1)
    groups = trainer.optimizer.param_groups
    rates = {id(each): group["peak"] for group in groups for each in group["params"]}
    for name, each in network.named_parameters():
        wanted = 5e-3 if name.startswith("encoder.") else 0.25
        assert rates.pop(id(each)) == wanted, name
    assert not rates


def test_development_data_are_read_as_by_a_tagger(encoder, monkeypatch):
    from discotag.prediction import decoding
    from discotag.prediction.tagger import Tagger

    network = _network(Settings(encoder=str(encoder), **FAST), seed=2).eval()
    torch.nn.init.normal_(network.linear.weight)
    sentences = [*SENTENCES, sentence("")]
    found = tag(make_tagger(network), sentences).mentions
    assert [{*each} for each in found] == [
        {*each.mentions} for each in Tagger.from_network(network)(sentences)
    ]
    assert any(mention.discontinuous for each in found for mention in each)
    monkeypatch.setattr(decoding, "MAX_MENTIONS", 0)
    with pytest.warns(decoding.TooManyMentions):
        fewer = tag(make_tagger(network), sentences).mentions
    assert not any(mention.discontinuous for each in fewer for mention in each)


def test_all_parameters_decay_and_the_rate_is_a_cosine_with_warmup(encoder):
    settings = Settings(encoder=str(encoder), **FAST)
    network = _network(settings)
    examples = make_examples(network, SENTENCES, settings)
    trainer = Trainer(network, examples, SENTENCES, settings, seed=1)
    assert {group["weight_decay"] for group in trainer.optimizer.param_groups} == {0.01}
    step = np.arange(60)
    cosine = 0.5 * (1 + np.cos(np.pi * (step - 6) / 54))
    rates = [trainer.rate(each) for each in range(60)]
    assert np.allclose(rates, np.where(step < 6, step / 6, cosine))
    trainer.step = 33
    trainer.train_step(next(trainer.batches.epoch(0)))
    found = [group["lr"] for group in trainer.optimizer.param_groups]
    assert found == pytest.approx([5e-3 * rates[33], 1e-3 * rates[33]])


def test_a_loss_that_is_no_number_ends_at_once_in_one_line(encoder):
    settings = Settings(encoder=str(encoder), **FAST)
    network = _network(settings)
    with torch.no_grad():
        network.linear.bias.fill_(float("inf"))
    examples = make_examples(network, SENTENCES, settings)
    message = r"^the loss is nan after 0 steps; a lower learning_rate than 0\.005 may help$"
    with pytest.raises(DivergedError, match=message):
        fit(network, examples, SENTENCES, settings, seed=1)
    assert network.layer.check  # for whoever predicts with it


def test_where_looking_at_each_loss_is_dear_the_end_of_an_epoch_tells(encoder, monkeypatch):
    """As on a GPU: the losses of steps are not looked at, only their mean."""
    monkeypatch.setattr(Trainer, "train_step", lambda *_: torch.tensor(float("nan")))
    settings = Settings(encoder=str(encoder), **FAST)
    network = _network(settings)
    examples = make_examples(network, SENTENCES, settings)
    with pytest.raises(
        DivergedError, match=r"^the loss is nan after 3 steps; a lower learning_rate"
    ):
        fit(network, examples, SENTENCES, settings, seed=1)


def test_all_modules_are_in_training_mode_in_every_step(encoder, monkeypatch):
    """A loaded encoder is not at first, and an evaluation comes after each epoch."""
    modes = []
    real = Learner.forward

    def forward(self, **batch):
        modes.append({module.training for module in self.modules()})
        return real(self, **batch)

    monkeypatch.setattr(Learner, "forward", forward)
    settings = Settings(encoder=str(encoder), **FAST | {"num_train_epochs": 2})
    network = _network(settings)
    assert not network.encoder.training
    fit(network, make_examples(network, SENTENCES, settings), SENTENCES, settings, seed=1)
    assert modes == [{True}] * 12  # 6 steps of two passes each


def test_a_student_learns_from_teachers_alone(encoder, tmp_path):
    settings = Settings(encoder=str(encoder), **FAST)
    teacher = _network(settings)
    fit(teacher, make_examples(teacher, SENTENCES, settings), SENTENCES, settings, seed=1)
    teacher.save_pretrained(tmp_path / "teacher")
    scheme = teacher.layer.scheme
    taught = teach([tmp_path / "teacher"] * 2, SENTENCES, scheme)
    assert all(np.allclose(each.marginals.sum(1), 1, atol=1e-2) for each in taught)
    for each, told in zip(SENTENCES, taught, strict=True):
        assert {*each.mentions} <= told.mentions.keys()
        assert all(0 <= chance <= 1 for chance in told.mentions.values())
    student = _network(settings, seed=2)
    # One sentence has gold mentions; the others are known to the teacher alone.
    examples = make_examples(
        student, SENTENCES[:1], settings, unlabelled=SENTENCES[1:], teacher=taught
    )
    assert fit(student, examples, SENTENCES, settings, seed=2).best.f1 == 1.0
    with pytest.raises(DiscotagError, match="a teacher must have the scheme of the student"):
        teach([tmp_path / "teacher"], SENTENCES, Scheme(("ADR",), 3))
