import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Mention, Scheme
from discotag.inference.gold import find_gold
from discotag.model.config import ModelConfig
from discotag.model.tokenizer import WordTokenizer
from discotag.training.batching import (
    SIMILAR,
    Batches,
    Examples,
    Packed,
    Taught,
    fit_rows,
    plan,
    similar_rows,
)
from tiny import tiny_tokenizer


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 9), st.integers(0, 9))
def test_an_epoch_has_every_sentence_once_in_even_batches(number, batch_size, seed, epoch):
    batches = plan(number, batch_size, seed, epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(number))
    lengths = {len(batch) for batch in batches}
    assert max(lengths) <= batch_size
    assert max(lengths) - min(lengths) <= 1
    again = plan(number, batch_size, seed, epoch)
    assert all((one == other).all() for one, other in zip(batches, again, strict=True))


def test_epochs_and_seeds_differ():
    orders = {
        tuple(np.concatenate(plan(1000, 10, seed, epoch)))
        for seed, epoch in [(1, 0), (1, 1), (2, 0)]
    }
    assert len(orders) == 3


def _examples(number, teacher=None):
    """Sentences of one to seven words, each with the mention of its first word."""
    scheme = Scheme(("X",))
    tokenizer = WordTokenizer.from_json(tiny_tokenizer(), ModelConfig(scheme))
    words = "pain in my arms the shoulders knees bad".split()  # each is one subword
    sentences = [[words[(n + k) % 8] for k in range(n % 7 + 1)] for n in range(number)]
    mentions = frozenset({Mention("X", [(0, 1)])})
    golds = [find_gold(scheme, len(s), mentions, frozenset(), False, False) for s in sentences]
    labelled = np.arange(number) > 0 if teacher else np.ones(number, bool)
    listed = [tuple(mentions)] * number
    return Examples(tokenizer.encode(sentences), golds, labelled, listed, teacher)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_windows_of_similar_size_are_together(sizes):
    parts = list(similar_rows(sizes))
    assert [row for rows, _ in parts for row in range(len(sizes))[rows]] == [*range(len(sizes))]
    for rows, width in parts:
        assert width == max(sizes[rows])
        assert min(sizes[rows]) >= SIMILAR * width


@given(st.lists(st.integers(1, 40), min_size=1, max_size=40))
def test_windows_share_rows_without_overlap(sizes):
    rows, starts = fit_rows(sorted(sizes, reverse=True), max(sizes))
    taken = np.zeros((len(sizes), max(sizes)), dtype=int)
    for size, row, start in zip(sorted(sizes, reverse=True), rows, starts, strict=True):
        assert start + size <= max(sizes)
        taken[row, start : start + size] += 1
    assert taken.max() == 1
    used = taken.sum(1)[: rows.max() + 1]
    assert used.min() > 0
    # No two rows could be one: the later one was begun because nothing of it fitted before.
    assert all(used[:-1] + used[1:] > max(sizes))


def test_shared_rows_have_the_same_words():
    plain = Batches(_examples(23), 6, seed=1)
    shared = Batches(_examples(23), 6, seed=1, share_rows=True)
    for one, other in zip(plain.epoch(0), shared.epoch(0), strict=True):
        assert "attention_mask" not in other
        assert len(other["input_ids"]) < len(one["input_ids"])
        assert torch.equal(one["mask"], other["mask"])
        found = [each["input_ids"][each["windows"], each["positions"]] for each in (one, other)]
        assert torch.equal(found[0][one["mask"]], found[1][one["mask"]])
        # Each window is in one row, with positions from 0 on.
        for owner in range(len(one["mask"])):
            row, column = torch.nonzero(other["owners"] == owner, as_tuple=True)
            assert len(set(row.tolist())) == 1
            assert torch.equal(other["offsets"][row, column], torch.arange(len(row)))


def test_long_sentences_come_first_in_a_batch():
    for batch in Batches(_examples(23), 6, seed=1).epoch(0):
        sizes = batch["attention_mask"].sum(1).tolist()
        assert len(set(sizes)) > 1
        assert sizes == sorted(sizes, reverse=True)
        # Each word is one subword, and there are two special ones.
        assert (batch["mask"].sum(1) + 2).tolist() == sizes


def test_processes_share_each_batch():
    examples = _examples(23)
    whole = list(Batches(examples, 6, seed=1).epoch(0))
    halves = [list(Batches(examples, 6, seed=1, rank=rank, world=2).epoch(0)) for rank in range(2)]
    for together, *shares in zip(whole, *halves, strict=True):
        assert sum(len(share["mask"]) for share in shares) == len(together["mask"])
        assert {share["divisor"] for share in shares} == {len(together["mask"]) / 2}
        rows = torch.cat([share["attention_mask"].sum(1) for share in shares]).sort().values
        assert torch.equal(rows, together["attention_mask"].sum(1).sort().values)


def test_an_epoch_begins_with_the_same_random_state_whenever_it_begins():
    batches = Batches(_examples(4), 2, seed=1)
    drawn = []
    for epoch in (0, 1, 0):
        next(batches.epoch(epoch))
        drawn.append(torch.rand(1).item())
    assert drawn[0] == drawn[2] != drawn[1]


def test_batches_have_the_gold_of_their_sentences():
    examples = _examples(9)
    for batch in Batches(examples, 4, seed=1).epoch(0):
        lengths = batch["mask"].sum(1)
        words = batch["gold_word"]
        assert torch.equal(torch.bincount(batch["gold_row"]), lengths)
        assert torch.equal(words, torch.cat([torch.arange(n) for n in lengths]))
        assert torch.equal(batch["gold_tag"] > 0, words == 0)


def test_only_taught_batches_have_teachers():
    teacher = [Taught(np.full((n + 1, 3), 1 / 3, np.float16), {}) for n in range(2)]
    (batch,) = Batches(_examples(2, teacher), 2, seed=1).epoch(0)
    assert batch["teacher"].shape == (2, 2, 3)
    assert sorted(batch["labelled"].tolist()) == [False, True]
    (plain,) = Batches(_examples(2), 2, seed=1).epoch(0)
    assert "teacher" not in plain


def test_a_batch_is_one_buffer_with_the_same_arrays():
    random = np.random.default_rng(0)
    arrays = {
        "ids": random.integers(0, 9, (3, 5)),
        "mask": random.random((3, 7)) < 0.5,
        "nothing": np.empty(0, np.int64),
        "teacher": random.random((3, 7, 3)).astype(np.float16),
    }
    packed = Packed(arrays, divisor=1.5)
    for found in (packed, packed.to(torch.device("cpu")), packed.to(torch.device("meta"))):
        assert found["divisor"] == 1.5
        for name, array in arrays.items():
            assert found[name].shape == array.shape
            assert found[name].dtype == torch.from_numpy(array).dtype
            if found[name].device.type == "cpu":
                assert np.array_equal(found[name].numpy(), array)
    storages = {packed[name].untyped_storage().data_ptr() for name in ("ids", "mask", "teacher")}
    assert storages == {packed.buffer.untyped_storage().data_ptr()}
