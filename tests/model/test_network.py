"""Test that windows and padding do not change scores, and that saved networks load again."""

import numpy as np
import pytest
import torch

from discotag import Scheme
from discotag.model.config import ModelConfig
from discotag.model.files import ModelError
from discotag.model.network import Network
from tiny import tiny_encoder, tiny_network, tiny_tokenizer

WORDS = "i had pain in my arms and shoulders . no sleep !".split()


def arguments(network, sentences):
    batch = network.tokenizer.encode(sentences).batch(range(len(sentences)))
    return {name: torch.from_numpy(each) for name, each in batch.arguments().items()}


def scores(network, sentences):
    batch = arguments(network, sentences)
    with torch.no_grad():
        found = network(**batch)
    return [row[: len(words)].numpy() for row, words in zip(found, sentences, strict=True)]


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return tiny_network(tmp_path_factory.mktemp("tiny"), arc_weights=True, window=32, overlap=8)


def test_a_batch_has_the_scores_of_its_sentences(network):
    sentences = [WORDS, ["pain"], WORDS * 5, WORDS[::-1]]
    together = scores(network, sentences)
    for words, found in zip(sentences, together, strict=True):
        assert found.shape == (len(words), 9)
        np.testing.assert_allclose(found, scores(network, [words])[0], atol=1e-4)


def test_windows_have_the_scores_they_have_alone(network):
    words = WORDS * 5
    encoded = network.tokenizer.encode([words])
    windows = encoded.windows_of(0)
    assert len(windows) > 1
    found = scores(network, [words])[0]
    for number, window in enumerate(windows):
        with torch.no_grad():
            alone = network.score_subwords(
                torch.tensor([window]), torch.ones(1, len(window), dtype=torch.int64)
            )[0].numpy()
        here = encoded.word_windows == number
        np.testing.assert_allclose(found[here], alone[encoded.word_positions[here]], atol=1e-4)


def test_scores_are_float32_under_autocast(network):
    batch = arguments(network, [WORDS])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        found = network(**batch)
    assert found.dtype == torch.float32


def test_save_and_load(network, tmp_path):
    torch.nn.init.normal_(network.layer.arc_weights)
    network.save_pretrained(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    again = Network.from_pretrained(tmp_path)
    assert again.config == network.config
    assert not again.training
    assert again.state_dict().keys() == network.state_dict().keys()
    for name, value in network.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)
    np.testing.assert_array_equal(scores(again, [WORDS])[0], scores(network, [WORDS])[0])


def test_all_parameters_are_trained(network):
    tensors = arguments(network, [WORDS])
    network.train()
    network.layer.loss(network(**tensors), [[]], tensors["mask"]).backward()
    network.eval()
    assert [name for name, each in network.named_parameters() if each.grad is None] == []


def test_windows_fit_the_encoder(tmp_path, monkeypatch):
    tiny_encoder(tmp_path / "small", positions=20)
    monkeypatch.setenv("HOME", str(tmp_path))
    network = Network.from_encoder("~/small", ModelConfig(Scheme(labels=("ADR",))))
    assert (network.config.window, network.config.overlap) == (20, 10)
    assert network.config.encoder == "small"
    assert scores(network, [WORDS * 4])[0].shape == (len(WORDS) * 4, 9)


def test_positions_of_roberta_begin_after_padding(tmp_path):
    from transformers import RobertaConfig, RobertaModel

    config = RobertaConfig(
        vocab_size=200,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=34,
        pad_token_id=1,
    )
    network = Network(
        RobertaModel(config), ModelConfig(Scheme(labels=("ADR",)), overlap=4), tiny_tokenizer()
    ).eval()
    assert network.config.window == 32
    assert network.tokenizer.pad_id == 1
    assert scores(network, [WORDS * 4])[0].shape == (len(WORDS) * 4, 9)


def test_an_encoder_decoder_is_not_an_encoder():
    from transformers import T5Config, T5Model

    model = T5Model(T5Config(vocab_size=9, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2))
    with pytest.raises(ModelError, match="t5 is not a text encoder"):
        Network(model, ModelConfig(Scheme(labels=("ADR",))), tiny_tokenizer())


def test_encoders_that_cannot_be_used(tmp_path):
    config = ModelConfig(Scheme(labels=("ADR",)))
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ModelError, match=r"pytorch_model.bin, which may run code"):
        Network.from_encoder(tmp_path, config)
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelError, match="is not a safetensors file"):
        Network.from_encoder(tmp_path, config)
