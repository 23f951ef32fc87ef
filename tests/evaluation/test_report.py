from dataclasses import replace

from discotag import Mention
from discotag.evaluation import Pair, Report, add, total
from discotag.evaluation.report import gap_group

HURT = Mention("ADR", [(0, 1), (3, 4)])
TOES = Mention("ADR", [(0, 1)])
WORDS = tuple("toes and fingers hurt".split())


def pair(number, gold, predicted):
    return Pair(number, f"post {number}", 1, WORDS, tuple(gold), tuple(predicted))


PAIRS = [
    pair(1, [HURT], [HURT.with_score(0.9)]),
    pair(2, [HURT], [TOES.with_score(0.4)]),
    pair(3, [], []),
    pair(4, [TOES, HURT], [HURT.with_score(0.8)]),
]


def test_everything_is_counted():
    made = Report("gold", "model")
    made.add_all(PAIRS)
    assert made.scores == total(made.tallies)
    assert (made.scores.all.micro.gold, made.scores.all.micro.correct) == (4, 2)
    assert sorted(made.scored) == [(0.4, False), (0.8, True), (0.9, True)]
    assert (made.by_gap["2 words"].first, made.by_gap["2 words"].both) == (3, 2)
    assert (made.by_gap["no gap"].first, made.by_gap["no gap"].both) == (1, 0)
    assert [each.document for each, _ in made.differing] == [2, 4]
    counts = {kind: (each.first, each.second) for kind, each in made.kinds.items()}
    assert {kind: both for kind, both in counts.items() if any(both)} == {
        "gap_missed": (1, 1),
        "missed": (1, 0),
    }
    assert made.discontinuous_sentences == 3
    assert made.first_scored == 0


def test_sentences_of_a_document_are_counted_together():
    made = Report("gold", "model")
    for document, each in zip((1, 1, 2, 3), PAIRS, strict=True):
        made.add(replace(each, document=document))
    assert [add([one]) for one in made.of_documents()] == [
        add(made.tallies[:2]),
        made.tallies[2],
        made.tallies[3],
    ]


def test_only_some_sentences_are_kept():
    made = Report("gold", "model", most=1)
    made.add_all(PAIRS)
    assert len(made.differing) == 1
    assert made.differing_sentences == 2


def test_gaps():
    def gap(*sizes):
        fragments, at = [(0, 1)], 1
        for size in sizes:
            fragments.append((at + size, at + size + 1))
            at += size + 1
        return gap_group(Mention("A", fragments))

    assert [gap(), gap(1), gap(1, 1), gap(2, 3), gap(6), gap(5, 5)] == [
        "no gap",
        "1 word",
        "2 words",
        "3 to 5 words",
        "6 words or more",
        "6 words or more",
    ]
