"""Test that encoders are limited in size before they are built, and have all their weights."""

import json
from functools import partial

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.modules.module import register_module_parameter_registration_hook

from discotag import Scheme, load
from discotag.errors import DiscotagError
from discotag.model import encoder as module
from discotag.model.config import ModelConfig
from discotag.model.encoder import load_encoder
from discotag.model.files import ModelError
from discotag.model.network import Network
from tiny import tiny_encoder, tiny_model, tiny_network


@pytest.fixture
def encoder(tmp_path):
    return tiny_encoder(tmp_path / "encoder")


def change_config(folder, **changes):
    data = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(data | changes))


def change_weights(folder, change):
    weights = change(load_file(folder / "model.safetensors"))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def refused(message, work, *arguments):
    with pytest.raises(DiscotagError, match=message) as caught:
        work(*arguments)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_an_encoder_has_the_weights_of_its_file(encoder):
    loaded, source = load_encoder(encoder)
    assert source == encoder
    for name, value in load_file(encoder / "model.safetensors").items():
        assert torch.equal(loaded.state_dict()[name], value)


def test_a_discotag_model_is_not_an_encoder(tmp_path):
    model = tiny_model(tmp_path)
    message = (
        f"is a discotag model, not an encoder; to continue training it, use --from-model {model}$"
    )
    refused(message, load_encoder, str(model))
    change_config(model, discotag=None)  # its linear layer still shows what it is
    data = json.loads((model / "config.json").read_text())
    del data["discotag"]
    (model / "config.json").write_text(json.dumps(data))
    refused(
        r"model: its weights do not match its config.json: 2 are unexpected "
        r"\(linear.bias, linear.weight\)$",
        load_encoder,
        model,
    )


def test_weights_that_are_missing_unexpected_or_of_another_size(encoder):
    name = "encoder.layer.1.output.dense.bias"
    change_weights(encoder, lambda old: {key: value for key, value in old.items() if key != name})
    # The number of weights stays the same, so only the names differ.
    change_weights(encoder, lambda old: old | {"more.weight": torch.zeros(32)})
    refused(
        r"1 are missing \(.*1.output.dense.bias\), 1 are unexpected \(more", load_encoder, encoder
    )
    change_weights(encoder, lambda old: old | {name: torch.zeros(31)})
    refused(r"1 have another size \(encoder.layer.1.output.dense.bias\)$", load_encoder, encoder)
    change_weights(encoder, lambda old: old | {name: torch.zeros(32)})
    refused(r"config.json: 1 are unexpected \(more.weight\)$", load_encoder, encoder)


def test_layers_beyond_the_configuration_are_unexpected(encoder):
    change_config(encoder, num_hidden_layers=1)
    refused(r"16 are unexpected \(encoder.layer.1.* and 11 more\)$", load_encoder, encoder)


def test_poolers_and_heads_do_not_count(encoder, caplog):
    caplog.set_level("INFO", logger="discotag")
    heads = {"cls.predictions.bias": torch.zeros(9), "pooler.dense.bias": torch.zeros(32)}
    change_weights(
        encoder, lambda old: {f"bert.{key}": value for key, value in old.items()} | heads
    )
    network = Network.from_encoder(encoder, ModelConfig(Scheme(labels=("ADR",))))
    assert "pooler" not in " ".join(network.state_dict())
    assert "weights not used by the encoder: cls.predictions.bias" in caplog.text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_hidden_layers": 10**6}, "describes an encoder with more than 5,000 tensors$"),
        (
            {"num_hidden_layers": 10**12},
            r"num_hidden_layers is 1e\+12, but may be up to 1,048,576$",
        ),
        ({"more": {"deep": [10**99]}}, r"deep is 1e\+99, but may be up to 1,048,576$"),
        ({"hidden_size": 10**6}, "describes an encoder with 8,000,888,000,128 weights, but"),
        ({"vocab_size": 10**6}, "describes an encoder with 32,033,600 weights, but"),
        ({"hidden_size": -4}, "negative dimension"),
        ({"hidden_size": "32"}, "expected int, got str"),
        ({"num_attention_heads": 0}, "modulo by zero"),
        ({"hidden_dropout_prob": 1e9}, "dropout probability has to be between 0 and 1"),
        ({"initializer_range": float("nan")}, "std"),
        ({"model_type": "no such"}, "no such"),
        ({"pad_token_id": -1}, "it has subword -1"),
        ({"hidden_act": "no such"}, "no such"),
    ],
)
@pytest.mark.parametrize("kind", ["encoder", "model"])
def test_configurations_beyond_bounds(tmp_path, kind, changes, message):
    """Test that nothing large is allocated: until the error, weights are on the `meta` device."""
    if kind == "model":
        folder, work = tiny_model(tmp_path), load
    else:
        folder = tiny_encoder(tmp_path / "encoder")
        work = partial(Network.from_encoder, config=ModelConfig(Scheme(labels=("ADR",))))
    change_config(folder, **changes)
    made = []

    def watch(module, name, parameter):
        if parameter is not None and parameter.device.type != "meta":
            made.append(parameter.numel())

    handle = register_module_parameter_registration_hook(watch)
    try:
        refused(message, work, folder)
    finally:
        handle.remove()
    assert sum(made) < 100_000


def test_tensors_are_counted_in_one_thread_and_one_context(monkeypatch):
    monkeypatch.setattr(module, "MOST_TENSORS", 2)
    with module._bounded("here"):
        torch.nn.Linear(2, 2)
        with pytest.raises(ModelError, match="here: describes an encoder with more than 2 tensors"):
            torch.nn.Linear(2, 2)
    torch.nn.Linear(2, 2)


def test_names_that_are_paths_are_not_looked_for_on_the_hub(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in ("./nope", "../nope", "/nope", "~/nope", "runs/nope", "a/b/c"):
        refused(f"^{name}: there is no such folder$", load_encoder, name)
    refused(
        "no-such-encoder: there is no such folder, and it cannot be loaded as an encoder from",
        load_encoder,
        "no-such-encoder",
    )


def test_subwords_that_the_encoder_lacks_raise(tmp_path):
    """Test an encoder whose weights do not match its vocabulary, which no file shows."""
    from discotag.prediction.tagger import Tagger

    network = tiny_network(tmp_path)
    tagger = Tagger.from_network(network, "cpu")
    network.encoder.embeddings.word_embeddings.weight.data = torch.zeros(3, 32)
    refused("PyTorch: cannot score 1 window of 3 subwords: index out of range", tagger, "pain")
