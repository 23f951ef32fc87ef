"""Suspected annotation errors: planted ones are found, what is right is left alone."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Mention, Sentence
from discotag.corpora import read
from discotag.corpora.checks.suspected_errors import RULES, find_suspicions
from discotag.mentions import locate
from real_corpora import craft_inline, needs_corpora


def sentence(text, *mentions):
    words = text.split()
    return Sentence(words, [Mention("ADR", locate(words, each.split())) for each in mentions])


def found(text, *mentions):
    """Rule, the mention that looks wrong, and what is expected instead."""
    words = text.split()
    return [
        (
            each.rule,
            each.mentions[0].text,
            each.instead and " ".join(words[word] for word in each.instead.words),
        )
        for each in find_suspicions(sentence(text, *mentions))
    ]


@pytest.mark.parametrize(
    ("text", "mentions", "expected"),
    [
        (
            "hepatic and cardiac failure",
            ["hepatic cardiac failure", "cardiac failure"],
            ("joined_alternatives", "hepatic cardiac failure", "hepatic failure"),
        ),
        (
            "pain knees or hips",
            ["pain knees", "pain knees hips"],
            ("joined_alternatives", "pain knees hips", "pain hips"),
        ),
        (
            "nausea and vomiting",
            ["nausea vomiting"],
            ("joined_alternatives", "nausea vomiting", None),
        ),
        (
            "cranial / thoracic swelling",
            ["cranial swelling", "swelling"],
            ("shared_part_alone", "swelling", "thoracic swelling"),
        ),
        (
            "pain in the knees , and hips",
            ["pain in hips", "pain in"],
            ("shared_part_alone", "pain in", "pain in the knees"),
        ),
        (
            "sore and swollen toes",
            ["sore toes", "swollen"],
            ("shared_part_missing", "swollen", "swollen toes"),
        ),
        (
            "pain in knees or hips",
            ["pain in hips", "knees"],
            ("shared_part_missing", "knees", "pain in knees"),
        ),
        (
            "severe chest pain and pressure",
            ["severe chest pressure", "chest pain"],
            ("nearer_words_missing", "chest pain", "severe chest pain"),
        ),
        (
            "sore and swollen toes at night",
            ["sore toes at night", "swollen toes"],
            ("nearer_words_missing", "swollen toes", "swollen toes at night"),
        ),
        (
            "pain in knees , hips , toes , heels",
            ["pain in knees", "pain in hips", "pain in toes", "pain heels"],
            ("odd_one_out", "pain heels", "pain in heels"),
        ),
        (
            "sore and stiff knees and left hips",
            ["sore knees", "sore left hips", "stiff knees"],
            ("combination_missing", "sore knees", "stiff left hips"),
        ),
    ],
)
def test_planted_errors(text, mentions, expected):
    if expected[0] == "combination_missing":
        ((rule, _, instead),) = found(text, *mentions)
        assert (rule, instead) == (expected[0], expected[2])
    else:
        assert found(text, *mentions) == [expected]


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("hepatic and cardiac failure", ["hepatic failure", "cardiac failure"]),
        ("sore and stiff knees and hips", ["sore knees", "sore hips", "stiff knees", "stiff hips"]),
        ("toes are sore", ["toes sore"]),
        ("dreams , and remember them", ["dreams remember them"]),  # a clause, no alternative
        ("sore toes and tired", ["sore toes", "tired"]),
        ("sore and very red toes", ["sore toes", "red toes"]),
        # A partly shared part may be meant: the further mention has less, not the nearer one.
        ("severe chest pain and pressure", ["severe chest pain", "chest pressure"]),
        # Two that agree make no majority.
        ("cold sore and stiff left toes", ["cold toes", "sore left toes", "stiff left toes"]),
        # The words that seem to be missing are another mention's.
        ("cranial / thoracic swelling", ["cranial swelling", "swelling", "thoracic"]),
        ("pain that I thought long gone and toes", ["pain toes", "pain"]),
    ],
)
def test_what_is_right_is_left_alone(text, mentions):
    wrong = [each for each in found(text, *mentions) if each[0] != "shared_part_missing"]
    assert wrong == []


def test_labels_must_agree():
    words = "sore and swollen toes".split()
    mentions = [Mention("ADR", [(0, 1), (3, 4)]), Mention("SIGN", [(2, 3)])]
    assert find_suspicions(Sentence(words, mentions)) == []


def test_upper_case_and_duplicates():
    both = ["Hepatic Cardiac failure", "Cardiac failure", "Cardiac failure"]
    assert len(found("Hepatic AND Cardiac failure", *both)) == 1


WORDS = st.sampled_from(["and", "or", "/", ",", "toes", "sore", "left", "the"])


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_findings_hold_together(data):
    """Whatever comes in: rules are known, and what is expected is new and inside the sentence."""
    words = data.draw(st.lists(WORDS, min_size=1, max_size=8))
    places = st.sets(st.integers(0, len(words) - 1), min_size=1, max_size=5)
    mentions = [
        Mention("ADR", [(word, word + 1) for word in chosen])
        for chosen in data.draw(st.lists(places, max_size=6))
    ]
    for each in find_suspicions(Sentence(words, mentions)):
        assert each.rule in RULES
        assert set(each.mentions) <= set(mentions)
        if each.instead is not None:
            assert each.instead not in mentions or each.rule == "joined_alternatives"
            assert each.instead.end <= len(words)


@needs_corpora
def test_craft():
    """As read by eye: 14 of these 19 are errors or inconsistent."""
    rules = Counter()
    for label, part in product(("CL", "UBERON", "GO_BP"), ("train", "dev", "test")):
        for document in read(craft_inline(label, part)):
            found = find_suspicions(document.sentences[0])
            rules.update(suspicion.rule for suspicion in found)
    assert rules == {
        "shared_part_missing": 14,
        "joined_alternatives": 3,
        "nearer_words_missing": 1,
        "odd_one_out": 1,
    }
