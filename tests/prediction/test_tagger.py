"""Test the tagger: all kinds of items, in order, lazily, with exact probabilities."""

import itertools
import multiprocessing
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from discotag import Document, Mention, Scheme, Sentence
from discotag.errors import DiscotagError, InputError
from discotag.prediction import decoding
from discotag.prediction.decoding import TooManyMentions
from discotag.prediction.loading import load
from discotag.prediction.predictions import LeftOut
from discotag.prediction.tagger import Tagger
from discotag.prediction.wanted import Wanted
from discotag.words import Splitter
from tiny import tiny_network

TEXTS = [
    "I had pain in my arms and shoulders. No sleep!",
    "",
    "pain",
    "😕😕 😕",
    "My knees hurt, and my arms were stiff and swollen " * 6,
    "\u200b\u200b",
    "痛い。とても痛い。",
    "x" * 4000,
]


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return tiny_network(tmp_path_factory.mktemp("tiny"), window=32, overlap=8)


@pytest.fixture(scope="module")
def tagger(network):
    return Tagger.from_network(network, "cpu")


@pytest.fixture(scope="module")
def semantic(tmp_path_factory):
    scheme = Scheme(labels=("A", "B"), naming="semantic")
    network = tiny_network(tmp_path_factory.mktemp("semantic"), scheme, arc_weights=True)
    torch.nn.init.normal_(network.layer.arc_weights)
    return Tagger.from_network(network, "cpu")


def scored(documents):
    return [[(m, m.score) for m in document.mentions] for document in documents]


def assert_same(one, other):
    assert [[m for m, _ in each] for each in one] == [[m for m, _ in each] for each in other]
    for left, right in zip(one, other, strict=True):
        for (_, score), (_, again) in zip(left, right, strict=True):
            assert score == pytest.approx(again, abs=1e-4)


def test_order_and_results_do_not_depend_on_batches(tagger):
    documents = tagger(TEXTS)
    assert [document.text for document in documents] == TEXTS
    one_by_one = [next(tagger.predict([text])) for text in TEXTS]
    assert_same(scored(documents), scored(one_by_one))
    assert_same(scored(documents), scored(tagger.predict(TEXTS, batch_size=1)))
    assert any(document.mentions for document in documents)


def test_a_text_gives_its_document(tagger):
    document = tagger(TEXTS[0])
    assert document == tagger([TEXTS[0]])[0]
    assert isinstance(document, Document)
    assert document.mentions
    for mention in document.mentions:
        assert " ".join(TEXTS[0][start:end] for start, end in mention.spans) == mention.text


def test_words_of_sentences_and_documents_are_kept(tagger):
    words = ["I", "had", "pain", "in", "my", "arms", "and", "shoulders", "."]
    gold = Mention("Gold", [(2, 3)])  # a label that the model does not have
    sentence = Sentence(tuple(words), (gold,))
    given = [words, tuple(words), sentence, Document((sentence,), id="x")]
    found = tagger(given)
    assert {document.words for document in found} == {tuple(words)}
    assert len({frozenset(document.mentions) for document in found}) == 1
    assert found[3].id == "x"
    for document in found:  # mentions of the input are replaced
        assert document.mentions
        assert all(m.label == "ADR" and m.score is not None for m in document.mentions)


def test_scores_are_those_of_the_layer(network, tagger):
    for document in tagger(TEXTS):
        for sentence in document.sentences:
            if sentence.mentions:
                scores = torch.from_numpy(tagger.scores([sentence])[0][None])
                (wanted,) = network.layer.decode_mentions(scores)
                chances = network.layer.mention_probability(scores, [sentence.mentions])
                assert set(sentence.mentions) == wanted
                for mention, chance in zip(sentence.mentions, chances[0].tolist(), strict=True):
                    assert mention.score == pytest.approx(chance, abs=1e-5)


def test_min_score(tagger):
    every = tagger(TEXTS)
    found = tagger.predict(TEXTS, min_score=0.5)
    some = list(found)
    low = []
    for document, fewer in zip(every, some, strict=True):
        assert fewer.mentions == tuple(m for m in document.mentions if m.score >= 0.5)
        low += [m.score for m in document.mentions if m.score < 0.5]
    assert found.left_out == LeftOut(len(low), max(low))
    assert "the highest is 0.96" in LeftOut(2, 0.9609).described(0.97)
    assert "; 1 has a lower score" in LeftOut(1, 0.9).described(1)


def test_a_bias_is_added_to_that_of_the_model(tagger):
    config = replace(tagger.config, bias=2.0)
    biased = Tagger(config, tagger.tokenizer, tagger.runtime)
    wanted = list(tagger.predict(TEXTS, bias=2.0))
    assert biased(TEXTS) == biased.tag_batch(biased(TEXTS), bias=0) == wanted
    assert list(biased.predict(TEXTS, bias=-2.0)) == tagger(TEXTS)
    assert tagger(TEXTS) != biased(TEXTS)


