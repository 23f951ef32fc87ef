from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotag import Scheme
from discotag.corpora import read
from discotag.training.data import find_labels, fitting
from discotag.training.folding import CONJUNCTIONS, fold
from discotag.training.preparation import choose
from discotag.training.separating import (
    Coordinations,
    Neighbours,
    count_coordinations,
    number_to_add,
    separate,
)
from discotag.training.settings import Settings
from learnable import sentence
from samples import DATA

SCHEME = Scheme(("ADR", "Drug"), 3, gap_mentions=True)
AND = {"and": 1.0}

RASH = sentence("i had a rash today", [(3, 4)])
CHEST_PAIN = sentence("bad chest pain", [(1, 3)])
NUMB = sentence("numbness in feet", [(0, 3)])
TINGLING = sentence("tingling in my hands", [(0, 4)])
SHARED = sentence("pain in arms and legs", [(0, 3)], [(0, 2), (4, 5)])


def _made(sentences, number=60, conjunctions=AND, scheme=SCHEME, seed=1):
    """Return all sentences that are made, by their words."""
    return {
        " ".join(new.words): new for new in separate(sentences, scheme, number, seed, conjunctions)
    }


def test_unrelated_mentions_are_joined_in_both_orders():
    assert _made([RASH, CHEST_PAIN]) == {
        "i had a rash and chest pain today": sentence(
            "i had a rash and chest pain today", [(3, 4)], [(5, 7)]
        ),
        "i had a chest pain and rash today": sentence(
            "i had a chest pain and rash today", [(3, 5)], [(6, 7)]
        ),
        "bad chest pain and rash": sentence("bad chest pain and rash", [(1, 3)], [(4, 5)]),
        "bad rash and chest pain": sentence("bad rash and chest pain", [(1, 2)], [(3, 5)]),
    }


def test_lists_of_three_and_four_are_made():
    others = [sentence(each, [(0, 2)]) for each in ("hair loss", "joint swelling", "dry mouth")]
    made = _made([RASH, CHEST_PAIN, *others], number=400)
    sizes = {len(each.mentions) for each in made.values()}
    assert sizes == {2, 3, 4}
    assert any(" , " in text for text in made)
    slashed = _made([RASH, CHEST_PAIN, *others], number=400, conjunctions={"/": 1.0})
    assert not any(" , " in text for text in slashed)


def test_mentions_that_could_share_words_are_not_joined():
    # "numbness in hands" could be meant by "numbness and tingling in my hands".
    made = _made([NUMB, sentence("numbness", [(0, 1)]), TINGLING])
    assert "tingling in my hands and numbness" in made
    assert "numbness and tingling in my hands" not in made
    # The corpus has "severe nausea": "severe headache and nausea" is likely to be shared.
    severe = [sentence(each, [(0, 2)]) for each in ("severe headache", "severe nausea")]
    assert _made([*severe, sentence("nausea", [(0, 1)])]).keys() == {"nausea and severe headache"}


def test_single_words_are_not_joined_with_each_other():
    assert _made([RASH, sentence("nausea", [(0, 1)])]) == {}


def test_mentions_of_other_labels_are_not_joined():
    drug = sentence("new pain killer", [(1, 3)], label="Drug")
    assert _made([RASH, drug]) == {}


def test_mentions_in_sets_are_not_joined():
    made = _made([SHARED, CHEST_PAIN, RASH])
    assert made
    assert not any("arms" in text for text in made)


def test_capitals_follow_the_sentence():
    made = _made([sentence("Rash today", [(0, 1)]), RASH, CHEST_PAIN])
    assert "Rash and chest pain today" in made
    assert "Chest pain and rash today" in made
    shouted = _made([sentence("RASH TODAY", [(0, 1)]), CHEST_PAIN])
    assert "CHEST PAIN AND RASH TODAY" in shouted


def test_other_mentions_keep_their_words():
    old = sentence("rash , nausea , pain in arms and legs", [(0, 1)], [(4, 7)], [(4, 6), (8, 9)])
    for new in _made([old, CHEST_PAIN]).values():
        texts = {_text(new, mention) for mention in new.mentions}
        assert {"rash", "chest pain"} <= texts
        assert ("arms" not in new.words) or {"pain in arms", "pain in legs"} <= texts


def _text(sentence, mention):
    return " ".join(sentence.words[place] for place in mention.words)


@given(st.integers(0, 10**6))
def test_new_sentences_fit_and_mentions_are_apart(seed):
    corpus = [RASH, CHEST_PAIN, NUMB, SHARED, sentence("No sleep or appetite", [(0, 2)])]
    known = {each.words for each in corpus}
    neighbours = Neighbours(corpus)
    for new in separate(corpus, SCHEME, 5, seed, CONJUNCTIONS):
        assert not SCHEME.problems(len(new.words), new.mentions)
        assert new.words not in known
        ordered = sorted(each for each in new.mentions if not each.discontinuous)
        texts = [tuple(_text(new, each).lower().split()) for each in ordered]
        assert not any(neighbours.can_share(*pair) for pair in combinations(texts, 2))


def test_coordinations_are_counted():
    both = sentence("rash and dry mouth , nausea", [(0, 1)], [(2, 4)], [(5, 6)])
    three = sentence(
        "muscle , joint and back pain", [(0, 1), (5, 6)], [(2, 3), (5, 6)], [(4, 6)]
    )  # fmt: skip
    counted = count_coordinations([both, three, SHARED, RASH], SCHEME)
    assert counted == Coordinations(shared=2, separate=1)


def test_the_number_keeps_the_proportion_up_to_a_limit():
    assert number_to_add(Coordinations(10, 20), Coordinations(100, 30)) == 170
    assert number_to_add(Coordinations(10, 20), Coordinations(0, 30)) == 0
    assert number_to_add(Coordinations(1, 1000), Coordinations(100, 0)) == 300


def test_the_same_seed_makes_the_same_sentences():
    corpus = [RASH, CHEST_PAIN, NUMB, sentence("dry mouth", [(0, 2)])]
    assert separate(corpus, SCHEME, 9, 4) == separate(corpus, SCHEME, 9, 4)
    assert separate(corpus, SCHEME, 9, 4) != separate(corpus, SCHEME, 9, 5)


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0])
def test_a_training_adds_them_beside_folded_ones(factor):
    two = sentence("rash and dry mouth", [(0, 1)], [(2, 4)])
    pains = [sentence(f"{each} pain", [(0, 2)]) for each in ("back", "muscle", "joint", "neck")]
    corpus = [SHARED, two, RASH, *pains]
    settings = Settings(fold=2.0, separate=factor)
    chosen = choose(corpus, settings)
    folded = fold(corpus, chosen.scheme, settings.fold, settings.seed)
    counts = [count_coordinations(each, chosen.scheme) for each in (corpus, folded)]
    assert counts[0] == Coordinations(1, 1)
    assert counts[1].shared > 4
    wanted = round(factor * number_to_add(*counts))
    assert chosen.train == [*corpus, *folded, *chosen.train[len(corpus + folded) :]]
    # Few mentions can be joined here, so some attempts fail.
    assert 0.8 * wanted <= chosen.augmented - len(folded) <= wanted


def test_real_sentences_stay_sound():
    sentences = [document.sentences[0] for document in read(DATA / "craft_200.txt")]
    scheme = Scheme(find_labels(sentences))
    kept, _ = fitting(sentences, scheme)
    new = separate(kept, scheme, 100, 1)
    assert len(new) > 50
    assert not any(scheme.problems(len(each.words), each.mentions) for each in new)
    counted = count_coordinations(new, scheme)
    assert counted.separate > 5 * counted.shared
