"""Test that long sentences in stretches have the results of whole sentences."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from decoded import result_of
from discotag import Scheme
from discotag.corpora import read
from discotag.errors import InputError
from discotag.inference.backends import numpy_backend, torch_backend
from discotag.model.calibration import Calibration, Weights
from discotag.model.candidates import features
from discotag.prediction import engine, stretches
from discotag.prediction.decoding import Ask, Decoder, best_readings, join_taggings
from discotag.prediction.loading import load
from discotag.prediction.runtimes import Encoded
from discotag.prediction.stretches import decode_in_stretches
from discotag.prediction.tagger import Tagger
from discotag.prediction.wanted import Wanted
from tiny import tiny_network

SCHEMES = [
    Scheme(("A",)),
    Scheme(("A",), naming="semantic"),
    Scheme(("A",), slots=3, gap_mentions=True),
    Scheme(("A", "B"), slots=2),
]
SAMPLE = Path(__file__).parents[2] / "docs/sample.jsonl"
SIZE = 4
CALIBRATION = Calibration(Weights(0.1, 0.9, 0.2), Weights(-0.3, 0.8, 0.3, 0.1), knot=1.0)


@pytest.fixture(scope="module", autouse=True)
def short_stretches():
    """Make stretches of a few words, so that short sentences have many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stretches, "STRETCH", 12)
        patch.setattr(stretches, "MARGIN", 40)
        yield


def score_mentions(vectors, candidates):
    """Return log-odds of candidates by a fixed random layer."""
    given = features(vectors, candidates, 2)
    return given @ np.random.default_rng(0).normal(size=given.shape[1])


