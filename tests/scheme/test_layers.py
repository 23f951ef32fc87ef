"""Groups of mentions that share words, against merging them pair by pair."""

from hypothesis import given
from hypothesis import strategies as st

from discotag import Mention
from discotag.scheme.layers import group_mentions

word_sets = st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=3), max_size=6)


@given(word_sets)
def test_groups_are_the_connected_parts(sets):
    mentions = [Mention("A", [(word, word + 1) for word in words]) for words in sets]
    groups = group_mentions(mentions)
    assert sorted(each for group in groups for each in group) == sorted(mentions)
    reached = [{word for each in group for word in each.words} for group in groups]
    assert sum(map(len, reached)) == len(set().union(*reached))  # groups share no words
    for group in groups:
        words, rest = set(group[0].words), group[1:]
        while near := [each for each in rest if words.intersection(each.words)]:
            words.update(*(each.words for each in near))
            rest = [each for each in rest if each not in near]
        assert not rest  # all of a group are connected
