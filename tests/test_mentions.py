import dataclasses
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_corpora import documents, documents_of_text
from discotag import (
    DiscotagError,
    Document,
    InputError,
    Mention,
    MentionError,
    Sentence,
    SentenceError,
)
from discotag.mentions import locate
from discotag.words import Splitter


def test_a_mention_is_a_frozen_hashable_value():
    mention = Mention("ADR", [(1, 2), (7, 8)])
    assert mention == Mention(label="ADR", fragments=((1, 2), (7, 8)))
    assert mention in {Mention("ADR", ((7, 8), (1, 2)))}
    assert mention != Mention("Drug", mention.fragments)
    assert mention != "ADR"
    with pytest.raises(dataclasses.FrozenInstanceError):
        mention.label = "Drug"


def test_text_and_score_do_not_change_what_a_mention_is():
    assert Mention("ADR", [(0, 1)], text="pain", score=0.9) == Mention("ADR", [(0, 1)])
    assert len({Mention("ADR", [(0, 1)], score=0.9), Mention("ADR", [(0, 1)])}) == 1


def test_touching_fragments_become_one():
    assert Mention("ADR", [(0, 1), (1, 2), (2, 4), (5, 6)]).fragments == ((0, 4), (5, 6))
    assert not Mention("ADR", [(3, 4), (2, 3)]).discontinuous


def test_what_a_mention_knows():
    mention = Mention("ADR", [(1, 3), (5, 6)])
    assert (mention.start, mention.end, mention.words) == (1, 6, (1, 2, 5))
    assert mention.discontinuous
    assert mention.shifted(2).fragments == ((3, 5), (7, 8))
    assert str(mention) == "ADR [1:3 5:6]"


def test_mentions_are_plain_data_in_words_and_characters():
    sentence = Sentence(["a", "b"], text="a b", offsets=[(0, 1), (2, 3)], start=10)
    (mention,) = sentence.with_mentions([Mention("X", [(0, 2)], score=0.5)]).mentions
    assert mention.to_dict() == {
        "label": "X",
        "text": "a b",
        "spans": [[10, 13]],
        "fragments": [[0, 2]],
        "score": 0.5,
    }


def test_spans_of_documents_and_sentences_are_the_same_characters():
    """However a mention is asked for, its spans are those of the document's text."""
    text = "Fine. Sore toes, sore knees."
    first, second = Splitter().document(text).sentences
    second = second.with_mentions([Mention("ADR", [(0, 2)]), Mention("ADR", [(3, 4), (4, 5)])])
    document = Document([first, second], text=text, id="7", extra={"rating": 5, "text": "no"})
    data = document.to_dict()
    assert [each["fragments"] for each in data["mentions"]] == [[[2, 4]], [[5, 7]]]
    for mention, there, plain in zip(
        document.mentions, second.mentions, data["mentions"], strict=True
    ):
        assert mention.spans == there.spans == second.characters(there)
        assert " ".join(text[start:end] for start, end in plain["spans"]) == mention.text
    assert (data["id"], data["text"], data["rating"]) == ("7", text, 5)
    assert [each["words"] for each in data["sentences"]] == [list(first.words), list(second.words)]


def test_mentions_compare_with_mentions_only():
    assert Mention("A", [(0, 1)]) <= Mention("A", [(0, 1)])
    assert Mention("A", [(0, 1)]) < Mention("A", [(0, 2)])
    with pytest.raises(TypeError):
        _ = Mention("A", [(0, 1)]) < 3


def test_mentions_sort_by_position():
    mentions = [Mention("B", [(0, 2)]), Mention("A", [(3, 4)]), Mention("A", [(0, 2)])]
    assert [m.label for m in sorted(mentions)] == ["A", "B", "A"]


