"""Test that batches have every sentence with words once, longest first, within the budget."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Scheme
from discotag.model.config import ModelConfig
from discotag.model.tokenizer import WordTokenizer
from discotag.prediction.batching import plan_batches
from tiny import tiny_tokenizer


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.integers(0, 40), max_size=40),
    st.integers(1, 100),
    st.one_of(st.none(), st.integers(1, 9)),
)
def test_batches(lengths, budget, batch_size):
    config = ModelConfig(Scheme(("ADR",)), window=16, overlap=4)
    tokenizer = WordTokenizer.from_json(tiny_tokenizer(), config)
    encoded = tokenizer.encode([["pain"] * length for length in lengths])
    batches = list(plan_batches(encoded, budget, batch_size))
    longer = list(plan_batches(encoded, budget, batch_size, long=30))
    alone = np.flatnonzero(encoded.totals > 30)
    assert [batch.tolist() for batch in longer[: len(alone)]] == alone[:, None].tolist()
    rest = [number for batch in longer[len(alone) :] for number in batch.tolist()]
    assert sorted(rest) == np.flatnonzero((encoded.totals <= 30) & (encoded.lengths > 0)).tolist()
    listed = [number for batch in batches for number in batch.tolist()]
    assert sorted(listed) == [number for number, length in enumerate(lengths) if length]
    widths = encoded.widths[listed]
    assert (np.diff(widths) <= 0).all()
    for batch in batches:
        padded = encoded.heights[batch].sum() * encoded.widths[batch].max()
        assert len(batch) == 1 or padded <= budget
        assert batch_size is None or len(batch) <= batch_size
    # No batch has room for the sentence after it.
    for batch, after in pairwise(batches):
        more = (encoded.heights[batch].sum() + encoded.heights[after[0]]) * encoded.widths[batch[0]]
        assert more > budget or len(batch) == batch_size
