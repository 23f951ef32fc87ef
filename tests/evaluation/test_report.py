from discotag import Mention
from discotag.evaluation import Pair, Report, count_errors, report, total
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
    assert list(made.recorded(PAIRS)) == PAIRS
    assert made.scores == total(made.tallies)
    assert (made.scores.all.micro.gold, made.scores.all.micro.correct) == (4, 2)
    assert sorted(made.scored) == [(0.4, False), (0.8, True), (0.9, True)]
    assert (made.by_gap["2 words"].gold, made.by_gap["2 words"].found) == (3, 2)
    assert (made.by_gap["no gap"].gold, made.by_gap["no gap"].found) == (1, 0)
    assert [each.document for each, _ in made.wrong] == [2, 4]
    counted = count_errors(PAIRS)
    for kind, count in made.errors.items():
        assert (count.gold, count.predicted) == (counted[kind].gold, counted[kind].predicted)


def test_only_some_sentences_are_kept(monkeypatch):
    monkeypatch.setattr(report, "MOST_SENTENCES", 1)
    made = Report("gold", "model")
    for each in PAIRS:
        made.add(each)
    assert len(made.wrong) == 1
    assert made.wrong_sentences == 2


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
