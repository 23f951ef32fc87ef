import sys
from itertools import product

import numpy as np
import pytest
from scipy.stats import permutation_test

from discotag import Mention
from discotag.evaluation import Counts, EvaluationError, compare, intervals, tally, total
from discotag.evaluation.scores import add


def units(random, size, rate):
    """Sentences with up to two mentions, some discontinuous, each found with this probability."""
    found = []
    for number in range(size):
        truth = [Mention("A", [(0, 1), (3, 4)]), Mention("B", [(5, 6)])][: number % 3]
        guess = [m if random.random() < rate else Mention(m.label, [(8, 9)]) for m in truth]
        found.append(tally(truth, guess))
    return found


def test_intervals_cover():
    """Of 60 samples from a known rate, the 95% interval should hold it in about 57."""
    random = np.random.default_rng(0)
    held = 0
    for _ in range(60):
        found = intervals(units(random, 150, 0.7), seed=random)["all"].micro.recall
        held += found.low <= 0.7 <= found.high
    assert held >= 52


def test_intervals_hold_the_figures_and_repeat():
    sample = units(np.random.default_rng(1), 200, 0.6)
    found = intervals(sample, seed=3)
    assert found == intervals(sample, seed=3)
    assert found != intervals(sample, seed=4)
    for name, part in total(sample).slices():
        assert list(found[name].labels) == list(part.labels)
        rows = [(part.micro, found[name].micro), (part.macro, found[name].macro)]
        rows += [(part.labels[label], found[name].labels[label]) for label in part.labels]
        for figures, ends in rows:
            for figure in ("precision", "recall", "f1"):
                interval = getattr(ends, figure)
                assert interval.low <= getattr(figures, figure) <= interval.high


def test_fewer_units_are_less_sure():
    sample = units(np.random.default_rng(1), 300, 0.6)
    merged = [add(sample[n : n + 30]) for n in range(0, 300, 30)]
    assert total(merged) == total(sample)
    few, many = (intervals(sample[:k])["all"].micro.f1 for k in (30, 300))
    assert few.high - few.low > many.high - many.low
    assert intervals(merged)["all"].micro.f1.low < intervals(merged)["all"].micro.f1.high


def test_a_slice_without_mentions():
    sample = [{("all", "A"): Counts(1, 1, 1)}] * 5
    empty = intervals(sample)["discontinuous"]
    assert (empty.micro.f1.low, empty.micro.f1.high, empty.labels) == (0, 0, {})
    assert intervals([{}, {}])["all"].macro.f1.high == 0
    assert compare(sample, sample)["discontinuous"].macro.p_value == 1


def test_systems_that_are_alike():
    random = np.random.default_rng(2)
    one, other = units(random, 200, 0.7), units(random, 200, 0.7)
    assert compare(one, one)["all"].micro.p_value == 1
    assert compare(one, one)["all"].micro.difference == 0
    found = compare(one, other)["all"].micro
    assert found.p_value > 0.05
    assert found.interval.low < 0 < found.interval.high


def test_systems_that_differ():
    random = np.random.default_rng(2)
    worse, better = units(random, 300, 0.5), units(random, 300, 0.8)
    for part in compare(worse, better).values():
        for figure in (part.micro, part.macro):
            assert figure.difference > 0
            assert figure.p_value < 0.01
            assert 0 < figure.interval.low < figure.difference < figure.interval.high
    turned = compare(better, worse)["all"].micro
    assert turned.difference == -compare(worse, better)["all"].micro.difference
    assert turned.p_value < 0.01


def test_p_values_are_those_of_the_exact_permutation_test():
    random = np.random.default_rng(5)
    one, other = units(random, 12, 0.4), units(random, 12, 0.8)
    parts = [total([unit]).all.micro for unit in one + other]
    counts = np.array([(part.gold, part.predicted, part.correct) for part in parts])

    def f1(rows, axis):
        gold, predicted, correct = (counts[rows, n].sum(axis) for n in range(3))
        return 2 * correct / (gold + predicted)

    exact = permutation_test(
        (np.arange(12), np.arange(12, 24)),
        lambda x, y, axis: f1(y, axis) - f1(x, axis),
        permutation_type="samples",
        vectorized=True,
    )
    found = compare(one, other)["all"].micro
    assert found.difference == pytest.approx(exact.statistic)
    assert found.p_value == pytest.approx(exact.pvalue, abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_p_values_of_both_means_are_exact(seed):
    random = np.random.default_rng(seed)
    mentions = [Mention(label, [(word, word + 1)]) for label in "AB" for word in range(3)]

    def drawn_units(rate):
        """Sentences with more or fewer predictions than mentions: F1 is no sum over them."""
        return [
            tally(mentions[: n % 5], [m for m in mentions if random.random() < rate])
            for n in range(9)
        ]

    one, other = drawn_units(0.2), drawn_units(0.6)

    def difference(exchanged):
        sides = [
            (b, a) if swap else (a, b) for a, b, swap in zip(one, other, exchanged, strict=True)
        ]
        first, second = (total(side).all for side in zip(*sides, strict=True))
        return second.micro.f1 - first.micro.f1, second.macro.f1 - first.macro.f1

    found = compare(one, other)["all"]
    drawn = np.array([difference(exchanged) for exchanged in product((0, 1), repeat=9)])
    for mine, every in zip((found.micro, found.macro), drawn.T, strict=True):
        ends = (every >= every[0] - 1e-9).mean(), (every <= every[0] + 1e-9).mean()
        assert mine.difference == pytest.approx(every[0])
        assert mine.p_value == pytest.approx(min(1, 2 * min(ends)), abs=0.03)


def test_what_cannot_be_compared():
    with pytest.raises(EvaluationError, match="at least two units, got 1"):
        intervals([{}])
    with pytest.raises(EvaluationError, match="one system has 1 units and the other 2"):
        compare([{}], [{}, {}])


def test_without_scipy(monkeypatch):
    for name in ("scipy", "scipy.stats", "scipy.sparse"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(EvaluationError, match=r"need SciPy: pip install openpyxl scipy"):
        intervals([{}, {}])
