"""Agreement: cases computed by hand, identity and chance."""

import itertools

import numpy as np
import pytest

from discotag import Mention
from discotag.annotate.agreement import Text, agree, disorder, gamma, similarity


def unit(*words, label="ADR"):
    return label, frozenset(words)


def test_similarity_by_hand():
    assert similarity(unit(1, 2), unit(1, 2)) == 1
    assert similarity(unit(1, 2), unit(3)) == 0
    assert similarity(unit(1, 5), unit(1, 2, 5)) == pytest.approx(4 / 5)
    assert similarity(unit(1, 5), unit(1, 2, 5, label="Drug")) == pytest.approx(2 / 5)


def test_disorder_by_hand():
    # One pair that is the same, one pair that shares one of two words, one that is alone.
    first = [unit(1), unit(4, 5), unit(8)]
    second = [unit(1), unit(5, 6)]
    assert disorder(first, second) == pytest.approx((0 + 2 * (1 - 0.5) + 1) / 2.5)
    assert disorder(first, []) == 2.0
    # The best alignment is not the greedy one.
    first, second = [unit(1, 2, 3), unit(3)], [unit(3), unit(1, 2)]
    assert disorder(first, second) == pytest.approx(2 * (1 - 4 / 5) / 2)


def test_disorder_against_all_alignments():
    random = np.random.default_rng(0)

    def some():
        return [
            unit(*random.choice(8, random.integers(1, 4), replace=False).tolist(), label=label)
            for label in random.choice(["A", "B"], random.integers(1, 5)).tolist()
        ]

    for _ in range(100):
        first, second = some(), some()
        short, long = sorted((first, second), key=len)
        best = min(
            sum(2 * (1 - similarity(a, b)) for a, b in zip(short, chosen, strict=True))
            + len(long)
            - len(short)
            for chosen in itertools.permutations(long, len(short))
        )
        expected = best / ((len(first) + len(second)) / 2)
        assert disorder(first, second) == pytest.approx(expected)


def some_text(random, words=2000, mentions=120):
    places = random.choice(words - 3, mentions, replace=False)
    return [
        Mention("ADR", [(int(at), int(at) + 1), (int(at) + 2, int(at) + 3)])
        if random.random() < 0.3
        else Mention("ADR", [(int(at), int(at) + 2)])
        for at in places
    ]


def test_the_same_mentions_agree():
    mentions = some_text(np.random.default_rng(1))
    found = agree([Text([2000], [mentions], [mentions])])
    assert (found.f1, found.f1_discontinuous, found.word_f1, found.gamma) == (1, 1, 1, 1)


def test_random_mentions_agree_by_chance_only():
    random = np.random.default_rng(2)
    values = [
        agree([Text([2000], [some_text(random)], [some_text(random)])]).gamma for _ in range(8)
    ]
    assert abs(float(np.mean(values))) < 0.08
    assert max(map(abs, values)) < 0.25


def test_gamma_falls_with_the_number_of_differences():
    random = np.random.default_rng(3)
    mentions = some_text(random)
    values = []
    for share in (0.0, 0.2, 0.5, 0.9):
        other = [
            Mention("ADR", [(each.start, each.start + 1)]) if random.random() < share else each
            for each in mentions
        ]
        values.append(agree([Text([2000], [mentions], [other])]).gamma)
    assert values == sorted(values, reverse=True)
    assert values[0] == 1 > values[1] > values[-1] > 0


def test_f1_by_hand_over_several_documents_and_sentences():
    first = Text(
        [5, 5],
        [[Mention("ADR", [(0, 1), (2, 3)]), Mention("ADR", [(4, 5)])], [Mention("ADR", [(0, 2)])]],
        [[Mention("ADR", [(0, 1), (2, 3)])], [Mention("Drug", [(0, 2)])]],
    )
    second = Text([5], [[]], [[Mention("ADR", [(0, 1), (3, 4)])]])
    found = agree([first, second])
    assert found.documents == 2
    assert found.f1 == pytest.approx(2 * 1 / (3 + 3))
    assert found.f1_discontinuous == pytest.approx(2 * 1 / (1 + 2))
    assert found.word_f1 == pytest.approx(2 * 2 / (5 + 6))


def test_nothing_to_compare():
    found = agree([Text([5], [[]], [[]])])
    assert (found.f1, found.f1_discontinuous, found.word_f1, found.gamma) == (None,) * 4
    assert agree([]).gamma is None
    assert gamma([unit(0)], [unit(0)], 1) is None  # there is no other place for it


def test_the_same_versions_have_the_same_gamma():
    random = np.random.default_rng(4)
    text = Text([2000], [some_text(random)], [some_text(random)])
    assert agree([text]) == agree([text])


def test_without_scipy_there_is_no_gamma(monkeypatch):
    from discotag.annotate import agreement

    monkeypatch.setattr(agreement, "find_spec", lambda name: None)
    mention = Mention("ADR", [(0, 1)])
    found = agree([Text([5], [[mention]], [[mention]])])
    assert (found.f1, found.gamma) == (1, None)