@pytest.mark.parametrize("name", ["tagger", "semantic"])
def test_alternatives_are_all_readings(name, request):
    tagger = request.getfixturevalue(name)
    ((found,),) = tagger.alternatives([["my", "arms", "hurt"]], k=150)
    chances = [each.probability for each in found]
    assert sum(chances) == pytest.approx(1, abs=1e-3)
    assert chances == sorted(chances, reverse=True)
    sets = [frozenset(each.sentence.mentions) for each in found]
    assert len(set(sets)) == len(sets)
    best = tagger([["my", "arms", "hurt"]])[0]
    for mention in best.mentions:  # its score is the sum over the readings that have it
        total = sum(chance for chance, each in zip(chances, sets, strict=True) if mention in each)
        assert mention.score == pytest.approx(total, abs=1e-3)
    if tagger.scheme.structural:
        assert sets[0] == frozenset(best.mentions)


@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_an_analysis_is_what_the_other_methods_find(tagger, semantic, bias):
    for each in (tagger, semantic):
        sentences = [one for document in tagger(TEXTS) for one in document.sentences]
        analysed = each.analyse(sentences, bias=bias, alternatives=3, compared=True)
        tagged = each.tag_batch([Document(tuple(sentences))], bias=bias)[0].sentences
        readings = list(each.alternatives(sentences, k=3, bias=bias))
        for one, sentence, (alternatives,) in zip(analysed, tagged, readings, strict=True):
            assert one.sentence == sentence
            assert [m.score for m in one.sentence.mentions] == [m.score for m in sentence.mentions]
            assert [a.sentence for a in one.alternatives] == [a.sentence for a in alternatives]
            assert set(sentence.mentions) <= set(one.compared)
            if bias:  # the same readings are weighed for both
                assert alternatives[0].sentence.mentions == sentence.mentions
    (plain,) = tagger.analyse([Sentence(("my", "arms", "hurt"))])
    assert (plain.alternatives, plain.compared, plain.marginals) == ((), {}, None)
    assert tagger.analyse([]) == []


@pytest.mark.parametrize("k", [1, 2, 3])
def test_with_labels_the_first_alternative_is_the_prediction(semantic, k):
    sentences = [one for document in semantic(TEXTS) for one in document.sentences]
    for labels in (("A",), ("B",)):
        for one in semantic.analyse(sentences, labels=labels, alternatives=k, bias=1.0):
            sets = [each.sentence.mentions for each in one.alternatives]
            assert sets[0] == one.sentence.mentions
            assert len(set(sets)) == len(sets) <= k
    found = semantic.alternatives(sentences[:1], Wanted(labels="A", alternatives=k, bias=1.0))
    assert [len(each) <= k for (each,) in found] == [True]


@pytest.mark.parametrize("ask", ["analyse", "marginals", "scores", "options", "tag_batch"])
@pytest.mark.parametrize("given", ["text", ["text"], [("a", "b")], [None]])
def test_what_is_no_sentence_or_document_is_named(tagger, ask, given):
    kind = "Document" if ask == "tag_batch" else "Sentence"
    with pytest.raises(InputError, match=f"item 1: a {kind} is expected, not "):
        getattr(tagger, ask)(given)


def test_marginals_add_up_to_one(tagger):
    (sentence,) = tagger("my arms hurt").sentences
    weighed, plain = (
        tagger.marginals([sentence], bias=2.0, plain=plain)[0] for plain in (False, True)
    )
    for table in (weighed, plain):
        assert table.sum(1) == pytest.approx(np.ones(3), abs=1e-5)
    assert weighed[:, 0].sum() <= plain[:, 0].sum() + 1e-6  # not more words outside of mentions
    np.testing.assert_array_equal(plain, tagger.marginals([sentence])[0])


def test_alternatives_of_empty_items(tagger):
    (document, empty) = tagger.alternatives(["", []], k=3)
    assert document == ()
    assert [each.probability for each in empty[0]] == [1.0]


def test_endless_input_is_read_lazily(tagger, monkeypatch):
    monkeypatch.setattr(tagger.runtime, "budget", 128)
    read = []

    def texts():
        for number in itertools.count():
            read.append(number)
            yield f"pain number {number} in my arms."

    documents = tagger.predict(texts())
    assert read == []
    first = list(itertools.islice(documents, 300))
    assert [document.words[2] for document in first] == [str(n) for n in range(300)]
    assert len(read) < 300 + 128 * 16


def test_large_documents_are_tokenized_in_runs(tagger, monkeypatch):
    text = " ".join(TEXTS[:3]) * 20
    whole = scored([tagger(text), *tagger.tag_batch([Splitter().document(text)] * 3)])
    monkeypatch.setattr(tagger.runtime, "batch", 16)
    sizes = []
    encode = tagger.tokenizer.encode
    monkeypatch.setattr(
        tagger.tokenizer,
        "encode",
        lambda sentences: sizes.append(sum(map(len, sentences))) or encode(sentences),
    )
    found = scored([tagger(text), *tagger.tag_batch([Splitter().document(text)] * 3)])
    assert_same(found, whole)
    assert max(sizes) < 100


