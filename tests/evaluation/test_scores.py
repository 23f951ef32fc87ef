"""The scores against a slow reading of the protocol, and against seqeval on flat mentions."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from discotag import Mention, Sentence
from discotag.evaluation import SLICES, Counts, EvaluationError, score

LENGTH = 7
WORDS = [str(n) for n in range(LENGTH)]
LABELS = ("A", "B", "C")

mentions = st.builds(
    lambda label, words: Mention(label, [(word, word + 1) for word in words]),
    st.sampled_from(LABELS),
    st.sets(st.integers(0, LENGTH - 1), min_size=1, max_size=4),
)
sides = st.lists(
    st.tuples(st.lists(mentions, max_size=4), st.lists(mentions, max_size=4), st.booleans()),
    max_size=6,
).map(
    # Random mentions seldom agree: give some sentences the gold's beside their own.
    lambda rows: [(gold, found + gold if right else found) for gold, found, right in rows]
)


def read_protocol(gold, predicted):
    """From the definition: (slice, label or None) -> precision, recall, F1."""
    kept = {"all": [], "discontinuous_sentences": [], "discontinuous": []}
    for truth, found in zip(gold, predicted, strict=True):
        truth = unique((m.label, m.words) for m in truth)
        found = unique((m.label, m.words) for m in found)
        kept["all"].append((truth, found))
        if any(has_gap(words) for _, words in truth):
            kept["discontinuous_sentences"].append((truth, found))
        kept["discontinuous"].append(
            ([m for m in truth if has_gap(m[1])], [m for m in found if has_gap(m[1])])
        )
    figures = {}
    for name, rows in kept.items():
        used = {m[0] for truth, found in rows for m in truth + found}
        for label in [None, *used]:
            right = missed = wrong = 0
            for truth, found in rows:
                for mention in found:
                    if label in (None, mention[0]):
                        right += mention in truth
                        wrong += mention not in truth
                for mention in truth:
                    if label in (None, mention[0]):
                        missed += mention not in found
            precision = right / (right + wrong) if right + wrong else 0
            recall = right / (right + missed) if right + missed else 0
            both = precision + recall
            figures[name, label] = (precision, recall, 2 * precision * recall / both if both else 0)
    return figures


def unique(items):
    kept = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return kept


def has_gap(words):
    return words[-1] - words[0] + 1 != len(words)


def figures_of(counts):
    return pytest.approx((counts.precision, counts.recall, counts.f1))


@given(sides)
@settings(deadline=None, max_examples=300)
def test_equal_to_a_slow_reading_of_the_protocol(rows):
    gold = [Sentence(WORDS, truth) for truth, _ in rows]
    scores = score(gold, [found for _, found in rows])
    expected = read_protocol([truth for truth, _ in rows], [found for _, found in rows])
    for name, part in scores.slices():
        labels = {label for key, label in expected if key == name and label is not None}
        assert set(part.labels) == labels
        assert expected[name, None] == figures_of(part.micro)
        for label, counts in part.labels.items():
            assert expected[name, label] == figures_of(counts)
        means = [
            sum(expected[name, label][n] for label in labels) / max(len(labels), 1)
            for n in range(3)
        ]
        assert tuple(means) == figures_of(part.macro)


tag_lists = st.integers(0, 8).flatmap(
    lambda length: st.lists(
        st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), min_size=length, max_size=length
    )
)


def well_formed(tags):
    before = "O"
    for tag in tags:
        before = "B" + tag[1:] if tag[0] == "I" and tag[2:] != before[2:] else tag
        yield before


def bio_mentions(tags):
    found = []
    for place, tag in enumerate(tags):
        if tag[0] == "B":
            found.append([tag[2:], place, place + 1])
        elif tag[0] == "I":
            found[-1][2] += 1
    return [Mention(label, [(start, end)]) for label, start, end in found]


@given(st.lists(st.tuples(tag_lists, tag_lists, st.booleans()), min_size=1, max_size=6))
@settings(deadline=None, max_examples=150)
def test_equal_to_seqeval_on_flat_mentions(rows):
    gold = [list(well_formed(tags)) for tags, *_ in rows]
    found = []
    for truth, (_, tags, right) in zip(gold, rows, strict=True):
        cut = (tags + ["O"] * len(truth))[: len(truth)]
        found.append(truth if right else list(well_formed(cut)))
    sentences = [Sentence(["w"] * len(tags), bio_mentions(tags)) for tags in gold]
    part = score(sentences, [bio_mentions(tags) for tags in found]).all
    labels = sorted(part.labels)
    measures = (precision_score, recall_score, f1_score)

    def seqeval(average):
        options = {"average": average, "mode": "strict", "scheme": IOB2, "zero_division": 0}
        return [measure(gold, found, **options) for measure in measures]

    if not labels:  # seqeval cannot average over nothing
        assert part.micro == Counts()
        return
    assert tuple(seqeval("micro")) == figures_of(part.micro)
    assert tuple(seqeval("macro")) == figures_of(part.macro)
    by_label = zip(*seqeval(None), strict=True)
    for label, figures in zip(labels, by_label, strict=True):
        assert tuple(figures) == figures_of(part.labels[label])


def test_the_three_slices():
    arms, legs = Mention("ADR", [(0, 3)]), Mention("ADR", [(0, 2), (4, 5)])
    whole, drug = Mention("ADR", [(0, 5)]), Mention("Drug", [(0, 2), (3, 4)])
    words = "pain in arms and legs".split()
    gold = [Sentence(words, [arms, legs]), Sentence(words, [arms])]
    scores = score(gold, [[arms, whole], Sentence(words, [drug, drug, arms])])
    assert scores.all.labels == {"ADR": Counts(3, 3, 2), "Drug": Counts(0, 1, 0)}
    assert scores.discontinuous_sentences.labels == {"ADR": Counts(2, 2, 1)}
    assert scores.discontinuous.labels == {"ADR": Counts(1, 0, 0), "Drug": Counts(0, 1, 0)}
    assert [name for name, _ in scores.slices()] == list(SLICES)


def test_nothing_over_nothing_is_nothing():
    scores = score([], [])
    assert scores.all.micro.figures == scores.all.macro
    assert scores.all.macro.f1 == 0


def test_gold_and_predictions_are_read_in_step():
    read = []

    def numbered(side):
        for number in range(3):
            read.append((side, number))
            yield Sentence(["a"])

    score(numbered("gold"), numbered("predicted"))
    assert read == [(side, n) for n in range(3) for side in ("gold", "predicted")]


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        ([[]], "sentence 2 is in the gold but not in the predictions"),
        ([[], [], []], "sentence 3 is in the predictions but not in the gold"),
        (
            [[], Sentence(["a", "c"])],
            "sentence 2, word 2: the gold has 'b', the predictions have 'c'",
        ),
        (
            [[], Sentence(["a"])],
            "sentence 2, word 2: the gold has 'b', the predictions have no word",
        ),
    ],
)
def test_sentences_that_do_not_belong_together(predicted, message):
    with pytest.raises(EvaluationError, match=f"^{message}$"):
        score([Sentence(["a", "b"])] * 2, predicted)
