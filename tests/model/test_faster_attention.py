"""Compare the faster attention of DeBERTa and MPNet with Hugging Face's."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from discotag.model import mpnet  # noqa: E402
from discotag.model.encoder import pair_mask, speed_up  # noqa: E402
from tiny import tiny_deberta  # noqa: E402

DEBERTAS: list[dict[str, Any]] = [
    {},
    {"share_att_key": False},
    {"pos_att_type": ["c2p"]},
    {"pos_att_type": ["p2c"]},
    {"pos_att_type": []},
    {"position_buckets": -1, "max_relative_positions": 5},
    {"conv_kernel_size": 3},
]
every_kind = pytest.mark.parametrize("kind", ["deberta", "mpnet"])


def _mpnet(**changes: Any) -> Any:
    options = {
        "vocab_size": 20,
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "intermediate_size": 32,
        "max_position_embeddings": 300,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    config = transformers.MPNetConfig(**(options | changes))
    torch.manual_seed(0)
    return transformers.MPNetModel(config, add_pooling_layer=False).eval()


def _encoder(kind: str, **changes: Any) -> Any:
    encoder = {"deberta": tiny_deberta, "mpnet": _mpnet}[kind](**changes)
    for each in encoder.parameters():
        torch.nn.init.normal_(each, std=0.3)
    return encoder


def _both(kind: str, **changes: Any) -> tuple[Any, Any]:
    plain = _encoder(kind, **changes)
    fast = deepcopy(plain)
    speed_up(fast)
    part = {"deberta": "self", "mpnet": "attn"}[kind]
    one, other = (getattr(each.encoder.layer[0].attention, part) for each in (plain, fast))
    assert type(one) is not type(other)
    return plain, fast


def _inputs(lengths: list[int]) -> tuple[Any, Any]:
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    return torch.randint(2, 20, mask.shape).where(mask > 0, 1), mask


# Distances of more than 128 subwords share a bucket in MPNet.
@pytest.mark.parametrize(
    ("kind", "changes", "lengths"),
    [
        (kind, each, lengths)
        for kind, changes, long in (("deberta", DEBERTAS, [40, 12]), ("mpnet", [{}], [250, 12]))
        for each in changes
        for lengths in ([1], [2, 1], [7, 3, 5], long)
    ],
    ids=str,
)
def test_same_vectors_and_gradients(kind: str, changes: dict[str, Any], lengths: list[int]) -> None:
    plain, fast = _both(kind, **changes)
    ids, mask = _inputs(lengths)
    found = [each(input_ids=ids, attention_mask=mask).last_hidden_state for each in (plain, fast)]
    there = mask >= (1 if kind == "mpnet" else 0)  # DeBERTa has the same vectors for padding, too
    torch.testing.assert_close(found[1][there], found[0][there], rtol=1e-4, atol=1e-5)
    with torch.no_grad():  # by another kernel
        again = fast(input_ids=ids, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(again[there], found[0][there], rtol=1e-4, atol=1e-5)
    weights = torch.randn(found[0].shape) * mask[..., None]
    for each in found:
        (each * weights).sum().backward()
    for (name, wanted), got in zip(plain.named_parameters(), fast.parameters(), strict=True):
        assert (wanted.grad is None) == (got.grad is None)
        if wanted.grad is not None:
            torch.testing.assert_close(got.grad, wanted.grad, rtol=1e-3, atol=1e-3, msg=name)
    if kind == "mpnet" and lengths != [1]:
        assert fast.encoder.relative_attention_bias.weight.grad.abs().max() > 0.01


@every_kind
def test_dropout_in_training(kind: str) -> None:
    """Without dropout, training and evaluation agree; with it, they differ."""
    ids, mask = _inputs([7, 3])
    there = mask > 0
    for rate, same in ((0.0, True), (0.5, False)):
        options = {"attention_probs_dropout_prob": rate, "hidden_dropout_prob": 0.0}
        plain, fast = _both(kind, **options)
        found = [
            fast.train(training)(input_ids=ids, attention_mask=mask).last_hidden_state
            for training in (False, True)
        ]
        assert torch.allclose(*found, atol=1e-5) == same
        wanted = plain(input_ids=ids, attention_mask=mask).last_hidden_state
        torch.testing.assert_close(found[0][there], wanted[there], rtol=1e-4, atol=1e-5)


@every_kind
def test_weights_and_the_kind_of_encoder_keep_their_names(kind: str, tmp_path: Path) -> None:
    plain, fast = _both(kind)
    assert list(fast.state_dict()) == list(plain.state_dict())
    fast.save_pretrained(tmp_path)
    kept = json.loads((tmp_path / "config.json").read_text())["architectures"]
    assert kept == [type(plain).__name__]


@every_kind
def test_more_can_still_be_asked_for(kind: str) -> None:
    """All layers and the probabilities of attention are what they were."""
    plain, fast = _both(kind)
    ids, mask = _inputs([6, 4])
    for name in ("attentions", "hidden_states"):
        wanted, got = (
            each(input_ids=ids, attention_mask=mask, **{f"output_{name}": True})[name]
            for each in (plain, fast)
        )
        for one, other in zip(wanted, got, strict=True):
            torch.testing.assert_close(other, one)


@pytest.mark.parametrize("kind", ["BERT", "DeBERTa without relative positions"])
def test_other_encoders_stay_as_they_are(kind: str) -> None:
    if kind == "BERT":
        sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
        config = transformers.BertConfig(vocab_size=20, num_hidden_layers=1, **sizes)
        encoder = transformers.BertModel(config)
    else:
        encoder = tiny_deberta(relative_attention=False)
    before = [type(each) for each in encoder.modules()]
    speed_up(encoder)
    assert [type(each) for each in encoder.modules()] == before


def test_masks_of_pairs_are_added() -> None:
    plain, fast = _both("mpnet")
    ids, _ = _inputs([8, 8])
    allowed = (torch.rand(2, 1, 8, 8) > 0.5) | torch.eye(8, dtype=torch.bool)
    mask = pair_mask(allowed, torch.float32)
    found = [each(input_ids=ids, attention_mask=mask).last_hidden_state for each in (plain, fast)]
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)
    open_to_all = plain(input_ids=ids).last_hidden_state
    assert not torch.allclose(found[0], open_to_all, atol=1e-2)


def test_attention_is_fused_only_for_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = torch.nn.functional.scaled_dot_product_attention

    def attend(*given: Any, **named: Any) -> Any:
        calls.append(named)
        return real(*given, **named)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", attend)
    _, fast = _both("mpnet")
    ids, mask = _inputs([7, 3])
    with torch.no_grad():
        fast(input_ids=ids, attention_mask=mask)
    assert not calls
    fast(input_ids=ids, attention_mask=mask)
    assert len(calls) == len(fast.encoder.layer)


def test_positions_that_were_cached_in_prediction_can_be_trained() -> None:
    mpnet._cached_buckets.cache_clear()
    _, fast = _both("mpnet")
    ids, mask = _inputs([7, 3])
    with torch.inference_mode():
        fast(input_ids=ids, attention_mask=mask)
    fast(input_ids=ids, attention_mask=mask).last_hidden_state.sum().backward()
