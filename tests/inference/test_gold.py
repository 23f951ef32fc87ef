import numpy as np
import pytest

from discotag import Mention, Scheme
from discotag.inference.gold import GoldTable, collate_gold, find_gold

SENTENCES = [
    (4, [Mention("X", [(0, 1), (3, 4)])]),
    (1, []),
    (6, [Mention("X", [(0, 2)]), Mention("X", [(0, 1), (4, 5)]), Mention("X", [(5, 6)])]),
    (0, []),
    (3, [Mention("X", [(1, 2)])]),
]


@pytest.mark.parametrize("weighted", [False, True])
def test_a_batch_of_a_table_numbers_entries_through(weighted):
    """Against a loop over the sentences of the batch."""
    scheme = Scheme(("X",), naming="semantic")
    golds = [
        find_gold(scheme, length, frozenset(mentions), frozenset(), True, weighted)
        for length, mentions in SENTENCES
    ]
    table = GoldTable(golds)
    for numbers in ([2], [4, 2, 0, 1], [3], [1, 3, 2, 2], []):
        row, group_row = [], []
        word, tag, arc, alternative, group = [], [], [], [], []
        for place, number in enumerate(numbers):
            gold = golds[number]
            row += [place] * len(gold.word)
            word += gold.word.tolist()
            tag += gold.tag.tolist()
            arc += gold.arc.tolist()
            alternative += (gold.alternative + len(group)).tolist()
            group += (gold.group + len(group_row)).tolist()
            group_row += [place] * (gold.group.max() + 1)
        batch = table.batch(np.array(numbers, dtype=np.int64))
        assert [each.tolist() for each in batch.gold] == [word, tag, arc, alternative, group]
        assert (batch.row.tolist(), batch.group_row.tolist()) == (row, group_row)
        collated = collate_gold([golds[number] for number in numbers])
        assert [each.tolist() for each in collated.gold] == [each.tolist() for each in batch.gold]
