from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Document, Mention, Sentence
from discotag.evaluation import AlignmentError, align
from discotag.marks import Marked
from discotag.words import Splitter


def sentence(words, *mentions):
    return Sentence(words.split(), [Mention(label, fragments) for label, fragments in mentions])


def document(*sentences, id=None):
    return Document(sentences, id=id)


def shown(pairs):
    return [
        (" ".join(p.words), [str(m) for m in p.first], [str(m) for m in p.second]) for p in pairs
    ]


ARM = ("ADR", [(1, 2)])
GOLD = document(
    sentence("sore arm today", ("ADR", [(0, 2)])), sentence("no arm hurts", ARM), id="a"
)


def test_same_sentences():
    found = document(sentence("sore arm today"), sentence("no arm hurts", ARM), id="a")
    assert shown(align([GOLD], [found])) == [
        ("sore arm today", ["ADR 'sore arm' [0:2]"], []),
        ("no arm hurts", ["ADR 'arm' [1:2]"], ["ADR 'arm' [1:2]"]),
    ]


def test_a_gold_document_for_several_predicted_sentences():
    parts = [
        document(sentence("sore arm")),
        document(sentence("today no arm hurts", ("ADR", [(2, 3)]))),
    ]
    pairs = list(align([GOLD, document(sentence("end"))], [*parts, document(sentence("end"))]))
    assert [(p.document, p.id, p.sentence) for p in pairs] == [
        (1, "a", 1),
        (1, "a", 2),
        (2, None, 1),
    ]
    assert shown(pairs)[1] == ("no arm hurts", ["ADR 'arm' [1:2]"], ["ADR 'arm' [1:2]"])


def test_several_gold_sentences_for_a_predicted_document():
    golds = [
        document(sentence("sore arm", ARM)),
        document(),
        document(sentence("today", ("T", [(0, 1)]))),
    ]
    found = document(sentence("sore arm today", ARM, ("T", [(2, 3)])))
    assert shown(align(golds, [found])) == [
        ("sore arm", ["ADR 'arm' [1:2]"], ["ADR 'arm' [1:2]"]),
        ("today", ["T 'today' [0:1]"], ["T 'today' [0:1]"]),
    ]


def test_a_predicted_mention_across_gold_sentences_is_kept():
    found = document(sentence("sore arm today no arm hurts", ("ADR", [(1, 2), (4, 5)])))
    first, second = align([GOLD], [found])
    assert [m.fragments for m in first.second] == [((1, 2), (4, 5))]
    assert second.second == ()


def test_other_words_are_compared_by_characters():
    gold = document(sentence("head-ache , can't sleep", ("ADR", [(0, 1)]), ("ADR", [(2, 4)])))
    found = document(
        sentence("head - ache", ("ADR", [(0, 3)]), ("ADR", [(0, 1)]), ("ADR", [(0, 1), (2, 3)])),
        sentence(", can 't sleep", ("ADR", [(1, 4)])),
    )
    (pair,) = align([gold], [found])
    assert pair.words == ("head", "-", "ache", ",", "can", "'t", "sleep")
    assert set(pair.first) < set(pair.second)
    wrong = set(pair.second) - set(pair.first)
    assert sorted(m.fragments for m in wrong) == [((0, 1),), ((0, 1), (2, 3))]
    assert [m.text for m in pair.first] == ["head-ache", "can't sleep"]


def test_text_with_other_white_space_and_characters_in_no_word():
    text = "Sore\n arm - and * leg."
    whole = Splitter("whole").document(
        text, [Marked("ADR", ((0, 9),)), Marked("ADR", ((0, 4), (18, 21)))]
    )
    without_signs = Sentence(
        ["Sore", "arm", "and", "leg"],
        [Mention("ADR", [(0, 2)]), Mention("ADR", [(0, 1), (3, 4)])],
        text="Sore arm - and * leg.",
        offsets=[(0, 4), (5, 8), (11, 14), (17, 20)],
    )
    (pair,) = align([whole], [document(without_signs)])
    assert len(pair.first) == 2
    assert pair.first == pair.second


