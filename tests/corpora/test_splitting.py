"""Documents into parts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discotag import Document, Mention, Sentence
from discotag.corpora import CorpusError
from discotag.corpora.splitting import Index, SplitError, parse_parts, pick


def document(sentences, mentions=0, discontinuous=0, name=None):
    here = [Mention("ADR", [(n, n + 1)]) for n in range(mentions)]
    here += [Mention("ADR", [(n, n + 1), (n + 2, n + 3)]) for n in range(discontinuous)]
    words = ["w"] * 60
    return Document([Sentence(words, here), *[Sentence(["w"])] * (sentences - 1)], id=name)


def indexed(documents):
    index = Index()
    for each in documents:
        index.add(each)
    return index


documents = st.lists(
    st.builds(document, st.integers(1, 9), st.integers(0, 9), st.integers(0, 3)), max_size=40
)


@settings(deadline=None, max_examples=60)
@given(documents, st.lists(st.floats(0.1, 5), min_size=1, max_size=4), st.integers(0, 9))
def test_every_document_goes_to_one_part_and_again_to_the_same(given_documents, shares, seed):
    numbers = indexed(given_documents).assign(shares, seed)
    assert len(numbers) == len(given_documents)
    assert set(numbers) <= set(range(len(shares)))
    assert indexed(given_documents).assign(shares, seed) == numbers
    assert indexed(given_documents).assign([2 * share for share in shares], seed) == numbers


def test_parts_have_their_shares_of_everything():
    many = [document(1 + n % 7, n % 5, n % 11 == 0, name=f"d{n}") for n in range(1000)]
    numbers = indexed(many).assign([0.8, 0.1, 0.1], 0)
    for measure in (
        lambda each: 1,
        lambda each: len(each.sentences),
        lambda each: len(each.mentions),
        lambda each: sum(mention.discontinuous for mention in each.mentions),
    ):
        whole = sum(map(measure, many))
        for part, share in enumerate([0.8, 0.1, 0.1]):
            has = sum(measure(each) for each, at in zip(many, numbers, strict=True) if at == part)
            assert has / whole == pytest.approx(share, abs=0.01)


def test_discontinuous_documents_are_spread():
    few = [document(1, 1, 1, name=f"d{n}") for n in range(10)]
    many = [document(1, name=f"e{n}") for n in range(990)]
    numbers = indexed([*many, *few]).assign([0.8, 0.1, 0.1], 3)
    assert sorted(numbers[-10:]) == [0] * 8 + [1, 2]


def test_the_seed_matters_and_the_order_does_not():
    some = [document(1 + n % 3, n % 2, name=f"d{n}") for n in range(50)]
    numbers = dict(zip((each.id for each in some), indexed(some).assign([1, 1], 0), strict=True))
    back = some[::-1]
    assert numbers == dict(
        zip((each.id for each in back), indexed(back).assign([1, 1], 0), strict=True)
    )
    assert list(numbers.values()) != list(indexed(some).assign([1, 1], 1))


def test_the_same_on_every_machine():
    some = [document(1, name=f"d{n}") for n in range(12)]
    assert list(indexed(some).assign([2, 1], 0)) == [0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0]


def test_sentences_without_a_document_are_noticed():
    assert indexed([document(1), document(1)]).only_sentences
    assert not indexed([document(1, name="d")]).only_sentences
    assert not indexed([document(2)]).only_sentences


def test_parse_parts():
    assert parse_parts("train=8, test=2") == {"train": 8, "test": 2}
    for bad in ("train", "train=", "train=0", "train=-1", "train=nan", "train=inf", "", "a=1,,b=1"):
        with pytest.raises(SplitError, match="a part must look like train=0.8"):
            parse_parts(bad)
    with pytest.raises(SplitError, match="given twice"):
        parse_parts("a=1,a=2")


def test_bad_shares():
    for shares in ([], [0.0], [1.0, float("nan")], [float("inf")]):
        with pytest.raises(SplitError):
            Index().assign(shares, 0)


def test_pick():
    some = [document(1, name=str(n)) for n in range(4)]
    assert [each.id for each in pick(some, [0, 1, 0, 1], 1, "c")] == ["1", "3"]
    for changed in (some[:3], [*some, some[0]], []):
        with pytest.raises(CorpusError, match="changed while it was read"):
            list(pick(changed, [0, 1, 0, 1], 1, "c"))