@pytest.mark.parametrize(
    ("fragments", "message"),
    [
        ([], "at least one fragment"),
        ([(1, 1)], r"\(1, 1\) is empty"),
        ([(2, 1)], r"\(2, 1\) is inverted"),
        ([(0, 2), (1, 3)], r"\(0, 2\) and \(1, 3\) overlap"),
        ([(0, 2), (0, 2)], "overlap"),
        ([(-1, 1)], r"\(-1, 1\) begins before the first word"),
        ([(0, 1.5)], "whole numbers"),
        ([(0, 1, 2)], "pairs"),
        ([3], "pairs"),
        (7, "pairs"),
    ],
)
def test_fragments_that_cannot_be(fragments, message):
    with pytest.raises(MentionError, match=message) as caught:
        Mention("ADR", fragments)
    with pytest.raises(MentionError, match=message):
        Mention("ADR", tuple(fragments) if isinstance(fragments, list) else fragments)
    assert isinstance(caught.value, DiscotagError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("label", ["", None, 3, "A\nB"])
def test_labels_that_cannot_be(label):
    with pytest.raises(MentionError, match="needs a printable label"):
        Mention(label, [(0, 1)])


@given(st.sets(st.integers(0, 12), min_size=1))
def test_any_words_make_a_mention_with_maximal_fragments(words):
    mention = Mention("ADR", [(word, word + 1) for word in words])
    assert mention.words == tuple(sorted(words))
    assert all(a[1] < b[0] for a, b in zip(mention.fragments, mention.fragments[1:], strict=False))


def test_a_sentence_sorts_and_spells_its_mentions():
    late, early = Mention("ADR", [(4, 5)]), Mention("ADR", [(0, 2), (4, 5)], score=0.5)
    sentence = Sentence("pain in arms and shoulders".split(), [late, early])
    assert sentence.mentions == (early, late)
    assert [m.text for m in sentence.mentions] == ["pain in shoulders", "shoulders"]
    assert sentence.mentions[0].score == 0.5
    assert sentence == Sentence(sentence.words, sentence.mentions)


def test_a_sentence_with_text_spells_mentions_as_written():
    sentence = Sentence(
        ["Pain", ",", "in", "arms"],
        [Mention("ADR", [(0, 2), (3, 4)])],
        text="Pain,  in  arms",
        offsets=[(0, 4), (4, 5), (7, 9), (11, 15)],
        start=100,
    )
    assert sentence.mentions[0].text == "Pain, arms"
    assert sentence.characters(sentence.mentions[0]) == ((100, 105), (111, 115))


def test_a_sentence_may_hold_a_mention_twice_and_may_be_empty():
    twice = [Mention("ADR", [(0, 1)])] * 2
    assert len(Sentence(["pain"], twice).mentions) == 2
    assert Sentence([]).words == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": "pain"}, "both text and offsets"),
        ({"offsets": [(0, 4)]}, "both text and offsets"),
        ({"text": "pain", "offsets": []}, "1 word but 0 offsets"),
        ({"text": "a pain", "offsets": [(0, 4)]}, "word 0, 'pain', .* 0 to 4, .* 'a pa'"),
        ({"text": "pain", "offsets": [(-4, 4)]}, "word 0"),
        ({"text": "pain", "offsets": [(0, 9)]}, "word 0"),
        ({"text": "painx", "offsets": [(0, -1)]}, "word 0"),
        ({"text": "pain", "offsets": [(0, 1, 2)]}, "pairs"),
        ({"text": "pain", "offsets": [(0.0, 4.0)]}, "whole numbers"),
        ({"text": "pain", "offsets": [(0, 4)], "start": -1}, "character -1"),
    ],
)
def test_text_that_does_not_fit_its_words(arguments, message):
    with pytest.raises(SentenceError, match=message):
        Sentence(**{"words": ["pain"]} | arguments)


def test_sentences_that_cannot_be():
    with pytest.raises(MentionError, match="reaches past the end of its sentence, .* 1 word"):
        Sentence(["pain"], [Mention("ADR", [(0, 2)])])
    with pytest.raises(SentenceError, match="not one string"):
        Sentence("pain")
    with pytest.raises(SentenceError, match="word 1"):
        Sentence(["a", "a"], text="a a", offsets=[(0, 1), (0, 1)])
    with pytest.raises(SentenceError, match="without text"):
        Sentence(["a"]).characters(Mention("ADR", [(0, 1)]))


def test_a_document_counts_through_its_sentences():
    first = Sentence(
        ["Sore", "."], [Mention("ADR", [(0, 1)])], text="Sore.", offsets=[(0, 4), (4, 5)]
    )
    second = Sentence(["Sad"], [Mention("ADR", [(0, 1)])], text="Sad", offsets=[(0, 3)], start=6)
    document = Document([first, second], text="Sore. Sad", id="post-1")
    assert document.words == ("Sore", ".", "Sad")
    assert [(m.text, m.fragments) for m in document.mentions] == [
        ("Sore", ((0, 1),)),
        ("Sad", ((2, 3),)),
    ]
    assert document.mentions[1].shifted(-2) == second.mentions[0]
    with pytest.raises(SentenceError, match="sentence 1 .* character 6"):
        Document([first, second], text="Sore. Glad")
    with pytest.raises(SentenceError, match="sentence 1"):
        Document([first, first], text="Sore. Sad")
    with pytest.raises(SentenceError, match="sentence 0"):
        Document([Sentence(["Sad"])], text="Sad")


