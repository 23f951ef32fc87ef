"""Candidates to review, and the threshold with which few mentions are missed."""

import pickle
from dataclasses import replace

import pytest

from discotag import Document, Mention, Sentence, find_guarantee
from discotag.errors import InputError
from discotag.evaluation.guarantee import OUTSIDE
from discotag.marks import Marked
from discotag.model.guarantee import Guarantee
from discotag.prediction.guarantee import (
    LEAST,
    PREDICTED,
    UnreachableError,
    find_as_in_text,
    finds,
    scores_of_gold,
)
from discotag.prediction.loading import load
from discotag.prediction.predictions import Review, distinct
from discotag.prediction.tagger import Tagger
from discotag.words import Splitter
from tiny import tiny_network

TEXTS = [
    "I had pain in my arms and shoulders. No sleep!",
    "My knees hurt.",
    "swollen and stiff knees, bad pain",
    "",
    "the pain was bad in my shoulders",
]
PAIN = Mention("ADR", [(0, 1)], score=0.9)
LONG = Mention("ADR", [(0, 3)], score=0.4)
APART = Mention("ADR", [(0, 1), (2, 3)], score=0.3)
FAR = Mention("ADR", [(4, 5)], score=0.2)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    network = tiny_network(tmp_path_factory.mktemp("tiny"), window=32, overlap=8)
    return Tagger.from_network(network, "cpu")


@pytest.fixture(scope="module")
def labelled(tagger):
    """Documents whose gold mentions are what the tagger finds, or a candidate, or neither."""
    found = []
    for document in tagger.predict(TEXTS * 20, candidates=1e-3):
        number = len(found) % 3
        kinds = [
            [*(each.candidates if number == 1 else each.mentions)[:1]]
            for each in document.sentences
        ]
        found.append(document.with_mentions(kinds))
    return found


def guarantee(tagger, **changes):
    given = {
        "threshold": 0.05,
        "target_recall": 0.5,
        "confidence": 0.9,
        "count": "mentions",
        "unit": "documents",
        "match": "exact",
        "units": 100,
        "runtime": tagger.runtime.name,
    }
    return Guarantee(**(given | changes))


def test_candidates_come_besides_mentions(tagger):
    plain = tagger(TEXTS)
    assert not any(document.candidates for document in plain)
    found = list(tagger.predict(TEXTS, candidates=0.01))
    assert [each.mentions for each in found] == [each.mentions for each in plain]
    assert any(document.candidates for document in found)
    for document in found:
        assert set(document.candidates).isdisjoint(document.mentions)
        assert len(set(document.candidates)) == len(document.candidates)
        assert all(each.score >= 0.01 for each in document.candidates)
    fewer = tagger.predict(TEXTS, candidates=0.1)
    for document, other in zip(found, fewer, strict=True):
        assert other.candidates == tuple(m for m in document.candidates if m.score >= 0.1)


def test_candidates_do_not_depend_on_batches(tagger):
    together = list(tagger.predict(TEXTS, candidates=0.01))
    for text, document in zip(TEXTS, together, strict=True):
        alone = next(tagger.predict([text], candidates=0.01, batch_size=1))
        assert alone.candidates == document.candidates
    assert tagger.tag_batch(together, candidates=0.01) == together


def test_mentions_of_a_low_score_become_candidates(tagger):
    every = tagger(TEXTS)
    found = tagger.predict(TEXTS, candidates=1.0, min_score=0.9)
    for document, other in zip(found, every, strict=True):
        assert document.mentions == tuple(m for m in other.mentions if m.score >= 0.9)
        assert document.candidates == tuple(m for m in other.mentions if m.score < 0.9)
    assert found.left_out.mentions == 0


def test_a_guarantee_gives_candidates(tagger):
    ready = tagger.with_guarantee(guarantee(tagger))
    wanted = list(tagger.predict(TEXTS, candidates=0.05))
    assert list(ready.predict(TEXTS)) == ready(TEXTS) == wanted
    assert ready.tag_batch(wanted, candidates=True) == wanted
    assert list(ready.predict(TEXTS, candidates=False)) == tagger(TEXTS)
    assert ready.has_candidates()
    assert not ready.has_candidates(candidates=False)
    assert not tagger.has_candidates()
    assert ready.with_guarantee(None)(TEXTS) == tagger(TEXTS)


