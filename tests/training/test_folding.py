from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discotag import Mention, Scheme, Sentence
from discotag.corpora import read
from discotag.training.data import find_labels, fitting
from discotag.training.folding import CONJUNCTIONS, find_removals, fold, unfolded
from discotag.training.preparation import choose
from discotag.training.settings import Settings
from learnable import sentence
from samples import DATA

SCHEME = Scheme(("ADR", "Drug"), 3, gap_mentions=True)
AND = {"and": 1.0}
SEEDS = range(20)

ARMS_AND_LEGS = sentence("bad pain in arms and legs today", [(1, 4)], [(1, 3), (5, 6)])
MUSCLE_AND_JOINT = sentence("Muscle and joint pain", [(0, 1), (3, 4)], [(2, 4)])


def _made(sentences, number=1, seeds=SEEDS, conjunctions=AND, scheme=SCHEME):
    """Return all sentences that any of the seeds makes, by their words."""
    return {
        " ".join(new.words): new
        for seed in seeds
        for new in fold(sentences, scheme, number, seed, conjunctions)
    }


def _removed(old):
    """Return what is left of a sentence by each way to unfold it."""
    layers = SCHEME.layers(len(old.words), old.mentions)
    return {
        " ".join(new.words): new
        for removal in find_removals(old, layers, CONJUNCTIONS)
        for new in [unfolded(old, removal)]
    }


def _texts(sentences):
    return {(each.label, each.text.lower()) for one in sentences for each in one.mentions}


def test_a_shared_suffix_is_folded():
    muscle = sentence("i had muscle pain again", [(2, 4)])
    joint = sentence("joint pain", [(0, 2)])
    made = _made([muscle, joint])
    assert made == {
        "i had muscle and joint pain again": sentence(
            "i had muscle and joint pain again", [(2, 3), (5, 6)], [(4, 6)]
        ),
        "joint and muscle pain": sentence("joint and muscle pain", [(0, 1), (3, 4)], [(2, 4)]),
    }


def test_a_shared_prefix_is_folded():
    arms = sentence("no sleep , pain in arms , nausea", [(0, 2)], [(3, 6)], [(7, 8)])
    legs = sentence("pain in legs", [(0, 3)])
    made = _made([arms, legs])
    assert made == {
        "no sleep , pain in arms and legs , nausea": sentence(
            "no sleep , pain in arms and legs , nausea",
            [(0, 2)], [(3, 6)], [(3, 5), (7, 8)], [(9, 10)],
        ),
        "pain in legs and arms": sentence("pain in legs and arms", [(0, 3)], [(0, 2), (4, 5)]),
    }  # fmt: skip


def test_three_mentions_are_folded():
    pains = [sentence(f"{word} pain", [(0, 2)]) for word in ("muscle", "joint", "back")]
    made = _made(pains)
    three = sentence(
        "muscle , joint and back pain", [(0, 1), (5, 6)], [(2, 3), (5, 6)], [(4, 6)]
    )  # fmt: skip
    assert made["muscle , joint and back pain"] == three
    assert "muscle and joint pain" in made
    assert "muscle / joint / back pain" in _made(pains, conjunctions={"/": 1.0})


def test_conjunctions_vary_by_their_weights():
    pains = [sentence("muscle pain", [(0, 2)]), sentence("joint pain", [(0, 2)])]
    made = [new for seed in range(300) for new in fold(pains, SCHEME, 1, seed)]
    counts = Counter(each.words[1] for each in made)
    assert set(counts) == set(CONJUNCTIONS)
    assert counts.most_common(1)[0][0] == "and"


def test_suspended_hyphens_stay():
    cells = [sentence("the B - cells", [(1, 4)]), sentence("T - cells", [(0, 3)])]
    expected = sentence("the B - and T - cells", [(1, 3), (6, 7)], [(4, 7)])
    assert _made(cells)["the B - and T - cells"] == expected
    assert not _made([cells[0], sentence("stem cells", [(0, 2)])])


def test_case_stays_sensible():
    muscle = sentence("Muscle pain , worse than my old joint trouble", [(0, 2)])
    joint = sentence("Joint pain", [(0, 2)])
    assert set(_made([muscle, joint])) == {
        "Muscle and joint pain , worse than my old joint trouble",
        "Joint and Muscle pain",  # no sentence has it in lower case
    }
    shouted = sentence("TERRIBLE MUSCLE PAIN", [(1, 3)])
    assert set(_made([shouted, sentence("bad joint pain", [(1, 3)])])) == {
        "TERRIBLE MUSCLE AND JOINT PAIN",
        "bad joint and MUSCLE pain",
    }


