from collections import Counter

from discotag import Scheme
from discotag.corpora import read
from discotag.lexicon import Lexicon
from discotag.training.augment import augment
from discotag.training.data import find_labels, fitting
from learnable import SENTENCES
from samples import DATA

LEXICON = Lexicon(["arm", "shoulder", "knee"])
SCHEME = Scheme(("ADR",))


def _shape(sentence):
    """What is together with what, without the words."""
    layers = SCHEME.layers(len(sentence.words), sentence.mentions)
    return [tuple(map(len, each.slots)) for each in layers.sets], len(layers.continuous)


def test_new_sentences_keep_the_shape_and_the_words_around():
    new = augment(SENTENCES, SCHEME, 5, 1, LEXICON)
    with_sets = [each for each in SENTENCES if _shape(each)[0]]
    assert len(new) == 5 * len(with_sets)
    for number, each in enumerate(new):
        old = with_sets[number // 5]
        assert _shape(each) == _shape(old)
        inside = {word for mention in old.mentions for word in mention.words}
        around = Counter(word for n, word in enumerate(old.words) if n not in inside)
        assert not around - Counter(each.words)
    assert len({each.words for each in new}) > len(with_sets)
    assert new == augment(SENTENCES, SCHEME, 5, 1, LEXICON)


def test_body_parts_are_swapped_for_body_parts():
    for each in augment(SENTENCES, SCHEME, 20, 2, LEXICON):
        for mention in each.mentions:
            words = [each.words[word] for word in mention.words]
            assert len(LEXICON.find(words)) == 1


def test_real_sentences_stay_sound():
    sentences = [document.sentences[0] for document in read(DATA / "craft_200.txt")]
    scheme = Scheme(find_labels(sentences), 3, gap_mentions=True)
    kept, _ = fitting(sentences, scheme)
    new = augment(kept, scheme, 2, 1, Lexicon.default())
    assert len(new) > 20
    assert not any(scheme.problems(len(each.words), each.mentions) for each in new)
    old = Counter(len(each.mentions) for each in kept if _has_set(scheme, each))
    assert Counter(len(each.mentions) for each in new) == Counter(
        {n: 2 * c for n, c in old.items()}
    )


def _has_set(scheme, sentence):
    return bool(scheme.layers(len(sentence.words), sentence.mentions).sets)
