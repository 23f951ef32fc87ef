import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Mention
from discotag.evaluation import KINDS, Pair, Report, describe_kinds, find_differences

mentions = st.builds(
    lambda label, words: Mention(label, [(word, word + 1) for word in words]),
    st.sampled_from("AB"),
    st.sets(st.integers(0, 6), min_size=1, max_size=5),
)
sides = st.lists(mentions, max_size=6)


@given(sides, sides, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=500)
def test_every_wrong_mention_is_in_exactly_one_error(gold, predicted, shuffle):
    errors = find_differences(gold, predicted)
    ours = [mention for error in errors for mention in error.first]
    theirs = [mention for error in errors for mention in error.second]
    assert sorted(ours) == sorted(set(gold) - set(predicted))
    assert sorted(theirs) == sorted(set(predicted) - set(gold))
    for error in errors:
        assert error.kind in KINDS
        sizes = (len(error.first), len(error.second))
        alone = {"missed": (1, 0), "spurious": (0, 1)}
        if error.kind == "set_split_or_merged":
            assert sum(sizes) > 0
        else:
            assert sizes == alone.get(error.kind, (1, 1))
    shuffle.shuffle(gold)
    shuffle.shuffle(predicted)
    assert find_differences(gold, predicted) == errors


@given(st.lists(st.tuples(sides, sides), max_size=5))
@settings(deadline=None, max_examples=100)
def test_counts_add_up(rows):
    pairs = [
        Pair(1, None, n, (), tuple(gold), tuple(found)) for n, (gold, found) in enumerate(rows)
    ]
    report = Report("gold", "predicted")
    report.add_all(pairs)
    counts = report.kinds
    assert list(counts) == list(KINDS)
    missed = sum(len(set(gold) - set(found)) for gold, found in rows)
    wrong = sum(len(set(found) - set(gold)) for gold, found in rows)
    assert sum(count.first for count in counts.values()) == missed
    assert sum(count.second for count in counts.values()) == wrong


def of(text):
    """`A 0:2 4:5 | 0:3`: mentions, with the label A unless said."""
    found = []
    for part in filter(None, text.split("|")):
        *label, ranges = part.strip().split(" ", 1) if part.strip()[0].isalpha() else [part.strip()]
        pairs = [tuple(map(int, pair.split(":"))) for pair in ranges.split()]
        found.append(Mention(label[0] if label else "A", pairs))
    return found


@pytest.mark.parametrize(
    ("gold", "predicted", "kinds"),
    [
        ("0:1", "", "missed"),
        ("", "0:1", "spurious"),
        ("0:1", "1:2", "missed spurious"),
        ("A 0:2", "B 0:2", "wrong_label"),
        ("A 0:2", "B 0:1", "missed spurious"),
        ("A 0:2 | B 0:2", "A 0:2 | C 0:2", "wrong_label"),
        ("0:2", "0:3", "boundary"),
        ("0:1 2:3", "0:2 4:5", "boundary"),
        ("0:1 2:3 5:6", "0:1 3:4 6:7", "boundary"),
        # "pain in arms and legs"
        ("0:2 4:5", "0:5", "gap_missed"),
        ("0:2 4:5", "4:5", "gap_missed"),
        ("0:3 | 0:2 4:5", "0:3 | 4:5", "gap_missed"),
        ("0:5", "0:2 4:5", "gap_invented"),
        ("0:2 4:5", "0:2 3:5", "one_component_wrong"),
        ("0:2 4:5", "0:2 6:7", "one_component_wrong"),
        ("0:1 2:3 4:5", "0:1 4:5", "one_component_wrong"),
        ("0:1 2:3 4:5 6:7", "0:1 2:3", "boundary"),
        ("0:3 | 0:2 4:5", "0:5", "set_split_or_merged"),
        ("0:5", "0:3 | 0:2 4:5", "set_split_or_merged"),
        ("0:1 | 2:3", "0:3", "set_split_or_merged"),
        # Words at the beginning or the end are in neither of the two.
        ("0:5", "1:2 | 3:5", "boundary spurious"),
        ("0:5", "0:1 | 2:4", "boundary spurious"),
        # Two and two words: all four combinations, or two of them.
        ("0:1 3:4 | 1:2 4:5", "0:1 3:4 | 1:2 4:5 | 0:1 4:5 | 1:2 3:4", "set_split_or_merged"),
        # A nested mention that is not found is missed, no set.
        ("0:2 | 1:2", "0:2", "missed"),
        # "legs and arms hurt": one of two is found
        ("0:1 3:4 | 2:4", "0:1 3:4", "missed"),
        # The best pair first, whatever the order: 0:4 goes with 0:3, and 3:6 is left.
        ("0:3 | 3:6", "0:4", "boundary missed"),
    ],
)
def test_kinds(gold, predicted, kinds):
    assert [error.kind for error in find_differences(of(gold), of(predicted))] == kinds.split()


@pytest.mark.parametrize(("gold", "pair"), [("0:3 | 3:6", "0:3"), ("0:1 | 1:5", "1:5")])
def test_those_that_share_most_words_are_paired(gold, pair):
    boundary, missed = find_differences(of(gold), of("0:4"))
    assert list(boundary.first) == of(pair)
    assert list(missed.first) == [each for each in of(gold) if each not in of(pair)]


def test_examples_are_few():
    report = Report("gold", "predicted")
    report.add_all(Pair(1, None, n, ("a",), (Mention("A", [(0, 1)]),), ()) for n in range(10))
    missed = report.kinds["missed"]
    assert (missed.first, missed.not_shown) == (10, 7)
    assert [pair.sentence for pair, _ in missed.examples] == [0, 1, 2]


def test_descriptions_name_the_two_sides():
    named = describe_kinds(("Ann", "Ben"))
    assert list(named) == list(KINDS)
    assert named["gap_missed"] == "discontinuous in Ann, continuous in Ben"
    assert describe_kinds()["spurious"] == "in the predictions, without a counterpart in the gold"


def test_many_mentions_in_time():
    chosen = random.Random(0)
    words = [chosen.randrange(3000) for _ in range(2000)]
    gold = [Mention("A", [(word, word + 2)]) for word in words]
    found = [Mention("A", [(word + 1, word + 4)]) for word in words]
    assert find_differences(gold, found)