@pytest.mark.parametrize(
    ("words", "wanted", "fragments"),
    [
        ("pain in my arms and legs", "pain legs", ((0, 1), (5, 6))),
        ("pain and pain in legs", "pain legs", ((2, 3), (4, 5))),
        ("a b a b", "a b", ((0, 2),)),
        ("a x b a b", "a b", ((3, 5),)),
        ("a b", "b a", None),
        ("a b", "", None),
        ("", "a", None),
        ("a a b", "a a b", ((0, 3),)),
        ("a b b c", "a b c", ((0, 1), (2, 4))),
    ],
)
def test_locate(words, wanted, fragments):
    assert locate(words.split(), wanted.split()) == fragments


def test_what_else_is_known_of_a_document_is_no_part_of_its_value():
    bare = Document([Sentence(["a"])], id="7")
    full = Document([Sentence(["a"])], id="7", extra={"rating": 5}, place=("a.jsonl", 3))
    assert (bare.extra, bare.place) == ({}, None)
    assert full == bare
    assert hash(full) == hash(bare)
    for copy in (dataclasses.replace(full, id="8"), pickle.loads(pickle.dumps(full))):
        assert (copy.extra, copy.place) == ({"rating": 5}, ("a.jsonl", 3))


def test_candidates_are_kept_beside_mentions():
    words = ["pain", "in", "arms"]
    pain, arms = Mention("ADR", [(0, 1)], score=0.9), Mention("ADR", [(2, 3)], score=0.1)
    sentence = Sentence(words, [pain], candidates=[arms, Mention("ADR", [(0, 3)])])
    assert [each.text for each in sentence.candidates] == ["pain in arms", "arms"]
    document = Document([Sentence(["Oh"]), sentence])
    assert [each.fragments for each in document.candidates] == [((1, 4),), ((3, 4),)]
    data = document.to_dict()
    assert [each["text"] for each in data["candidates"]] == ["pain in arms", "arms"]
    assert "candidates" not in Document([Sentence(words, [pain])]).to_dict()
    assert sentence.with_mentions([]).candidates == ()
    moved = document.with_mentions([[], [arms]], [[], [pain]])
    assert (moved.sentences[1].mentions, moved.sentences[1].candidates) == ((arms,), (pain,))
    assert sentence != Sentence(words, [pain])
    with pytest.raises(MentionError):
        Sentence(words, candidates=[Mention("ADR", [(2, 4)])])


@given(documents(), st.dictionaries(st.sampled_from(["rating", "date", "id"]), st.integers()))
def test_plain_data_and_back(given, extra):
    for document in given:
        document = dataclasses.replace(document, id="7", extra=extra)
        check_back(document, extra)


@given(documents_of_text())
def test_plain_data_of_texts_and_back(given):
    _, document = given
    check_back(document, {})
    check_back(Document(document.sentences), {})  # without the text of the document


def check_back(document, extra):
    data = json.loads(json.dumps(document.to_dict()))
    again = Document.from_dict(data)
    assert again == document
    assert again.to_dict() == document.to_dict()
    assert again.extra == {name: value for name, value in extra.items() if name != "id"}
    assert [Mention.from_dict(each) for each in data["mentions"]] == list(document.mentions)


def test_plain_data_keeps_scores_and_candidates():
    words = ["pain", "in", "arms"]
    pain, arms = Mention("ADR", [(0, 1)], score=0.9), Mention("ADR", [(2, 3)], score=0.1)
    document = Document([Sentence(["Oh"]), Sentence(words, [pain], candidates=[arms])])
    again = Document.from_dict(document.to_dict())
    assert [each.score for each in (*again.mentions, *again.candidates)] == [0.9, 0.1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "not the data of a document"),
        ([], "not the data of a document"),
        ({"text": "a"}, "not the data of a document: KeyError.'sentences'"),
        ({"sentences": [{"words": ["a"], "starts": [0, 2]}], "text": "a b"}, "not the data of a"),
        ({"sentences": [{"words": ["a"], "starts": [1], "end": 1}], "text": "a"}, "not at"),
        ({"sentences": [], "mentions": [{}]}, "not the data of a mention: KeyError.'label'"),
        ({"sentences": [], "mentions": [{"label": "A", "fragments": 3}]}, "must be pairs"),
        ({"sentences": [], "mentions": [{"label": "A", "fragments": [[0, 1]]}]}, "past the end"),
        ({"sentences": [{"words": "abc"}]}, "words must be a list of texts"),
        ({"sentences": [{"words": [1, 2]}]}, "words must be a list of texts"),
        (
            {
                "sentences": [{"words": ["a"]}],
                "mentions": [{"label": "A", "fragments": [[0, 1]], "score": "high"}],
            },
            "not the data of a mention",
        ),
        (
            {
                "sentences": [{"words": ["a"]}, {"words": ["b"]}],
                "mentions": [{"label": "A", "fragments": [[0, 2]]}],
            },
            "past the end",
        ),
    ],
)
def test_other_data_is_refused(data, message):
    with pytest.raises(InputError, match=message):
        Document.from_dict(data)
