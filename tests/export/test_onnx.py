"""Exports: the same answers as PyTorch, without PyTorch."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from discotag import Scheme, load
from discotag.errors import DiscotagError
from discotag.export import onnx as module
from discotag.export import quantise as quantise_module
from discotag.export.onnx import export
from discotag.export.quantise import quantise
from discotag.model.config import ModelConfig
from discotag.model.eight_bits import quantised_columns
from discotag.model.network import Network
from discotag.model.onnx_session import ARC_WEIGHTS
from discotag.model.precision import EightBits
from shell import python
from tiny import tiny_deberta, tiny_network, tiny_tokenizer

TEXTS = [
    "I had pain in my arms and shoulders. No sleep!",
    "My knees hurt, and my arms were stiff and swollen " * 4,
    "no",
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A model with weights on arcs and windows of 32, exported to a folder of its own."""
    folder = tmp_path_factory.mktemp("export")
    scheme = Scheme(labels=("A", "B"), gap_mentions=True)
    network = tiny_network(folder / "e", scheme, window=32, overlap=8, arc_weights=True)
    torch.nn.init.normal_(network.layer.arc_weights)
    network.save_pretrained(folder / "model")
    patch = pytest.MonkeyPatch()
    patch.setattr(quantise_module, "LEAST_WEIGHTS", 256)
    found = export(folder / "model", folder / "out", TEXTS)
    patch.undo()
    return folder, found


def test_agreement(exported):
    folder, (floats, eight_bits) = exported
    assert floats.score_difference < 1e-4
    assert (floats.same, floats.runtime) == (1.0, "onnx")
    assert floats.mention_difference < 1e-4
    assert eight_bits.size < floats.size
    names = sorted(path.name for path in (folder / "out").iterdir())
    assert names == ["README.md", "config.json", "model.onnx", "model_int8.onnx", "tokenizer.json"]


def test_mentions_and_their_scores_are_the_same(exported):
    folder, _ = exported
    wanted = load(folder / "model")(TEXTS)
    found = load(folder / "out", runtime="onnx")(TEXTS)
    assert wanted == found
    assert any(document.mentions for document in wanted)
    for one, other in zip(wanted, found, strict=True):
        for mention, again in zip(one.mentions, other.mentions, strict=True):
            assert mention.score == pytest.approx(again.score, abs=1e-4)


def test_eight_bits_do_not_depend_on_the_batch(exported):
    folder, _ = exported
    tagger = load(folder / "out", runtime="onnx-int8")
    assert tagger.runtime.session.get_modelmeta().custom_metadata_map["arc_weights"]
    sentences = [
        sentence for text in TEXTS for sentence in tagger.splitter.document(text).sentences
    ]
    together = tagger.scores(sentences)
    floats = np.concatenate(load(folder / "out", runtime="onnx").scores(sentences))
    error = np.concatenate(together) - floats
    assert 1e-4 < error.std() / floats.std() < 0.15
    for sentence, scores in zip(sentences, together, strict=True):
        np.testing.assert_allclose(scores, tagger.scores([sentence])[0], atol=1e-4)


def test_the_share_of_near_probabilities(exported):
    _, (floats, eight_bits) = exported
    assert floats.near == 1.0
    assert 0 <= eight_bits.near <= 1


def test_weights_alone_in_eight_bits_are_closer_to_floats(exported, tmp_path, monkeypatch):
    folder, (_, products) = exported
    monkeypatch.setattr(quantise_module, "LEAST_WEIGHTS", 256)
    _, weights = export(folder / "model", tmp_path, TEXTS, EightBits.WEIGHTS)
    assert 1e-4 < weights.score_difference < products.score_difference
    kinds = []
    for path in (folder / "out", tmp_path):
        graph = onnx.load(path / "model_int8.onnx").graph
        kinds.append({node.op_type for node in graph.node})
    assert "MatMulIntegerToFloat" in kinds[0]
    assert "MatMulIntegerToFloat" not in kinds[1]


