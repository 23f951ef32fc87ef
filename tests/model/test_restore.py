"""Exports back on PyTorch: the same weights, or a refusal."""

import json

import numpy as np
import onnx
import pytest
import torch

from discotag import Scheme, load
from discotag.errors import DiscotagError
from discotag.export import export
from discotag.export import quantise as quantise_module
from discotag.model.eight_bits import quantised, unquantised
from discotag.model.network import Network
from discotag.model.onnx_session import WEIGHTS
from discotag.model.precision import EightBits
from tiny import tiny_network

TEXTS = ["I had pain in my arms and shoulders. No sleep!", "My knees hurt, and my arms were stiff."]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A network with weights on arcs, and its exports, each in a folder of its own."""
    folder = tmp_path_factory.mktemp("restore")
    scheme = Scheme(labels=("A", "B"), gap_mentions=True)
    network = tiny_network(folder / "e", scheme, window=32, overlap=8, arc_weights=True)
    torch.nn.init.normal_(network.layer.arc_weights)
    network.save_pretrained(folder / "model")
    patch = pytest.MonkeyPatch()
    patch.setattr(quantise_module, "LEAST_WEIGHTS", 256)
    for kind in EightBits:
        export(folder / "model", folder / "onnx", TEXTS, kind)
        (folder / kind).mkdir()
        for name in ("config.json", "tokenizer.json", "model_int8.onnx"):
            (folder / kind / name).write_bytes((folder / "onnx" / name).read_bytes())
    patch.undo()
    (folder / "onnx" / "model_int8.onnx").unlink()
    return folder


def copied(source, target):
    target.mkdir()
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return target


def refused(folder, message):
    with pytest.raises(DiscotagError, match=message) as caught:
        load(folder, runtime="torch")
    assert "\n" not in str(caught.value)


def test_floats_come_back_to_the_bit(place):
    wanted = Network.from_pretrained(place / "model").state_dict()
    found = Network.from_pretrained(place / "onnx").state_dict()
    assert wanted.keys() == found.keys()
    for name, value in wanted.items():
        assert torch.equal(found[name], value), name


def test_eight_bits_come_back_as_what_they_stand_for(place, monkeypatch):
    monkeypatch.setattr(quantise_module, "LEAST_WEIGHTS", 256)
    wanted = Network.from_pretrained(place / "model").state_dict()
    found = Network.from_pretrained(place / EightBits.WEIGHTS).state_dict()
    changed = 0
    for name, value in wanted.items():
        if value.dim() == 2 and value.numel() >= 256:
            axis = 1  # of a table as of a linear layer, whose matrix is transposed in ONNX
            rounded = unquantised(*quantised(value.numpy(), axis), axis)
            np.testing.assert_array_equal(found[name].numpy(), rounded)
            changed += not torch.equal(found[name], value)
        else:
            assert torch.equal(found[name], value), name
    assert changed > 10


def test_matrices_of_products_in_eight_bits_come_back(place):
    wanted = Network.from_pretrained(place / "model").state_dict()
    found = Network.from_pretrained(place / EightBits.PRODUCTS).state_dict()
    for name, value in wanted.items():
        # A column has a scale of its own, and factors of rows make steps at most a few times wider.
        step = value.abs().amax(-1, keepdim=True) / 127 if value.dim() == 2 else torch.zeros(1)
        assert (found[name] - value).abs().le(4 * step).all(), name
    changed = [name for name, value in wanted.items() if not torch.equal(found[name], value)]
    assert len(changed) > 10


@pytest.mark.parametrize(
    ("name", "near"), [("onnx", 1e-3), (EightBits.WEIGHTS, 1e-3), (EightBits.PRODUCTS, 0.03)]
)
def test_mentions_are_those_of_onnxruntime(place, name, near, tmp_path):
    wanted = load(place / name)
    found = load(place / name, runtime="torch", device="cpu")
    assert (wanted.origin.runtime, found.origin.runtime) == (
        "onnx" if name == "onnx" else "onnx-int8",
        "torch",
    )
    one, other = wanted(TEXTS), found(TEXTS)
    assert one == other
    assert any(document.mentions for document in one)
    for left, right in zip(one, other, strict=True):
        for mention, again in zip(left.mentions, right.mentions, strict=True):
            assert mention.score == pytest.approx(again.score, abs=near)
    found.save_pretrained(tmp_path)
    assert (tmp_path / "model.safetensors").is_file()
    assert load(tmp_path)(TEXTS) == one


@pytest.mark.parametrize("name", ["onnx", *EightBits])
def test_weights_that_would_give_other_scores_are_refused(place, name, tmp_path):
    folder = copied(place / name, tmp_path / "copy")
    path = folder / ("model.onnx" if name == "onnx" else "model_int8.onnx")
    change_record(path, exchange_two)
    refused(folder, "cannot be brought back to PyTorch: scores would differ by")


def change_record(path, change):
    """Change what a file says about its weights."""
    model = onnx.load(path)
    (entry,) = (each for each in model.metadata_props if each.key == WEIGHTS)
    entry.value = change(entry.value)
    onnx.save(model, path)


def exchange_two(text):
    record = json.loads(text)
    one, other = (
        f"encoder.encoder.layer.0.attention.self.{each}.weight" for each in ("query", "key")
    )
    record[one], record[other] = record[other], record[one]
    return json.dumps(record)


@pytest.mark.parametrize(
    "text", ["", "[", "[]", "3", '{"linear.weight": 3}', '{"a": ["b", false]}']
)
def test_an_export_that_does_not_say_what_it_has_is_refused(place, text, tmp_path):
    folder = copied(place / "onnx", tmp_path / "copy")
    change_record(folder / "model.onnx", lambda _: text)
    refused(folder, "it does not say which weights it has; use runtime 'onnx'")


def test_an_export_of_another_encoder_is_refused(place, tmp_path):
    folder = copied(place / "onnx", tmp_path / "copy")
    data = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(data | {"num_hidden_layers": 1}))
    refused(folder, "config.json's encoder has no encoder.encoder.layer.1.*; use runtime 'onnx'")
    (folder / "config.json").write_text(json.dumps(data | {"num_hidden_layers": 3}))
    refused(folder, "it has no weights for encoder.encoder.layer.2.attention")
    (folder / "config.json").write_text(json.dumps(data | {"intermediate_size": 32}))
    refused(folder, "encoder.encoder.layer.0.intermediate.dense.weight has another shape")
    own = data["discotag"] | {"arc_weights": False}
    (folder / "config.json").write_text(json.dumps(data | {"discotag": own}))
    refused(folder, "its arc weights do not match config.json, which asks for none")
    (folder / "model.onnx").write_bytes(b"no model" * 10_000)
    refused(folder, "model.onnx: onnxruntime cannot load it")