@given(
    st.lists(st.sampled_from(["ab", "c", "d-e", "fgh"]), min_size=1, max_size=12),
    st.data(),
)
@settings(deadline=None, max_examples=100)
def test_any_cutting_gives_the_same_mentions(words, data):
    """Marks on characters, cut into documents, sentences and words at random on both sides."""
    text = "".join(words)
    ends = {0, len(text)}
    places = st.integers(0, len(text))

    def side():
        cuts = sorted(data.draw(st.sets(places, max_size=6)) | ends | marked_ends)
        pieces = [text[start:end] for start, end in pairwise(cuts)]
        breaks = sorted(data.draw(st.sets(st.integers(1, len(pieces)), max_size=3)))
        inside = [cut for cut in (cuts[b] for b in breaks if b < len(pieces)) if not crossed(cut)]
        bounds = [0, *inside, len(text)]
        documents = []
        for first, last in pairwise(bounds):
            own = [cut for cut in cuts if first <= cut <= last]
            mentions = [
                Mention("A", [(own.index(s), own.index(e))])
                for s, e in marks
                if first <= s and e <= last
            ]
            spelt = [text[s:e] for s, e in pairwise(own)]
            documents.append(document(Sentence(spelt, mentions)))
        return documents

    def crossed(cut):
        return any(start < cut < end for start, end in marks)

    marks = {
        (start, end)
        for start, end in data.draw(st.sets(st.tuples(places, places), max_size=3))
        if start < end
    }
    marked_ends = {end for mark in marks for end in mark}
    gold, predicted = side(), side()
    pairs = list(align(gold, predicted))
    assert sum(len(pair.first) for pair in pairs) == len(marks)
    for pair in pairs:
        assert set(pair.first) == set(pair.second)


def test_ids_decide_when_the_order_differs():
    golds = [document(sentence("no pain", ("ADR", [(0, n + 1)])), id=str(n)) for n in range(2)]
    pairs = list(align(golds, reversed(golds)))
    assert all(pair.first == pair.second for pair in pairs)
    assert [pair.id for pair in pairs] == ["0", "1"]


def test_the_order_decides_when_ids_are_of_different_kinds():
    for ids in (("x", "y"), ("x", "x"), ("x", None)):
        golds = [document(sentence(words), id=words) for words in ("a", "b")]
        found = [document(sentence(w), id=i) for w, i in zip(("a", "b"), ids, strict=True)]
        assert len(list(align(golds, found))) == 2


def test_the_order_decides_when_an_id_is_given_twice():
    golds = [document(sentence(words), id=id) for words, id in zip("abc", "xyz", strict=True)]
    found = [document(sentence(words), id=id) for words, id in zip("abc", "yxx", strict=True)]
    assert [pair.words for pair in align(golds, found)] == [("a",), ("b",), ("c",)]


def test_documents_in_order_are_streamed():
    read = []

    def stream(name):
        for number in range(3):
            read.append((name, number))
            yield document(sentence("a"), id=str(number))

    pairs = align(stream("gold"), stream("predicted"))
    next(pairs)
    assert read == [("gold", 0), ("predicted", 0)]


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (
            [document(sentence("sore arm today"), sentence("no leg hurts"))],
            "there is 'arm' (document 1 ('a'), sentence 2, word 2) in the gold, "
            "but 'leg' (document 1, sentence 2, word 2) in the predictions",
        ),
        (
            [document(sentence("sore arm today"), id="a")],
            "after the end of the predictions, there is 'no' (document 1 ('a'), sentence 2, word "
            "1) in the gold",
        ),
        (
            [GOLD, document(sentence("and more"), id="b")],
            "after the end of the gold, there is 'and' (document 2 ('b'), sentence 1, word 1) in "
            "the predictions",
        ),
        (
            [],
            "after the end of the predictions, there is 'sore' (document 1 ('a'), sentence 1, word "
            "1) in the gold",
        ),
    ],
)
def test_the_first_difference_is_named(predicted, message):
    with pytest.raises(AlignmentError) as caught:
        list(align([GOLD], predicted))
    assert str(caught.value) == message


def test_documents_on_one_side_only():
    one, two, three = (document(sentence(w), id=w) for w in ("a", "b", "c"))
    with pytest.raises(
        AlignmentError, match=r"document 3 \('c'\) of the gold is missing in the pred"
    ):
        list(align([one, two, three], [two, one]))
    with pytest.raises(
        AlignmentError, match=r"document 3 \('c'\) of the predictions is missing in"
    ):
        list(align([one, two], [two, one, three]))


def test_a_mention_of_nothing_visible_is_not_lost():
    found = document(Sentence(["a", "\u00a0", "b"], [Mention("ADR", [(1, 2)])]))
    with pytest.raises(AlignmentError, match="covers no visible character"):
        list(align([document(sentence("a b"))], [found]))


def test_empty_documents():
    assert list(align([], [])) == []
    assert list(align([document(), document()], [document()])) == []
    assert len(list(align([document(sentence("")), GOLD], [GOLD]))) == 3
