"""Soundness, proven by looking at everything up to a length."""

from collections import Counter
from itertools import combinations, product
from math import perm, prod

import pytest

from discotag import IncompatibleError, Mention, Scheme
from oracle import SCHEMES, is_well_formed, mentions_of, name

ACCEPTED_UP_TO = 7
TWO_LABELS = [
    Scheme(("ADR", "Drug"), scheme.slots, scheme.naming, scheme.gap_mentions) for scheme in SCHEMES
]
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=name)
one_or_two_labels = pytest.mark.parametrize("scheme", [*SCHEMES, *TWO_LABELS], ids=name)


def lengths(scheme):
    """Up to 6 for one label and 5 for two; 25^5 would be 10 million sequences, so there up to 4."""
    return range(7 if len(scheme.labels) == 1 else 6 if len(scheme.tags) < 25 else 5)


def as_words(mentions):
    return frozenset((mention.label, frozenset(mention.words)) for mention in mentions)


@one_or_two_labels
def test_grammar_accepts_what_the_rules_allow(scheme):
    accepts = scheme.grammar.accepts
    for length in lengths(scheme):
        for tags in product(scheme.tags, repeat=length):
            assert accepts(tags) == is_well_formed(scheme, tags), tags


@one_or_two_labels
def test_accepted_sequences_decode_and_encode_without_loss(scheme):
    longest = ACCEPTED_UP_TO if len(scheme.labels) == 1 else 5
    for length in range(longest + 1):
        sequences_of = Counter()
        for tags in scheme.grammar.words(length):
            mentions = scheme.decode(tags)
            assert as_words(mentions) == mentions_of(tags)
            sequences_of[mentions] += 1
            if scheme.naming == "structural":
                assert scheme.encode(length, mentions) == list(tags)
            elif length <= 5:
                assert list(tags) in scheme.encodings(length, mentions)
        for mentions, number in sequences_of.items():
            assert number == number_of_namings(scheme, length, mentions)


def number_of_namings(scheme, length, mentions):
    """1 for structural naming; for semantic, each set's ways to name the slots it fills."""
    if scheme.naming == "structural":
        return 1
    sets = scheme.layers(length, mentions).sets
    number = prod(perm(scheme.slots, len(group.slots)) for group in sets)
    if scheme.slots == 2:
        assert number == 2 ** len(sets)
    return number


def all_mention_sets(words, most, labels):
    """Every set of up to `most` mentions of these labels over so many words."""
    patterns = [
        [word for word in range(words) if bits >> word & 1] for bits in range(1, 1 << words)
    ]
    mentions = [
        Mention(label, [(word, word + 1) for word in pattern])
        for pattern in patterns
        for label in labels
    ]
    for size in range(most + 1):
        yield from combinations(mentions, size)


# Over 4 words these are all 2^15 sets; over 5 words there are 2^31, of which those of up to four
# mentions are looked at one by one.
@pytest.mark.parametrize(("words", "most"), [(1, 1), (2, 3), (3, 7), (4, 15), (5, 4)])
@every_scheme
def test_mentions_encode_exactly_if_a_sequence_stands_for_them(scheme, words, most):
    check_mention_sets(scheme, words, most)


@pytest.mark.parametrize(("words", "most"), [(1, 2), (2, 6), (3, 4), (4, 3), (5, 2)])
@pytest.mark.parametrize("scheme", TWO_LABELS, ids=name)
def test_mentions_of_two_labels_too(scheme, words, most):
    check_mention_sets(scheme, words, most)


def check_mention_sets(scheme, words, most):
    expressible = {scheme.decode(tags) for tags in scheme.grammar.words(words)}
    met = 0
    for mentions in all_mention_sets(words, most, scheme.labels):
        try:
            tags = scheme.encode(words, mentions)
        except IncompatibleError:
            assert frozenset(mentions) not in expressible
        else:
            met += 1
            assert scheme.decode(tags) == frozenset(mentions)
    assert met == sum(len(mentions) <= most for mentions in expressible)
