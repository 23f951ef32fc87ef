"""Test that folders without a usable model raise errors of one line."""

import json
from pathlib import Path

import pytest
import torch

from discotag import load
from discotag.errors import DiscotagError
from discotag.model import files
from discotag.prediction import loading
from shell import python
from tiny import tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def copy(model, tmp_path):
    files.copy_model(model, tmp_path / "copy")
    return tmp_path / "copy"


def refused(folder, message, **options):
    with pytest.raises(DiscotagError, match=message) as caught:
        load(folder, **options)
    assert "\n" not in str(caught.value)


def test_loads_what_was_saved(model, tmp_path):
    tagger = load(model)
    tagger.save_pretrained(tmp_path / "again")
    again = load(tmp_path / "again", runtime="torch", device="cpu")
    text = "I had pain in my arms and shoulders."
    assert again(text) == tagger(text)
    assert again.config == tagger.config


def test_saving_to_its_own_folder_and_without_one(copy):
    tagger = load(copy)
    before = (copy / "model.safetensors").read_bytes()
    tagger.runtime = None  # as if it were not a PyTorch network
    tagger.save_pretrained(copy)
    assert (copy / "model.safetensors").read_bytes() == before
    tagger.origin = None
    with pytest.raises(DiscotagError, match="there is nothing to save"):
        tagger.save_pretrained(copy)