def test_texts_even_out_the_components_of_vectors(exported, tmp_path, monkeypatch):
    """A component that is twenty times the others no longer leaves these a few steps."""
    folder, _ = exported
    model = onnx.load(folder / "out" / "model.onnx")
    gamma = {node.input[1] for node in model.graph.node if node.op_type == "LayerNormalization"}
    for table in model.graph.initializer:
        if table.name in gamma:
            values = onnx.numpy_helper.to_array(table).copy()
            values[3] *= 20
            table.CopyFrom(onnx.numpy_helper.from_array(values, table.name))
    onnx.save(model, tmp_path / "a.onnx")
    monkeypatch.setattr(quantise_module, "LEAST_WEIGHTS", 256)
    feed = {
        "input_ids": np.random.default_rng(0).integers(5, 50, (4, 20)),
        "attention_mask": np.ones((4, 20), np.int64),
    }
    errors = []
    (wanted,) = onnxruntime.InferenceSession(tmp_path / "a.onnx").run(None, feed)
    for samples in ([], [feed]):
        quantise(tmp_path / "a.onnx", tmp_path / "b.onnx", EightBits.PRODUCTS, samples)
        (found,) = onnxruntime.InferenceSession(tmp_path / "b.onnx").run(None, feed)
        errors.append(np.abs(found - wanted).mean())
    assert errors[1] < 0.8 * errors[0]


