"""Soundness, proven by looking at everything up to a length."""

from collections import Counter
from itertools import combinations
from math import perm, prod

import pytest

from discotag import IncompatibleError, Mention, Scheme
from oracle import SCHEMES, broken_rules, is_well_formed, mentions_of, name

pytestmark = pytest.mark.slow

ACCEPTED_UP_TO = 7
TWO_LABELS = [
    Scheme(("ADR", "Drug"), scheme.slots, scheme.naming, scheme.gap_mentions) for scheme in SCHEMES
]
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=name)
one_or_two_labels = pytest.mark.parametrize("scheme", [*SCHEMES, *TWO_LABELS], ids=name)


FOREVER = {1, 2, 3, 7}
"""The rules that a sequence breaks for ever: no further tag can mend it."""


def promising(scheme, longest):
    """Yield, by length, all sequences but those that begin with one that is broken for ever."""
    found = [()]
    yield found
    for _ in range(longest):
        longer = ((*tags, tag) for tags in found for tag in scheme.tags)
        found = [tags for tags in longer if FOREVER.isdisjoint(broken_rules(scheme, tags))]
        yield found


def as_words(mentions):
    return frozenset((mention.label, frozenset(mention.words)) for mention in mentions)


@one_or_two_labels
def test_grammar_accepts_what_the_rules_allow(scheme):
    for length, found in enumerate(promising(scheme, 6 if len(scheme.labels) == 1 else 5)):
        allowed = [tags for tags in found if is_well_formed(scheme, tags)]
        assert sorted(scheme.grammar.words(length)) == sorted(allowed)
        assert all(map(scheme.grammar.accepts, allowed))


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