def test_folders_that_are_not_a_model(copy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    refused(tmp_path / "none", "there is no such folder")
    for name in ("../none", "none", f"{tmp_path.name}/none", "x" * 5000, "a\0b", "~nobody/x"):
        refused(name, "there is no such folder$")
    refused(tmp_path / "owner" / "name", "there is no such folder$")
    refused(Path("owner/name"), "there is no such folder$")
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file", "is a file; give the folder of a model")
    refused(tmp_path, "not a model: it has no config.json$")
    copy.rename(tmp_path / "model")
    refused(tmp_path, "it has no config.json; the model is in .*/model$")
    (tmp_path / "model").rename(copy)
    (copy / "config.json").write_text("{")
    refused(copy, r"config.json: cannot be read")
    (copy / "config.json").write_text('{"model_type": "bert"}')
    refused(copy, r"not a discotag model: it has no key 'discotag'")


def test_newer_versions(copy):
    data = json.loads((copy / "config.json").read_text())
    data["discotag"]["version"] = 99
    (copy / "config.json").write_text(json.dumps(data))
    refused(copy, "has version 99, but this discotag reads versions up to 2; upgrade discotag")


def test_pickles_are_never_read(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    refused(copy, "pytorch_model.bin, which may run code when read, and no model.safetensors")
    (copy / "pytorch_model.bin").unlink()
    refused(copy, "has no model.safetensors")


def test_files_that_are_missing_or_damaged(copy):
    refused(copy, "has no model.onnx for runtime 'onnx'; discotag export writes it", runtime="onnx")
    refused(None, "has no model.onnx for runtime 'onnx'; it has model_int8.onnx$", runtime="onnx")
    refused(copy, "runtime must be one of torch, onnx, onnx-int8", runtime="tpu")
    refused(copy, "device 'gpu' cannot be used", device="gpu")
    (copy / "model.onnx").write_bytes(b"no model")
    refused(copy, "model.onnx: onnxruntime cannot load it", runtime="onnx")
    (copy / "tokenizer.json").write_text("{}")
    refused(copy, r"tokenizer\.json: not a tokenizer that can be read", runtime="torch")
    (copy / "tokenizer.json").unlink()
    refused(copy, "tokenizer.json cannot be read", runtime="torch")


def test_weights_that_do_not_fit(copy):
    data = json.loads((copy / "config.json").read_text())
    changed = data | {"discotag": data["discotag"] | {"scheme": {"labels": ["A", "B"]}}}
    (copy / "config.json").write_text(json.dumps(changed))
    refused(copy, "model.safetensors: does not match config.json: .*size mismatch for linear")
    (copy / "config.json").write_text(json.dumps(data | {"num_hidden_layers": 1}))
    refused(copy, r"do not match config.json: 16 are unexpected \(bert.* and 11 more\)$")
    (copy / "config.json").write_text(json.dumps(data | {"model_type": "no such"}))
    refused(copy, "cannot build its encoder")
    (copy / "config.json").write_text(json.dumps(data))
    (copy / "model.safetensors").write_bytes(b"\0" * 20)
    refused(copy, "model.safetensors: is not a safetensors file")


def test_the_hub_cannot_be_reached(monkeypatch):
    import huggingface_hub

    def unreachable(*_, **__):
        raise OSError("no route to host\nand more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    refused(
        "owner/name", r"cannot be downloaded from the hub \(are you offline\?\): no route to host"
    )
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    refused("owner/name", "need huggingface_hub: pip install huggingface_hub")


def test_only_the_files_of_a_model_are_downloaded(model, monkeypatch):
    import huggingface_hub

    asked = {}

    def fetch(name, allow_patterns):
        asked.update(name=name, patterns=allow_patterns)
        return str(model)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert load("owner/name").config == load(model).config
    assert asked == {"name": "owner/name", "patterns": list(files.FILES)}


def test_push_to_hub(model, monkeypatch):
    import huggingface_hub

    sent = []

    class Api:
        def create_repo(self, name, private, exist_ok):
            return f"https://hub/{name}"

        def upload_folder(self, repo_id, folder_path):
            from pathlib import Path

            sent.extend(sorted(path.name for path in Path(folder_path).iterdir()))

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    assert load(model).push_to_hub("owner/name") == "https://hub/owner/name"
    assert sent == ["README.md", "config.json", "model.safetensors", "tokenizer.json"]


def test_the_bundled_model_may_be_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "BUNDLED", tmp_path)
    refused(None, "this installation has no bundled model")


def test_without_pytorch(model, monkeypatch):
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    missing = r"needs torch, transformers: pip install accelerate.* transformers"
    refused(model, f"{missing}; or export the model where PyTorch is installed")
    missing = r"needs torch, transformers, onnx: pip install accelerate.* transformers"
    refused(None, f"{missing}; or use the export: runtime 'onnx-int8'", runtime="torch")
    refused(None, f"{missing}; or leave out the device to predict on the CPU", device="cuda")
    assert load().origin.runtime == "onnx-int8"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu(model):
    advice = "leave it out to predict on the CPU$"
    for name in (None, model):
        refused(name, f"device 'cuda' cannot be used: .*; {advice}", device="cuda")
        refused(name, f"device 'cuda' cannot be used: .*; {advice}", device="cuda", runtime="torch")
    message = "this onnxruntime cannot use CUDA: .*; leave out the device to predict on the CPU$"
    refused(None, message, device="cuda", runtime="onnx-int8")


def test_adding_files_does_not_change_what_a_folder_means(copy, caplog):
    """Test that the choice of a runtime depends neither on exports nor on installed libraries."""
    caplog.set_level("INFO", logger="discotag")
    assert load(copy).origin.runtime == "torch"
    assert caplog.messages == [
        f"{copy}: runtime torch: model.safetensors is its only file of weights"
    ]
    for name in ("model.onnx", "model_int8.onnx"):
        (copy / name).write_bytes(b"no model")
        assert load(copy).origin.runtime == "torch"
    reason = "model.safetensors is more exact than model.onnx and model_int8.onnx"
    assert caplog.messages[-1] == f"{copy}: runtime torch: {reason}"
    tagger = load(copy, device="cpu")
    assert repr(tagger) == f"<Tagger of ADR from {copy}, runtime torch ({reason}), device cpu>"
    (copy / "model.safetensors").unlink()
    assert loading.choose_runtime(copy, None, None)[:2] == ("onnx", "model.onnx")
    (copy / "model_int8.onnx").unlink()
    assert loading.choose_runtime(copy, None, None)[:2] == ("onnx", "model.onnx")
    assert loading.choose_runtime(copy, None, "cuda")[:2] == ("torch", "model.onnx")
    assert loading.choose_runtime(copy, "torch", None)[:2] == ("torch", "model.onnx")


def test_the_bundled_model_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bundled").mkdir()
    assert load("bundled").folder == files.BUNDLED
    assert "runtime onnx-int8 (model_int8.onnx is its only file of weights)" in repr(load())
    refused("./bundled", "not a model: it has no config.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"vocab_size": 50},
            r"tokenizer\.json: it has subword 30521 .* encoder has 50 subwords",
        ),
        ({"pad_token_id": 10**6}, r"subword 1000000 \('a special one'\), but the encoder has"),
        ({"pad_token_id": -1}, r"it has subword -1 "),
        ({"max_position_embeddings": 100}, "the window of 512 subwords is longer than the enc"),
        ({"discotag": {"window": 10**9}}, "window must be a whole number from 8 to 8192"),
        (
            {"discotag": {"scheme": {"labels": [*map(str, range(1001))]}}},
            "may have up to 1000 labels",
        ),
        ({"discotag": {"scheme": {"labels": [*map(str, range(900))]}}}, "would be too large"),
    ],
)
def test_configurations_beyond_bounds_without_pytorch(tmp_path, change, message):
    files.copy_model(files.BUNDLED, tmp_path)
    data = json.loads((tmp_path / "config.json").read_text())
    changed = data | change | {"discotag": data["discotag"] | change.get("discotag", {})}
    (tmp_path / "config.json").write_text(json.dumps(changed))
    refused(tmp_path, message)


def test_a_configuration_that_is_too_large_is_not_read(copy, monkeypatch):
    monkeypatch.setattr(files, "MOST_CONFIG_BYTES", 100)
    refused(copy, "config.json: is larger than")


def test_loading_imports_nothing_heavy():
    code = (
        "import sys, discotag.model.files, discotag.prediction.loading, discotag.cli.predict\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    heavy = {"torch", "transformers", "scipy", "matplotlib", "onnx", "sklearn", "yaml"}
    assert heavy.isdisjoint(python(code).split())
