"""Mentions in words, as formats give them."""

from discotag import Mention
from discotag.corpora.parsing.word_mentions import Candidate, good_mentions


def test_flaws_and_duplicates_are_told_and_duplicates_kept():
    told = []
    candidates = [
        Candidate("T1", "ADR", ((0, 1),), 0.5),
        Candidate("T2", "ADR", ((0, 2), (1, 3))),
        Candidate("T3", "ADR", ((0, 1),)),
    ]
    found = good_mentions(candidates, 3, lambda kind, message: told.append((kind, message)))
    assert found == (Mention("ADR", ((0, 1),)),) * 2
    assert found[0].score == 0.5
    assert told == [
        ("overlapping", "T2: fragment 1:3 begins before the previous one ends"),
        ("duplicate", "T3: the same mention is given twice"),
    ]
