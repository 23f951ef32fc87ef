"""How much of a real corpus the scheme covers."""

from collections import Counter

import pytest

from discotag import Scheme
from discotag.corpora import read
from real_corpora import CRAFT_MISFITS, craft_inline, needs_corpora
from samples import DATA


def left_out(sentences, scheme):
    """How many sentences do not fit; those that do must come back whole."""
    number = 0
    for sentence in sentences:
        length = len(sentence.words)
        if scheme.problems(length, sentence.mentions):
            number += 1
        else:
            tags = scheme.encode(length, sentence.mentions)
            assert scheme.decode(tags) == frozenset(sentence.mentions)
    return number


@needs_corpora
@pytest.mark.parametrize(("label", "part", "two_slots", "three_slots"), CRAFT_MISFITS)
def test_craft(label, part, two_slots, three_slots):
    sentences = [document.sentences[0] for document in read(craft_inline(label, part))]
    assert left_out(sentences, Scheme((label,))) == two_slots
    assert left_out(sentences, Scheme((label,), 3, gap_mentions=True)) == three_slots


def test_craft_extract():
    sentences = [document.sentences[0] for document in read(DATA / "craft_200.txt")]
    labels = ("CL", "GO_BP", "UBERON")
    assert len(sentences) == 200
    assert left_out(sentences, Scheme(labels)) == 49
    assert left_out(sentences, Scheme(labels, 3, gap_mentions=True)) == 15
    reasons = Counter(
        problem.reason
        for sentence in sentences
        for problem in Scheme(labels).problems(len(sentence.words), sentence.mentions)
    )
    assert reasons == {
        "too_many_slots": 21,
        "mention_in_gap": 15,
        "uneven_components": 14,
        "not_a_product": 1,
    }