class Case:
    """A decoder, and the scores and vectors of a sentence.

    Args:
        scheme: The scheme.
        seed: For all that is random.
        words: The number of words.
        certainty: How much higher than those of other tags the score of O is, except in some
            places.
        weighted: Whether the grammar has arc weights.
        scored: Whether there is a mention scorer.
    """

    def __init__(self, scheme, seed, words, certainty, *, weighted=False, scored=False):
        random = np.random.default_rng(seed)
        self.scores = random.normal(size=(1, words, len(scheme.tags))) * 2
        self.scores[..., 0] += certainty
        for start in random.integers(0, words, words // 9):
            self.scores[:, start : start + random.integers(1, 5), 0] -= certainty
        self.vectors = random.normal(size=(words, SIZE))
        weights = None
        if weighted:
            weights = random.normal(size=len(scheme.grammar.arcs)) / 2
        self.decoder = Decoder(
            scheme,
            numpy_backend,
            weights,
            score_mentions if scored else None,
            CALIBRATION if scored else None,
        )
        self.lengths = np.array([words])
        self.places = np.sort(random.integers(0, words, random.integers(0, 6)))

    def parts(self):
        """Yield the words of the sentence, some at a time."""
        bounds = np.unique([0, *self.places, len(self.vectors)]).tolist()
        for start, end in pairwise(bounds):
            yield Encoded(self.scores[:, start:end], self.vectors[start:end])

    def in_stretches(self, decode):
        return result_of(decode_in_stretches(self.decoder, self.parts(), len(self.vectors), decode))

    def mentions(self, bias=0.0):
        """Return the mentions of the whole sentence, and those of its stretches; how many."""

        def decode(decoder, encoded, lengths):
            found = yield from decoder.answer(*encoded, lengths, Ask(bias=bias))
            return [list(each.mentions) for each in found]

        given = Encoded(self.scores, self.vectors)
        (whole,) = result_of(decode(self.decoder, given, self.lengths))
        parts = self.in_stretches(decode)
        found = [mention.shifted(start) for start, mentions in parts for mention in mentions]
        return whole, found, len(parts)


def assert_same(found, wanted):
    assert found == wanted
    for one, other in zip(found, wanted, strict=True):
        assert one.score == pytest.approx(other.score, abs=5e-5)


cases = st.builds(
    Case,
    st.sampled_from(SCHEMES),
    st.integers(0, 2**32 - 1),
    st.integers(1, 150),
    st.sampled_from([0.0, 4.0, 12.0, 20.0]),
    weighted=st.booleans(),
    scored=st.booleans(),
)


@pytest.mark.filterwarnings("ignore::discotag.prediction.decoding.TooManyMentions")
@settings(deadline=None, max_examples=60)
@given(cases, st.sampled_from([0.0, 1.0]))
def test_mentions_are_those_of_the_whole_sentence(case, bias):
    whole, found, _ = case.mentions(bias)
    assert_same(found, whole)


@pytest.mark.filterwarnings("ignore::discotag.prediction.decoding.TooManyMentions")
@settings(deadline=None, max_examples=30)
@given(cases, st.integers(1, 6))
def test_alternatives_are_those_of_the_whole_sentence(case, k):
    # With arc weights, the sum over namings is limited to some of them in all.
    assume(case.decoder.scheme.structural or case.decoder.weights is None)

    def decode(decoder, encoded, lengths):
        return (yield from decoder.taggings(encoded.scores, lengths, k))

    (whole,) = result_of(decode(case.decoder, Encoded(case.scores, None), case.lengths))
    most = case.decoder.sequences(k)
    joined = join_taggings(case.in_stretches(decode), most)
    found, wanted = best_readings(joined, k), best_readings(whole, k)
    for (one, mentions), (other, others) in zip(found, wanted, strict=True):
        # Less probable readings may have a mention across a cut.
        assert mentions == others or max(one, other) < 1e-5
        assert one == pytest.approx(other, abs=1e-4)


@pytest.mark.filterwarnings("ignore::discotag.prediction.decoding.TooManyMentions")
@settings(deadline=None, max_examples=30)
@given(cases, st.integers(1, 6), st.sampled_from([0.0, 1.0]))
def test_weighed_readings_are_those_of_the_whole_sentence(case, k, bias):
    assume(case.decoder.chooses(bias))

    def decode(decoder, encoded, lengths):
        return decoder.answer(*encoded, lengths, Ask(Wanted(alternatives=k, compared=True), bias))

    (whole,) = result_of(decode(case.decoder, Encoded(case.scores, case.vectors), case.lengths))
    parts = case.in_stretches(decode)
    joined = join_taggings([(start, each.taggings) for start, each in parts], k)
    assert len(joined) == len(whole.taggings)
    for one, other in zip(joined, whole.taggings, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-3)
    assert sorted(joined[0].mentions) == list(whole.mentions)
    candidates = {
        each.shifted(start): c for start, found in parts for each, c in found.compared.items()
    }
    assert candidates == pytest.approx(whole.compared, abs=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_sentences_are_cut_where_they_can_be(scheme, scored, weighted):
    case = Case(scheme, 3, 300, 20.0, weighted=weighted, scored=scored)
    whole, found, number = case.mentions()
    assert len(whole) > 20
    assert number > 10
    assert_same(found, whole)


@pytest.mark.parametrize("scored", [False, True])
def test_stretches_of_tensors(scored):
    case = Case(SCHEMES[2], 3, 300, 20.0, scored=scored)
    wanted, _, stretches_of_arrays = case.mentions()
    case.scores, case.vectors = torch.from_numpy(case.scores), torch.from_numpy(case.vectors)
    case.decoder.backend = torch_backend
    if scored:
        case.decoder.scorer = lambda vectors, candidates: torch.from_numpy(
            score_mentions(vectors.numpy(), candidates)
        )
    whole, found, number = case.mentions()
    assert number == stretches_of_arrays
    assert_same(found, whole)
    assert_same(found, wanted)


def test_sentences_are_one_stretch_where_they_cannot_be_cut(monkeypatch):
    case = Case(SCHEMES[0], 3, 200, 0.0)
    case.places = np.arange(1, 200)
    tried = []
    find = stretches.find_cuts

    def counted(decoder, scores, first):
        tried.append(scores.shape[1])
        return (yield from find(decoder, scores, first))

    monkeypatch.setattr(stretches, "find_cuts", counted)
    whole, found, number = case.mentions()
    assert number == 1
    assert_same(found, whole)
    assert sum(tried) < 4 * 200  # a cut is looked for again only after twice as many words


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_cuts_are_before_words_that_are_certain_in_the_whole_sentence(scheme):
    case = Case(scheme, 5, 300, 14.0)
    mask = np.ones(case.scores.shape[:2], dtype=bool)
    table, _ = numpy_backend.marginals(scheme.grammar, case.scores, mask)
    cuts = result_of(stretches.find_cuts(case.decoder, case.scores, 0))
    uncertain = 1 - table[0, :, 0]
    assert len(cuts) > 5
    assert uncertain[cuts].max() <= 2e-6
    for start in range(1, 300 - stretches.MARGIN, stretches.STRETCH):
        here = range(start, min(start + stretches.STRETCH, 301 - stretches.MARGIN))
        assert (uncertain[here] < 5e-7).any() <= (np.isin(here, cuts).sum() == 1)


def test_scores_that_are_not_numbers():
    case = Case(SCHEMES[0], 3, 200, 20.0, scored=True)
    case.scores[:, 100, 3] = np.nan
    with pytest.raises(InputError, match="scores that are not numbers"):
        case.mentions()


@pytest.fixture(scope="module")
def network_tagger(tmp_path_factory):
    network = tiny_network(tmp_path_factory.mktemp("tiny"), window=32, overlap=8)
    network.linear.weight.data *= 4.0
    network.linear.bias.data[0] = 22.0  # so that some words are certain
    found = Tagger.from_network(network, "cpu")
    found.runtime.batch = 128
    return found


def whole_and_stretches(tagger_of, call):
    """Return what a tagger finds in whole sentences, in double precision, and in stretches."""
    encode = tagger_of.runtime.encode

    def exact(batch):
        scores, vectors = encode(batch)
        return Encoded(scores.astype(np.float64), vectors)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LONG_PART", 0.001)
        patch.setattr(tagger_of.runtime, "encode", exact)
        whole = call()
    return whole, call()


def test_the_tagger_decodes_long_sentences_in_stretches(network_tagger):
    random = np.random.default_rng(0)
    known = "the pain in my arms and shoulders knees swollen stiff hurt was bad".split()
    items = [random.choice(known, size).tolist() for size in (700, 3, 0, 40, 300)]
    used = []
    with pytest.MonkeyPatch.context() as patch:
        decode = engine.decode_in_stretches

        def watched(decoder, parts, words, *given):
            found = yield from decode(decoder, parts, words, *given)
            used.append((words, len(found)))
            return found

        patch.setattr(engine, "decode_in_stretches", watched)
        whole, found = whole_and_stretches(
            network_tagger, lambda: network_tagger.tag_batch(list(network_tagger.predict(items)))
        )
    assert {words for words, _ in used} == {700, 300, 40}
    assert max(number for _, number in used) > 3
    for one, other in zip(found, whole, strict=True):
        assert_same(one.mentions, other.mentions)
    readings, again = whole_and_stretches(
        network_tagger, lambda: list(network_tagger.alternatives(items[:2], k=3))
    )
    for one, other in zip(again, readings, strict=True):
        for (first, *_), (second, *_) in zip(one, other, strict=True):
            assert first.sentence.mentions == second.sentence.mentions
            assert first.probability == pytest.approx(second.probability, abs=5e-5)


def test_the_bundled_model_on_a_long_sentence(monkeypatch):
    monkeypatch.setattr(stretches, "STRETCH", 256)
    monkeypatch.setattr(stretches, "MARGIN", 64)
    bundled = load()
    words = [word for document in read(SAMPLE) for word in document.words][:2500]
    whole, found = whole_and_stretches(bundled, lambda: next(bundled.predict([words])))
    assert len(whole.mentions) > 50
    assert_same(found.mentions, whole.mentions)
