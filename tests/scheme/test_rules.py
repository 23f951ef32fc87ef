"""Each rule alone: its automaton against a direct reading of that rule, and examples by hand."""

from itertools import product

import pytest

from discotag import Scheme
from oracle import SCHEMES, broken_rules, name

TWO_LABELS = Scheme(("A", "B"), 2, gap_mentions=True)
GAPS = Scheme(("ADR",), 3, gap_mentions=True)


@pytest.mark.parametrize("scheme", [*SCHEMES, TWO_LABELS], ids=name)
def test_each_rule_refuses_exactly_what_breaks_it(scheme):
    # 21 tags and length 4, 13 tags and length 5: each a few seconds
    for length in range(5 if len(scheme.tags) > 10 else 6):
        for tags in product(scheme.tags, repeat=length):
            broken = set(broken_rules(scheme, tags))
            for rule in scheme.rules:
                assert rule.automaton.accepts(tags) == (rule.number not in broken), (rule, tags)


@pytest.mark.parametrize(
    ("scheme", "rule", "bad", "good"),
    [
        (GAPS, 1, "O CI", "CB CI CI"),
        (GAPS, 1, "DB-Bx DI-O DI-By CI", "DB-Bx DI-O DI-By CB CI"),
        (GAPS, 2, "CB DI-O", "DB-Bx DI-O"),
        (GAPS, 2, "DB-Bx O DI-By", "DB-Bx DI-O DI-By"),
        (GAPS, 3, "DB-Bx DI-Iy", "DB-Bx DI-Ix"),
        (GAPS, 3, "DB-Bx DI-O DI-Ix", "DB-Bx DI-Bx DI-Ix"),
        (GAPS, 3, "DB-Bx DI-O DI-CI", "DB-Bx DI-CB DI-CI"),
        (GAPS, 4, "DB-Bx DI-O DI-Bx", "DB-Bx DI-O DI-By"),
        (GAPS, 4, "DB-Bx DI-Bz DI-By", "DB-Bx DI-By DI-Bz"),
        (GAPS, 5, "DB-Bx DI-Ix DI-By", "DB-Bx DI-Ix DI-O DI-By"),
        (GAPS, 5, "DB-Bx DI-By DI-O DI-Bz", "DB-Bx DI-By DI-O DI-By"),
        (GAPS, 5, "DB-Bx DI-O DI-By DI-Bz", "DB-Bx DI-CB DI-By DI-Bz DI-Bz"),
        (GAPS, 6, "DB-Bx DI-O DI-By DI-O", "DB-Bx DI-O DI-By DI-Iy"),
        (GAPS, 6, "DB-Bx DI-O DI-By DI-CB O", "DB-Bx DI-O DI-By O"),
        (TWO_LABELS, 7, "CB:A CI:B", "CB:A CI:A"),
        (TWO_LABELS, 7, "DB-Bx:A DI-O:B", "DB-Bx:A DI-O:A"),
        (TWO_LABELS, 7, "DB-Bx:A DI-CB:B DI-By:B", "DB-Bx:A DI-CB:B DI-By:A"),
        (TWO_LABELS, 7, "DB-Bx:A DI-CB:B DI-CI:A", "DB-Bx:A DI-CB:A DI-CI:A"),
    ],
)
def test_examples(scheme, rule, bad, good):
    automaton = scheme.rules[rule - 1].automaton
    assert not automaton.accepts(bad.split())
    assert automaton.accepts(good.split())


def test_rules_are_numbered_and_small():
    for scheme in SCHEMES:
        assert [rule.number for rule in scheme.rules] == [1, 2, 3, 4, 5, 6]
        for rule in scheme.rules:
            if rule.number != 5:  # which looks at every pair of slots
                assert rule.automaton.size <= 6
