import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import DiscotagError, IncompatibleError, Mention, Scheme, Sentence
from discotag.corpora import read
from discotag.lexicon import Lexicon, SilverCounts, count_silver, silver_slots
from real_corpora import craft_inline, needs_corpora

TWO = Scheme(("ADR",), naming="semantic")
THREE = Scheme(("ADR",), 3, naming="semantic")
BODY = Lexicon(["arm", "knee", "elbow", "lower back"])


def mentions(*places):
    return [Mention("ADR", place) for place in places]


PAIN_IN_ARMS = "pain in arms and shoulders".split()
ARMS = mentions([(0, 3)], [(0, 2), (4, 5)])


def test_one_match_names_the_whole_set():
    assert silver_slots(PAIN_IN_ARMS, ARMS, BODY, TWO) == {0: 1, 1: 1, 2: 0, 4: 0}


def test_no_match_names_nothing():
    assert silver_slots(PAIN_IN_ARMS, ARMS, Lexicon(["toe"]), TWO) == {}


def test_a_contradiction_names_nothing_but_its_neighbours_are_named():
    words = "knee pain in arms and shoulders , lower and sore back".split()
    first = mentions([(0, 4)], [(0, 3), (5, 6)])
    other = mentions([(7, 8), (10, 11)], [(9, 11)])
    assert silver_slots(words, [*first, *other], BODY, TWO) == {}
    both = Lexicon(["arm", "knee", "back"])
    assert silver_slots(words, [*first, *other], both, TWO) == {7: 1, 9: 1, 10: 0}


def test_a_term_does_not_reach_out_of_its_component():
    words = "sore lower , stiff back".split()
    split = mentions([(0, 1), (4, 5)], [(1, 2), (4, 5)])
    assert silver_slots(words, split, BODY, TWO) == {}


def test_with_three_slots_only_the_body_part_is_known():
    words = "left and right knee hurts or aches".split()
    sides = [(0, 1), (2, 3)]
    events = [(4, 5), (6, 7)]
    every = mentions(*([side, (3, 4), event] for side in sides for event in events))
    assert silver_slots(words, every, BODY, THREE) == {3: 0}


def test_continuous_mentions_are_in_no_slot():
    assert silver_slots(["knee", "pain"], mentions([(0, 2)]), BODY, TWO) == {}


def test_needs_semantic_naming_and_mentions_that_fit():
    with pytest.raises(DiscotagError, match="naming='semantic'"):
        silver_slots(PAIN_IN_ARMS, ARMS, BODY, Scheme(("ADR",)))
    with pytest.raises(IncompatibleError):
        silver_slots(PAIN_IN_ARMS, mentions([(0, 3)], [(0, 1)]), BODY, TWO)


WORDS = st.lists(
    st.sampled_from("knee pain arms of stiff elbows and".split()), min_size=7, max_size=7
)


@settings(deadline=None, max_examples=200)
@given(WORDS, st.lists(st.integers(0, 2), min_size=7, max_size=7))
def test_agrees_with_a_reading_of_the_tags(words, slots):
    """Draw a mention set by giving each word no slot, slot 1 or slot 2; judge by single words."""
    of = {slot: [word for word in range(7) if slots[word] == slot] for slot in (1, 2)}
    every = mentions(*([(x, x + 1), (y, y + 1)] for x in of[1] for y in of[2]))
    every = list(dict.fromkeys(every))
    try:
        layers = TWO.layers(7, every)
    except IncompatibleError:
        return
    expected = {}
    for group in layers.sets:
        runs = [{word for part in parts for word in range(*part)} for parts in group.slots]
        body = [bool({words[word] for word in run} & {"knee", "arms", "elbows"}) for run in runs]
        if sum(body) == 1:
            for run, is_body in zip(runs, body, strict=True):
                expected |= dict.fromkeys(run, 0 if is_body else 1)
    assert silver_slots(words, every, BODY, TWO) == expected
    # A loss may take them: of the namings of each named set just one agrees.
    for group in layers.sets:
        agreeing = [
            naming
            for naming in group.namings(2)
            if all(expected.get(part[0], slot) == slot for part, slot in naming.components)
        ]
        assert len(agreeing) == (1 if group.start in expected else 2)


def test_counts():
    contradictory = Sentence(
        "knee pain in arms and shoulders".split(), mentions([(0, 4)], [(0, 3), (5, 6)])
    )
    unfit = Sentence(PAIN_IN_ARMS, mentions([(0, 3)], [(0, 1)]))
    unnamed = Sentence("sad or angry mood".split(), mentions([(0, 1), (3, 4)], [(2, 4)]))
    sentences = [Sentence(PAIN_IN_ARMS, ARMS), contradictory, unfit, unnamed, Sentence(["knee"])]
    assert count_silver(sentences, BODY, TWO) == SilverCounts(1, 1, 1, left_out=1)
    assert count_silver(sentences, BODY, TWO).sets == 3
    assert count_silver([], BODY, TWO).sets == 0


@needs_corpora
def test_craft():
    """The figures of docs/lexicon.md for UBERON."""
    sentences = [
        document.sentences[0]
        for part in ("train", "dev", "test")
        for document in read(craft_inline("UBERON", part))
    ]
    counts = count_silver(sentences, Lexicon.default(), Scheme(("UBERON",), naming="semantic"))
    assert counts == SilverCounts(135, 76, 44, left_out=44)
