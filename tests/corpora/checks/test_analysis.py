"""Sizes, fits and findings of a corpus, against slow readings of the same."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Document, Mention, Scheme, Sentence
from discotag.corpora import CorpusError, Problem, write
from discotag.corpora.checks import check, checking
from discotag.corpora.checks.analysis import Analysis
from discotag.corpora.checks.checking import MOST_WORDS
from discotag.corpora.checks.scheme_fit import BIO, COMPARED, Fits, Setting
from real_corpora import CRAFT_MISFITS, craft_inline, needs_corpora

LENGTH = 8


@st.composite
def sentences(draw):
    number = draw(st.integers(0, 5))
    mentions = []
    for _ in range(number):
        words = draw(st.sets(st.integers(0, LENGTH - 1), min_size=1, max_size=5))
        label = draw(st.sampled_from("AB"))
        mentions.append(Mention(label, [(word, word + 1) for word in words]))
    return Sentence([f"w{n}" for n in range(LENGTH)], mentions)


def merged(mentions):
    """Groups of mentions that share words, found by merging until nothing changes."""
    groups = [({*mention.words}, [mention]) for mention in mentions]
    for one in range(len(groups)):
        for other in range(len(groups)):
            if one < other and groups[one] and groups[other] and groups[one][0] & groups[other][0]:
                joined = [*groups[one][1], *groups[other][1]]
                words = groups[one][0] | groups[other][0]
                kept = [groups[n] for n in range(len(groups)) if n not in (one, other)]
                return merged_from([*kept, (words, joined)])
    return [group for _, group in groups]


def merged_from(groups):
    for number, (words, members) in enumerate(groups):
        for other, (other_words, other_members) in enumerate(groups[:number]):
            if words & other_words:
                kept = [group for n, group in enumerate(groups) if n not in (number, other)]
                return merged_from([*kept, (words | other_words, members + other_members)])
    return [members for _, members in groups]


@settings(deadline=None, max_examples=150)
@given(st.lists(sentences(), max_size=4))
def test_counts_are_those_of_a_slow_reading(given_sentences):
    analysis = Analysis()
    analysis.add(Document(given_sentences))
    mentions = [mention for sentence in given_sentences for mention in sentence.mentions]
    gaps, pairs, groups = Counter(), Counter(), Counter()
    for mention in mentions:
        inside = [w not in mention.words for w in range(mention.start, mention.end)]
        run = 0
        for outside in [*inside, False]:
            if not outside and run:
                gaps[run] += 1
            run = run + 1 if outside else 0
    for sentence in given_sentences:
        for one, first in enumerate(sentence.mentions):
            for second in sentence.mentions[one + 1 :]:
                a, b = set(first.words), set(second.words)
                if a == b:
                    pairs["same_words"] += 1
                elif a <= b or b <= a:
                    pairs["nested"] += 1
                elif a & b:
                    pairs["crossing"] += 1
        for group in merged(sentence.mentions):
            if len(group) > 1 or group[0].discontinuous:
                groups[len(group)] += 1
    assert analysis.documents == 1
    assert analysis.sentences == len(given_sentences)
    assert analysis.words == LENGTH * len(given_sentences)
    assert analysis.mentions == len(mentions)
    assert analysis.discontinuous_mentions == sum(len(m.fragments) > 1 for m in mentions)
    assert analysis.sentences_with_mentions == sum(bool(s.mentions) for s in given_sentences)
    assert analysis.discontinuous_sentences == sum(
        any(m.discontinuous for m in s.mentions) for s in given_sentences
    )
    assert analysis.fragments == Counter(len(m.fragments) for m in mentions)
    assert {label: each.mentions for label, each in analysis.labels.items()} == Counter(
        m.label for m in mentions
    )
    assert (analysis.gap_lengths, analysis.overlaps) == (gaps, pairs)
    assert analysis.mentions_per_group == groups


@settings(deadline=None, max_examples=100)
@given(st.lists(sentences(), max_size=3), st.integers(0, 4), st.booleans())
def test_fits_are_those_of_the_schemes(given_sentences, slots, gap_mentions):
    asked = Setting(slots, gap_mentions)
    fits = Fits(asked)
    assert {fit.setting for fit in fits.all} == {*COMPARED, asked}
    returned = [[problem.reason for problem in fits.add(each)] for each in given_sentences]
    for fit in fits.all:
        scheme = Scheme(("A", "B"), fit.setting.slots, gap_mentions=fit.setting.gap_mentions)
        reasons = [
            [problem.reason for problem in scheme.problems(LENGTH, each.mentions)]
            for each in given_sentences
        ]
        assert fit.sentences == sum(map(bool, reasons))
        assert fit.reasons == Counter(reason for found in reasons for reason in found)
        if fit is fits.asked:
            assert returned == reasons


def test_names_of_settings():
    assert [str(each) for each in COMPARED] == [
        "BIO",
        "2 slots",
        "2 slots, gap mentions",
        "3 slots",
        "3 slots, gap mentions",
    ]
    assert str(BIO) == str(Setting(1, True)) == "BIO"


def test_findings_are_bounded_and_counted(tmp_path):
    path = tmp_path / "corpus.jsonl"
    parts = Mention("ADR", [(0, 1), (2, 3), (4, 5)])
    write([Document([Sentence("a b c d e".split(), [parts])], id=str(n)) for n in range(9)], path)
    checked = check(path, kept=2)
    assert checked.counts == {"too_many_slots": 9}
    assert [each.place for each in checked.findings["too_many_slots"]] == [
        "0, sentence 1",
        "1, sentence 1",
    ]
    data = checked.to_dict(1)
    assert (data["incompatible_sentences"], data["reasons"]) == (9, {"too_many_slots": 9})
    assert [each["mentions"][0]["text"] for each in data["findings"]] == ["a c e"]


def test_of_a_long_sentence_the_part_around_the_mentions_is_kept(tmp_path):
    path = tmp_path / "corpus.jsonl"
    words = [f"w{n}" for n in range(10 * MOST_WORDS)]
    parts = Mention("ADR", [(500, 501), (502, 503), (504, 505)])
    far, near = Mention("ADR", [(3, 4)]), Mention("ADR", [(510, 511)])
    write([Document([Sentence(words, [parts, far, near])])], path)
    (finding,) = check(path).findings["too_many_slots"]
    assert len(finding.sentence.words) < MOST_WORDS
    assert finding.mentions[0].text == "w500 w502 w504"
    assert [mention.text for mention in finding.sentence.mentions] == ["w500 w502 w504", "w510"]


def test_problems_of_all_kinds_are_collected(tmp_path):
    path = tmp_path / "corpus.txt"
    blocks = [
        "toes are sore\n0,0,2,2 ADR|0,0,2,2 ADR\n\n",
        "toes are sore\n0,0 adr|7,7 ADR\n\n",
        "toes are sore\n2,1 ADR|what\n\n",
    ]
    path.write_text("".join(blocks))
    told = []
    checked = check(path, report=told.append)
    assert checked.problem_counts == {
        "duplicate": 1,
        "outside": 1,
        "inverted": 1,
        "syntax": 1,
        "label_case": 1,
    }
    assert (checked.errors, checked.warnings) == (3, 2)
    assert [(each.kind, each.line) for each in told] == [
        ("duplicate", 2),
        ("outside", 5),
        ("inverted", 8),
        ("syntax", 8),
        ("label_case", None),
    ]
    assert "'ADR' (2 times, first in sentence 1" in told[-1].message
    assert "'adr' (1 time, first in sentence 2" in told[-1].message


def test_duplicates_that_the_reader_does_not_see(tmp_path):
    path = tmp_path / "corpus.jsonl"
    marks = ", ".join(f'{{"label": "ADR", "spans": [[0, {end}]]}}' for end in (4, 3))
    path.write_text(f'{{"id": "d", "text": "Sore toes.", "mentions": [{marks}]}}\n')
    checked = check(path)
    assert checked.problem_counts == {"widened": 1, "duplicate": 1}
    assert "d, sentence 1: mention ADR 'Sore' [0:1] is given 2 times" in str(
        checked.problems["duplicate"][0]
    )


def test_duplicates_that_the_reader_sees_are_told_once(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("sore toes\n0,1 ADR|0,1 ADR\n\n")
    assert check(path).problem_counts == {"duplicate": 1}


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        check(tmp_path / "none.jsonl")


def test_a_file_that_cannot_be_read_among_others(tmp_path, monkeypatch):
    """What was read before stays, and the rest is a problem."""

    def documents(*_, **__):
        yield Document([Sentence(["sore"])])
        raise CorpusError(Problem("missing", "permission denied", "b.txt"))

    monkeypatch.setattr(checking, "read", documents)
    checked = checking.check(tmp_path)
    assert (checked.analysis.sentences, checked.errors) == (1, 1)


def test_progress_is_told(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("sore toes\n0,1 ADR\n\n" * 3)
    told = []
    check(path, progress=told.append)
    assert told == [1, 2, 3]


@needs_corpora
@pytest.mark.parametrize(("label", "part", "two_slots", "three_slots"), CRAFT_MISFITS)
def test_craft(label, part, two_slots, three_slots):
    data = check(craft_inline(label, part)).to_dict(0)
    assert (data["errors"], data["incompatible_sentences"]) == (0, two_slots)
    by_name = {each["name"]: each["incompatible_sentences"] for each in data["schemes"]}
    assert by_name["3 slots, gap mentions"] == three_slots
    assert by_name["BIO"] >= data["discontinuous_sentences"]
