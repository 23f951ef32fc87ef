"""Build tiny models with random weights."""

import json

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from discotag import Scheme
from discotag.model.config import ModelConfig

VOCABULARY = [
    *["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
    *"abcdefghijklmnopqrstuvwxyz0123456789.,!?-'",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"),
    *"the pain in my arms and shoulders knees swollen stiff hurt was bad i had no sleep".split(),
]


def tiny_tokenizer():
    """Return a WordPiece tokenizer, as the text of a `tokenizer.json`.

    Like real ones, it normalises and has truncation and padding, which must be turned off.
    """
    vocabulary = {subword: number for number, subword in enumerate(dict.fromkeys(VOCABULARY))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=specials
    )
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16, pad_id=vocabulary["[PAD]"])
    return tokenizer.to_str()


def tiny_encoder(folder, *, seed=0, positions=512, **changes):
    """Write a BERT with two layers of 32 to a folder, as an encoder to train from.

    Other arguments change its configuration.
    """
    from transformers import BertConfig, BertModel

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(tiny_tokenizer(), "utf-8")
    torch.manual_seed(seed)
    small = {
        "vocab_size": len(json.loads(tiny_tokenizer())["model"]["vocab"]),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": positions,
        "initializer_range": 0.5,  # so that words differ
    }
    BertModel(BertConfig(**(small | changes)), add_pooling_layer=False).save_pretrained(folder)
    return folder


def tiny_deberta(**changes):
    """Return a DeBERTa with two layers of 24 and random weights, in evaluation mode."""
    from transformers import DebertaV2Config, DebertaV2Model

    small = {
        "vocab_size": len(json.loads(tiny_tokenizer())["model"]["vocab"]),
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "intermediate_size": 32,
        "max_position_embeddings": 64,
        "relative_attention": True,
        "position_buckets": 8,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "type_vocab_size": 0,
    }
    torch.manual_seed(0)
    return DebertaV2Model(DebertaV2Config(**(small | changes))).eval()


def tiny_network(folder, scheme=None, *, seed=0, **config):
    """Return a network on a tiny encoder, which is written to `folder`, in evaluation mode."""
    from discotag.model.network import Network

    scheme = scheme or Scheme(labels=("ADR",))
    encoder = tiny_encoder(folder, seed=seed)
    network = Network.from_encoder(encoder, ModelConfig(scheme, **config))
    torch.nn.init.normal_(network.linear.weight, std=0.5)  # large enough to predict mentions
    return network.eval()


def tiny_model(folder, scheme=None, *, seed=0, **config):
    """Return a folder with a model of random weights."""
    tiny_network(folder / "encoder", scheme, seed=seed, **config).save_pretrained(folder / "model")
    return folder / "model"
