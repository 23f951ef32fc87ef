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
from discotag.training.batching import in_shared_rows  # noqa: E402
from tiny import tiny_deberta, tiny_tokenizer  # noqa: E402

KINDS = {
    "bert": ("BertConfig", "BertModel"),
    "electra": ("ElectraConfig", "ElectraModel"),
    "mpnet": ("MPNetConfig", "MPNetModel"),
    "roberta": ("RobertaConfig", "RobertaModel"),
    "xlm-roberta": ("XLMRobertaConfig", "XLMRobertaModel"),
}


def _network(kind: str, window: int = 22) -> Network:
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


@pytest.mark.parametrize("half", [False, True], ids=["float32", "bf16"])
@pytest.mark.parametrize("fast", [False, True], ids=["plain", "fast"])
@pytest.mark.parametrize("kind", sorted(TAKE_PAIR_MASKS))
def test_the_same_vectors_as_alone(kind: str, fast: bool, half: bool) -> None:
    network = _network(kind)
    assert network.shares_rows
    if fast:
        speed_up(network.encoder)
    words = "pain in my left arm and the right leg was awful".split()
    lengths = [30, 20, 9, 5, 4, 4, 2, 1, 1]  # the first one has two windows
    sentences = [[words[(n * n) % len(words)] for n in range(k, 2 * k)] for k in lengths]
    encoded = network.tokenizer.encode(sentences)
    batch = encoded.batch(np.arange(len(sentences)))
    plain, shared = batch.arguments(), in_shared_rows(batch, encoded.pad_id)
    assert shared["input_ids"].size < 0.8 * plain["input_ids"].size

    def tensors(arrays: dict[str, Any]) -> dict[str, Any]:
        return {name: torch.from_numpy(each) for name, each in arrays.items()}

    plain, shared = tensors(plain), tensors(shared)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=half):
        alone = network.encode(plain["input_ids"], plain["attention_mask"])
        together = network.encode_rows(shared["input_ids"], shared["owners"], shared["offsets"])
    assert torch.isfinite(together).all()
    there = plain["mask"]
    found = together[shared["windows"], shared["positions"]][there].float()
    wanted = alone[plain["windows"], plain["positions"]][there].float()
    assert (found - wanted).norm() < (0.05 if half else 1e-5) * wanted.norm()


def test_other_encoders_share_no_rows() -> None:
    config = ModelConfig(Scheme(("ADR",)))
    assert not Network(tiny_deberta(), config, tiny_tokenizer()).shares_rows


def test_encoders_of_older_versions_share_no_rows_and_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = transformers.models.mpnet.modeling_mpnet
    monkeypatch.delattr(module, "create_bidirectional_mask")
    network = _network("mpnet")
    assert not network.shares_rows
    before = [type(each) for each in network.encoder.modules()]
    speed_up(network.encoder)
    assert [type(each) for each in network.encoder.modules()] == before
