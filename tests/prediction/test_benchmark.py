"""Test that measurements count sentences, words and mentions correctly."""

import pytest

from discotag import Document, Sentence
from discotag.errors import InputError
from discotag.prediction.benchmark import STEPS, TEXT_IN, WORDS_IN, measure
from discotag.prediction.tagger import Tagger
from tiny import tiny_network


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    return Tagger.from_network(tiny_network(tmp_path_factory.mktemp("tiny")), "cpu")


@pytest.mark.parametrize("sentences", [1, 5, 40])
def test_measures_as_many_sentences_as_asked_for(tagger, sentences):
    speed = measure(tagger, sentences=sentences, repeat=1)
    assert speed.sentences == sentences
    assert list(speed.seconds) == [TEXT_IN, WORDS_IN, *STEPS]
    rates = speed.sentences_per_second
    assert all(rates[name] * speed.seconds[name] == pytest.approx(sentences) for name in rates)


def test_documents_of_ones_own(tagger):
    documents = [
        Document((Sentence(("pain", "in", "my", "arms")), Sentence(("no", "sleep")))),
        Document(()),
        tagger.splitter.document("Sore toes. Can't sleep. Tired."),
    ]
    speed = measure(tagger, documents, sentences=6, repeat=1)
    assert (speed.documents, speed.sentences) == (3, 6)  # the first is taken again, in part
    assert speed.words == 4 + 2 + 3 + 5 + 2 + 4
    again = tagger.tag_batch([documents[0], documents[2], Document(documents[0].sentences[:1])])
    assert speed.mentions == sum(len(each.mentions) for each in again)


def test_the_number_of_sentences_is_chosen(tagger, monkeypatch):
    monkeypatch.setattr("discotag.prediction.benchmark.PASS_SECONDS", 0.05)
    assert measure(tagger, repeat=1).sentences >= 64


def test_documents_without_words(tagger):
    with pytest.raises(InputError, match="the documents have no words"):
        measure(tagger, [Document((Sentence(()),))])