def test_a_guarantee_for_overlaps_gives_one_candidate_for_the_same_words(tagger):
    ready = tagger.with_guarantee(guarantee(tagger, match="overlap", threshold=0.01))
    every = tagger.predict(TEXTS, candidates=0.01)
    for document, other in zip(ready.predict(TEXTS), every, strict=True):
        for few, many in zip(document.sentences, other.sentences, strict=True):
            assert set(few.candidates) == set(distinct(many.mentions, many.candidates))
            words = [place for each in few.candidates for place in each.words]
            assert len(words) == len(set(words))


def test_candidates_that_cannot_be_had(tagger):
    with pytest.raises(InputError, match="no guarantee"):
        tagger.predict(TEXTS, candidates=True)
    ready = tagger.with_guarantee(guarantee(tagger))
    with pytest.raises(InputError, match="bias of 0, not 1"):
        ready.predict(TEXTS, bias=1.0)
    assert list(ready.predict(TEXTS, bias=1.0, candidates=False))
    other = tagger.with_guarantee(guarantee(tagger, runtime="onnx-int8"))
    with pytest.raises(InputError, match="measured with the runtime onnx-int8, not with torch"):
        other(TEXTS)
    for wrong in (0.0, -0.1, 1.1, "many", float("nan")):
        with pytest.raises(InputError, match="candidates must be a"):
            tagger.predict(TEXTS, candidates=wrong)


def test_review_splits_and_keeps_one_reading():
    every = Review(0.25, distinct=False)
    assert every.split([PAIN], [LONG, APART, FAR], 0.0) == ([PAIN], [LONG, APART])
    assert every.split([PAIN], [PAIN, LONG], 0.95) == ([], [PAIN, LONG])
    one = Review(0.1, distinct=True)
    assert one.split([PAIN], [LONG, APART, FAR], 0.0) == ([PAIN], [FAR])
    assert distinct([], [APART, LONG, FAR]) == [LONG, FAR]
    other = Mention("Drug", [(0, 1)], score=0.1)
    assert distinct([PAIN], [other]) == [other]


def test_scores_of_gold():
    gold = Document([Sentence(["a"] * 6, [PAIN, APART, Mention("ADR", [(5, 6)])])])
    found = Document([Sentence(["a"] * 6, [PAIN], candidates=[LONG, APART])])
    assert scores_of_gold(gold, found, "mentions", "exact") == [PREDICTED, 0.3, OUTSIDE]
    assert scores_of_gold(gold, found, "mentions", "overlap") == [PREDICTED, PREDICTED, OUTSIDE]
    assert scores_of_gold(gold, found, "documents", "exact") == [PREDICTED]
    review = Document([Sentence(["a"] * 6, candidates=[FAR, LONG])])
    assert scores_of_gold(gold, review, "documents", "exact") == [0.4]
    assert scores_of_gold(gold, Document([Sentence(["a"] * 6)]), "documents", "exact") == [OUTSIDE]
    assert scores_of_gold(review, found, "documents", "exact") == []
    assert not finds(Mention("Drug", [(0, 1)]), PAIN, "overlap")


@pytest.mark.parametrize("match", ["exact", "overlap"])
@pytest.mark.parametrize("unit", ["documents", "sentences"])
@pytest.mark.parametrize("count", ["mentions", "documents"])
def test_what_is_measured_is_what_prediction_gives(tagger, labelled, count, unit, match):
    found = find_guarantee(tagger, labelled, target_recall=0.4, count=count, unit=unit, match=match)
    given = found.guarantee
    assert (given.target_recall, given.confidence, given.runtime) == (0.4, 0.9, "torch")
    assert (given.count, given.unit, given.match) == (count, unit, match)
    predicted = list(tagger.with_guarantee(given).predict(labelled))
    assert sum(len(each.mentions) for each in predicted) == found.mentions
    assert sum(len(each.candidates) for each in predicted) == found.candidates
    assert found.found >= 0.4
    if count == "mentions":
        hits = sum(
            any(finds(each, mention, match) for each in (*guess.mentions, *guess.candidates))
            for document, other in zip(labelled, predicted, strict=True)
            for truth, guess in zip(document.sentences, other.sentences, strict=True)
            for mention in truth.mentions
        )
        assert found.gold == sum(len(each.mentions) for each in labelled)
        assert found.found == pytest.approx(hits / found.gold)


