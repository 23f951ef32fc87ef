"""Encoding and decoding by example and by property; what is refused and how."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import (
    DiscotagError,
    IllFormedError,
    IncompatibleError,
    Mention,
    MentionError,
    Scheme,
    SentenceError,
)
from discotag.scheme import (
    REASONS,
    Layers,
    MentionSet,
    SchemeError,
    UnknownLabelError,
    UnknownTagError,
)
from oracle import SCHEMES, mentions_of, name

ADR = Scheme(("ADR",))
WIDE = Scheme(("ADR",), 3, gap_mentions=True)
SEMANTIC = Scheme(("ADR",), 2, "semantic")


def m(*fragments, label="ADR"):
    return Mention(label, fragments)


FIGURE = (
    "CB CI O O DB-Bx DI-O DI-Bx DI-By DI-O DI-By DI-Iy O".split(),
    {
        m((0, 2)),
        m((4, 5), (7, 8)),
        m((4, 5), (9, 11)),
        m((6, 8)),
        m((6, 7), (9, 11)),
    },
)


@pytest.mark.parametrize(
    ("scheme", "tags", "mentions"),
    [
        (ADR, *FIGURE),
        (ADR, [], set()),
        (ADR, ["O"], set()),
        (ADR, "CB CB CI".split(), {m((0, 1)), m((1, 3))}),
        (ADR, "DB-Bx DI-O DI-By".split(), {m((0, 1), (2, 3))}),
        (ADR, "DB-Bx DI-Ix DI-By DI-O DI-By".split(), {m((0, 3)), m((0, 2), (4, 5))}),
        (ADR, "DB-Bx DI-By DI-By".split(), {m((0, 2)), m((0, 1), (2, 3))}),
        (WIDE, "DB-Bx DI-CB DI-CI DI-By".split(), {m((0, 1), (3, 4)), m((1, 3))}),
        (WIDE, "DB-Bx DI-O DI-By DI-O DI-Bz".split(), {m((0, 1), (2, 3), (4, 5))}),
        # could sit or stand upright: shared on both sides
        (
            WIDE,
            "DB-Bx DI-By DI-O DI-By DI-Bz".split(),
            {m((0, 2), (4, 5)), m((0, 1), (3, 5))},
        ),
        (
            Scheme(("A", "B"), gap_mentions=True),
            "DB-Bx:A DI-CB:B DI-By:A CB:B".split(),
            {m((0, 1), (2, 3), label="A"), m((1, 2), label="B"), m((3, 4), label="B")},
        ),
    ],
)
def test_examples_both_ways(scheme, tags, mentions):
    assert scheme.encode(len(tags), mentions) == tags
    assert scheme.decode(tags) == mentions
    assert scheme.encodings(len(tags), mentions) == [tags]


@pytest.mark.parametrize(
    ("scheme", "length", "mentions", "reason"),
    [
        (ADR, 5, [m((0, 1), (2, 3), (4, 5))], "too_many_slots"),
        (Scheme(("ADR",), 0), 3, [m((0, 1), (2, 3))], "too_many_slots"),
        (ADR, 3, [m((0, 3)), m((0, 2))], "uneven_components"),
        (ADR, 4, [m((0, 2)), m((1, 3)), m((2, 4))], "not_a_product"),
        (ADR, 3, [m((0, 1), (2, 3)), m((1, 2))], "mention_in_gap"),
        (ADR, 4, [m((0, 1), (2, 3)), m((1, 2), (3, 4))], "interleaved_sets"),
        (WIDE, 5, [m((0, 1), (4, 5)), m((1, 2), (3, 4))], "interleaved_sets"),
        (Scheme(("A", "B")), 3, [m((0, 2), label="A"), m((1, 3), label="B")], "mixed_labels"),
        (Scheme(("A", "B")), 2, [m((0, 2), label="A"), m((0, 2), label="B")], "mixed_labels"),
        (ADR, 2, [m((0, 2)), m((0, 2))], "same_words"),
    ],
)
def test_incompatible_says_why_and_which(scheme, length, mentions, reason):
    with pytest.raises(IncompatibleError) as caught:
        scheme.encode(length, mentions)
    assert caught.value.reason == reason
    assert set(caught.value.mentions) == set(mentions)
    assert REASONS[reason] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_problems_are_all_told_and_the_good_rest_is_left_out_of_them():
    mentions = [m((0, 1), (2, 3)), m((1, 2)), m((4, 7)), m((4, 6)), m((8, 9))]
    problems = ADR.problems(9, mentions)
    assert [problem.reason for problem in problems] == ["uneven_components", "mention_in_gap"]
    assert set(problems[0].mentions) == {m((4, 7)), m((4, 6))}
    assert set(problems[1].mentions) == {m((0, 1), (2, 3)), m((1, 2))}
    assert ADR.problems(9, mentions[-1:]) == []


@pytest.mark.parametrize(
    ("tags", "position", "rule"),
    [
        ("CI", 0, 1),
        ("O CB CI O CI", 4, 1),
        ("DI-O", 0, 2),
        ("CB DI-By", 1, 2),
        ("DB-Bx DI-O DI-Ix DI-By", 2, 3),
        ("DB-Bx", 0, 4),
        ("DB-Bx DI-O DI-Bx O O", 2, 4),
        ("O DB-Bx DI-Ix DI-By CB", 3, 5),
        ("O DB-Bx DI-By", 2, 5),
        ("DB-Bx DI-O DI-By DI-O O", 3, 6),
        ("DB-Bx DI-O DI-By DI-O", 3, 6),
    ],
)
def test_ill_formed_says_where_and_which_rule(tags, position, rule):
    with pytest.raises(IllFormedError) as caught:
        ADR.decode(tags.split())
    assert (caught.value.position, caught.value.rule) == (position, rule)
    assert f"word {position} " in str(caught.value)
    assert f"rule {rule}: {ADR.rules[rule - 1].text}" in str(caught.value)


def test_slots_out_of_order_break_rule_4_where_they_do():
    with pytest.raises(IllFormedError) as caught:
        WIDE.decode("DB-Bx DI-Bz DI-By".split())
    assert (caught.value.position, caught.value.rule) == (1, 4)


def test_mixed_labels_in_tags_break_rule_7():
    with pytest.raises(IllFormedError) as caught:
        Scheme(("A", "B")).decode(["CB:A", "CI:B"])
    assert (caught.value.position, caught.value.rule) == (1, 7)


@pytest.mark.parametrize(
    ("tags", "position"), [(["O", "B-ADR"], 1), (["DI-CB"], 0), (["CI", None], 1), (["CB:ADR"], 0)]
)
def test_unknown_tags(tags, position):
    with pytest.raises(UnknownTagError, match="is not a tag of this scheme: O CB CI") as caught:
        ADR.decode(tags)
    assert (caught.value.position, caught.value.tag) == (position, tags[position])


def test_mentions_that_cannot_be_in_the_sentence():
    with pytest.raises(MentionError, match=r"\[1:4\] reaches past the end .* 3 words"):
        ADR.encode(3, [m((1, 4))])
    with pytest.raises(MentionError, match="0 words"):
        ADR.encode(0, [m((0, 1))])
    with pytest.raises(SentenceError, match="must not be negative, got -1"):
        ADR.encode(-1, [])
    with pytest.raises(UnknownLabelError, match="Drug .* not one of ADR"):
        ADR.encode(3, [m((1, 2), label="Drug")])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": "ADR"}, r"such as \('ADR',\)"),
        ({"labels": ()}, "needs one or more labels"),
        ({"labels": ("A", "A")}, "each once"),
        ({"labels": ("A B",)}, "white space"),
        ({"labels": ("",)}, "white space"),
        ({"labels": ("A\x1b[31m",)}, "printable"),
        ({"labels": None}, "list of labels"),
        ({"labels": [["A"]]}, "must be printable"),
        ({"labels": ("A",), "slots": True}, "0 to 4"),
        ({"labels": ("A",), "gap_mentions": "no"}, "True or False"),
        ({"labels": ("A",), "slots": 5}, "0 to 4, got 5"),
        ({"labels": ("A",), "slots": -1}, "0 to 4"),
        ({"labels": ("A",), "slots": 2.0}, "0 to 4"),
        ({"labels": ("A",), "naming": "latent"}, "structural, semantic, got 'latent'"),
    ],
)
def test_schemes_that_cannot_be(arguments, message):
    with pytest.raises(SchemeError, match=message):
        Scheme(**arguments)


def test_semantic_naming_has_every_naming_of_every_set():
    mentions = {m((0, 1), (2, 3)), m((4, 5), (6, 7))}
    expected = [
        f"DB-B{a} DI-O DI-B{b} O DB-B{c} DI-O DI-B{d}".split()
        for a, b in ("xy", "yx")
        for c, d in ("xy", "yx")
    ]
    assert SEMANTIC.encodings(7, mentions) == expected
    assert SEMANTIC.encode(7, mentions) == expected[0]
    assert {SEMANTIC.decode(tags) for tags in expected} == {frozenset(mentions)}


def test_the_two_layers_are_data():
    tags, mentions = FIGURE
    layers = ADR.layers(12, mentions)
    swollen_and_stiff = MentionSet("ADR", (((4, 5), (6, 7)), ((7, 8), (9, 11))))
    assert layers == Layers(12, (swollen_and_stiff,), (m((0, 2)),))
    assert layers == ADR.read(tags)
    assert layers.mentions == mentions
    assert (swollen_and_stiff.start, swollen_and_stiff.end) == (4, 11)
    assert swollen_and_stiff.components[1] == ((6, 7), 0)
    assert ADR.write(layers) == tags


@pytest.mark.parametrize(
    ("length", "mentions", "reasons"),
    [
        (10, [m((0, 1), (5, 6), (8, 9)), m((2, 3))], ["too_many_slots", "mention_in_gap"]),
        (
            9,
            [m((0, 1), (7, 8)), m((1, 2), (3, 4)), m((5, 6), (8, 9))],
            ["interleaved_sets", "interleaved_sets"],
        ),
    ],
)
def test_problems_in_order(length, mentions, reasons):
    problems = ADR.problems(length, mentions)
    assert [problem.reason for problem in problems] == reasons
    with pytest.raises(IncompatibleError) as caught:
        ADR.encode(length, mentions)
    assert caught.value.reason == reasons[0]
    assert caught.value.mentions == tuple(sorted(caught.value.mentions))


def test_of_rules_broken_at_one_word_the_first_is_named():
    with pytest.raises(IllFormedError) as caught:
        ADR.decode(["DB-Bx", "DI-O"])  # rules 4 and 6
    assert caught.value.rule == 4


def test_only_the_mention_given_twice_is_blamed():
    with pytest.raises(IncompatibleError) as caught:
        ADR.encode(4, [m((0, 2)), m((0, 2)), m((1, 3))])
    assert caught.value.mentions == (m((0, 2)),)


def test_too_many_labels_are_refused_before_they_are_compiled():
    with pytest.raises(SchemeError, match="300 labels would be too large: .* there may be 105"):
        _ = Scheme(tuple(f"L{n}" for n in range(300))).grammar


def test_text_is_no_sequence_of_tags_and_an_iterator_is():
    with pytest.raises(UnknownTagError):
        ADR.decode("OOO")
    assert ADR.decode(iter(["O", "CB"])) == {m((1, 2))}


@pytest.mark.parametrize("slots", [2, 3, 4])
def test_reading_gives_the_naming_that_was_written(slots):
    scheme = Scheme(("ADR",), slots, "semantic")
    (found,) = scheme.layers(3, [m((0, 1), (2, 3))]).sets
    for naming in found.namings(slots):
        assert scheme.read(scheme.write(Layers(3, (naming,), ()))).sets == (naming,)


def test_errors_survive_being_pickled():
    for work in (
        lambda: ADR.encode(2, [m((0, 2)), m((0, 1))]),
        lambda: ADR.decode(["CI"]),
        lambda: ADR.decode(["X"]),
    ):
        with pytest.raises(DiscotagError) as caught:
            work()
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
        assert vars(again) == vars(caught.value)


def test_one_large_group_takes_little_time():
    # Four thousand mentions of one group, each given twice, and a chain that is no product.
    twice = [m((0, 1), (n, n + 1)) for n in range(2, 4000)] * 2
    assert ADR.problems(4001, twice)[0].reason == "same_words"
    chain = [m((n, n + 2)) for n in range(4000)]
    assert ADR.problems(4002, chain)[0].reason == "not_a_product"


def test_schemes_are_values():
    assert Scheme(["ADR"]) == ADR
    assert hash(Scheme(["ADR"])) == hash(ADR)
    assert pickle.loads(pickle.dumps(ADR)).decode(["CB"]) == {m((0, 1))}


def test_many_mentions_in_one_long_sentence_take_linear_time():
    # A hundred thousand words: anything quadratic would not end.
    mentions = [m((n, n + 1), (n + 2, n + 3)) for n in range(0, 100_000, 4)]
    tags = ADR.encode(100_000, mentions)
    assert ADR.decode(tags) == frozenset(mentions)


# Mentions as people annotate them: products of components, and then something amiss.
@st.composite
def annotations(draw, words=6):
    mentions = set()
    for _ in range(draw(st.integers(0, 2))):
        length = draw(st.integers(2, words))
        start = draw(st.integers(0, words - length))
        slots = draw(st.lists(st.sampled_from([0, 1, 2, None]), min_size=length, max_size=length))
        parts = [
            [start + place for place, slot in enumerate(slots) if slot == k] for k in (0, 1, 2)
        ]
        parts = [part for part in parts if part]
        for choice in _products(parts):
            mentions.add(Mention("ADR", [(word, word + 1) for word in choice]))
    for _ in range(draw(st.integers(0, 2))):
        chosen = draw(st.sets(st.integers(0, words - 1), min_size=1))
        mentions.add(Mention("ADR", [(word, word + 1) for word in chosen]))
    if mentions and draw(st.booleans()):
        mentions.discard(draw(st.sampled_from(sorted(mentions))))
    return frozenset(mentions)


def _products(parts):
    choices = [[]] if parts else []
    for part in parts:
        choices = [[*choice, word] for choice in choices for word in part]
    return choices


EXPRESSIBLE = {}


def expressible(scheme, length):
    """What some accepted sequence stands for, by the oracle's reading."""
    if (scheme, length) not in EXPRESSIBLE:
        EXPRESSIBLE[scheme, length] = {mentions_of(t) for t in scheme.grammar.words(length)}
    return EXPRESSIBLE[scheme, length]