@pytest.mark.parametrize(
    "other",
    [
        sentence("joint ache", [(0, 2)]),
        sentence("joint pain", [(0, 2)], label="Drug"),
        sentence("pain", [(0, 1)]),
        sentence("very bad lower back pain", [(0, 5)]),
        sentence("muscle pains pain", [(0, 3)]),
        sentence("muscles pain", [(0, 2)]),
        sentence("nausea and pain", [(0, 3)]),
        sentence("loss of pain", [(0, 3)]),
        sentence('" joint pain', [(0, 3)]),
        sentence("joint and back pain", [(0, 1), (3, 4)]),
    ],
    ids=lambda each: " ".join(each.words),
)
def test_what_is_not_folded(other):
    assert not _made([sentence("muscle pain", [(0, 2)]), other])


def test_shared_function_words_are_not_enough():
    assert not _made([sentence("in my arms", [(0, 3)]), sentence("in my legs", [(0, 3)])])


def test_mentions_that_overlap_others_are_not_folded():
    assert set(_made([MUSCLE_AND_JOINT, sentence("back pain", [(0, 2)])])) == {
        "Muscle pain",
        "Joint pain",
        "back and joint pain",
    }


def test_a_mention_is_not_folded_with_one_that_is_in_the_sentence():
    both = sentence("muscle pain then joint pain", [(0, 2)], [(3, 5)])
    assert not _made([both])


def test_a_coordination_is_unfolded():
    assert _removed(ARMS_AND_LEGS) == {
        "bad pain in legs today": sentence("bad pain in legs today", [(1, 4)]),
        "bad pain in arms today": sentence("bad pain in arms today", [(1, 4)]),
    }
    assert _removed(MUSCLE_AND_JOINT) == {
        "Muscle pain": sentence("Muscle pain", [(0, 2)]),
        "Joint pain": sentence("Joint pain", [(0, 2)]),
    }
    assert set(_made([ARMS_AND_LEGS])) == {"bad pain in legs today", "bad pain in arms today"}


def test_the_last_conjunction_of_a_list_stays():
    three = [[(0, 1), (1, 2)], [(0, 1), (3, 4)], [(0, 1), (5, 6)]]
    assert set(_removed(sentence("sore arms , legs and feet", *three))) == {
        "sore legs and feet",
        "sore arms and feet",
    }
    assert set(_removed(sentence("sore arms / legs / feet", *three))) == {
        "sore legs / feet",
        "sore arms / feet",
        "sore arms / legs",
    }


def test_all_combinations_of_other_components_remain():
    old = sentence(
        "arms and legs were sore and stiff",
        [(0, 1), (4, 5)], [(0, 1), (6, 7)], [(2, 3), (4, 5)], [(2, 3), (6, 7)],
    )  # fmt: skip
    removed = _removed(old)
    assert len(removed) == 4
    assert removed["arms and legs were stiff"] == sentence(
        "arms and legs were stiff", [(0, 1), (4, 5)], [(2, 3), (4, 5)]
    )


@pytest.mark.parametrize(
    "old",
    [
        sentence("both muscle and joint pain", [(1, 2), (4, 5)], [(3, 5)]),
        sentence("muscle , and joint pain", [(0, 1), (4, 5)], [(3, 5)]),
        sentence("muscle plus joint pain", [(0, 1), (3, 4)], [(2, 4)]),
        sentence("muscle and joint pain", [(0, 1), (3, 4)], [(1, 2)], [(2, 4)]),
        sentence("nausea and muscle pain", [(0, 1)], [(2, 4)]),
        sentence("pain in my big toe", [(0, 1), (4, 5)]),
    ],
    ids=lambda each: " ".join(each.words),
)
def test_what_is_not_unfolded(old):
    assert not SCHEME.problems(len(old.words), old.mentions)
    assert not _removed(old)


def test_a_component_that_begins_with_punctuation_is_not_removed():
    old = sentence("weeks : nausea , headache", [(0, 3)], [(0, 1), (4, 5)])
    assert set(_removed(old)) == {"weeks : nausea"}


def test_the_number_of_new_sentences():
    words = [f"w{number}" for number in range(200)]
    corpus = [sentence(f"{word} pain", [(0, 2)]) for word in words]
    corpus += [sentence("fine"), sentence("nausea", [(0, 1)])]
    assert not fold(corpus, SCHEME, 0, 1)
    assert 60 < len(fold(corpus, SCHEME, 0.5, 1)) < 140
    new = fold(corpus, SCHEME, 3, 1)
    assert len(new) == 600
    assert len({each.words for each in new}) == 600


def test_a_scheme_without_slots_has_no_coordinations():
    pains = [sentence("muscle pain", [(0, 2)]), sentence("joint pain", [(0, 2)])]
    assert not _made(pains, scheme=Scheme(("ADR",), 0))


def test_real_sentences_stay_sound():
    sentences = [document.sentences[0] for document in read(DATA / "craft_200.txt")]
    scheme = Scheme(find_labels(sentences))
    kept, _ = fitting(sentences, scheme)
    new = fold(kept, scheme, 2.0, 1)
    assert len(new) > 20
    assert any(mention.discontinuous for each in new for mention in each.mentions)
    assert not any(scheme.problems(len(each.words), each.mentions) for each in new)
    assert _texts(new) <= _texts(kept)


