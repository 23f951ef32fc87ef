"""Compare the faster attention with Hugging Face's."""

from copy import deepcopy
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from discotag.model.deberta import speed_up  # noqa: E402
from tiny import tiny_deberta  # noqa: E402


def _encoder(**changes: Any) -> Any:
    encoder = tiny_deberta(**changes)
    for each in encoder.parameters():
        torch.nn.init.normal_(each, std=0.3)
    return encoder


def _inputs(lengths: list[int]) -> tuple[Any, Any]:
    width = max(lengths)
    mask = (torch.arange(width) < torch.tensor(lengths)[:, None]).long()
    return torch.randint(0, 20, mask.shape), mask


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"share_att_key": False},
        {"pos_att_type": ["c2p"]},
        {"pos_att_type": ["p2c"]},
        {"pos_att_type": []},
        {"position_buckets": -1, "max_relative_positions": 5},
        {"conv_kernel_size": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("lengths", [[1], [2, 1], [7, 3, 5], [40, 12]], ids=str)
def test_same_vectors_and_gradients(changes: dict[str, Any], lengths: list[int]) -> None:
    plain = _encoder(**changes)
    fast = deepcopy(plain)
    speed_up(fast)
    assert type(fast.encoder.layer[0].attention.self) is not type(
        plain.encoder.layer[0].attention.self
    )
    ids, mask = _inputs(lengths)
    found = [each(input_ids=ids, attention_mask=mask).last_hidden_state for each in (plain, fast)]
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)
    with torch.no_grad():  # by another kernel
        again = fast(input_ids=ids, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(again, found[0], rtol=1e-4, atol=1e-5)
    for each in found:
        (each * mask[..., None]).square().sum().backward()
    for (name, wanted), got in zip(plain.named_parameters(), fast.parameters(), strict=True):
        if wanted.grad is not None:
            torch.testing.assert_close(got.grad, wanted.grad, rtol=1e-3, atol=1e-3, msg=name)


def test_dropout_in_training() -> None:
    """Without dropout, training and evaluation agree; with it, they differ."""
    ids, mask = _inputs([7, 3])
    for rate, same in ((0.0, True), (0.5, False)):
        encoder = _encoder(attention_probs_dropout_prob=rate, hidden_dropout_prob=0.0)
        speed_up(encoder)
        found = [
            encoder.train(training)(input_ids=ids, attention_mask=mask).last_hidden_state
            for training in (False, True)
        ]
        assert torch.allclose(*found, atol=1e-5) == same


def test_weights_keep_their_names() -> None:
    plain = _encoder()
    fast = deepcopy(plain)
    speed_up(fast)
    assert list(fast.state_dict()) == list(plain.state_dict())


def test_attentions_can_still_be_asked_for() -> None:
    plain = _encoder()
    fast = deepcopy(plain)
    speed_up(fast)
    ids, mask = _inputs([6, 4])
    found = [
        each(input_ids=ids, attention_mask=mask, output_attentions=True).attentions[1]
        for each in (plain, fast)
    ]
    torch.testing.assert_close(found[1], found[0])


def test_other_encoders_stay_as_they_are() -> None:
    config = transformers.BertConfig(
        vocab_size=20,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
    )
    encoder = transformers.BertModel(config)
    before = [type(each) for each in encoder.modules()]
    speed_up(encoder)
    assert [type(each) for each in encoder.modules()] == before