def test_a_target_that_cannot_be_reached(tagger, labelled):
    outside = [each.with_mentions([[Mention("ADR", [(0, len(s.words))])] for s in each.sentences])
               for each in labelled if each.sentences]  # fmt: skip
    with pytest.raises(UnreachableError, match=r"0\.95 of mentions .* find \d+\.\d%"):
        find_guarantee(tagger, outside, target_recall=0.95)
    with pytest.raises(InputError, match="target_recall must be between 0 and 1"):
        find_guarantee(None, [], target_recall=1)  # before anything is tagged
    with pytest.raises(
        UnreachableError, match="it would take about 2[3-5]. documents with mentions like these"
    ):
        find_guarantee(tagger, labelled, target_recall=0.99, count="documents")


def test_a_mention_across_sentences_cannot_be_found(tagger):
    text = "No rash. My knees were swollen. And my legs were, too."
    across, inside = Marked("ADR", ((12, 17), (39, 43))), Marked("ADR", ((12, 17),))
    (plain,) = tagger.predict([text], candidates=LEAST)
    assert [len(each.words) for each in plain.sentences] == [3, 5, 7]
    document = tagger.splitter.document(text, [across, inside])
    assert [len(each.words) for each in document.sentences] == [3, 12]
    (found,) = find_as_in_text(tagger, [document])
    assert len(found.sentences) == 2
    assert found.mentions == plain.mentions
    assert found.candidates == plain.candidates
    assert [each.score for each in found.candidates] == [each.score for each in plain.candidates]
    assert sorted(scores_of_gold(document, found, "mentions", "exact"))[0] == OUTSIDE
    # Sentences that are given, or that no mention joins, are as they are.
    for other in (Splitter("whole").document(text, [inside]), Document(document.sentences)):
        (found,) = find_as_in_text(tagger, [other])
        (wanted,) = tagger.predict([other], candidates=LEAST)
        assert (found.mentions, found.candidates) == (wanted.mentions, wanted.candidates)


def test_labels_that_the_model_does_not_have(tagger, labelled):
    def relabelled(document, keep):
        return document.with_mentions(
            [
                [*(each.mentions if keep else ()), Mention("Drug", [(0, 1)])]
                for each in document.sentences
            ]
        )

    wanted = find_guarantee(tagger, labelled, target_recall=0.4)
    found = find_guarantee(
        tagger, [relabelled(each, keep=True) for each in labelled], target_recall=0.4
    )
    sentences = sum(len(each.sentences) for each in labelled)
    assert found == replace(wanted, other_labels=sentences)
    with pytest.raises(InputError, match="no gold mentions of ADR.*its labels are Drug"):
        find_guarantee(tagger, [relabelled(labelled[0], keep=False)], target_recall=0.4)


@pytest.mark.parametrize("name", ["count", "unit", "match"])
def test_bad_arguments(tagger, labelled, name):
    with pytest.raises(InputError, match=f"{name} must be "):
        find_guarantee(tagger, labelled, target_recall=0.4, **{name: "words"})


def test_a_guarantee_is_saved_and_pickled(tagger, tmp_path):
    ready = tagger.with_guarantee(guarantee(tagger))
    ready.save_pretrained(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.config.guarantee == ready.config.guarantee
    assert "finds at least 0.5 of the mentions" in (tmp_path / "model/README.md").read_text("utf-8")
    loose = again.with_guarantee(guarantee(tagger, threshold=0.5))
    assert pickle.loads(pickle.dumps(loose)).config.guarantee == loose.config.guarantee
    again.with_guarantee(None).save_pretrained(tmp_path / "plain")
    assert load(tmp_path / "plain").config.guarantee is None
