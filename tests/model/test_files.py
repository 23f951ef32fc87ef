"""Models on disk: what is refused, in one line each."""

import json
import subprocess
import sys

import pytest

from discotag.errors import DiscotagError
from discotag.model import files
from discotag.model.files import InvalidModel, load
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


def test_saving_to_where_it_is_and_from_nowhere(copy):
    tagger = load(copy)
    before = (copy / "model.safetensors").read_bytes()
    tagger.scorer = None  # as if it were no network of PyTorch
    tagger.save_pretrained(copy)
    assert (copy / "model.safetensors").read_bytes() == before
    tagger.folder = None
    with pytest.raises(DiscotagError, match="there is nothing to save"):
        tagger.save_pretrained(copy)


def test_folders_that_are_no_model(copy, tmp_path):
    refused(tmp_path / "none", "there is no such folder")
    refused("../none", "there is no such folder")
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
    refused(copy, "is of version 99, this discotag reads up to 1; upgrade discotag")


def test_pickles_are_never_read(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    refused(copy, "pytorch_model.bin, which may run code when read, and no model.safetensors")
    (copy / "pytorch_model.bin").unlink()
    refused(copy, "has no model.safetensors")


def test_files_that_are_missing_or_damaged(copy):
    refused(copy, "has no model.onnx for runtime 'onnx'; discotag export writes it", runtime="onnx")
    refused(copy, "runtime must be one of onnx-int8, onnx, torch", runtime="tpu")
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
    refused(copy, "model.safetensors: does not fit config.json: .*size mismatch for linear")
    (copy / "config.json").write_text(json.dumps(data | {"model_type": "no such"}))
    refused(copy, "its encoder cannot be built")
    (copy / "config.json").write_text(json.dumps(data))
    (copy / "model.safetensors").write_bytes(b"\0" * 20)
    refused(copy, "model.safetensors: does not fit config.json")


def test_the_hub_cannot_be_reached(monkeypatch):
    import huggingface_hub

    def unreachable(*_, **__):
        raise OSError("no route to host\nand more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    refused("owner/name", r"could not be fetched from the hub \(offline\?\): no route to host")
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    refused("owner/name", "needs huggingface_hub: pip install huggingface_hub")


def test_from_the_hub_comes_what_a_model_consists_of(model, monkeypatch):
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
    refused(None, "this installation has no model of its own")


def test_without_pytorch(model, monkeypatch):
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    with pytest.raises(InvalidModel, match=r"needs PyTorch: pip install 'discotag\[train\]'"):
        load(model)


def test_loading_imports_nothing_heavy():
    code = (
        "import sys, discotag.model.files, discotag.model.tagger, discotag.cli.predict\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "transformers", "scipy", "matplotlib", "onnx", "sklearn", "yaml"}
    assert heavy.isdisjoint(done.stdout.split())
