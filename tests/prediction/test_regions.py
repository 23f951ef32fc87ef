"""Regions, their readings, and the choice among these, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute import Truth, all_mentions
from decoded import answer_of, mentions_of, result_of
from discotag import Mention, Scheme
from discotag.errors import InputError
from discotag.inference.backends import numpy_backend
from discotag.model.calibration import Calibration, Weights
from discotag.model.candidates import features
from discotag.prediction import decoding, readings
from discotag.prediction.decoding import Decoder
from discotag.prediction.regions import USUAL, Options, Search, find_regions

SCHEMES = [
    Scheme(("A",)),
    Scheme(("A",), naming="semantic"),
    Scheme(("A",), gap_mentions=True),
    Scheme(("A", "B"), slots=1),
]
LENGTH = 5


def options_of(decoder, scores, **more):
    """Return the regions of a sentence and their readings, as objects."""
    found = result_of(decoder.readings(scores, np.array([LENGTH]), **more))
    return [] if found is None else [each for each, _ in found.options()]


def some_scores(scheme, seed, scale=2.0):
    random = np.random.default_rng(seed)
    return (random.normal(size=(1, LENGTH, len(scheme.tags))) * scale).astype(np.float32)


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=8), min_size=1, max_size=4))
def test_regions_are_the_runs_of_uncertain_words(rows):
    lengths = np.array([len(row) for row in rows])
    outside = np.zeros((len(rows), lengths.max()))
    for number, row in enumerate(rows):
        outside[number, : len(row)] = np.where(row, 0.3, 1.0)
    found = find_regions(outside, lengths)
    covered = {
        (row, word)
        for row, start, size in zip(*found, strict=True)
        for word in range(start, start + size)
    }
    uncertain = {(r, w) for r, row in enumerate(rows) for w, each in enumerate(row) if each}
    assert covered == uncertain
    ends = {(row, start + size) for row, start, size in zip(*found, strict=True)}
    assert not ends & covered  # none touches the next one


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_readings_have_the_probabilities_of_enumeration(scheme, weighted):
    for seed in range(3):
        scores = some_scores(scheme, seed)
        weights = None
        if weighted:
            weights = np.random.default_rng(seed).normal(size=len(scheme.grammar.arcs))
            weights = weights.astype(np.float32)
        truth = Truth(scheme, scores[0], weights)
        wanted = {}
        for mentions, chance in zip(all_mentions(scheme, LENGTH), truth.probabilities, strict=True):
            wanted[mentions] = wanted.get(mentions, 0.0) + chance
        decoder = Decoder(scheme, numpy_backend, weights)
        options = options_of(decoder, scores, search=USUAL._replace(k=100))
        by_mention = {}
        for each in options:
            assert sum(chance for chance, _ in each.readings) == pytest.approx(1, abs=1e-5)
            by_mention.update(zip(each.mentions, each.probabilities(), strict=True))
        for mention, chance in by_mention.items():
            exact = sum(value for mentions, value in wanted.items() if mention in mentions)
            assert chance == pytest.approx(exact, abs=0.06)  # for what is left out as improbable
        likely = {m for mentions in wanted for m in mentions} - by_mention.keys()
        for mention in likely:
            assert sum(value for mentions, value in wanted.items() if mention in mentions) < 0.05


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_candidates_of_an_endless_search_are_all_mentions(scheme, monkeypatch):
    size = 3
    every = {m for mentions in all_mentions(scheme, size) for m in mentions}
    monkeypatch.setattr(decoding, "WIDE", Search(certain=1.0, k=100, log_ratio=100.0))
    scores = some_scores(scheme, 1, scale=1.0)[:, :size]
    truth = Truth(scheme, scores[0])
    decoder = Decoder(scheme, numpy_backend)
    found = result_of(decoder.candidates(scores, None, np.array([size]), 0.0))[0]
    assert len(found) == len(set(found))
    assert set(found) == every
    for mention in found:
        assert mention.score == pytest.approx(truth.of_mention(mention), abs=1e-4)
    least = sorted(each.score for each in found)[len(found) // 2]
    (fewer,) = result_of(decoder.candidates(scores, None, np.array([size]), least)).values()
    assert set(fewer) == {each for each in found if each.score >= least}


def test_words_that_are_certainly_outside_divide_a_sentence():
    scheme = Scheme(("A",))
    scores = some_scores(scheme, 3, scale=0.5)
    scores[0, 2, 0] += 50
    options = options_of(Decoder(scheme, numpy_backend), scores)
    assert [each.row for each in options] == [0, 0]
    assert {m.end <= 2 for m in options[0].mentions} == {True}
    assert {m.start >= 3 for m in options[1].mentions} == {True}


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(SCHEMES), st.integers(0, 1000), st.floats(-3, 3))
def test_the_chosen_mentions_have_the_best_total_and_fit_the_scheme(scheme, seed, bias):
    scores = some_scores(scheme, seed)
    random = np.random.default_rng(seed)

    def scorer(vectors, table):
        return random.normal(size=len(table.labels)) * 2

    decoder = Decoder(scheme, numpy_backend, scorer=scorer)
    lengths = np.array([LENGTH])
    found = result_of(decoder.judged(scores, np.zeros((LENGTH, 2)), lengths))
    options, judged = [], []
    if found is not None:
        listed, odds = found
        for each, candidates in listed.options():
            options.append(each)
            judged.append(odds[candidates].tolist())
            assert each.probabilities() == pytest.approx(listed.candidate_chances[candidates])
    random = np.random.default_rng(seed)
    found = mentions_of(decoder, scores, np.zeros((LENGTH, 2)), lengths, bias).get(0, [])
    assert not scheme.problems(LENGTH, found)
    wanted = []
    for each, own in zip(options, judged, strict=True):
        totals = [
            np.log(chance) + sum(own[index] + bias for index in indices)
            for chance, indices in each.readings
        ]
        best = each.readings[int(np.argmax(totals))][1]
        assert each.best([value + bias for value in own]) == best
        wanted += [each.mentions[i] for i in best]
    assert found == sorted(wanted)


def test_more_bias_never_finds_fewer_mentions():
    options = Options(
        0,
        [Mention("A", [(0, 1)]), Mention("A", [(0, 1), (2, 3)]), Mention("A", [(2, 3)])],
        [(0.6, []), (0.2, [0]), (0.1, [0, 2]), (0.1, [1])],
    )
    numbers = [len(options.best([bias] * 3)) for bias in np.arange(-4, 4, 0.25)]
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1]) == (0, 2)


def test_without_a_scorer_bias_alone_decides():
    scheme = Scheme(("A",))
    decoder = Decoder(scheme, numpy_backend)
    lengths = np.array([LENGTH])
    numbers = np.array(
        [
            [
                len(mentions_of(decoder, scores, None, lengths, bias).get(0, []))
                for bias in (-20.0, 0.0, 20.0)
            ]
            for scores in (some_scores(scheme, seed) for seed in range(10))
        ]
    )
    assert (np.diff(numbers) >= 0).all()
    assert (np.diff(numbers.sum(0)) > 0).all()


def test_scores_are_calibrated_and_those_of_a_plain_model_too():
    scheme = Scheme(("A",))
    scores, lengths = some_scores(scheme, 2), np.array([LENGTH])
    plain = mentions_of(Decoder(scheme, numpy_backend), scores, None, lengths)[0]
    calibration = Calibration(Weights(constant=-1.0, tagger=0.5), Weights(constant=-2.0))
    modest = Decoder(scheme, numpy_backend, calibration=calibration)
    found = mentions_of(modest, scores, None, lengths)[0]
    assert found == plain
    for one, other in zip(plain, found, strict=True):
        wanted = float(calibration.probability(np.array([one.score]), None, one.discontinuous)[0])
        assert other.score == pytest.approx(wanted, abs=1e-4)


def test_no_sentence_and_no_region():
    scheme = Scheme(("A",))
    scores = np.zeros((2, 3, len(scheme.tags)), np.float32)
    scores[:, :, 0] = 50
    decoder = Decoder(scheme, numpy_backend, scorer=lambda vectors, table: 1 / 0)
    assert mentions_of(decoder, scores, np.zeros((6, 2)), np.array([3, 3])) == {}


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=6), st.integers(0, 1000))
def test_the_sentences_of_a_batch_do_not_mix(sizes, seed):
    """Some sentences certainly have no mention, and their rows are skipped."""
    scheme = Scheme(("A", "B"), slots=1)
    random = np.random.default_rng(seed)
    lengths = np.array(sizes)
    scores = random.normal(size=(len(sizes), 8, len(scheme.tags))).astype(np.float32) * 2
    scores[random.random(len(sizes)) < 0.4, :, 0] += 50
    vectors = random.normal(size=(lengths.sum(), 3)).astype(np.float32)

    def scorer(given, table):
        """Depend on the vectors of a candidate, not on its place in the batch."""
        return features(given, table, 2).sum(1) * 0.3

    decoder = Decoder(scheme, numpy_backend, scorer=scorer)
    together = mentions_of(decoder, scores, vectors, lengths)
    ends = np.cumsum(lengths)
    for row, (length, end) in enumerate(zip(sizes, ends, strict=True)):
        alone = Decoder(scheme, numpy_backend, scorer=scorer)
        given = (scores[row : row + 1], vectors[end - length : end], lengths[row : row + 1])
        wanted = mentions_of(alone, *given).get(0, [])
        assert together.get(row, []) == wanted
        for one, other in zip(together.get(row, []), wanted, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-5)


def test_candidates_are_scored_in_portions_with_the_same_result(monkeypatch):
    scheme = Scheme(("A",), gap_mentions=True)
    random = np.random.default_rng(0)
    lengths = np.array([8, 3, 8])
    scores = random.normal(size=(3, 8, len(scheme.tags))).astype(np.float32)
    vectors = random.normal(size=(19, 3)).astype(np.float32)
    numbers = []

    def scorer(given, table):
        numbers.append(len(table.labels))
        return features(given, table, 1).sum(1)

    found = []
    for most in (readings.MOST_WORDS, 50):
        monkeypatch.setattr(readings, "MOST_WORDS", most)
        numbers.clear()
        decoder = Decoder(scheme, numpy_backend, scorer=scorer)
        found.append(mentions_of(decoder, scores, vectors, lengths))
        assert (len(numbers) > 1) == (most == 50)
    assert found[0] == found[1]


def test_scores_that_are_not_numbers_are_an_error():
    scheme = Scheme(("A",))
    decoder = Decoder(
        scheme, numpy_backend, scorer=lambda _, table: np.full(len(table.labels), np.nan)
    )
    with pytest.raises(InputError, match="the model gives scores that are not numbers"):
        mentions_of(decoder, some_scores(scheme, 1), np.zeros((LENGTH, 2)), np.array([LENGTH]))


def test_without_probabilities_mentions_have_no_score():
    scheme = Scheme(("A",))
    decoder = Decoder(scheme, numpy_backend)
    given = some_scores(scheme, 1), None, np.array([LENGTH])
    found = mentions_of(decoder, *given, bias=3.0, probabilities=False)
    assert [mention.score for mention in found[0]] == [None] * len(found[0])


def test_a_full_catalogue_is_replaced(monkeypatch):
    monkeypatch.setattr(readings, "MOST_KEPT", 2)
    scheme = Scheme(("A",))
    decoder = Decoder(scheme, numpy_backend)
    for seed in range(4):
        scores = some_scores(scheme, seed)
        fresh = Decoder(scheme, numpy_backend)
        assert [each.mentions for each in options_of(decoder, scores)] == [
            each.mentions for each in options_of(fresh, scores)
        ]
    assert len(decoder._catalogue.mentions) < 30


@pytest.mark.parametrize(("naming", "sequences"), [("structural", 8), ("semantic", 16)])
def test_twice_as_many_sequences_where_two_encode_the_same_mentions(naming, sequences, monkeypatch):
    scheme, asked = Scheme(("A",), naming=naming), []
    k_best = numpy_backend.k_best
    monkeypatch.setattr(
        numpy_backend, "k_best", lambda *given: asked.append(given[-1]) or k_best(*given)
    )
    options_of(Decoder(scheme, numpy_backend), some_scores(scheme, 1))
    assert set(asked) == {sequences}


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(SCHEMES), st.integers(0, 1000), st.floats(-3, 3), st.integers(1, 40))
def test_readings_are_weighed_by_tagger_and_scorer(scheme, seed, bias, k):
    scores, lengths = some_scores(scheme, seed), np.array([LENGTH])
    scores[0, seed % LENGTH, 0] += 30  # two regions, if there is a mention on either side
    vectors = np.zeros((LENGTH, 2))

    def scorer(_, table):
        return np.random.default_rng(seed).normal(size=len(table.labels)) * 2

    decoder = Decoder(scheme, numpy_backend, scorer=scorer)
    judged = result_of(decoder.judged(scores, vectors, lengths))
    wanted, tables = {frozenset(): 1.0}, {}
    if judged is not None:
        readings, values = judged
        odds = {readings.mention(n): value for n, value in enumerate(values.tolist())}
        for start, size in zip(readings.regions.starts, readings.regions.sizes, strict=True):
            listed, tables[start] = weighed(
                decoder, scores[0, start : start + size], start, odds, bias
            )
            wanted = {
                before | mentions: chance * other
                for before, chance in wanted.items()
                for mentions, other in listed.items()
            }
    (found,) = answer_of(decoder, scores, vectors, lengths, bias, alternatives=k, compared=True)
    assert len(found.taggings) == min(k, len(wanted))
    chances = [float(np.exp(each.value)) for each in found.taggings]
    assert chances == sorted(chances, reverse=True)
    assert chances == pytest.approx([wanted[each.mentions] for each in found.taggings], rel=1e-3)
    assert chances == pytest.approx(sorted(wanted.values(), reverse=True)[:k], rel=1e-3)
    # The first one is what is predicted.
    predicted = mentions_of(decoder, scores, vectors, lengths, bias).get(0, [])
    assert list(found.mentions) == predicted == sorted(found.taggings[0].mentions)
    assert {each: found.compared[each] for each in predicted} == pytest.approx(
        {each: each.score for each in predicted}, abs=1e-6
    )
    # Marginals are those of all tag sequences with the same probabilities.
    (asked,) = answer_of(decoder, scores, vectors, lengths, bias, marginals=True)
    table = asked.marginals
    assert table.sum(1) == pytest.approx(np.ones(LENGTH), abs=1e-5)
    expected = result_of(decoder.marginals(scores, lengths))[0].copy()
    for start, part in tables.items():
        expected[start : start + len(part)] = part
    np.testing.assert_allclose(table, expected, atol=1e-4)


def weighed(decoder, scores, start, odds, bias):
    """Return the probabilities of the listed readings of a region, and of its tags, from all."""
    truth = Truth(decoder.scheme, scores)
    chances = truth.probabilities.copy()
    mentions = [
        frozenset(each.shifted(start) for each in found)
        for found in all_mentions(decoder.scheme, len(scores))
    ]
    best = np.argsort(-truth.totals, kind="stable")[: decoder.sequences(8)]
    compared = [n for n in best if truth.totals[n] >= truth.totals[best[0]] - 5]
    shared = sum(chances[n] for n in compared)
    weights = [chances[n] * np.exp(sum(odds[m] + bias for m in mentions[n])) for n in compared]
    for n, weight in zip(compared, weights, strict=True):
        chances[n] = shared * weight / sum(weights)
    listed, tags = {}, np.zeros(scores.shape)
    for n in best:
        listed[mentions[n]] = listed.get(mentions[n], 0) + chances[n]
    for chance, sequence in zip(chances, truth.sequences, strict=True):
        tags[np.arange(len(scores)), sequence] += chance
    return listed, tags


def test_without_a_scorer_and_a_bias_readings_are_those_of_the_tagger():
    for scheme in SCHEMES:
        decoder, lengths = Decoder(scheme, numpy_backend), np.array([LENGTH])
        scores = some_scores(scheme, 4)
        (found,) = answer_of(decoder, scores, None, lengths, alternatives=5)
        (wanted,) = result_of(decoder.taggings(scores, lengths, 5))
        assert found.taggings == wanted
        (asked,) = answer_of(decoder, scores, None, lengths, marginals=True)
        table = asked.marginals
        np.testing.assert_array_equal(table, result_of(decoder.marginals(scores, lengths))[0])


def test_equally_good_readings_have_one_order():
    """Scores of 0: many readings are equally probable."""
    scheme, lengths = Scheme(("A",)), np.array([LENGTH])
    scores = np.zeros((1, LENGTH, len(scheme.tags)), dtype=np.float32)
    decoder = Decoder(scheme, numpy_backend, scorer=lambda _, table: np.zeros(len(table.labels)))
    (found,) = answer_of(decoder, scores, np.zeros((LENGTH, 2)), lengths, alternatives=3)
    assert list(found.mentions) == sorted(found.taggings[0].mentions)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(SCHEMES), st.integers(0, 1000), st.floats(-2, 2), st.floats(0.05, 0.95))
def test_discontinuous_mentions_with_low_scores_are_left_out(scheme, seed, bias, least):
    scores, lengths = some_scores(scheme, seed), np.array([LENGTH])
    given = scores, np.zeros((LENGTH, 2)), lengths

    def scorer(_, table):
        return np.random.default_rng(seed).normal(size=len(table.labels)) * 2

    calibration = Calibration(Weights(0.5, 0.8, 0.5), Weights(-0.5, 0.5, 0.7))
    options = {"scorer": scorer, "calibration": calibration, "bias": bias}
    every, some = (Decoder(scheme, numpy_backend, **options, least=each) for each in (0.0, least))
    (found,) = answer_of(some, *given, bias, alternatives=40, compared=True)
    (plain,) = answer_of(every, *given, bias, alternatives=40, compared=True)
    assert found.compared == plain.compared
    assert not any(each.discontinuous and each.score < least for each in found.mentions)
    assert list(found.mentions) == sorted(found.taggings[0].mentions)
    assert sum(np.exp(each.value) for each in found.taggings) == pytest.approx(
        sum(np.exp(each.value) for each in plain.taggings), rel=1e-3
    )
    judged = result_of(every.judged(*given))
    wanted = []
    for each, candidates in judged[0].options() if judged else []:
        odds = judged[1][candidates] + bias
        low = [m.discontinuous and found.compared[m] < least for m in each.mentions]
        trusted = each.without(low)
        wanted += [each.mentions[index] for index in trusted.best(odds.tolist())]
        assert sum(chance for chance, _ in trusted.readings) == pytest.approx(1, abs=1e-5)
    chosen = mentions_of(some, *given, bias).get(0, [])
    assert chosen == list(found.mentions) == sorted(wanted)
    # What is asked for besides the model's own bias lowers the bound.
    more = mentions_of(some, *given, bias + 30).get(0, [])
    assert more == mentions_of(every, *given, bias + 30).get(0, [])