def test_neighbouring_weights_cannot_overflow_16_bits():
    random = np.random.default_rng(0)
    for shape in ((7, 5), (64, 32), (1, 3)):
        weights = random.standard_t(2, size=shape)
        whole, scales = quantised_columns(weights)
        assert (np.abs(whole * scales - weights) <= scales * 0.51).all()
        rows = whole[: len(whole) // 2 * 2].astype(int).reshape(-1, 2, shape[1])
        assert rows.clip(min=0).sum(1).max(initial=0) <= 128
        assert (-rows).clip(min=0).sum(1).max(initial=0) <= 128


def test_portions_that_run_side_by_side_give_the_scores_of_one_after_another(exported, monkeypatch):
    folder, _ = exported
    tagger = load(folder / "out", runtime="onnx")
    sentences = [each for text in TEXTS for each in tagger.splitter.document(text).sentences] * 20
    found = {}
    for threads in (1, 3):
        monkeypatch.setattr(tagger.runtime, "threads", threads)
        found[threads] = tagger.scores(sentences)
    for one, other in zip(found[1], found[3], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_what_goes_wrong_in_a_thread_is_raised(exported, monkeypatch):
    folder, _ = exported
    tagger = load(folder / "out", runtime="onnx")
    monkeypatch.setattr(tagger.runtime, "threads", 2)
    monkeypatch.setattr(tagger.tokenizer, "pad_id", 10**6)  # beyond the table of embeddings
    with pytest.raises(DiscotagError, match="cannot score"):
        tagger([TEXTS[0] * 40, *TEXTS * 40])


def test_it_runs_without_pytorch(exported):
    folder, _ = exported
    code = f"""
    import sys
    for name in ("torch", "transformers", "onnx", "safetensors", "huggingface_hub"):
        sys.modules[name] = None
    from discotag import load
    tagger = load({str(folder / "out")!r}, runtime="onnx")
    for document in tagger({TEXTS!r}):
        print([str(mention) for mention in document.mentions])
    """
    wanted = [[str(m) for m in d.mentions] for d in load(folder / "model")(TEXTS)]
    assert python(code).splitlines() == [str(each) for each in wanted]


def test_an_export_of_another_model_is_refused(exported, tmp_path):
    folder, _ = exported
    for path in (folder / "out").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    data = json.loads((tmp_path / "config.json").read_text())
    data["discotag"]["scheme"] = {"labels": ["A"]}
    (tmp_path / "config.json").write_text(json.dumps(data))
    with pytest.raises(DiscotagError, match="it is not an export of a model with 9 tags"):
        load(tmp_path)


@pytest.mark.parametrize("kept", ["[1, 2]", "{}", "[", '["x"]'])
def test_weights_on_arcs_that_do_not_fit_are_refused(exported, tmp_path, kept):
    folder, _ = exported
    for path in (folder / "out").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    model = onnx.load(tmp_path / "model.onnx")
    (entry,) = (each for each in model.metadata_props if each.key == ARC_WEIGHTS)
    entry.value = kept
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(DiscotagError, match=r"its arc weights do not match .* asks for \d+$"):
        load(tmp_path)


def test_an_export_that_differs_is_not_kept(exported, tmp_path, monkeypatch):
    folder, _ = exported
    monkeypatch.setattr(module, "LARGEST_DIFFERENCE", -1.0)
    monkeypatch.setattr(
        module,
        "_write",
        lambda _, path: path.write_bytes((folder / "out" / path.name).read_bytes()),
    )
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "model.onnx").write_text("what was there")
    with pytest.raises(DiscotagError, match="gives other scores than PyTorch"):
        export(folder / "model", tmp_path / "out", TEXTS)
    (left,) = (tmp_path / "out").iterdir()
    assert left.read_text() == "what was there"


def test_exporting_into_its_own_folder_changes_nothing_that_is_loaded(exported, tmp_path):
    from discotag.model.files import copy_model

    folder, _ = exported
    copy_model(folder / "model", tmp_path)
    before = load(tmp_path, device="cpu")
    for name in ("model.onnx", "model_int8.onnx"):  # as `export(tmp_path, tmp_path)` does
        (tmp_path / name).write_bytes((folder / "out" / name).read_bytes())
    after = load(tmp_path, device="cpu")
    assert (before.origin.runtime, after.origin.runtime) == ("torch", "torch")
    assert [d.mentions for d in before(TEXTS)] == [d.mentions for d in after(TEXTS)]
    assert load(folder / "out").origin.runtime == "onnx"  # the more exact of the two


def test_only_weights_of_pytorch_are_exported(exported, tmp_path):
    folder, _ = exported
    with pytest.raises(DiscotagError, match="out: has no model.safetensors"):
        export(folder / "out", tmp_path / "again", TEXTS)


def test_an_export_is_never_left_unchecked(exported, tmp_path):
    folder, _ = exported
    with pytest.raises(DiscotagError, match="there is no text to compare the answers on"):
        export(folder / "model", tmp_path / "out", [" ", ""])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", EightBits)
def test_quantised_products_are_near(tmp_path, monkeypatch, kind):
    """Against a matrix product and a table of our own, rows of zeros included."""
    from onnx import TensorProto, checker, helper, numpy_helper, save

    random = np.random.default_rng(0)
    weights = random.normal(size=(64, 32)).astype(np.float32)
    table = random.normal(size=(50, 64)).astype(np.float32) * random.uniform(0, 9, (50, 1))
    table[3] = 0
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "ids"], ["rows"]),
            helper.make_node("MatMul", ["rows", "weights"], ["out"]),
        ],
        "graph",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 32])],
        [
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(table.astype(np.float32), "table"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    checker.check_model(model)
    save(model, tmp_path / "a.onnx")
    monkeypatch.setattr(quantise_module, "LEAST_WEIGHTS", 1)
    quantise(tmp_path / "a.onnx", tmp_path / "b.onnx", kind)
    session = onnxruntime.InferenceSession(tmp_path / "b.onnx")
    (found,) = session.run(None, {"ids": np.arange(50)})
    wanted = table @ weights
    scale = np.abs(table).max(1, keepdims=True) * np.abs(weights).max(0) / 127
    assert np.abs(found - wanted).max() > 0
    assert (np.abs(found - wanted) <= 64 * scale + 1e-6).all()
    assert (found[3] == 0).all()


def test_deberta(tmp_path):
    """PyTorch uses the faster attention, the export Hugging Face's: both give the same scores."""
    shape = ModelConfig(Scheme(("ADR",)), window=48, overlap=8)
    network = Network(tiny_deberta(), shape, tiny_tokenizer()).eval()
    torch.nn.init.normal_(network.linear.weight, std=0.5)
    network.save_pretrained(tmp_path / "model")
    floats, _ = export(tmp_path / "model", tmp_path / "out", [*TEXTS, "pain in my arms " * 30])
    assert floats.score_difference < 1e-4
    assert floats.same == 1
