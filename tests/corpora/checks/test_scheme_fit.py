"""How sentences are held against several schemes."""

import pytest

from discotag import Mention, Sentence
from discotag.corpora.checks.scheme_fit import Fits, Setting
from discotag.scheme import SchemeError, layers

WORDS = "a b c d e".split()
MISFIT = Sentence(WORDS, [Mention("ADR", [(0, 1), (2, 3), (4, 5)]), Mention("ADR", [(3, 4)])])


def test_mentions_are_grouped_once_for_all_schemes(monkeypatch):
    calls = []
    group = layers.group_mentions
    monkeypatch.setattr(layers, "group_mentions", lambda each: calls.append(1) or group(each))
    fits = Fits(Setting(4))
    assert [each.reason for each in fits.add(MISFIT)] == ["mention_in_gap"]
    assert len(fits.all) == 6
    assert len(calls) == 1


@pytest.mark.parametrize("slots", [-1, 5, True])
def test_a_setting_needs_a_number_of_slots_that_schemes_have(slots):
    with pytest.raises(SchemeError, match="slots must be 0 to 4"):
        Setting(slots)
