"""Flaws of marks against `Mention`'s own checks, and joined ranges against a slow reading."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from discotag import Document, Mention, MentionError, Sentence
from discotag.marks import Marked, find_flaw, join_ranges, spelled, word_runs
from discotag.mentions import check_inside
from discotag.words import Splitter

LENGTH = 6
places = st.integers(-1, LENGTH + 1)
fragment_lists = st.lists(st.tuples(places, places), max_size=3)


@given(fragment_lists, st.sampled_from(["ADR", "", "A\nB"]))
def test_a_flaw_is_found_where_a_mention_is_invalid(fragments, label):
    try:
        check_inside(Mention(label, tuple(fragments)), LENGTH)
        invalid = False
    except MentionError:
        invalid = True
    assert (find_flaw(label, sorted(fragments), LENGTH, "words") is not None) == invalid


def test_flaws_name_what_is_wrong():
    def flaw(*fragments, label="ADR"):
        return find_flaw(label, fragments, 9, "characters")

    assert flaw((0, 4), (5, 9)) is None
    assert flaw((5, 9), (0, 4))[0] == "overlapping"
    assert flaw((4, 2)) == ("inverted", "fragment 4:2 ends before it starts")
    assert flaw((3, 3)) == ("empty", "fragment 3:3 is empty")
    assert flaw() == ("empty", "it covers no characters")
    assert flaw((5, 10)) == (
        "outside",
        "fragment 5:10 is outside the text, which has 9 characters",
    )
    assert flaw((-1, 2))[0] == "outside"
    assert flaw((0, 1), label="a\tb")[0] == "syntax"


@given(st.sets(st.integers(1, 11)), st.lists(st.tuples(st.integers(0, 11), st.integers(1, 12))))
def test_ranges_that_a_mark_reaches_across_are_joined(cuts, pairs):
    edges = [0, *sorted(cuts), 12]
    ranges = list(pairwise(edges))
    marks = [Marked("A", ((start, end),)) for start, end in pairs if start < end]
    inside = {n for mark in marks for n in range(mark.fragments[0][0] + 1, mark.fragments[0][1])}
    kept = [edge for edge in edges if edge not in inside]
    assert join_ranges(ranges, marks) == list(pairwise(kept))


def test_word_runs():
    starts, ends = [0, 5, 10], [4, 9, 13]
    assert word_runs([(4, 5)], starts, ends) == ()
    assert word_runs([(1, 2), (2, 3)], starts, ends) == ((0, 1),)
    assert word_runs([(0, 4), (10, 13)], starts, ends) == ((0, 1), (2, 3))
    assert word_runs([(0, 13)], starts, ends) == ((0, 3),)
    assert word_runs([(0, 13), (5, 9)], starts, ends) == ((0, 3),)


def test_spelling_out():
    document = Document(
        [Sentence(["Sore", "toes"], [Mention("ADR", [(0, 2)], score=0.5)]), Sentence(["Tired"])]
    )
    text, found = spelled(document)
    assert text == "Sore toes\nTired"
    assert found == [Marked("ADR", ((0, 9),), 0.5)]
    known = Splitter().document("Sore  toes.", [Marked("ADR", ((6, 10),))])
    assert spelled(known) == ("Sore  toes.", [Marked("ADR", ((6, 10),))])
