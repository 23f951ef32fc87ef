"""Windows have the same vectors in a row with others as by themselves."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from discotag import Scheme  # noqa: E402
from discotag.model.config import ModelConfig  # noqa: E402
from discotag.model.encoder import TAKE_PAIR_MASKS, speed_up  # noqa: E402
from discotag.model.network import Network  # noqa: E402
from discotag.training.batching import pack  # noqa: E402
from tiny import tiny_deberta, tiny_tokenizer  # noqa: E402

KINDS = {
    "bert": ("BertConfig", "BertModel"),
    "electra": ("ElectraConfig", "ElectraModel"),
    "mpnet": ("MPNetConfig", "MPNetModel"),
    "roberta": ("RobertaConfig", "RobertaModel"),
    "xlm-roberta": ("XLMRobertaConfig", "XLMRobertaModel"),
}


def _network(kind: str, window: int = 24) -> Network:
    config, model = (getattr(transformers, name) for name in KINDS[kind])
    torch.manual_seed(0)
    encoder = model(
        config(
            vocab_size=300,
            hidden_size=24,
            num_hidden_layers=2,
            num_attention_heads=3,
            intermediate_size=32,
            max_position_embeddings=64,
            initializer_range=0.5,
            pad_token_id=1,
        )
    )
    config = ModelConfig(Scheme(("ADR",)), window=window, overlap=4)
    return Network(encoder, config, tiny_tokenizer()).eval()


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "fast"])
@pytest.mark.parametrize("kind", sorted(TAKE_PAIR_MASKS))
def test_the_same_vectors_as_alone(kind: str, fast: bool) -> None:
    network = _network(kind)
    assert network.packs
    if fast:
        speed_up(network.encoder)
    words = "pain in my left arm and the right leg was awful".split()
    lengths = [30, 20, 9, 5, 4, 4, 2, 1, 1]  # the first one has two windows
    sentences = [[words[(n * n) % len(words)] for n in range(k, 2 * k)] for k in lengths]
    encoded = network.tokenizer.encode(sentences)
    batch = encoded.batch(np.arange(len(sentences)))
    plain, packed = batch.arguments(), pack(batch, encoded.pad_id)
    assert packed["input_ids"].size < 0.8 * plain["input_ids"].size

    def tensors(arrays: dict[str, Any]) -> dict[str, Any]:
        return {name: torch.from_numpy(each) for name, each in arrays.items()}

    plain, packed = tensors(plain), tensors(packed)
    with torch.no_grad():
        alone = network.encode(plain["input_ids"], plain["attention_mask"])
        together = network.encode_packed(packed["input_ids"], packed["owners"], packed["offsets"])
    assert torch.isfinite(together).all()
    there = plain["mask"]
    torch.testing.assert_close(
        together[packed["windows"], packed["positions"]][there],
        alone[plain["windows"], plain["positions"]][there],
        rtol=1e-4,
        atol=1e-5,
    )


def test_other_encoders_are_not_packed() -> None:
    config = ModelConfig(Scheme(("ADR",)))
    assert not Network(tiny_deberta(), config, tiny_tokenizer()).packs
