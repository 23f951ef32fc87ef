"""What Hugging Face's users expect: AutoModel on a model's folder, and a callable pipeline."""

import json
import pickle

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from discotag import InputError, Scheme, Tagger
from discotag.integrations.huggingface import Pipeline, pipeline
from discotag.model.config import ModelConfig
from discotag.model.network import Network
from discotag.prediction import Wanted
from tiny import tiny_deberta, tiny_model, tiny_network, tiny_tokenizer

TEXT = "The pain I was experiencing around the hipjoints was incredible."


def deberta_network(folder):
    config = ModelConfig(Scheme(labels=("ADR",)), window=32, overlap=8)
    return Network(tiny_deberta(), config, tiny_tokenizer()).eval()


@pytest.mark.parametrize("make", [tiny_network, deberta_network])
def test_auto_model_loads_the_encoder(tmp_path, make):
    network = make(tmp_path / "encoder")
    network.save_pretrained(tmp_path / "model")
    options = {"add_pooling_layer": False} if make is tiny_network else {}
    encoder, info = AutoModel.from_pretrained(
        tmp_path / "model", output_loading_info=True, **options
    )
    assert set(info["unexpected_keys"]) == {"linear.weight", "linear.bias"}
    assert not info["missing_keys"]
    assert not info["mismatched_keys"]
    given = torch.tensor([[2, 7, 30, 11, 3]])
    with torch.inference_mode():
        found = encoder.eval()(given).last_hidden_state
        assert torch.equal(found, network.encode(given, torch.ones_like(given)))


def test_auto_tokenizer_loads_the_tokenizer(tmp_path):
    folder = tiny_model(tmp_path)
    found = AutoTokenizer.from_pretrained(folder)("the pain in my arms")
    assert len(found["input_ids"]) == 7


def test_the_type_of_the_weights_is_that_of_the_file(tmp_path):
    """`AutoModel` converts weights to the type in the configuration."""
    network = tiny_network(tmp_path / "encoder")
    network.encoder.config.dtype = torch.float16
    network.save_pretrained(tmp_path / "model")
    data = json.loads((tmp_path / "model" / "config.json").read_text("utf-8"))
    assert data["dtype"] == "float32"
    assert AutoModel.from_pretrained(tmp_path / "model").dtype == torch.float32


def test_a_text_gives_a_list_of_dictionaries(tagger):
    find = pipeline()
    (mention,) = find(TEXT)
    assert mention == tagger(TEXT).mentions[0].to_dict()
    assert mention.keys() == {"label", "text", "spans", "fragments", "score"}
    assert [TEXT[start:end] for start, end in mention["spans"]] == ["pain", "hipjoints"]
    assert json.loads(json.dumps(mention)) == mention
    assert find("") == []


def test_several_texts_give_several_lists(tagger):
    find = pipeline(tagger)
    wanted = [find(TEXT), [], find("Sore toes.")]
    for texts in ([TEXT, "Slept well.", "Sore toes."], (TEXT, "Slept well.", "Sore toes.")):
        found = find(texts)
        assert isinstance(found, list)
        assert [[each["text"] for each in one] for one in found] == [
            [each["text"] for each in one] for one in wanted
        ]
    assert find([]) == []


def test_an_iterable_is_read_lazily(tagger):
    def texts():
        while True:
            yield TEXT

    found = pipeline(tagger)(texts())
    assert [each["text"] for each in next(found)] == ["pain hipjoints"]


def test_a_data_set_of_pytorch_is_an_iterable(tagger):
    from transformers.pipelines.pt_utils import KeyDataset

    texts = [TEXT, "Sore toes."]
    data = KeyDataset([{"text": text} for text in texts], "text")
    assert list(pipeline(tagger)(data)) == pipeline(tagger)(texts)


def test_options_reach_the_tagger(monkeypatch):
    given = []

    def predict(self, items, wanted):
        given.append(wanted)
        return iter([self.splitter.document(text) for text in items])

    monkeypatch.setattr(Tagger, "predict", predict)
    options = {"min_score": 0.25, "bias": 1.5, "batch_size": 7}
    assert pipeline(**options)(TEXT) == []
    assert given == [Wanted(**options, candidates=False)]


def test_a_folder_and_a_device(tmp_path):
    tagger = pipeline(tiny_model(tmp_path), device="cpu", runtime="torch").tagger
    assert (tagger.runtime.name, tagger.runtime.device) == ("torch", "cpu")


@pytest.mark.parametrize("options", [{"min_score": 2.0}, {"bias": 1e6}, {"batch_size": 0}])
def test_wrong_options_are_refused_at_once(tagger, options):
    with pytest.raises(InputError, match="must be"):
        pipeline(tagger, **options)


def test_can_be_pickled(tagger):
    again = pickle.loads(pickle.dumps(pipeline(tagger, min_score=0.5)))
    assert isinstance(again, Pipeline)
    assert again(TEXT) == pipeline(tagger, min_score=0.5)(TEXT)