def test_the_setting_adds_to_augmentation():
    corpus = [ARMS_AND_LEGS, MUSCLE_AND_JOINT, sentence("back pain", [(0, 2)])]
    assert choose(corpus, Settings(fold=0.0)).augmented == 0
    swapped = choose(corpus, Settings(augment=2, fold=0.0))
    chosen = choose(corpus, Settings(fold=1.0))
    both = choose(corpus, Settings(augment=2, fold=1.0))
    assert chosen.augmented == 3
    assert chosen.train[:3] == corpus
    assert chosen.train[3:] == fold(corpus, chosen.scheme, 1.0, Settings().seed)
    assert both.train == [*swapped.train, *chosen.train[3:]]
    assert both.augmented == len(both.train) - 3


@pytest.mark.parametrize("conjunction", ["and", "und"])
@pytest.mark.parametrize("discontinuous", [True, False])
def test_only_english_corpora_with_discontinuous_mentions_are_folded(conjunction, discontinuous):
    first = [(0, 1), (3, 4)] if discontinuous else [(0, 1)]
    corpus = [
        sentence(f"muscle {conjunction} joint pain", first, [(2, 4)]),
        sentence("back pain", [(0, 2)]),
        sentence("neck pain", [(0, 2)]),
    ]
    added = choose(corpus, Settings(fold=1.0)).augmented
    assert bool(added) == (conjunction == "and" and discontinuous)


WORDS = st.sampled_from(
    "muscle Joint back BACK pain Pain in my arms legs and or , / - & cells both".split()
)


@st.composite
def _any_sentence(draw):
    """Draw words with mentions that fit the scheme, in coordinations or anywhere."""
    words = draw(st.lists(WORDS, min_size=1, max_size=8))
    places = st.integers(0, len(words) - 1)
    mentions = []
    for _ in range(draw(st.integers(0, 4))):
        runs = [
            (min(pair), max(pair) + 1)
            for pair in draw(st.lists(st.tuples(places, places), min_size=1, max_size=2))
        ]
        inside = {place for run in runs for place in range(*run)}
        label = draw(st.sampled_from(SCHEME.labels))
        mentions.append(Mention(label, [(place, place + 1) for place in inside]))
    for found in (mentions, mentions[:2], mentions[:1]):
        if not SCHEME.problems(len(words), found):
            return Sentence(words, found)
    return Sentence(words)


@st.composite
def _coordination(draw):
    """Draw a list of single words with a shared word before or after it, and words around."""
    before, after = draw(st.lists(WORDS, max_size=2)), draw(st.lists(WORDS, max_size=2))
    length = draw(st.integers(1, 3))
    inside = [draw(WORDS) for _ in range(2 * length - 1)]
    first = draw(st.booleans())
    start = len(before) + first
    shared = len(before) if first else start + len(inside)
    words = [*before, *(["pain"] if first else []), *inside, *([] if first else ["pain"]), *after]
    places = range(start, start + len(inside), 2)
    return Sentence(words, [Mention("ADR", [(shared, shared + 1), (n, n + 1)]) for n in places])


CORPORA = st.lists(st.one_of(_any_sentence(), _coordination()), max_size=6)


@given(CORPORA, st.sampled_from([0.5, 1, 3]), st.integers(0, 9))
def test_new_sentences_fit_and_have_mentions_of_the_corpus(corpus, number, seed):
    new = fold(corpus, SCHEME, number, seed)
    assert new == fold(corpus, SCHEME, number, seed)
    assert len(new) <= max(number, 1) * len(corpus)
    for each in new:
        assert each.mentions
        assert not SCHEME.problems(len(each.words), each.mentions)
        assert _texts([each]) <= _texts(corpus)


@given(st.one_of(_any_sentence(), _coordination()))
def test_unfolding_keeps_all_other_mentions(old):
    layers = SCHEME.layers(len(old.words), old.mentions)
    for removal in find_removals(old, layers, CONJUNCTIONS):
        new = unfolded(old, removal)
        gone = {*range(*removal.component), removal.conjunction}
        words = [word for place, word in enumerate(old.words) if place not in gone]
        assert [each.lower() for each in new.words] == [each.lower() for each in words]
        assert old.words[removal.conjunction].lower() in CONJUNCTIONS
        kept = [each for each in old.mentions if gone.isdisjoint(each.words)]
        assert 0 < len(kept) < len(old.mentions)
        assert sorted((each.label, each.text.lower()) for each in new.mentions) == sorted(
            (each.label, each.text.lower()) for each in kept
        )


@pytest.mark.parametrize("corpus", [[], [Sentence([])], [sentence("fine")], [ARMS_AND_LEGS]])
def test_tiny_corpora(corpus):
    assert len(fold(corpus, SCHEME, 1, 1)) == (ARMS_AND_LEGS in corpus)