def test_skipping_does_not_change_the_other_documents(tagger, monkeypatch):
    monkeypatch.setattr(tagger.runtime, "budget", 8)
    texts = [f"{text} {number}" for number in range(6) for text in TEXTS[:4]]
    whole = [scored([document]) for document in tagger.predict(texts)]
    for skip in (1, 17, 23, 24, 99):
        rest = [scored([document]) for document in tagger.predict(texts, skip=skip)]
        assert rest == whole[skip:]


def test_a_long_line_is_one_sentence(tagger):
    words = ["no", "pain", "in", "my", "arms"] * 1000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TooManyMentions)  # random weights find huge sets
        (document,) = tagger([words])
    assert len(document.sentences) == 1
    scores = tagger.scores(document.sentences)[0]
    assert scores.shape == (5000, 9)
    assert np.isfinite(scores).all()


def test_sets_of_too_many_mentions_are_left_out_with_a_warning(tagger, monkeypatch):
    every = tagger(TEXTS)
    assert max(len(document.mentions) for document in every) > 1
    monkeypatch.setattr(decoding, "MAX_MENTIONS", 1)
    with pytest.warns(TooManyMentions, match="was left out; the limit is 1"):
        fewer = tagger(TEXTS)
    assert sum(len(d.mentions) for d in fewer) < sum(len(d.mentions) for d in every)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.predict("text"), "give a list of items, even for a single one"),
        (lambda t: t.predict([3]), "item 0: cannot tag int"),
        (lambda t: t.predict([["a", 3]]), "item 0: cannot tag list"),
        (lambda t: t(5), "cannot tag int: give a text, or a list of items"),
        (lambda t: t(None), "cannot tag NoneType: give a text, or a list of items"),
        (lambda t: t(b"pain"), "cannot tag bytes: give a text"),
        (lambda t: t({"text": "pain"}), "cannot tag dict: give a text"),
        (lambda t: t.predict(5), "cannot tag int"),
        (lambda t: t.alternatives(5), "cannot tag int"),
        (lambda t: t.alternatives("pain"), "give a list of items, even for a single one"),
        (lambda t: t.predict([], batch_size="8"), "batch_size must be a whole number; got '8'"),
        (lambda t: t.predict([], batch_size=1.5), "batch_size must be a whole number"),
        (lambda t: t.predict([], skip=-1), "skip must be at least 0"),
        (lambda t: t.predict([], min_score=None), "min_score must be a number; got None"),
        (lambda t: t.predict([], min_score=float("nan")), "min_score must be a number"),
        (lambda t: t.alternatives([], k="5"), "k must be at least 1, a whole number; got '5'"),
        (lambda t: t.predict([], batch_size=0), "batch_size must be at least 1"),
        (lambda t: t.predict([], min_score=2), "min_score must be from 0 to 1"),
        (lambda t: t.alternatives([], k=0), "k must be at least 1"),
        (lambda t: t.predict([], labels="X"), "no label 'X'; its labels are ADR"),
    ],
)
def test_bad_arguments(tagger, call, message):
    with pytest.raises(DiscotagError, match=message):
        list(call(tagger))


def test_arguments_may_be_numpy_numbers(tagger):
    options = {"batch_size": np.int64(2), "min_score": np.float32(0.5), "skip": np.int64(1)}
    wanted = list(tagger.predict(TEXTS, batch_size=2, min_score=0.5, skip=1))
    assert list(tagger.predict(TEXTS, **options)) == wanted


def test_other_fields_of_documents_are_kept(tagger):
    @dataclass(frozen=True)
    class Rated(Document):
        rating: int = 0

    sentence = Sentence(("i", "had", "pain", "in", "my", "arms"))
    (found,) = tagger([Rated((sentence,), id="x", rating=5)])
    assert found.mentions
    assert (found.id, found.rating) == ("x", 5)


def test_a_loaded_tagger_can_be_sent_to_another_process(network, tmp_path, monkeypatch):
    network.save_pretrained(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    loaded = load("model", device="cpu")
    loaded.splitter = Splitter(sentences="whole")
    monkeypatch.chdir("/")  # the folder is found from anywhere
    text = "I had pain. No sleep."
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(loaded, [text]).result()
    assert found == loaded([text])
    assert len(found[0].sentences) == 1
    again = pickle.loads(pickle.dumps(loaded))
    assert (again.origin.runtime, again.origin.device) == ("torch", "cpu")


def test_a_tagger_of_a_network_in_memory_cannot_be_pickled(tagger):
    message = "a tagger of a network in memory cannot be pickled: save it with save_"
    with pytest.raises(DiscotagError, match=message):
        pickle.dumps(tagger)
    assert repr(tagger) == "<Tagger of ADR from a network in memory, device cpu>"


def test_damaged_weights_are_noticed(network, tagger, monkeypatch):
    weight = network.linear.weight.detach().clone()
    with torch.no_grad():
        network.linear.weight.fill_(torch.nan)
    try:
        with pytest.raises(DiscotagError, match="scores that are not numbers"):
            tagger("pain")
    finally:
        with torch.no_grad():
            network.linear.weight.copy_(weight)