@pytest.mark.parametrize("scheme", SCHEMES, ids=name)
@settings(max_examples=400, deadline=None)
@given(mentions=annotations())
def test_encoding_loses_nothing_and_refuses_only_what_it_must(scheme, mentions):
    as_words = frozenset((mention.label, frozenset(mention.words)) for mention in mentions)
    try:
        tags = scheme.encode(6, mentions)
    except IncompatibleError as error:
        assert as_words not in expressible(scheme, 6)
        assert error.reason in REASONS
        assert set(error.mentions) <= mentions
    else:
        assert scheme.grammar.accepts(tags)
        assert scheme.decode(tags) == mentions
        every = scheme.encodings(6, mentions)
        assert every[0] == tags
        assert len(every) == len({tuple(each) for each in every})
        assert all(scheme.decode(each) == mentions for each in every)


@settings(max_examples=300, deadline=None)
@given(tags=st.lists(st.sampled_from(WIDE.tags), max_size=12))
def test_decode_raises_exactly_where_the_grammar_refuses(tags):
    if WIDE.grammar.accepts(tags):
        WIDE.decode(tags)
    else:
        with pytest.raises(IllFormedError) as caught:
            WIDE.decode(tags)
        broken = WIDE.rules[caught.value.rule - 1]
        assert not broken.automaton.accepts(tags)
        assert 0 <= caught.value.position < len(tags)
